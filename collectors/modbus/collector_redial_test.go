package modbus

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// plug is a site whose adapter can be pulled out and put back.
type plug struct {
	*modbustest.Slave

	hangsUp bool // after each answer

	mu    sync.Mutex
	out   bool
	dials int
	far   *modbustest.End
}

// hangUp is the far end of a connection that is closed behind each answer.
type hangUp struct{ *modbustest.End }

func (h hangUp) Write(b []byte) (int, error) {
	n, err := h.End.Write(b)
	return n, errors.Join(err, h.Close())
}

var errUnplugged = errors.New("no such device")

func (p *plug) lines(t *testing.T, framing modbustest.Framing) *line.Lines {
	return &line.Lines{Dial: func(context.Context, string) (line.Stream, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.dials++; p.out {
			return nil, errUnplugged
		}
		near, far := modbustest.Pipe()
		p.far = far
		var stream io.ReadWriteCloser = far
		if p.hangsUp {
			stream = hangUp{far}
		}
		go func() { _ = p.ServeStream(t.Context(), stream, framing) }()
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
		linetest.SerialURL: {modbustest.RTU, 235, 301, 1100 * time.Millisecond},
		linetest.ASCIIURL:  {modbustest.ASCII, 235, 301, 1100 * time.Millisecond},
		"tcp://site":       {modbustest.TCP, 45, 75, 5100 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &plug{Slave: linetest.NumberedSlave()}
			d := Device{Name: "d", URL: url, Every: time.Minute, Points: []Point{holding("p", 7)}}
			s := runSite(t, p.lines(t, tt.framing), &collectorstest.Host{}, d)
			linetest.Await(t, 90*time.Second)
			p.pull(t)
			before := p.attempts()
			linetest.Await(t, 5*time.Minute+200*time.Millisecond)
			if n := p.attempts() - before; n < tt.least || n > tt.most {
				t.Errorf("%s: %d attempts in five minutes, want %d to %d", url, n, tt.least, tt.most)
			}
			if r, _ := s.host.Last("d/p"); r.Quality != collectors.Bad || !errors.Is(r.Err, line.ErrDown) || !errors.Is(r.Err, errUnplugged) {
				t.Errorf("%s: %+v while it is out", url, r)
			}
			back := time.Now()
			p.put(false)
			linetest.Await(t, 20*time.Second)
			if r, _ := s.host.Last("d/p"); r.Quality != collectors.Good || r.At.Sub(back) > tt.within {
				t.Errorf("%s: %s %s after it was put back, want good within %s", url, r.Quality, r.At.Sub(back), tt.within)
			}
			polls := len(s.host.Batches())
			linetest.Await(t, 10*time.Minute)
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
		p := &plug{Slave: linetest.NumberedSlave()}
		p.SetFaults(modbustest.Fault{Unit: 2, Torn: 3, Reset: true})
		devices := []Device{
			{Name: "live", URL: "tcp://site", Every: 10 * time.Second, Points: []Point{holding("p", 7)}},
			{Name: "dead", URL: "tcp://site", Unit: new(2), Every: 10 * time.Second, Points: []Point{holding("p", 7)}},
		}
		s := runSite(t, p.lines(t, modbustest.TCP), &collectorstest.Host{}, devices...)
		linetest.Await(t, 10*time.Minute)
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

// TestAUnitThatHangsUpIsConnectedOnceAPoll: some close the connection behind each answer. They are read at every beat, and each poll
// costs one connection.
func TestAUnitThatHangsUpIsConnectedOnceAPoll(t *testing.T) {
	for _, every := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			p := &plug{Slave: linetest.NumberedSlave(), hangsUp: true}
			d := Device{Name: "d", URL: "tcp://site", Every: every, Points: []Point{holding("p", 7)}}
			s := runSite(t, p.lines(t, modbustest.TCP), &collectorstest.Host{}, d)
			linetest.Await(t, every/2)
			dials, before := p.attempts(), len(s.host.Batches())
			linetest.Await(t, 20*every)
			polls, good := s.tally(before)
			if n := p.attempts() - dials; polls["d"] != 20 || good["d/p"] != 20 || n != 20 {
				t.Errorf("every %s: %d polls, %d of them good, %d connections; want 20 each", every, polls["d"], good["d/p"], n)
			}
			s.stop()
		})
	}
}
