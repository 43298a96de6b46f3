package host

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// agent is a host that keeps what it is given.
type agent struct {
	collectors.Host
	batches [][]collectors.Reading
	notices []collectors.Notice
	emit    func(n int) error // the n-th batch, from 0
	deaf    bool
	calls   int
}

func (a *agent) Emit(_ context.Context, batch []collectors.Reading) error {
	n := a.calls
	a.calls++
	if a.emit != nil {
		if err := a.emit(n); err != nil {
			return err
		}
	}
	a.batches = append(a.batches, batch)
	return nil
}

func (a *agent) Notice(_ context.Context, n collectors.Notice) error {
	if a.deaf {
		return errors.New("disk full")
	}
	a.notices = append(a.notices, n)
	return nil
}

func run(t *testing.T, b *Box, a *agent, d time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	if err := b.Run(ctx, a); err != nil {
		t.Fatal(err)
	}
}

func TestPollsEveryPointInOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := newBox(Device{Name: "rtu", Host: "self", Points: []Point{
			{Name: "disk", Read: "disk_free_percent", Range: []float64{50, 100}},
			{Name: "warm", Read: "cpu_temperature", Unit: "degF"},
			{Name: "gone", Read: "disk_free_mib", Path: "/elsewhere"},
			{Name: "synced", Read: "clock_synchronized"},
		}}, board("board"))
		if err != nil {
			t.Fatal(err)
		}
		a := &agent{}
		a.emit = func(n int) error {
			if n == 1 {
				return errors.New("disk full")
			}
			return nil
		}
		start := time.Now()
		run(t, b, a, 130*time.Second)
		if a.calls != 3 || len(a.batches) != 2 || !a.batches[1][0].At.Equal(start.Add(2*time.Minute)) {
			t.Fatalf("%d polls, %d taken: %+v", a.calls, len(a.batches), a.batches)
		}
		got := a.batches[0]
		if len(got) != 4 {
			t.Fatalf("%d readings", len(got))
		}
		if r := got[0]; r.Point != "rtu/disk" || r.Unit != "percent" || r.Quality != collectors.Bad {
			t.Errorf("disk: %s in %q, %s; want rtu/disk in percent, bad", r.Point, r.Unit, r.Quality)
		}
		if r := got[0]; math.Abs(r.Value-26.3158) > 0.0001 {
			t.Errorf("disk: %v, want 26.3158", r.Value)
		}
		if r := got[0]; !strings.Contains(r.Err.Error(), "outside 50 to 100") {
			t.Errorf("disk: %v, want outside 50 to 100", r.Err)
		}
		if r := got[1]; r.Unit != "degF" || r.Quality != collectors.Good || r.Err != nil {
			t.Errorf("temperature: in %q, %s, %v; want degF, good", r.Unit, r.Quality, r.Err)
		}
		if r := got[1]; math.Abs(r.Value-142.25) > 1e-9 || !r.At.Equal(start) {
			t.Errorf("temperature: %v at %s, want 142.25 at %s", r.Value, r.At, start)
		}
		if r := got[2]; r.Quality != collectors.Bad || !math.IsNaN(r.Value) || r.Err == nil {
			t.Errorf("a folder that is not there: %+v", r)
		}
		if r := got[3]; r.Quality != collectors.Good || r.Value != 1 || r.Unit != "" {
			t.Errorf("clock: %+v", r)
		}
	})
}

func TestTellsOnceThatAFigureStaysAwayAndOnceThatItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := fstest.MapFS{}
		b, err := newBox(Device{Name: "rtu", Host: "self", Every: time.Second, Points: []Point{{Name: "load", Read: "load_1m"}}},
			source{files: files})
		if err != nil {
			t.Fatal(err)
		}
		a, start := &agent{}, time.Now()
		a.emit = func(n int) error {
			a.deaf = n == 2 // the first try to tell goes wrong
			switch n {
			case 9:
				files["proc/loadavg"] = &fstest.MapFile{Data: []byte("1.5 1 1"), Mode: fs.ModePerm}
			case 12:
				delete(files, "proc/loadavg")
			case 14:
				files["proc/loadavg"] = &fstest.MapFile{Data: []byte("1.5 1 1"), Mode: fs.ModePerm}
			}
			return nil
		}
		run(t, b, a, 20500*time.Millisecond)
		if len(a.notices) != 2 {
			t.Fatalf("notices %+v", a.notices)
		}
		open, shut := a.notices[0], a.notices[1]
		if open.Rule != "comm-loss" || open.Source != "rtu/load" || !strings.Contains(open.Note, "loadavg") {
			t.Errorf("opened with %+v, want comm-loss of rtu/load, with loadavg in its note", open)
		}
		if !open.Since.Equal(start) || !open.Until.IsZero() {
			t.Errorf("opened from %s to %s, want since %s, open", open.Since, open.Until, start)
		}
		if shut.Rule != open.Rule || shut.Source != open.Source {
			t.Errorf("closed %s of %s, want what was opened", shut.Rule, shut.Source)
		}
		if !shut.Since.Equal(start) || !shut.Until.Equal(start.Add(10*time.Second)) {
			t.Errorf("closed from %s to %s, want from %s to ten seconds later", shut.Since, shut.Until, start)
		}
	})
}

func TestCheck(t *testing.T) {
	d := Device{Host: "other", Every: -1, Points: []Point{
		{Name: "a", Read: "load_1m", Unit: "s"},
		{Name: "a", Read: "uptime"},
		{Name: "b/c", Read: "cpu_temperature", Unit: "K", Path: "zone"},
		{Name: "", Read: "uptime_s", Path: "/x", Range: []float64{2, 1}},
	}}
	want := "name host every points[0].unit points[1].read points[1].name points[2].name points[2].unit points[2].path " +
		"points[3].name points[3].path points[3].range"
	var paths []string
	for _, p := range d.Check() {
		paths = append(paths, p.Path)
	}
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("problems at\n%s, want\n%s", got, want)
	}
	if _, err := New(d, "/"); err == nil || !strings.Contains(err.Error(), "name") {
		t.Errorf("made with problems: %v", err)
	}
	good := Device{Name: "rtu", Host: "self", Points: []Point{{Name: "disk", Read: "disk_free_mib", Path: "/", Range: []float64{0, 10}, Unit: "MiB"}}}
	if got := good.Check(); len(got) != 0 {
		t.Errorf("a good device: %+v", got)
	}
	if c, err := New(good, "/"); err != nil || c == nil {
		t.Errorf("a good device: %v", err)
	}
}
