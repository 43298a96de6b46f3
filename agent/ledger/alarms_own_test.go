package ledger

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// limit is a rule on a pressure, which has no false echoes.
func limit(r Rule) func(*Site) {
	return func(s *Site) {
		ruled(r)(s)
		s.Rules[0].Point = "plc/pressure"
	}
}

// stamped is a value with its device's time.
type stamped struct {
	at    time.Time
	value float64
}

// told are the events in the outbox: where they begin and end, and their notes.
func (b *bench) episodes() (all []string) {
	for _, e := range b.bodies(Events) {
		all = append(all, fmt.Sprint(e["startTimeString"], " ", e["endTimeString"], " ", e["note"]))
	}
	return all
}

// report hands over a device's own reading, now.
func (b *bench) report(point string, s stamped) {
	b.t.Helper()
	b.emit(point, s.value, func(r *collectors.Reading) { r.At = s.at.Round(0) })
}

// hear lets the clock be heard each second.
func (b *bench) hear(d time.Duration) {
	b.t.Helper()
	for range int(d / time.Second) {
		pass(time.Second)
		if err := b.Tick(time.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestOneReadingOpensARuleAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, limit(Rule{Above: new(100.0), Urgent: true}))
		b.emit("pressure", 50)
		pass(10 * time.Second)
		begin := time.Now()
		b.emit("pressure", 150)
		if got := b.rules(); len(got) != 1 {
			t.Fatalf("events %v with the first reading over the limit, want one", got)
		}
		pass(12 * time.Second)
		end := time.Now()
		b.emit("pressure", 50)
		b.hear(40 * time.Second)
		const form = "2006-01-02T15:04:05"
		want := begin.UTC().Format(form) + " " + end.UTC().Format(form) + " at 150 in"
		if got := b.episodes(); len(got) != 2 || got[1] != want {
			t.Errorf("events %q, want the second to be %q", got, want)
		}
	})
}

func TestABacklogMakesTheEventThatItHolds(t *testing.T) {
	for _, urgent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, limit(Rule{Above: new(100.0), Urgent: urgent}))
			now := time.Now()
			for _, s := range []stamped{{now.Add(-30 * time.Minute), 50}, {now.Add(-25 * time.Minute), 150}, {now.Add(-20 * time.Minute), 50}} {
				b.report("pressure", s)
			}
			b.hear(40 * time.Second)
			const form = "2006-01-02T15:04:05"
			want := now.Add(-25*time.Minute).UTC().Format(form) + " " + now.Add(-20*time.Minute).UTC().Format(form) + " at 150 in"
			got := b.episodes()
			if len(got) == 0 || got[len(got)-1] != want {
				t.Errorf("urgent %t: events %q, want the last to be %q", urgent, got, want)
			}
		})
	}
}

// What a device kept comes in pieces: that the first of them is old does not mean that its value still stands.
func TestACutBacklogIsNotTakenForALongCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, limit(Rule{Above: new(100.0), For: 10 * time.Minute}))
		now := time.Now()
		b.report("pressure", stamped{now.Add(-25 * time.Minute), 150})
		b.hear(5 * time.Second)
		b.report("pressure", stamped{now.Add(-24 * time.Minute), 50})
		b.report("pressure", stamped{now.Add(-20 * time.Minute), 50})
		b.hear(40 * time.Second)
		if got := b.episodes(); len(got) != 0 {
			t.Errorf("a minute over the limit is an event of ten: %q", got)
		}
	})
}

func TestOneFalseEchoOfATankIsNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) {
			ruled(Rule{Above: new(200.0), Urgent: true})(s)
			s.Rules[0].Point = "plc/level"
		})
		now := time.Now()
		b.report("level", stamped{now.Add(-50 * time.Second), 100})
		echo := stamped{now.Add(-40 * time.Second), 230}
		b.report("level", echo)
		b.report("level", echo) // the same one, delivered once more
		b.report("level", stamped{now.Add(-30 * time.Second), 100})
		b.hear(40 * time.Second)
		if got := b.episodes(); len(got) != 0 {
			t.Errorf("one echo gave %q", got)
		}
		b.report("level", stamped{time.Now(), 230})
		pass(10 * time.Second)
		b.report("level", stamped{time.Now(), 230})
		if got := b.episodes(); len(got) != 1 {
			t.Errorf("two readings over the limit gave %q, want one event", got)
		}
	})
}

func TestOneLostPollIsNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, limit(Rule{Bad: true, Urgent: true}))
		bad := func(r *collectors.Reading) { r.Quality = collectors.Bad }
		b.emit("pressure", 50)
		pass(10 * time.Second)
		b.emit("pressure", 0, bad)
		b.hear(10 * time.Second)
		b.emit("pressure", 50)
		b.hear(40 * time.Second)
		if got := b.episodes(); len(got) != 0 {
			t.Errorf("one lost poll gave %q", got)
		}
	})
}

// The same readings make the same events whether they come as they are made or all at once afterwards.
func TestABacklogMakesTheSameEventsAsLive(t *testing.T) {
	rules := []Rule{
		{Above: new(100.0)}, {Above: new(100.0), Clear: new(60.0), For: 45 * time.Second}, {Below: new(40.0), For: 5 * time.Second}, {Equals: new(90.0)},
	}
	for seed := range uint64(12) {
		rule := rules[seed%4]
		play := func(late bool) (events []string) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, limit(rule))
				r := rand.New(rand.NewPCG(seed, 7))
				var all []stamped
				at := time.Now()
				for range 60 {
					at = at.Add(time.Duration(1+r.IntN(50)) * time.Second)
					all = append(all, stamped{at, []float64{30, 50, 90, 150}[r.IntN(4)]})
				}
				all = append(all, stamped{at.Add(time.Minute), 50}, stamped{at.Add(2 * time.Minute), 50})
				if late {
					pass(time.Until(at) + 3*time.Minute)
				}
				for _, s := range all {
					if !late {
						b.hear(time.Until(s.at))
					}
					b.report("pressure", s)
				}
				b.hear(3 * time.Minute)
				events = b.episodes()
			})
			return events
		}
		live, late := play(false), play(true)
		if len(live) == 0 || !slices.Equal(live, late) {
			t.Errorf("seed %d: live %d events, the backlog %d:\n%q\n%q", seed, len(live), len(late), live, late)
		}
	}
}
