package mqtt

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"gauger/collectors"
)

// keeper is a broker that kept messages for us and then has a live stream: it has as many on the way as its window
// allows, takes its time for every answer, and now and then more.
type keeper struct {
	kept, window int
	answer       time.Duration // after which it sends what it was told to
	stall        time.Duration // more than that, for every fifth answer
	every        time.Duration // of the live stream, which begins a while after the backlog
	live         int
}

func (k keeper) play(s *script) {
	<-time.After(k.answer)
	sub, ok := s.welcomeBack(true)
	if !ok {
		return
	}
	go s.listen()
	<-time.After(k.answer)
	if !s.granted(sub) {
		return
	}
	sent, turns := 0, 0
	next := func(n int) {
		for ; n > 0 && sent < k.kept; n-- {
			sent++
			s.send(encoded("field/tk1", uint16(sent), []byte(fmt.Sprint(sent)))...)
		}
	}
	next(k.window)
	told, beat := 0, time.NewTimer(time.Hour)
	defer beat.Stop()
	for {
		select {
		case p, more := <-s.got:
			if !more {
				return
			}
			if _, ping := p.(*packets.PingreqPacket); ping {
				s.send(0xd0, 0)
			}
			if _, ack := p.(*packets.PubackPacket); !ack {
				continue
			}
			if told++; told < sent && told%k.window != 0 {
				continue
			}
			wait := k.answer
			if turns++; turns%5 == 0 {
				wait += k.stall
			}
			<-time.After(wait)
			if next(k.window); told == k.kept {
				beat.Reset(k.every)
			}
		case <-beat.C:
			if sent < k.kept+k.live {
				sent++
				s.send(encoded("field/tk1", uint16(sent), []byte(fmt.Sprint(sent)))...)
				beat.Reset(k.every)
			}
		}
	}
}

// TestALiveStreamIsNoBacklog: what a broker had kept is held for old to the last message, and a stream without times that
// is live, and so fast that it never pauses for a second, is not.
func TestALiveStreamIsNoBacklog(t *testing.T) {
	const ms = time.Millisecond
	for _, k := range []keeper{
		{kept: 200, window: 20, every: 100 * ms},
		{kept: 200, window: 20, every: 10 * ms},
		{kept: 7, window: 20, every: 50 * ms},
		{kept: 200, window: 20, stall: 300 * ms, every: 100 * ms},
		{kept: 200, window: 20, answer: 60 * ms, stall: 300 * ms, every: 200 * ms},
		{kept: 60, window: 1, answer: 50 * ms, every: 200 * ms},
		{kept: 60, window: 1, every: 20 * ms},
	} {
		t.Run(fmt.Sprintf("%+v", k), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k.live = 100
				h := newMemo()
				start(t, h, collect(t, Session{Dial: scripted(k.play)}, at(address, "field/tk1")))
				later(time.Minute)
				all := h.all("radio/field-tk1")
				if len(all) != k.kept+k.live {
					t.Fatalf("%d readings of %d messages", len(all), k.kept+k.live)
				}
				fresh := slices.IndexFunc(all, func(r collectors.Reading) bool { return r.Quality == collectors.Good })
				if fresh < k.kept || fresh > k.kept+2 {
					t.Errorf("of %d messages that were kept and %d live ones the first %d were held for old", k.kept, k.live, fresh)
				}
				for i, r := range all {
					if old := i < fresh; r.AgeUnknown != old || old == (r.Quality == collectors.Good) || old != (r.Err != nil) {
						t.Fatalf("message %d: %+v", i, r)
					}
				}
			})
		})
	}
}

// TestAReconnectCostsALiveStreamLittle: the connection breaks six times while a value comes ten times a second.
func TestAReconnectCostsALiveStreamLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		later(time.Second)
		const messages, cuts = 1800, 6
		for i := range messages {
			b.publish(t, "field/tk1", fmt.Sprint(i))
			later(100 * time.Millisecond)
			if i%(messages/cuts) == 50 {
				b.cut()
			}
		}
		good, unknown := 0, 0
		for _, r := range h.all("radio/field-tk1") {
			if r.Quality == collectors.Good {
				good++
			} else if r.AgeUnknown {
				unknown++
			}
		}
		if good+unknown < messages || unknown > 8*cuts { // up to half a second away, and two before the stream is seen to be live
			t.Errorf("%d good, %d of unknown age, of %d", good, unknown, messages)
		}
	})
}
