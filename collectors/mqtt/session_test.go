package mqtt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

const address = "mqtt://broker:1883"

// goods are the values of a point that are Good, so far.
func (h *memo) goods(point string) []float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	var values []float64
	for _, r := range h.readings(point) {
		if r.Quality == collectors.Good {
			values = append(values, r.Value)
		}
	}
	return values
}

// listen has a collector of a device at work, subscribed at a broker of its own.
func listen(t *testing.T, d Device) (*broker, *memo) {
	t.Helper()
	b, h := newBroker(t), newMemo()
	start(t, h, collect(t, Session{Dial: b.dial}, d))
	momentarily()
	return b, h
}

// momentarily lets virtual time go on for long enough that what was published is committed.
func momentarily() { later(20 * time.Millisecond) }

// later lets virtual time go on, and waits until everything that was due has been done.
func later(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// unacknowledged counts the messages that the broker still holds for a client.
func (b *broker) unacknowledged(client string) int {
	c, ok := b.server.Clients.Get(client)
	if !ok {
		return -1
	}
	return c.State.Inflight.Len()
}

func TestMessagesBecomeReadingsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := listen(t, at(address, "field/tk1", "field/tk2"))
		var want []float64
		for i := range 300 {
			b.publish(t, "field/tk1", fmt.Sprintf("%d.5", i))
			want = append(want, float64(i)+0.5)
		}
		b.publish(t, "field/tk2", " 7 \n")
		h.values(t, "radio/field-tk1", len(want))
		h.values(t, "radio/field-tk2", 1)
		if got := h.goods("radio/field-tk1"); !slices.Equal(got, want) {
			t.Errorf("tk1: %v", got)
		}
		if got := h.goods("radio/field-tk2"); !slices.Equal(got, []float64{7}) {
			t.Errorf("tk2: %v", got)
		}
		if h.commits() >= len(want) {
			t.Errorf("%d messages took %d commits: they are not grouped", len(want), h.commits())
		}
	})
}

func TestNothingIsAcknowledgedBeforeItIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		var open atomic.Bool
		h.emitting = func([]collectors.Reading) error {
			if open.Load() {
				return nil
			}
			return errors.New("disk full")
		}
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		momentarily()
		for i := range 50 {
			b.publish(t, "field/tk1", fmt.Sprint(i))
		}
		later(5 * time.Minute) // virtual
		if n := b.unacknowledged("gauger-test"); n != 50 {
			t.Errorf("%d of 50 messages are unacknowledged while the disk is full", n)
		}
		open.Store(true)
		if got := h.values(t, "radio/field-tk1", 50); len(got) != 50 || got[49] != 49 {
			t.Errorf("after the disk has room: %v", got)
		}
		momentarily()
		if n := b.unacknowledged("gauger-test"); n != 0 {
			t.Errorf("%d messages are still unacknowledged", n)
		}
	})
}

func TestAShortAbsenceIsNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		later(time.Minute)
		for _, absence := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			before := len(h.goods("radio/field-tk1"))
			b.down()
			later(absence)
			b.up(t)
			later(3 * time.Second) // it must be flowing again by now
			b.publish(t, "field/tk1", "5")
			momentarily()
			if len(h.goods("radio/field-tk1")) != before+1 {
				t.Errorf("not flowing 3 s after an absence of %s", absence)
			}
			later(time.Minute)
		}
		if n := h.noticed("comm-loss"); len(n) != 0 {
			t.Errorf("announced: %v", n)
		}
	})
}

func TestALongAbsenceIsOneEpisode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1", "field/tk2")))
		later(time.Minute)
		b.publish(t, "field/tk1", "5")
		later(time.Minute)
		begin, dials := time.Now(), b.attempts()
		b.down()
		later(8 * time.Hour)
		if n := b.attempts() - dials; n < 200 || n > 500 {
			t.Errorf("%d attempts in eight hours; with a longest pause of one to two minutes there are 240 to 480", n)
		}
		open := h.noticed("comm-loss")
		if len(open) != 1 || open[0].Source != "radio" {
			t.Fatalf("opened %+v, want one of radio", open)
		}
		if !open[0].Since.Equal(begin) || !open[0].Until.IsZero() {
			t.Fatalf("opened from %s to %s, want since %s, open", open[0].Since, open[0].Until, begin)
		}
		if !strings.Contains(open[0].Note, "connection refused") {
			t.Errorf("the note does not say why: %s", open[0].Note)
		}
		for _, point := range []string{"radio/field-tk1", "radio/field-tk2"} {
			all := h.all(point)
			last := all[len(all)-1]
			if last.Quality != collectors.Bad || last.Err == nil || last.At.Sub(begin) > announceAfter {
				t.Errorf("%s is %+v", point, last)
			}
		}
		if n := len(h.all("")); n != 3 {
			t.Errorf("%d readings; expected one good and two bad", n)
		}
		b.up(t)
		for end := time.Now().Add(longestPause + steady); time.Now().Before(end); later(2 * time.Second) {
			b.publish(t, "field/tk2", "6")
		}
		for point, why := range map[string]string{"radio/field-tk1": "the broker is back, and nothing has come of it since", "radio/field-tk2": "<nil>"} {
			all := h.all(point)
			after := slices.IndexFunc(all, func(r collectors.Reading) bool { return r.Quality == collectors.Bad }) + 1 // the absence
			if got := all[after:]; len(got) == 0 || fmt.Sprint(got[0].Err) != why {
				t.Errorf("after its return %s is %v", point, got)
			}
		}
		closed := h.noticed("comm-loss")
		if len(closed) != 2 || !closed[1].Since.Equal(begin) || closed[1].Until.Before(begin.Add(8*time.Hour)) {
			t.Errorf("closed: %+v", closed)
		}
		lost := h.noticed("session-lost")
		if len(lost) != 1 || !lost[0].Since.Equal(begin) || lost[0].Until.Before(begin.Add(8*time.Hour)) {
			t.Errorf("the new broker knows no session, and that was told as %+v", lost)
		}
	})
}

// A network that takes its time, and a broker that lets us in and then says nothing: the announcement comes before the
// first attempt has failed, and still says something.
func TestABrokerThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newMemo()
		slow := func(context.Context, string, string) (net.Conn, error) {
			<-time.After(dialTimeout - time.Second)
			ours, theirs := net.Pipe()
			go func() { // ends with the pipe
				_, _ = theirs.Read(make([]byte, 256))
				_, _ = theirs.Write([]byte{0x20, 2, 0, 0}) // CONNACK: accepted
				_, _ = io.Copy(io.Discard, theirs)
			}()
			return ours, nil
		}
		start(t, h, collect(t, Session{Dial: slow}, at(address, "field/tk1")))
		later(announceAfter + 2*time.Second)
		n := h.noticed("comm-loss")
		if len(n) != 1 || !strings.Contains(n[0].Note, "it has not answered yet") {
			t.Errorf("told: %+v", n)
		}
	})
}

// A broker that goes silent with the connection open, as behind a link that swallows everything, is told of within a minute,
// and as silent since it was last heard. If it lets us in again at once, as after a router has forgotten an idle connection,
// that is no event.
func TestASilentBrokerIsToldOfWithinAMinute(t *testing.T) {
	for _, back := range []bool{false, true} {
		t.Run(fmt.Sprintf("back at once %t", back), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newMemo()
				welcome := scripted(func(s *script) {
					if sub, ok := s.welcome(); ok && s.granted(sub) {
						s.listen()
					}
				})
				dials := 0
				dial := func(ctx context.Context, network, address string) (net.Conn, error) {
					if dials++; dials > 1 && !back {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return welcome(ctx, network, address)
				}
				heard := time.Now()
				start(t, h, collect(t, Session{Dial: dial}, at(address, "field/tk1")))
				later(time.Minute)
				n := h.noticed("comm-loss")
				switch {
				case back && (len(n) > 0 || dials < 2):
					t.Errorf("told %+v after %d connections", n, dials)
				case !back && (len(n) != 1 || !strings.Contains(n[0].Note, "has not answered") || n[0].Since.Sub(heard).Abs() > time.Second):
					t.Errorf("told %+v of a broker that was last heard at %s", n, heard)
				case !back && len(h.all("radio/field-tk1")) != 1:
					t.Errorf("the point is %v", h.all("radio/field-tk1"))
				}
			})
		})
	}
}

func TestTwoProgramsWithOneClientID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		later(time.Second) // of two that come at the same instant, this broker now and then lets both in
		start(t, newMemo(), collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		later(10 * time.Minute)
		n := h.noticed("comm-loss")
		if len(n) == 0 || !strings.Contains(n[0].Note, "another program with the client id") {
			t.Errorf("told: %+v", n)
		}
		if b.attempts() > 200 {
			t.Errorf("%d connections in ten minutes", b.attempts())
		}
	})
}

func TestRefusedSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		b.forbid = "secret/"
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "secret/tk1", "field/tk2")))
		later(time.Minute)
		n := h.noticed("subscription-refused")
		if len(n) != 1 || n[0].Source != "radio secret/tk1" || !n[0].Until.IsZero() {
			t.Fatalf("told: %+v, want one notice of radio secret/tk1, open", n)
		}
		if !strings.Contains(n[0].Note, "secret/tk1") {
			t.Fatalf("told %q, want the topic in it", n[0].Note)
		}
		if r := h.all("radio/secret-tk1"); len(r) != 1 || r[0].Quality != collectors.Bad || r[0].Err == nil {
			t.Errorf("the point is %+v", r)
		}
		b.publish(t, "field/tk2", "3")
		momentarily()
		if got := h.goods("radio/field-tk2"); len(got) != 1 {
			t.Errorf("the other topic: %v", got)
		}
		b.mu.Lock()
		b.forbid = ""
		b.mu.Unlock()
		b.cut()
		later(time.Minute)
		if n := h.noticed("subscription-refused"); len(n) != 2 || n[1].Until.IsZero() {
			t.Errorf("permitted again, and told: %+v", n)
		}
	})
}

func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		d := at(address, "field/tk1", "field/tk2")
		d.Points[0].ExpectEvery = 10 * time.Minute
		start(t, h, collect(t, Session{Dial: b.dial}, d))
		later(14 * time.Minute)
		heard := time.Now()
		b.publish(t, "field/tk1", "5")
		momentarily()
		later(14 * time.Minute)
		if n := h.noticed("silent"); len(n) != 0 {
			t.Fatalf("too early: %+v", n)
		}
		later(2 * time.Minute)
		n := h.noticed("silent")
		if len(n) != 1 || n[0].Source != "radio/field-tk1" || !n[0].Until.IsZero() {
			t.Fatalf("told: %+v, want one notice of radio/field-tk1, open", n)
		}
		if off := n[0].Since.Sub(heard); off.Abs() > groupWait {
			t.Fatalf("told of silence since %s after the message, want 0", off)
		}
		all := h.all("")
		last := all[len(all)-1]
		if len(all) != 2 || last.Quality != collectors.Bad || !strings.Contains(last.Err.Error(), "silent for 15m") {
			t.Errorf("readings: %+v", all)
		}
		for range 3 { // one that is heard again is silent no more, and a second silence is one of its own
			told, back := len(h.noticed("silent")), time.Now()
			b.publish(t, "field/tk1", "6")
			later(2 * time.Second)
			n := h.noticed("silent")
			if len(n) != told+1 || n[told].Until.Sub(back).Abs() > groupWait || n[told].Since.Sub(heard).Abs() > groupWait {
				t.Fatalf("heard again, and told: %+v, want one more from %s to %s", n, heard, back)
			}
			heard = back
			later(16 * time.Minute)
			n = h.noticed("silent")
			if len(n) != told+2 || !n[told+1].Until.IsZero() || n[told+1].Since.Sub(heard).Abs() > groupWait {
				t.Fatalf("silent again, and told: %+v, want one more since %s", n, heard)
			}
		}
		if got := h.all("radio/field-tk1"); len(got) != 8 {
			t.Errorf("%d readings, want 4 that came and 4 of the silences: %v", len(got), got)
		}
	})
}

func TestANoticeThatWasNotTakenIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		later(time.Minute)
		h.mu.Lock()
		h.deny = errors.New("disk full")
		h.mu.Unlock()
		b.down()
		later(time.Hour)
		h.mu.Lock()
		h.deny = nil
		h.mu.Unlock()
		later(time.Minute)
		if n := h.noticed("comm-loss"); len(n) != 1 {
			t.Errorf("told: %+v", n)
		}
	})
}

// A broker that closes connections and then takes none any more has ended: nobody else is to blame.
func TestABrokerThatEndsIsNoOtherProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		later(time.Minute)
		b.cut()
		later(5 * time.Second)
		b.down()
		later(10 * time.Minute)
		n := h.noticed("comm-loss")
		if len(n) != 1 || !strings.Contains(n[0].Note, "connection refused") || strings.Contains(n[0].Note, "another program") {
			t.Errorf("told: %+v", n)
		}
	})
}
