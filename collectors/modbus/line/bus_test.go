package line

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// ear notes when each request arrives at the slave, in virtual time.
type ear struct {
	io.ReadWriteCloser
	heard []time.Time
}

func (e *ear) Read(b []byte) (int, error) {
	n, err := e.ReadWriteCloser.Read(b)
	if n > 0 {
		e.heard = append(e.heard, time.Now())
	}
	return n, err
}

// earLine is a line to a slave whose requests are timed.
func earLine(t *testing.T, url string, slave *modbustest.Slave) (*Lines, *Line, *ear) {
	near, far := modbustest.Pipe()
	e := &ear{ReadWriteCloser: far}
	lines := &Lines{Dial: func(context.Context, string) (Stream, error) { return near, nil }}
	go func() {
		if err := slave.ServeStream(t.Context(), e, linetest.FramingOf(url)); err != nil {
			t.Errorf("slave: %v", err)
		}
	}()
	return lines, linetest.Open(t, lines, url), e
}

func TestSilenceBetweenFrames(t *testing.T) {
	for url, gap := range map[string]time.Duration{
		linetest.SerialURL:                       3646 * time.Microsecond,
		"rtu:///dev/port?baud=19200":             2005 * time.Microsecond,
		"rtu:///dev/port?baud=38400":             1750 * time.Microsecond,
		"rtu+tcp://site:4001?baud=115200&stop=2": 1750 * time.Microsecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			lines, line, ear := earLine(t, url, linetest.NumberedSlave())
			defer linetest.Close(t, lines)
			answered := time.Time{}
			for range 4 {
				if _, err := line.Read(t.Context(), conversation[0], time.Second); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if silent := ear.heard[len(ear.heard)-1].Sub(answered); !answered.IsZero() && silent < gap {
					t.Errorf("%s: %s of silence before a request, want at least %s", url, silent, gap)
				}
				answered = ear.heard[len(ear.heard)-1].Add(5 * time.Millisecond) // the slave's turnaround
			}
		})
	}
}

func TestAUnitThatOwesAnAnswerIsLeftAloneAndPutInStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Silent: true, Times: 1})
		lines, line, ear := earLine(t, linetest.SerialURL, slave)
		defer linetest.Close(t, lines)
		if _, err := line.Read(t.Context(), conversation[0], time.Second); !errors.Is(err, ErrSilent) {
			t.Fatalf("%v, want silence", err)
		}
		if data, err := line.Read(t.Context(), Request{2, Holding, 0, 2}, time.Second); err != nil || !carries(data, Request{2, Holding, 0, 2}) {
			t.Errorf("another unit: % x, %v", data, err)
		}
		if wait := ear.heard[1].Sub(ear.heard[0]); wait > 1100*time.Millisecond {
			t.Errorf("the other unit waited %s for the silent one, want little more than its time-out of 1s", wait)
		}
		if data, err := line.Read(t.Context(), conversation[1], time.Second); err != nil || !carries(data, conversation[1]) {
			t.Errorf("the unit itself: % x, %v", data, err)
		}
		if wait := ear.heard[2].Sub(ear.heard[0]); wait < 2*time.Second {
			t.Errorf("asked again after %s, want its time-out and once more of silence", wait)
		}
		if n := slave.Requests(1); n != 3 {
			t.Errorf("%d requests to the unit, want one more than asked, of another length", n)
		}
	})
}

func TestGarbageMakesTheLineWaitForSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Flip: 6, Times: 1})
		lines, line, ear := earLine(t, linetest.SerialURL, slave)
		defer linetest.Close(t, lines)
		_, err := line.Read(t.Context(), conversation[0], time.Second)
		if !errors.Is(err, ErrFrame) || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("%v, want a bad frame", err)
		}
		if _, err := line.Read(t.Context(), Request{2, Holding, 0, 2}, time.Second); err != nil {
			t.Error(err)
		}
		if wait := ear.heard[1].Sub(ear.heard[0].Add(5 * time.Millisecond)); wait < time.Second {
			t.Errorf("%s from the garbage to the next request, want a time-out of silence", wait)
		}
		if s := line.Stats(); s.BadFrames != 1 || s.Timeouts != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestAnAnswerThatComesWhileNobodyAsksIsThrownAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		// The second copy comes 300 ms after the first, when nothing is expected any more.
		slave.SetFaults(modbustest.Fault{Doubled: true, Torn: 9, Rest: 300 * time.Millisecond, Times: 1})
		lines, line, _ := earLine(t, linetest.SerialURL, slave)
		defer linetest.Close(t, lines)
		for _, r := range conversation[:3] {
			if data, err := line.Read(t.Context(), r, time.Second); err != nil || !carries(data, r) {
				t.Errorf("%s: % x, %v", r, data, err)
			}
			collectors.Wait(t.Context(), 400*time.Millisecond)
		}
		if s := line.Stats(); s.Late != 1 {
			t.Errorf("%d late answers were counted, want 1", s.Late)
		}
	})
}

func TestNoiseAroundAnAnswerIsForgiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Garbage: []byte{0, 0xFF}})
		lines, line, _ := earLine(t, linetest.SerialURL, slave)
		defer linetest.Close(t, lines)
		for _, r := range conversation {
			if data, err := line.Read(t.Context(), r, time.Second); err != nil || !carries(data, r) {
				t.Errorf("%s: % x, %v", r, data, err)
			}
		}
	})
}

// Another master asks the same unit for other registers, as many, and its answer comes before ours: nothing tells the two answers apart but
// the request that is not ours. Three of them are no chance. An adapter that echoes our own request is no master, nor is one
// that asks another unit.
func TestAnotherMastersAnswerIsNotTaken(t *testing.T) {
	frame := func(b ...byte) []byte { return binary.LittleEndian.AppendUint16(b, crc16(b)) }
	for what, x := range map[string]struct {
		before []byte
		taken  bool
	}{
		"another master":      {append(frame(1, 3, 0, 200, 0, 2), frame(1, 3, 4, 0x42, 0x70, 0, 0)...), false},
		"it alone is heard":   {append([]byte{0}, frame(1, 3, 0, 200, 0, 2)...), false},
		"our own echo":        {frame(1, 3, 0, 0, 0, 2), true},
		"it asks another one": {frame(9, 3, 0, 200, 0, 2), true},
	} {
		synctest.Test(t, func(t *testing.T) {
			slave := linetest.NumberedSlave()
			slave.SetFaults(modbustest.Fault{Garbage: x.before})
			lines, line, _ := earLine(t, linetest.SerialURL, slave)
			defer linetest.Close(t, lines)
			r := Request{1, Holding, 0, 2}
			for range 3 {
				data, err := line.Read(t.Context(), r, time.Second)
				if taken := err == nil && carries(data, r); taken != x.taken || !taken && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "another master")) {
					t.Errorf("%s: % x, %v", what, data, err)
				}
			}
			if at := line.Stats().OtherMaster; at.IsZero() != x.taken {
				t.Errorf("%s: a master was heard %s", what, at)
			}
		})
	}
}

func TestALineThatIsNeverSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := modbustest.Pipe()
		lines := &Lines{Dial: func(context.Context, string) (Stream, error) { return near, nil }}
		ctx, cancel := context.WithCancel(t.Context())
		chatter := make(chan struct{})
		go func() {
			defer close(chatter)
			for collectors.Wait(ctx, 2*time.Millisecond) {
				if _, err := far.Write([]byte("noise")); err != nil {
					return
				}
			}
		}()
		start := time.Now()
		_, err := linetest.Open(t, lines, linetest.SerialURL).Read(t.Context(), conversation[0], 100*time.Millisecond)
		if !errors.Is(err, ErrFrame) || !strings.Contains(err.Error(), "does not become silent") || time.Since(start) > time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		cancel()
		<-chatter
		linetest.Close(t, lines)
	})
}

func TestTheTimeOfTheCharactersComesOnTop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.Char = 10 * time.Second / 300 // 10 bits at 300 baud: 8 + 125 characters take 4.4 s
		for a := range 60 {
			slave.Unit(1).Set(modbustest.Holding, uint16(a), linetest.Word(1, Holding, a))
		}
		lines, line, _ := earLine(t, "rtu:///dev/port?baud=300&parity=N", slave)
		defer linetest.Close(t, lines)
		r := Request{1, Holding, 0, 60}
		if data, err := line.Read(t.Context(), r, 100*time.Millisecond); err != nil || !carries(data, r) {
			t.Errorf("%v", err)
		}
	})
}

func TestTheFrameOfAStepIsTheStandards(t *testing.T) {
	// The example of Modbus over Serial Line that every manual prints: unit 1, function 3, address 0, ten registers.
	want := []byte{0x01, 0x03, 0x00, 0x00, 0x00, 0x0A, 0xC5, 0xCD}
	if got := (rtu{}).appendRequest(nil, 1, Request{1, Holding, 0, 10}.pdu()); string(got) != string(want) {
		t.Errorf("% X, want % X", got, want)
	}
}

// TestALateRefusalPutsNobodyInStep: refusals have no length of their own, so one that comes in place of the answer to
// a step says nothing.
func TestALateRefusalPutsNobodyInStep(t *testing.T) {
	for _, url := range []string{linetest.SerialURL, linetest.ASCIIURL, "rtu+tcp://site:4001?baud=115200"} {
		for delay := 1000; delay < 3000; delay += 10 {
			synctest.Test(t, func(t *testing.T) {
				slave := linetest.NumberedSlave()
				slave.SetFaults(modbustest.Fault{Exception: 4, Delay: time.Duration(delay) * time.Millisecond, Times: 1})
				lines, line, _ := earLine(t, url, slave)
				defer linetest.Close(t, lines)
				for _, r := range []Request{{1, Holding, 0, 2}, {1, Holding, 10, 1}, {1, Holding, 12, 1}, {1, Holding, 14, 1}, {1, Holding, 16, 1}} {
					if data, err := line.Read(t.Context(), r, time.Second); err == nil && !carries(data, r) {
						t.Errorf("%s, %d ms late: % x for %s", url, delay, data, r)
					}
				}
			})
		}
	}
}

// babble is a stream that always has more.
type babble struct {
	Stream
	sent int
}

func (b *babble) Read(p []byte) (int, error) {
	if b.sent += len(p); b.sent > 1<<20 {
		return 0, errors.New("read without a look at the time")
	}
	return len(p), nil
}

func (b *babble) SetDeadline(time.Time) error { return nil }

// TestWhoNeverStopsToSendLetsGoOfTheLine: the time is looked at between what is thrown away.
func TestWhoNeverStopsToSendLetsGoOfTheLine(t *testing.T) {
	at, err := ParseEndpoint("rtu+tcp://10.20.0.7:4001")
	if err != nil {
		t.Fatal(err)
	}
	b := newBus(at, &counters{})
	if n, err := b.discardInput(&babble{}); err != nil || n > 2*mostDiscarded {
		t.Errorf("%d bytes, %v", n, err)
	}
}
