package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// clocked is a recording of one load whose wall clock is not what it should be. Its times are seconds since it began.
type clocked struct {
	*bench
	begin  time.Time               // what a right clock says at 0
	wrong  func(s float64) float64 // by how many seconds the clock is wrong
	every  float64
	boot   int64
	booted float64
	noise  *rand.Rand
}

// The load: from 3 h on, 120 in down to 60 in at 2 in a minute.
const (
	clockedFrom = 3 * 3600.0
	clockedTo   = clockedFrom + 1800
	clockedEnd  = 5 * 3600.0
)

func newClocked(t *testing.T, begin string, wrong func(s float64) float64) *clocked {
	at, err := time.Parse(time.RFC3339, begin)
	if err != nil {
		t.Fatal(err)
	}
	return &clocked{bench: newBench(t, nil), begin: at, wrong: wrong, every: 10, boot: 1, noise: rand.New(rand.NewPCG(3, 3))}
}

// run plays the rows of a stretch.
func (c *clocked) run(from, to float64) {
	c.t.Helper()
	for s := from; s < to; s += c.every {
		level := 120 - min(max(0, s-clockedFrom), clockedTo-clockedFrom)/30
		r := collectors.Reading{
			Point: "plc/level", Unit: "in", Quality: collectors.Good, Value: level + 0.02*c.noise.NormFloat64(),
			At: c.begin.Add(time.Duration((s + c.wrong(s)) * float64(time.Second))), Boot: c.boot, Mono: time.Duration((s - c.booted) * float64(time.Second)),
		}
		if err := c.Host("plc").Emit(c.t.Context(), []collectors.Reading{r}); err != nil {
			c.t.Fatal(err)
		}
	}
}

// one wants exactly one ticket, with the right levels and with times that are right by the clock as it was at last.
func (c *clocked) one(what string) {
	c.t.Helper()
	all := c.bodies(Tickets)
	if len(all) != 1 {
		c.t.Errorf("%s: %d tickets, want 1", what, len(all))
		return
	}
	k := all[0]
	parsed := func(field string) float64 {
		at, err := time.Parse(time.RFC3339, k[field].(string))
		if err != nil {
			c.t.Fatal(err)
		}
		return at.Sub(c.begin).Seconds() - c.wrong(clockedEnd)
	}
	start, end := parsed("start")-clockedFrom, parsed("end")-clockedTo
	if math.Abs(start) > 60 || math.Abs(end) > 60 {
		c.t.Errorf("%s: starts %+.0f s and ends %+.0f s off: %v", what, start, end, k["comments"])
	}
	open, closing := k["openingLevel"].(map[string]any)["level"].(float64), k["closingLevel"].(map[string]any)["level"].(float64)
	if math.Abs(open-120) > 0.05 || math.Abs(closing-60) > 0.05 {
		c.t.Errorf("%s: %.2f to %.2f in, want 120 to 60", what, open, closing)
	}
	right := c.begin.Add(time.Duration((clockedFrom + c.wrong(clockedEnd)) * float64(time.Second)))
	number := k["ticketNumber"].(string)
	if number != Number("A", "TEST", "TK-1", right) && number != Number("A", "TEST", "TK-1", right.Add(-time.Minute)) {
		c.t.Errorf("%s: number %s for a start at %s", what, number, right)
	}
}

// set is a clock that stands at 1970 when the recording begins, and is set right at an instant.
func set(begin string, at float64) func(float64) float64 {
	t, _ := time.Parse(time.RFC3339, begin) // a test's constant
	return func(s float64) float64 {
		if s < at {
			return -float64(t.Unix())
		}
		return 0
	}
}

// A load that begins in an unset clock and ends after it was set, one that lies wholly in the unset clock, and both
// with a restart of the program or of the box inside: one ticket, one number, the right times.
func TestLoadInAnUnsetClock(t *testing.T) {
	const begin = "2026-03-02T09:00:00Z"
	for _, at := range []float64{clockedFrom + 600, clockedTo + 60, clockedTo + 3600} {
		for _, cut := range []float64{0, clockedFrom + 900, clockedTo + 900} {
			for _, box := range []bool{false, true} {
				if box && cut == 0 {
					continue
				}
				c := newClocked(t, begin, set(begin, at))
				c.run(0, min(cut, at))
				c.run(at, cut)
				if cut > 0 {
					c.again()
				}
				if box && cut > 0 {
					c.boot, c.booted = 2, cut-30
				}
				c.run(cut, at)
				if n := len(c.bodies(Tickets)) + len(c.bodies(Events)); n > 0 && cut < at {
					t.Errorf("%d records left while the clock was not set", n)
				}
				c.run(max(cut, at), 6*3600)
				c.one(fmt.Sprintf("set %+.0f s after the start, restart at %+.0f s (box %v)", at-clockedFrom, cut-clockedFrom, box))
				for _, e := range c.bodies(Events) {
					if s := e["startTimeString"].(string); s < "2026-03-02T08" || s > "2026-03-02T17" {
						t.Errorf("event %v of %s", e["ruleName"], s)
					}
				}
			}
		}
	}
}

// A clock that is set by minutes, hours or a day, forward or back, at any time about a load, on an ordinary day and on
// both daylight-saving days, across midnight and the production day: one ticket, by the new clock.
func TestStepsOfTheClockAboutALoad(t *testing.T) {
	for n, begin := range []string{"2026-03-02T09:00:00Z", "2026-03-08T04:30:00Z", "2026-11-01T03:45:00Z", "2026-05-11T20:50:00Z", "2026-05-12T03:50:00Z"} {
		for k, step := range []float64{-86400, -7200, -3600, -2400, -420, -40, 40, 420, 3300, 7200, 86400} {
			if (n+k)%3 > 0 {
				continue // each day has its share of the steps
			}
			rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
			at := clockedFrom - 1200 + 10*math.Floor(rng.Float64()*530)
			c := newClocked(t, begin, func(s float64) float64 {
				if s < at {
					return -step
				}
				return 0
			})
			c.run(0, clockedEnd)
			c.one(fmt.Sprintf("%s stepped %+.0f s at %+.0f s", begin, step, at-clockedFrom))
		}
	}
}

// The device dies a minute after the end of a load: the clock alone makes the ticket, within 50 minutes, and it says why
// somebody should look.
func TestDeviceDiesAfterTheEnd(t *testing.T) {
	for _, every := range []time.Duration{time.Second, 10 * time.Second, 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			began := time.Now()
			for s := time.Duration(0); s <= (clockedTo+60)*time.Second; s += every {
				level := 120 - min(max(0, s.Seconds()-clockedFrom), clockedTo-clockedFrom)/30
				b.emit("level", level+0.02*math.Sin(s.Seconds()))
				<-time.After(every)
			}
			for len(b.bodies(Tickets)) == 0 && time.Since(began) < 8*time.Hour {
				<-time.After(tickEvery)
				if err := b.Tick(time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			late := time.Since(began) - clockedTo*time.Second
			if all := b.bodies(Tickets); len(all) != 1 || late > 50*time.Minute || !strings.Contains(all[0]["comments"].(string), "needs review: readings stopped 6") {
				t.Errorf("every %s: %s after the end: %v", every, late, all)
			}
		})
	}
}

// A radio that checks in every quarter of an hour, with the time of its own clock; gauger is restarted inside the load,
// and the broker gives it the last message again. Nobody's clock has stepped.
func TestRestartBetweenSlowCheckIns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		check := func(at time.Time, s float64) {
			level := 120 - min(max(0, s-clockedFrom), clockedTo-clockedFrom)/30
			b.emit("level", level, func(r *collectors.Reading) { r.At = at.Round(0) })
		}
		var last time.Time
		lastLevel := 0.0
		for s := 0.0; s < 6*3600; s += 5 {
			if int(s)%900 == 300 {
				last, lastLevel = time.Now(), s
				check(last, s)
			}
			if s == clockedFrom+1000 {
				<-time.After(20 * time.Second)
				b.again()
				check(last, lastLevel)
			}
			<-time.After(5 * time.Second)
			if err := b.Tick(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if slices.Contains(b.rules(), "clock-step") {
			t.Errorf("events %v", b.rules())
		}
		if n := len(b.bodies(Tickets)); n != 1 {
			t.Errorf("%d tickets, want 1", n)
		}
	})
}
