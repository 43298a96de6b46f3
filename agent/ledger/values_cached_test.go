package ledger

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// TestALevelOfARadioNodeMakesItsTicketAtItsOwnTime: a node checks in every few minutes, the gateway is asked every
// ten seconds, and each reading has the time of the check-in, as its age tells it: the same again and again until the
// next one, up to a minute off, and now and then a reading is bad because the age could not be read.
func TestALevelOfARadioNodeMakesItsTicketAtItsOwnTime(t *testing.T) {
	for name, off := range map[string]time.Duration{"exact": 0, "half a minute late": 30 * time.Second, "half a minute early": -30 * time.Second} {
		for _, every := range []time.Duration{5 * time.Minute, 15 * time.Minute} {
			t.Run(fmt.Sprint(name, ", every ", every), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { radioHaul(t, every, off) })
			})
		}
	}
}

func radioHaul(t *testing.T, every, off time.Duration) {
	b := newBench(t, func(s *Site) {
		s.Values = []Value{{Point: "plc/level", Code: "Production Target Oil", Well: "w"}}
	})
	level := func(elapsed time.Duration) float64 {
		return 180 - 4*min(max(elapsed-time.Hour, 0), 25*time.Minute).Minutes()
	}
	begin := time.Now().Add(-every * 4 / 5) // the first answer is an old one
	var checkIn time.Duration
	var at time.Time
	told := map[time.Duration]bool{}
	restarts := map[int]bool{200: true, 420: every < 10*time.Minute, 700: true} // while it is idle, drawn from, and at rest
	for round := 0; time.Since(begin) < 4*time.Hour; round++ {
		if restarts[round] {
			b.again()
			pass(40 * time.Second)
		}
		if checkIn = time.Since(begin) / every * every; !told[checkIn] { // a sample keeps the time that it was first given
			at, told[checkIn] = begin.Add(checkIn+off), true
			if at.After(time.Now()) {
				at = time.Now()
			}
		}
		b.emit("level", level(checkIn), func(r *collectors.Reading) {
			r.At = at
			if round%17 == 16 {
				r.At, r.Value, r.Quality, r.Err = time.Now(), math.NaN(), collectors.Bad, errors.New("its age cannot be read")
			}
		})
		pass(10 * time.Second)
		if err := b.Tick(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	tickets := b.bodies(Tickets)
	if len(tickets) != 1 {
		t.Fatalf("%d tickets, want 1", len(tickets))
	}
	for field, want := range map[string]time.Duration{"start": time.Hour, "end": 85 * time.Minute} {
		got, err := time.Parse(time.RFC3339, tickets[0][field].(string))
		if err != nil || got.Sub(begin.Add(want)).Abs() > every/2 { // a start is somewhere between two check-ins
			t.Errorf("%s %v (%v), want about %v", field, got, err, begin.Add(want))
		}
	}
	for field, want := range map[string]float64{"openingLevel": 180, "closingLevel": 80} {
		if got := tickets[0][field].(map[string]any)["level"].(float64); math.Abs(got-want) > 0.1 {
			t.Errorf("%s %.2f, want %.2f", field, got, want)
		}
	}
	for _, rule := range b.rules() {
		if rule != "load-needs-review" || every < 10*time.Minute { // two gauges in a load are few
			t.Errorf("an event %s, want none", rule)
		}
	}
	if n := len(b.bodies(TagValues)); n > 49 {
		t.Errorf("%d tag values of 48 check-ins", n)
	}
}

// TestASampleReadTwiceIsOneTagValue: a time on the monotonic clock, as a poll's is.
func TestASampleReadTwiceIsOneTagValue(t *testing.T) {
	b := newBench(t, func(s *Site) {
		s.Values = []Value{{Point: "plc/level", Code: "Production Target Oil", Well: "w"}}
	})
	at := time.Now()
	again := func(r *collectors.Reading) { r.At = at }
	b.emit("level", 180, again)
	b.emit("level", 180, again)
	if n := len(b.bodies(TagValues)); n != 1 {
		t.Errorf("%d tag values of one sample", n)
	}
	b.emit("level", 180)
	if n := len(b.bodies(TagValues)); n != 2 {
		t.Errorf("%d tag values of two samples", n)
	}
}
