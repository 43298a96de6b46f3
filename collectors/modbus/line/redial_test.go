package line

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

func TestAwaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unplugged := pipeLines(t, func(string) (*modbustest.Slave, error) { return nil, errors.New("no such device") })
		line := linetest.Open(t, unplugged, linetest.SerialURL)
		if _, err := line.Read(t.Context(), conversation[0], time.Second); !errors.Is(err, ErrDown) {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		start := time.Now()
		if line.Await(ctx, new(collectors.Timer), start.Add(time.Hour)) || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("returned after %s", time.Since(start))
		}
	})
}

func TestPauses(t *testing.T) {
	for url, least := range map[string]time.Duration{
		"tcp://site?pause=20ms&connect_pause=500ms":              20 * time.Millisecond,
		"tls://site?pause=20ms&connect_pause=500ms":              20 * time.Millisecond,
		linetest.SerialURL + "&pause=20ms&connect_pause=500ms":   23645 * time.Microsecond, // and 3.5 characters
		"ascii+tcp://site:1?pause=20ms&connect_pause=500ms":      20 * time.Millisecond,
		"rtu+tcp://s:1?baud=9600&pause=50ms&connect_pause=500ms": 50 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			slave := linetest.NumberedSlave()
			lines := pipeLines(t, linetest.Only(slave))
			defer linetest.Close(t, lines)
			timed := &stopwatch{}
			lines.Dial = timed.under(lines.Dial)
			line := linetest.Open(t, lines, url)
			for range 5 {
				if _, err := line.Read(t.Context(), conversation[0], time.Second); err != nil {
					t.Fatal(err)
				}
			}
			if first := timed.asked[0].Sub(timed.opened); first < 500*time.Millisecond || first > 600*time.Millisecond {
				t.Errorf("%s: asked %s after it was opened", url, first)
			}
			for i, at := range timed.asked[1:] {
				if silent := at.Sub(timed.heard[i]); silent < least || silent > least+10*time.Millisecond {
					t.Errorf("%s: %s of silence before request %d, want %s", url, silent, i+1, least)
				}
			}
		})
	}
}

// stopwatch notes when a line was opened, when each request went out and when each answer had come.
type stopwatch struct {
	Stream
	opened       time.Time
	asked, heard []time.Time
}

func (w *stopwatch) under(dial func(context.Context, string) (Stream, error)) func(context.Context, string) (Stream, error) {
	return func(ctx context.Context, url string) (s Stream, err error) {
		w.Stream, err = dial(ctx, url)
		w.opened = time.Now()
		return w, err
	}
}

func (w *stopwatch) Write(b []byte) (int, error) {
	w.asked = append(w.asked, time.Now())
	return w.Stream.Write(b)
}

func (w *stopwatch) Read(b []byte) (int, error) {
	n, err := w.Stream.Read(b)
	if n > 0 && len(w.heard) == len(w.asked) {
		w.heard[len(w.heard)-1] = time.Now()
	} else if n > 0 {
		w.heard = append(w.heard, time.Now())
	}
	return n, err
}
