package modbus

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/modbustest"
)

// plug is a site whose adapter can be pulled out and put back.
type plug struct {
	*modbustest.Slave

	mu    sync.Mutex
	out   bool
	dials int
	far   *modbustest.End
}

var errUnplugged = errors.New("no such device")

func (p *plug) lines(t *testing.T, framing modbustest.Framing) *Lines {
	return &Lines{Dial: func(context.Context, string) (Stream, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.dials++; p.out {
			return nil, errUnplugged
		}
		near, far := modbustest.Pipe()
		p.far = far
		go func() { _ = p.ServeStream(t.Context(), far, framing) }()
		return near, nil
	}}
}

func (p *plug) pull(t *testing.T) {
	p.put(true)
	if err := p.far.Close(); err != nil {
		t.Error(err)
	}
}

func (p *plug) put(out bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = out
}

func (p *plug) attempts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dials
}

// TestALineIsTriedWhileItIsDown pulls the adapter of a unit that is polled once a minute. What is put back is read
// within moments, not with the next poll, and the attempts meanwhile are few.
func TestALineIsTriedWhileItIsDown(t *testing.T) {
	for url, tt := range map[string]struct {
		framing     modbustest.Framing
		least, most int           // attempts while it is out
		within      time.Duration // a reading after it is back
	}{
		serialURL:    {modbustest.RTU, 235, 301, 1100 * time.Millisecond},
		asciiURL:     {modbustest.ASCII, 235, 301, 1100 * time.Millisecond},
		"tcp://site": {modbustest.TCP, 45, 75, 5100 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &plug{Slave: numberedSlave()}
			d := Device{Name: "d", URL: url, Every: time.Minute, Points: []Point{holding("p", 7)}}
			s := runSite(t, p.lines(t, tt.framing), &collectorstest.Host{}, d)
			await(t, 90*time.Second)
			p.pull(t)
			before := p.attempts()
			await(t, 5*time.Minute+200*time.Millisecond)
			if n := p.attempts() - before; n < tt.least || n > tt.most {
				t.Errorf("%s: %d attempts in five minutes, want %d to %d", url, n, tt.least, tt.most)
			}
			if r, _ := s.host.Last("d/p"); r.Quality != collectors.Bad || !errors.Is(r.Err, ErrDown) || !errors.Is(r.Err, errUnplugged) {
				t.Errorf("%s: %+v while it is out", url, r)
			}
			back := time.Now()
			p.put(false)
			await(t, 20*time.Second)
			if r, _ := s.host.Last("d/p"); r.Quality != collectors.Good || r.At.Sub(back) > tt.within {
				t.Errorf("%s: %s %s after it was put back, want good within %s", url, r.Quality, r.At.Sub(back), tt.within)
			}
			polls := len(s.host.Batches())
			await(t, 10*time.Minute)
			if n := len(s.host.Batches()) - polls; n != 10 {
				t.Errorf("%s: %d polls in ten minutes after that, want the beat of one a minute", url, n)
			}
			s.stop()
		})
	}
}

// TestAServerThatHangsUpBringsNobodyOutOfStep: one unit of a gateway has it close the connection each time.
func TestAServerThatHangsUpBringsNobodyOutOfStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plug{Slave: numberedSlave()}
		p.SetFaults(modbustest.Fault{Unit: 2, Torn: 3, Reset: true})
		devices := []Device{
			{Name: "live", URL: "tcp://site", Every: 10 * time.Second, Points: []Point{holding("p", 7)}},
			{Name: "dead", URL: "tcp://site", Unit: new(2), Every: 10 * time.Second, Points: []Point{holding("p", 7)}},
		}
		s := runSite(t, p.lines(t, modbustest.TCP), &collectorstest.Host{}, devices...)
		await(t, 10*time.Minute)
		polls, good := s.tally(0)
		if polls["live"] < 60 || polls["live"] > 61 || good["live/p"] < 60 {
			t.Errorf("%d polls and %d good readings in ten minutes, want one every ten seconds", polls["live"], good["live/p"])
		}
		if n := p.attempts(); n > 130 {
			t.Errorf("%d connections", n)
		}
		s.stop()
	})
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &plug{Slave: numberedSlave(), out: true}
		line := openLine(t, p.lines(t, modbustest.RTU), serialURL)
		if _, err := line.Read(t.Context(), conversation[0], time.Second); !errors.Is(err, ErrDown) {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		start := time.Now()
		if line.Await(ctx, start.Add(time.Hour)) || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("returned after %s", time.Since(start))
		}
	})
}

func TestPauses(t *testing.T) {
	for url, least := range map[string]time.Duration{
		"tcp://site?pause=20ms&connect_pause=500ms":              20 * time.Millisecond,
		"tls://site?pause=20ms&connect_pause=500ms":              20 * time.Millisecond,
		serialURL + "&pause=20ms&connect_pause=500ms":            23645 * time.Microsecond, // and 3.5 characters
		"ascii+tcp://site:1?pause=20ms&connect_pause=500ms":      20 * time.Millisecond,
		"rtu+tcp://s:1?baud=9600&pause=50ms&connect_pause=500ms": 50 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			slave := numberedSlave()
			lines := pipeLines(t, only(slave))
			defer closeLines(t, lines)
			timed := &stopwatch{}
			lines.Dial = timed.under(lines.Dial)
			line := openLine(t, lines, url)
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
