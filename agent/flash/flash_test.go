package flash

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestFiguresAreOfTheLastDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMeter(Card{Bytes: 8e9, Cycles: 3000})
		var bytes int64
		m.written = func() int64 { return bytes }
		m.samples[0].bytes = 0
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = m.Run(ctx) }() // it returns nil
		bytes = 1e6
		if f := m.Figures(time.Now()); f != (Figures{Bytes: 1e6}) {
			t.Errorf("at the start: %+v", f)
		}
		for range 100 { // quiet days, then a bad one
			bytes += 1e6
			<-time.After(time.Hour)
		}
		if f := m.Figures(time.Now()); f.Day < 23e6 || f.Day > 25e6 || f.Years < 2600 || f.Years > 2900 {
			t.Errorf("quiet: %+v", f)
		}
		for range 24 {
			bytes += 1e9
			<-time.After(time.Hour)
		}
		if f := m.Figures(time.Now()); f.Day < 23e9 || f.Day > 25e9 || f.Years < 2.6 || f.Years > 2.9 || f.Bytes != 24_101e6 {
			t.Errorf("after a bad day: %+v", f)
		}
		if len(m.samples) > 26 {
			t.Errorf("%d samples", len(m.samples))
		}
		cancel()
		synctest.Wait()
	})
	if (Card{}).Years(1e6) != 0 || (Card{8e9, 3000}).Years(0) != 0 {
		t.Error("years of what is not known")
	}
}

// TestWrittenCounts what goes to a disk; a folder in memory has none.
func TestWrittenCounts(t *testing.T) {
	before := Written()
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := Written() - before; got != 0 && got < 1<<20 {
		t.Errorf("%d bytes written, want at least a mebibyte", got)
	}
}
