package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/collectors"
)

// stepped is an instant as a box says it whose wall clock was set by so much: the monotonic clock stays.
func stepped(t time.Time, by time.Duration) time.Time {
	inside := (*struct{ wall uint64 })(unsafe.Pointer(&t)) // the seconds of an instant that has both clocks begin at bit 30
	inside.wall += uint64(int64(by/time.Second)) << 30
	return t
}

// wrong is a site on a box whose wall clock is wrong by off. Its time is data: a bubble of synctest has no clock that
// could be set beside the monotonic one.
type wrong struct {
	*bench
	at  time.Time // by a right clock, with the monotonic one
	off time.Duration
}

func newWrong(t *testing.T, change func(*Site)) *wrong {
	w := &wrong{bench: newBench(t, change)}
	w.at = w.started
	return w
}

func (w *wrong) now() time.Time { return stepped(w.at, w.off) }

// read hands over a reading, stamped by the box's clock, or by a device's own that is right.
func (w *wrong) read(point collectors.Point, value float64, own bool) {
	w.t.Helper()
	r := collectors.Reading{Point: point, Value: value, Unit: "in", Quality: collectors.Good, At: w.now()}
	if own {
		r.At = w.at.Round(0)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.Ledger.emit(w.now(), "plc", []collectors.Reading{r}); err != nil {
		w.t.Fatal(err)
	}
}

// pass lets time go by, in which the ledger hears the clock.
func (w *wrong) pass(d time.Duration) {
	w.t.Helper()
	for range d / tickEvery {
		w.at = w.at.Add(tickEvery)
		if err := w.Tick(w.now()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// second gives the site a second tank.
func second(s *Site) {
	two := s.Tanks[0]
	two.ID, two.Level = "TK-2", "plc/level2"
	s.Tanks = append(slices.Clone(s.Tanks), two)
}

// The box's clock is set within a load, by a minute to a day, forward or back, in the second in which another tank
// begins to fill. The readings carry the box's clock, or the devices' own, which goes on as it was: one ticket, whose
// levels and times are right.
func TestAStepWithinALoadIsNoTransfer(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, step := range []time.Duration{-3600, -40, 90, 600, 3600, 20 * 3600, 86400 + 600} {
			t.Run(fmt.Sprintf("own %v, step %d s", own, step), func(t *testing.T) {
				w := newWrong(t, second)
				start := w.at.Add(clockedFrom * time.Second)
				for s := 0.0; s < clockedEnd; s += 10 {
					if s == clockedFrom+900 {
						w.off = step * time.Second
					}
					w.read("plc/level", 120-min(max(0, s-clockedFrom), clockedTo-clockedFrom)/30+0.02*math.Sin(s), own)
					w.read("plc/level2", 30+max(0, s-clockedFrom-900)/360+0.02*math.Cos(s), own)
					w.pass(10 * time.Second)
				}
				if !own || w.off > 24*time.Hour { // beside a clock that is believed again the devices' cannot be
					start = start.Add(w.off)
				}
				all, err := w.Tickets()
				if err != nil || len(all) != 1 {
					t.Fatalf("%d tickets, want 1 (%v)", len(all), err)
				}
				l := all[0].Load
				if math.Abs(l.Open-120) > 0.05 || math.Abs(l.Close-60) > 0.05 {
					t.Errorf("%.2f to %.2f in, want 120 to 60", l.Open, l.Close)
				}
				if l.Start.Sub(start).Abs() > time.Minute || (l.End.Sub(l.Start)-30*time.Minute).Abs() > time.Minute {
					t.Errorf("from %s to %s, want half an hour from %s", l.Start, l.End, start)
				}
			})
		}
	}
}

// valued is a site whose tank's level is a tag value and a production target, with a rule on it.
func valued(s *Site) {
	high := 100.0
	s.Values = []Value{
		{Well: guid, Code: "Production Target Oil", Point: "plc/level", Every: 10 * time.Second},
		{Well: guid, Code: "Production Target Oil", Point: "plc/level", Every: 10 * time.Second, Target: true},
	}
	s.Rules = []Rule{{Name: "high", Point: "plc/level", Above: &high, Urgent: true}}
}

// dates are the instants that the waiting records of all streams carry.
func (w *wrong) dates() (all []time.Time) {
	w.t.Helper()
	add := func(m any, key, layout string) {
		text, _ := m.(map[string]any)[key].(string)
		at, err := time.ParseInLocation(layout, text, time.UTC)
		if err != nil {
			w.t.Fatalf("%s %q: %v", key, text, err)
		}
		all = append(all, at)
	}
	for _, stream := range []string{TagValues, Targets} {
		for _, body := range w.bodies(stream) {
			for _, v := range body["values"].([]any) {
				add(v, "timestamp", time.RFC3339Nano)
			}
		}
	}
	for _, body := range w.bodies(Events) {
		add(body, "startTimeString", "2006-01-02T15:04:05")
		add(body, "endTimeString", "2006-01-02T15:04:05")
	}
	return all
}

// live lets the site live for a while: a reading each ten seconds, above the rule's limit in the second half.
func (w *wrong) live(d time.Duration) {
	for k := range d / (10 * time.Second) {
		level := 90.0
		if 2*k >= d/(10*time.Second) {
			level = 110
		}
		w.read("plc/level", level, false)
		w.pass(10 * time.Second)
	}
	w.read("plc/level", 90, false)
	for range 3 {
		w.pass(10 * time.Second)
		w.read("plc/level", 90, false)
	}
}

// After a step of any size that is no correction nothing leaves that carries the clock, until the clock is believed again:
// then it leaves with its right time, whichever clock proved right.
func TestNothingLeavesByAClockThatStepped(t *testing.T) {
	for _, step := range []time.Duration{24 * time.Hour, 73 * 365 * 24 * time.Hour, -3 * time.Hour, 10 * time.Minute} {
		for what, right := range map[string]bool{"it comes back": false, "the service's date confirms it": true, "it stays for a quarter of an hour": true} {
			t.Run(fmt.Sprint(step, ", ", what), func(t *testing.T) {
				w := newWrong(t, valued)
				w.live(time.Minute)
				before := len(w.dates())
				if before < 10 {
					t.Fatalf("%d instants left before the step: a clock of which nothing is known holds tickets only", before)
				}
				from := w.at
				w.off = step
				w.live(2 * time.Minute) // the first reading comes before the ledger hears the clock
				if n := len(w.dates()) - before; n != 0 {
					t.Fatalf("%d instants left after the step: %v", n, w.dates()[before:])
				}
				to := w.at
				switch what {
				case "it comes back":
					w.off = 0
				case "the service's date confirms it":
					w.clock.Compare(w.now(), w.now().Round(0).Add(time.Second), true)
				default:
					w.pass(clock.SteadyAfter)
					if n := len(w.dates()) - before; step < 0 && n != 0 {
						t.Errorf("%d instants left by a clock that went back", n)
					} else if step < 0 {
						w.clock.ConfirmAt(w.now())
					}
				}
				w.pass(tickEvery)
				shift := time.Duration(0)
				if right {
					shift = step
				}
				late := 0
				for _, at := range w.dates() {
					if at.Add(-shift).After(from.Add(-time.Second)) && at.Add(-shift).Before(to.Add(2*time.Minute)) {
						late++
					} else if at.Before(w.started.Add(-time.Second)) || at.After(from.Add(time.Second)) {
						t.Errorf("an instant %s, want none but about %s moved by %s", at, from, shift)
					}
				}
				if want := 2*12 + 2; late < want {
					t.Errorf("%d instants left once the clock was believed, want at least %d", late, want)
				}
			})
		}
	}
}

// A time daemon corrects a clock by little, and daylight saving time moves no clock: nothing waits.
func TestACorrectionOfTheClockHoldsNothing(t *testing.T) {
	for _, step := range []time.Duration{time.Second, 5 * time.Second, -5 * time.Second, time.Minute, -time.Minute} {
		w := newWrong(t, valued)
		w.live(time.Minute)
		w.off = step
		before := len(w.dates())
		w.read("plc/level", 90, false)
		w.live(time.Minute)
		if n := len(w.dates()) - before; n < 12 {
			t.Errorf("a step of %s: %d instants left in a minute after it, want 12 and more", step, n)
		}
	}
}

// Where readings are a quarter of an hour apart, each counts: also the first ones after the box's clock was set back.
func TestAStepBackCostsNoReading(t *testing.T) {
	haul := func(step time.Duration) *tank.Load {
		w := newWrong(t, second)
		for s := 0.0; s < clockedEnd+3600; s += 300 {
			if s == clockedFrom+600 {
				w.off = step
			}
			w.read("plc/level", 120-min(max(0, s-clockedFrom), clockedTo-clockedFrom)/30+0.01*math.Sin(s), false)
			w.pass(5 * time.Minute)
		}
		all, err := w.Tickets()
		if err != nil || len(all) != 1 {
			t.Fatalf("a step of %s: %d tickets, want 1 (%v)", step, len(all), err)
		}
		return all[0].Load
	}
	right := haul(0)
	for _, step := range []time.Duration{-time.Hour, -10 * time.Minute, time.Hour} {
		if l := haul(step); math.Abs(l.Open-right.Open) > 0.01 || math.Abs(l.Close-right.Close) > 0.01 || l.Samples != right.Samples || l.Gap != right.Gap {
			t.Errorf("a step of %s: %.2f to %.2f in of %d readings (gap %s), without it %.2f to %.2f of %d (gap %s)", step,
				l.Open, l.Close, l.Samples, l.Gap, right.Open, right.Close, right.Samples, right.Gap)
		}
	}
}

// Oil moves from one tank to another while the clock stands in 1970, and the device dies before it is set: the event tells
// of the time by the new clock.
func TestATransferOfAnUnsetClockHasTheNewTime(t *testing.T) {
	for _, sync := range []bool{false, true} { // the time daemon vouches for the new clock at once
		w := newWrong(t, second)
		const since = -56 * 365 * 24 * time.Hour
		w.off = since
		w.Ledger.started = w.now()
		var marked time.Time // by the time daemon
		w.clock = clock.New(w.now(), w.at.Round(0).AddDate(-1, 0, 0), w.site.Steady(), func() time.Time { return marked })
		start := w.at.Add(time.Hour)
		for s := 0.0; s < 2*3600; s += 10 {
			moved := min(max(0, s-3600), 1800) / 30
			w.read("plc/level", 120-moved, false)
			w.read("plc/level2", 30+moved, false)
			w.pass(10 * time.Second)
		}
		w.off = 0
		if sync {
			marked = w.at.Round(0)
		}
		w.pass(3 * time.Hour)
		n := 0
		for _, e := range w.bodies(Events) {
			at, err := time.Parse("2006-01-02T15:04:05", e["startTimeString"].(string))
			if err != nil || at.Year() < 2026 {
				t.Errorf("sync %v: an event %s of %s", sync, e["ruleName"], e["startTimeString"])
			}
			if e["ruleName"] == "transfer" {
				n++
				if at.Sub(start).Abs() > time.Minute {
					t.Errorf("sync %v: a transfer of %s, want %s", sync, at, start)
				}
			}
		}
		if n != 1 {
			t.Errorf("sync %v: %d transfers, want 1: %v", sync, n, w.rules())
		}
	}
}

// A ticket whose times are by a clock that the service says is wrong asks for a review, and not one by a device's own clock. Once the clock
// is set right the times of what is still held go with it, and once a person says that it is right there is nothing to look at.
func TestATicketByAClockThatTheServiceDeniesAsksForAReview(t *testing.T) {
	const ahead, reason = 3 * time.Hour, "the service says that it is 3 h earlier than this box's clock, by which its times are"
	release := func(w *wrong) {
		if err := w.Release(w.Snapshot().Held[0].Handle, "pat"); err != nil {
			t.Error(err)
		}
	}
	for what, x := range map[string]struct {
		own   bool
		early bool // before the gauge-off, which the box's clock has passed: the ticket's day would be another one
		waits bool // and in the end still
		then  func(w *wrong)
		asks  bool
		moved time.Duration
	}{
		"another day":                       {early: true, waits: true},
		"another day, the device's clock":   {early: true, own: true},
		"another day, the clock is set":     {early: true, then: func(w *wrong) { w.off = 0 }},
		"another day, a person says so":     {early: true, then: func(w *wrong) { w.clock.ConfirmAt(w.now()) }, moved: ahead},
		"another day, the service is right": {early: true, then: func(w *wrong) { w.clock.Compare(w.now(), w.now().Round(0), true) }, moved: ahead},
		"another day, a person releases it": {early: true, then: release, moved: ahead, asks: true},
		"nobody does anything":              {asks: true, moved: ahead},
		"the device's clock":                {own: true},
		"the clock is set":                  {then: func(w *wrong) { w.off = 0 }},
		"a person says it is right":         {then: func(w *wrong) { w.clock.ConfirmAt(w.now()) }, moved: ahead},
		"the service says so in the end":    {then: func(w *wrong) { w.clock.Compare(w.now(), w.now().Round(0), true) }, moved: ahead},
	} {
		w := newWrong(t, func(s *Site) {
			hour := 10
			if s.Hold = 2 * time.Hour; x.early {
				hour = 3
			}
			here := time.Now().UTC()
			s.Zone = time.FixedZone("", int(here.Truncate(24*time.Hour).Add(time.Duration(hour)*time.Hour).Sub(here).Seconds()))
		})
		reason := reason
		if x.early {
			reason += ", on another day"
		}
		w.off = ahead
		w.started, w.clock = w.now(), clock.New(w.now(), time.Time{}, clock.SteadyAfter, nil)
		for range 3 {
			w.clock.Compare(w.now(), w.at.Round(0), true)
		}
		start := w.at.Add(clockedFrom * time.Second)
		for s := 0.0; s < clockedEnd && len(w.Snapshot().Held) == 0; s += 10 {
			w.read("plc/level", 120-min(max(0, s-clockedFrom), clockedTo-clockedFrom)/30+0.02*math.Sin(s), x.own)
			w.pass(10 * time.Second)
		}
		if held := w.Snapshot().Held; len(held) != 1 || held[0].Number == "" != (x.early && !x.own) || slices.Contains(held[0].Load.Review, reason) == x.own {
			t.Fatalf("%s: held are %+v", what, held)
		}
		if x.then != nil {
			x.then(w)
		}
		for s := 0.0; s < 5400; s += 10 {
			w.read("plc/level", 60+0.02*math.Sin(s), x.own)
			w.pass(10 * time.Second)
		}
		all, err := w.Tickets()
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %d tickets, want 1 (%v)", what, len(all), err)
		}
		if held := w.Snapshot().Held; len(held) == 1 != x.waits {
			t.Errorf("%s: held are %+v", what, held)
		} else if x.waits {
			continue
		}
		if l := all[0].Load; slices.Contains(l.Review, reason) != x.asks || strings.Contains(string(all[0].Ticket), reason) != x.asks {
			t.Errorf("%s: it asks for a review because of %q: %s", what, l.Review, all[0].Ticket)
		} else if l.Start.Sub(start.Add(x.moved)).Abs() > time.Minute {
			t.Errorf("%s: it began at %s, want %s", what, l.Start, start.Add(x.moved))
		}
	}
}
