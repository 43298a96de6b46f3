package mqtt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"

	"gauger/collectors"
)

// bare is a message that nobody has sent.
type bare struct {
	paho.Message
	payload  []byte
	retained bool
}

func (b bare) Topic() string   { return "t" }
func (b bare) Payload() []byte { return b.payload }
func (b bare) Retained() bool  { return b.retained }
func (b bare) Duplicate() bool { return false }
func (b bare) Qos() byte       { return 1 }

func TestTheQueueIsBounded(t *testing.T) {
	for _, size := range []int{1, 64 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, stop := newQueue(), make(chan struct{})
				taken := make(chan int)
				go func() {
					n := 0
					for q.put(arrival{Message: bare{payload: make([]byte, size)}}, stop) {
						n++
					}
					taken <- n
				}()
				synctest.Wait()
				held := len(q.items)
				if held > queueItems || q.bytes > queueBytes || held < min(queueItems, queueBytes/(size+1)) {
					t.Errorf("%d messages, %d bytes", held, q.bytes)
				}
				drained := 0
				for range 3 { // room is made, and used
					drained += len(q.take())
					synctest.Wait()
				}
				if len(q.items) != held {
					t.Errorf("%d messages after room was made, not %d", len(q.items), held)
				}
				close(stop)
				if n := <-taken; n != held+drained {
					t.Errorf("%d went in, %d came out, %d are left", n, drained, held)
				}
			})
		})
	}
}

// TestAGroupIsNotWrittenOver: the room of groups is used again, of parts of a long queue too, and never while they are looked at.
func TestAGroupIsNotWrittenOver(t *testing.T) {
	q, never, dice := newQueue(), make(chan struct{}), rand.New(rand.NewPCG(1, 1))
	put, taken := 0, 0
	var held [][]arrival
	release := func() {
		for _, a := range held[0] {
			if a.sentLen != taken {
				t.Fatalf("message %d stands where %d was taken", a.sentLen, taken)
			}
			taken++
		}
		q.reuse(held[0])
		held = held[1:]
	}
	for range 300 {
		for range dice.IntN(groupItems * 3 / 2) {
			if len(q.items) < queueItems {
				q.put(arrival{Message: bare{}, sentLen: put}, never)
				put++
			}
		}
		held = append(held, q.take())
		for len(held) > dice.IntN(4) {
			release()
		}
	}
	if taken < 100_000 {
		t.Errorf("only %d messages of %d were looked at", taken, put)
	}
}

func TestALoneMessageDoesNotWaitLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		never := make(chan struct{})
		q.put(arrival{Message: bare{}}, never)
		begin := time.Now()
		if got := q.takeGroup(t.Context()); len(got) != 1 || time.Since(begin) > groupQuiet {
			t.Errorf("%d messages after %s", len(got), time.Since(begin))
		}
		ended := make(chan struct{})
		go func() { // a stream that never pauses and never fills the window
			beat := time.NewTicker(400 * time.Microsecond)
			defer beat.Stop()
			for range 100 {
				<-beat.C
				q.put(arrival{Message: bare{}}, never)
			}
			close(ended)
		}()
		<-time.After(time.Millisecond)
		begin = time.Now()
		if got := q.takeGroup(t.Context()); len(got) < 4 || time.Since(begin) > groupWait {
			t.Errorf("%d messages after %s", len(got), time.Since(begin))
		}
		<-ended
	})
}

func TestTheMemoryOfRecentMessagesIsBounded(t *testing.T) {
	r := newRecentMessages()
	for key := range uint64(3 * recentItems) {
		r.remember(key)
		r.remember(key)
	}
	if len(r.seen) != recentItems || len(r.ring) != recentItems {
		t.Errorf("%d and %d", len(r.seen), len(r.ring))
	}
	if !r.has(3*recentItems-1) || !r.has(2*recentItems) || r.has(2*recentItems-1) {
		t.Error("it does not hold the latest")
	}
}

// flood is a broker without a window: it sends everything at once, and after a broken connection all that was not
// acknowledged once more.
type flood struct {
	messages int
	mu       sync.Mutex
	acked    map[uint16]bool
	visits   int
}

func (f *flood) play(s *script) {
	f.mu.Lock()
	f.visits++
	again := f.visits > 1
	f.mu.Unlock()
	sub, ok := s.welcomeBack(again)
	if !ok || !s.granted(sub) {
		return
	}
	go s.listen()
	pings := make(chan struct{}, 10)
	defer close(pings)
	go func() {
		for i := range f.messages {
			raw := encoded("field/tk1", uint16(i+1), []byte(sample(float64(i), noon.Add(time.Duration(i)*time.Second))))
			if again {
				raw[0] |= 8 // DUP
			}
			if !f.done(i) && !s.send(raw...) {
				return
			}
		}
		for range pings { // only then: one writer at a time
			s.send(0xd0, 0)
		}
	}()
	for p := range s.got {
		switch p := p.(type) {
		case *packets.PubackPacket:
			f.mu.Lock()
			f.acked[p.MessageID] = true
			f.mu.Unlock()
		case *packets.PingreqPacket:
			signal(pings)
		}
	}
}

func (f *flood) done(i int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.acked[uint16(i+1)]
}

func TestMoreThanTheQueueHoldsWhileTheDiskIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newMemo()
		var open atomic.Bool
		h.emitting = func([]collectors.Reading) error {
			if open.Load() {
				return nil
			}
			return errors.New("disk full")
		}
		const messages = queueItems + groupItems + 1500 // a group is with the committer, and the rest finds no room
		f := &flood{messages: messages, acked: map[uint16]bool{}}
		stop := start(t, h, collect(t, Session{Dial: scripted(f.play)}, timed("field/tk1")))
		later(10 * time.Minute) // the pings find no answer behind what the reader cannot get rid of
		if f.visits < 2 || len(f.acked) > 0 {
			t.Errorf("%d connections, %d acknowledged; the queue was not full", f.visits, len(f.acked))
		}
		open.Store(true)
		later(10 * time.Minute)
		stop()
		got := h.goods("radio/level")
		slices.Sort(got)
		var want []float64
		for i := range messages {
			want = append(want, float64(i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d messages became %d readings", messages, len(got))
		}
		if len(f.acked) != messages {
			t.Errorf("%d of %d are acknowledged", len(f.acked), messages)
		}
	})
}
