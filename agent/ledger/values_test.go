package ledger

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/outbox"
)

// instants are when the queued values of a stream were read, in seconds since begin.
func (b *bench) instants(stream string, begin time.Time) (all []float64) {
	b.t.Helper()
	for _, set := range b.bodies(stream) {
		text := set["values"].([]any)[0].(map[string]any)["timestamp"].(string)
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			b.t.Fatal(err)
		}
		all = append(all, at.Sub(begin).Seconds())
	}
	return all
}

// TestTheFirstGoodReadingOfEachIntervalCounts: whatever the beat of the device and however it jitters, each interval that
// has a good reading has one record: of tag values and of targets, of a device that is polled and of one that speaks when
// it likes, also over a restart.
func TestTheFirstGoodReadingOfEachIntervalCounts(t *testing.T) {
	for _, c := range []struct {
		name                  string
		every, beat           time.Duration
		jitter                time.Duration // on each side
		readings, least, most int
	}{
		{"the device's own interval, polled", 10 * time.Second, 10 * time.Second, 40 * time.Millisecond, 200, 200, 200},
		{"an interval that drifts ahead", 10 * time.Second, 9990 * time.Millisecond, 40 * time.Millisecond, 200, 199, 200},
		{"an interval that drifts behind", 10 * time.Second, 10010 * time.Millisecond, 40 * time.Millisecond, 200, 200, 200},
		{"a radio that is seconds off", 10 * time.Second, 10 * time.Second, 2 * time.Second, 200, 200, 200},
		{"twice in an interval", 10 * time.Second, 5 * time.Second, 40 * time.Millisecond, 200, 100, 101},
		{"ten times in an interval", 10 * time.Second, time.Second, 40 * time.Millisecond, 200, 20, 21},
		{"an interval that the beat does not divide", 10 * time.Second, 7 * time.Second, 40 * time.Millisecond, 200, 140, 141},
		{"a beat that is slower than the interval", 10 * time.Second, 15 * time.Second, 40 * time.Millisecond, 100, 100, 100},
	} {
		for _, v := range []Value{{}, {Target: true}} {
			v.Well, v.Code, v.Point, v.Every = guid, "Production Target Oil", "plc/n", c.every
			t.Run(c.name+", "+v.stream(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, func(s *Site) { s.Values = []Value{v} })
					chance := rand.New(rand.NewPCG(1, uint64(c.beat)))
					begin := time.Now()
					for n := range c.readings {
						off := time.Duration(chance.Int64N(int64(2*c.jitter))) - c.jitter
						pass(time.Until(begin.Add(time.Duration(n)*c.beat + c.jitter + off)))
						b.emit("n", 7)
						if n == c.readings/2 {
							b.again()
						}
					}
					if got := b.box.Counts()[v.stream()].Accepted; int(got) < c.least || int(got) > c.most {
						t.Errorf("%d readings every %s gave %d records every %s, want %d to %d", c.readings, c.beat, got, c.every, c.least, c.most)
					}
				})
			})
		}
	}
}

// TestTheGridOfAValueStays: a late reading, a bad one, a change between, an outage and a clock that is set back.
func TestTheGridOfAValueStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) {
			s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/n", Every: 10 * time.Minute}}
		})
		begin := time.Now()
		at := func(seconds, value float64, change ...func(*collectors.Reading)) {
			t.Helper()
			when := begin.Add(time.Duration(seconds * float64(time.Second)))
			b.emit("n", value, append(change, func(r *collectors.Reading) { r.At = when })...)
		}
		bad := func(r *collectors.Reading) { r.Quality = collectors.Bad }
		beats := func(from, to, value float64) {
			for s := from; s <= to; s += 20 {
				at(s, value)
			}
		}
		beats(0, 580, 5)
		at(599, 5) // the beat of 600, a moment early
		beats(620, 1180, 5)
		at(1200, 5, bad)
		beats(1220, 1300, 5) // late, but the first good one
		at(1320, 6)          // changed
		at(1340, 7)          // changed again, within a minute
		beats(1360, 1780, 7) // still another than what was sent
		at(1799.9, 7)
		beats(6000, 6580, 7) // after an outage
		at(6599.5, 7)
		beats(4000, 4620, 7) // the clock was set back
		if got, want := fmt.Sprint(b.instants(TagValues, begin)), "[0 599 1220 1320 1380 1799 6000 6599 4000 4600]"; got != want {
			t.Errorf("records of %s, want %s", got, want)
		}
	})
}

// TestAnIntervalOfTheVersionBeforeGoesOn: its state has no grid; the last record is where it begins.
func TestAnIntervalOfTheVersionBeforeGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := Value{Well: guid, Code: "Production Target Oil", Point: "plc/n", Every: 24 * time.Hour, Target: true}
		b := newBench(t, func(s *Site) { s.Values = []Value{v} })
		begin := time.Now()
		if err := b.SaveState(valueKey+v.key(), lastValue{At: begin.Round(0), Value: 7, Sent: true}); err != nil {
			t.Fatal(err)
		}
		b.again()
		for range 27 {
			pass(time.Hour)
			b.emit("n", 7)
		}
		if got := fmt.Sprint(b.instants(Targets, begin)); got != "[86400]" {
			t.Errorf("targets of %s, want one a day after the last", got)
		}
	})
}

// TestAChangeIsSentOnceAMinute: a device's reading that comes nearest to the minute counts, by half its beat, and by five
// seconds at most.
func TestAChangeIsSentOnceAMinute(t *testing.T) {
	for beat, want := range map[time.Duration]string{
		4 * time.Second:  "[0 60 120 180]", // 56 s are too few, 58 would do
		29 * time.Second: "[0 58 116 174]",
		11 * time.Second: "[0 55 110 165]",
		27 * time.Second: "[0 81 162]", // 54 s are too few, however slow the device is
		2 * time.Minute:  "[0 120]",
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, func(s *Site) {
				s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/n", Every: 24 * time.Hour}}
			})
			begin := time.Now()
			for n := 0; time.Since(begin) < 185*time.Second; n++ {
				b.emit("n", float64(n))
				pass(beat)
			}
			if got := fmt.Sprint(b.instants(TagValues, begin)); got != want {
				t.Errorf("a change every %s: records of %s, want %s", beat, got, want)
			}
		})
	}
}

// TestTheIntervalOfAReading: a grid of ten minutes from noon on, and a device that is read every minute.
func TestTheIntervalOfAReading(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	v := Value{Every: 10 * time.Minute}
	for after, want := range map[time.Duration]time.Duration{
		0: -1, time.Minute: -1, 9 * time.Minute: -1, 9*time.Minute + 29*time.Second: -1, 9*time.Minute + 31*time.Second: 10 * time.Minute,
		10 * time.Minute: 10 * time.Minute, 11 * time.Minute: 10 * time.Minute, 19 * time.Minute: 10 * time.Minute, 20 * time.Minute: 20 * time.Minute,
		-9 * time.Minute: -1, -11 * time.Minute: -11 * time.Minute, -time.Hour: -time.Hour,
	} {
		begin, due := v.interval(noon, noon.Add(after), time.Minute)
		if got := begin.Sub(noon); due != (want != -1) || due && got != want {
			t.Errorf("%s after noon: due %v, for the interval from %s on", after, due, got)
		}
	}
	if begin, due := v.interval(time.Time{}, noon, 0); !due || !begin.Equal(noon) {
		t.Errorf("the first reading of all: due %v, from %s on", due, begin)
	}
}

// TestTheLongestNameOfAWell: it is sent as long as the outbox takes it; a longer one holds up no other, and is told.
func TestTheLongestNameOfAWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest := strings.Repeat("w", outbox.MaxAddress)
		b := newBench(t, func(s *Site) {
			for _, well := range []string{longest, guid, longest + "w"} {
				s.Values = append(s.Values, Value{Well: well, Code: "Production Target Oil", Point: "plc/level"})
			}
		})
		b.emit("level", 100)
		page, err := b.box.Entries(TagValues, outbox.Waiting, 0, 10)
		b.must(err)
		if len(page) != 2 || page[0].Record.Address != longest || page[1].Record.Address != guid {
			t.Errorf("%d values are queued, want those of the longest and of the ordinary name", len(page))
		}
		if e := b.state.episodes[episodeKey("value-refused", "plc/level as Production Target Oil")]; !strings.Contains(e.Note, "correct wells.id") {
			t.Errorf("told %+v", b.state.episodes)
		}
	})
}

// TestARestartMovesNoGrid: a value that changes with each reading is sent once in each interval and no more, however long
// the program was away; a record comes early only by what the device's beat explains.
func TestARestartMovesNoGrid(t *testing.T) {
	for away := time.Second; away <= 9*time.Second; away += time.Second {
		for into := time.Duration(0); into < 10*time.Second; into += time.Second {
			synctest.Test(t, func(t *testing.T) {
				v := Value{Well: guid, Code: "Production Target Water", Point: "plc/n", Every: 10 * time.Second}
				b := newBench(t, func(s *Site) { s.Values = []Value{v} })
				begin := time.Now()
				stop := 30*time.Second + into
				for time.Since(begin) <= 90*time.Second {
					if since := time.Since(begin); since <= stop || since > stop+away {
						b.emit("n", since.Seconds())
					}
					if time.Since(begin) == stop {
						b.again()
					}
					pass(time.Second)
				}
				var missed []float64 // of each grid point that was missed the first reading after it counts
				for at := 0.0; at <= 90; at += 10 {
					want := at
					if at > stop.Seconds() && at <= (stop+away).Seconds() {
						want = (stop + away).Seconds() + 1
					}
					if n := len(missed); n == 0 || missed[n-1] != want {
						missed = append(missed, want)
					}
				}
				if got, want := fmt.Sprint(b.instants(TagValues, begin)), fmt.Sprint(missed); got != want {
					t.Errorf("away for %s after %s: records of %s, want %s", away, stop, got, want)
				}
			})
		}
	}
}
