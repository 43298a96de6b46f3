package ledger

import (
	"context"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/outbox"
)

// benchOfValue has a tank and a value that is sent with every reading.
func benchOfValue(t *testing.T) *bench {
	t.Helper()
	return newBench(t, func(s *Site) {
		s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/rate"}}
	})
}

// stageReading stages one reading of plc/rate, and waits for nothing.
func (b *bench) stageReading(value float64) *outbox.Commit {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	tx := b.begin(time.Now())
	r := collectors.Reading{Point: "plc/rate", Value: value, Quality: collectors.Good, At: time.Now()}
	tx.apply(&r)
	tx.recorded, tx.batch = true, []collectors.Reading{r}
	c, err := b.stage(tx, "plc")
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// What is staged is the next transaction's to judge by, and nobody else's before the disk has it.
func TestWhatIsStagedIsSeenWhenItIsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchOfValue(t)
		c := b.stageReading(7)
		if last := b.state.lastValues[0]; !last.Sent || last.Value != 7 {
			t.Errorf("the next transaction judges by %+v", last)
		}
		if seen := b.Latest("plc/rate"); len(seen) > 0 {
			t.Errorf("shown before it is on disk: %+v", seen)
		}
		onTop := b.stageReading(8)
		if s := b.Snapshot(); len(s.Readings) != 0 {
			t.Errorf("a snapshot of what was on disk when it was taken: %+v", s.Readings)
		}
		for _, c := range []*outbox.Commit{c, onTop} {
			if done, err := c.Done(); !done || err != nil {
				t.Errorf("whoever looks waits for the disk: done %v, %v", done, err)
			}
		}
		if seen := b.Latest("plc/rate"); len(seen) > 0 {
			t.Errorf("nobody has published: %+v", seen)
		}
		if s := b.Snapshot(); len(s.Readings) != 1 || s.Readings[0].Value != 8 {
			t.Errorf("afterwards: %+v", s.Readings)
		}
	})
}

// A commit that fails takes back what was staged with it and on top of it, stored or not, and nothing before it.
func TestAFailedCommitTakesTheStateBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchOfValue(t)
		b.emit("rate", 1)
		before := b.state.lastValues[0]
		first := b.stageReading(2)
		if err := os.Remove(b.path); err != nil {
			t.Fatal(err)
		}
		second := b.stageReading(3)
		b.mu.Lock()
		quiet := b.begin(time.Now())
		c, err := b.stage(quiet, "")
		b.mu.Unlock()
		if err != nil || c == nil {
			t.Fatalf("what changes nothing stands on what is staged: %v, %v", c, err)
		}
		for i, c := range []*outbox.Commit{first, second, c} {
			if err := c.Wait(); err == nil {
				t.Errorf("staging %d was stored in a file that is gone", i)
			}
		}
		if s := b.Snapshot(); len(s.Readings) != 1 || s.Readings[0].Value != 1 {
			t.Errorf("shown: %+v", s.Readings)
		}
		if after := b.state.lastValues[0]; after.Value != before.Value || after.At != before.At || len(b.staged) > 0 {
			t.Errorf("the state is %+v with %d staged, want %+v", after, len(b.staged), before)
		}
	})
}

// Devices that are read at once, and wait for shared commits, have all their records.
func TestReadingsThatComeAtOnceAreAllStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchOfValue(t)
		pass(20 * time.Minute) // until the clock is believed
		const devices, each = 8, 5
		errs := make(chan error)
		for d := range devices {
			go func() {
				for n := range each {
					r := collectors.Reading{Point: "plc/rate", Value: float64(100*d + n), Quality: collectors.Good, At: time.Now()}
					if err := b.Host("plc").Emit(t.Context(), []collectors.Reading{r}); err != nil {
						errs <- err
						return
					}
				}
				errs <- nil
			}()
		}
		for range devices {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if n := len(b.bodies(TagValues)); n != devices*each {
			t.Errorf("%d records, want %d", n, devices*each)
		}
	})
}

// benchOfLingering has two values that linger for 30 seconds, read every ten by a poll.
func benchOfLingering(t *testing.T) *bench {
	t.Helper()
	return benchThatLingers(t, 30*time.Second, 10*time.Second)
}

func benchThatLingers(t *testing.T, long, every time.Duration) *bench {
	t.Helper()
	b := newBench(t, func(s *Site) {
		s.Linger = long
		for _, p := range []collectors.Point{"plc/oil", "plc/gas"} {
			s.Values = append(s.Values, Value{Well: guid, Code: "Production Target Oil", Point: p, Every: every})
		}
	})
	pass(20 * time.Minute)     // until the clock is believed
	b.must(b.Tick(time.Now())) // the run's first input is stored
	return b
}

func polled(r *collectors.Reading) { r.Asked = r.At }

// Values of polls are stored together, one record for each value, with the first that is stored anyway, or by Flush; what a broker brings never waits.
func TestPolledValuesLinger(t *testing.T) {
	for name, c := range map[string]struct {
		store func(b *bench) error
		more  int
	}{
		"flushed":                {func(b *bench) error { return b.Flush() }, 0},
		"with an event":          {func(b *bench) error { return b.QueueEvent(Event{Rule: "power-restart", Note: "x"}) }, 0},
		"with one of a broker's": {func(b *bench) error { b.emit("oil", 100); return nil }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := benchOfLingering(t)
				for n := range 3 {
					b.emit("oil", float64(2*n), polled)
					b.emit("gas", float64(2*n+1), polled)
					pass(10 * time.Second)
				}
				select {
				case <-b.Lingering():
				default:
					t.Error("nobody is told that values linger")
				}
				if n := len(b.bodies(TagValues)); n != 0 {
					t.Errorf("%d are stored before their time", n)
				}
				if seen := b.Latest("plc/gas"); len(seen) != 1 || seen[0].Value != 5 {
					t.Errorf("what lingers is shown as read: %+v", seen)
				}
				b.must(c.store(b))
				all := b.bodies(TagValues)
				if len(all) != 2+c.more {
					t.Fatalf("%d are stored, want %d", len(all), 2+c.more)
				}
				for i, body := range all[:2] {
					for n, v := range body["values"].([]any) {
						if v := v.(map[string]any)["value"]; v != float64(2*n+i) {
							t.Errorf("value %d of record %d is %v", n, i, v)
						}
					}
					if n := len(body["values"].([]any)); n != 3 {
						t.Errorf("record %d has %d values", i, n)
					}
				}
				b.must(b.Flush())
				b.again()
				pass(20 * time.Minute)
				if n := len(b.bodies(TagValues)); n != 2+c.more {
					t.Errorf("%d after a restart", n)
				}
			})
		})
	}
}

// That a value was sent which the service took before it was stored is stored every ten minutes, and no record with it.
func TestThatWhatWasOfferedIsSentIsStoredWithoutIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchOfLingering(t)
		ctx, stop := context.WithCancel(t.Context())
		ended, service := make(chan error), &taker{}
		go func() { ended <- b.box.Drain(ctx, TagValues, service) }()
		known, stored := "", 0
		for n := range 42 {
			b.emit("oil", float64(n), polled)
			pass(30 * time.Second)
			b.must(b.Flush())
			last, err := b.box.Get(valueKey + b.site.Values[0].key())
			b.must(err)
			if now := string(last); now != known {
				known, stored = now, stored+1
			}
		}
		pass(time.Second)
		stop()
		b.must(<-ended)
		if want := make([]uint64, 42); !slices.Equal(service.numbers, want) {
			t.Errorf("records went with the numbers %v: some were stored first", service.numbers)
		}
		if stored != 3 {
			t.Errorf("that they were sent is stored %d times in 21 minutes, want 3", stored)
		}
		if c := b.box.Counts()[TagValues]; c.Accepted != 42 || c.Delivered != 42 {
			t.Errorf("%+v", c)
		}
	})
}

// So long after a start as values linger nothing does: whoever has just started the program sees its first values arrive.
func TestTheFirstValuesOfARunDoNotLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchThatLingers(t, 25*time.Minute, 10*time.Second) // it runs for 20
		b.emit("oil", 1, polled)
		if n := len(b.bodies(TagValues)); n != 1 {
			t.Errorf("%d are stored at once, want 1", n)
		}
		pass(6 * time.Minute)
		b.emit("oil", 2, polled)
		if n := len(b.bodies(TagValues)); n != 1 {
			t.Errorf("later %d are, want 1", n)
		}
	})
}

// Values that come fast leave no more often than every ten seconds; many of them, and those after a while, wait only for each other.
func TestFastValuesLeaveNoMoreOftenThanNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchThatLingers(t, time.Second, time.Millisecond)
		for _, c := range []struct {
			since time.Duration // the flush before
			want  time.Duration
		}{{time.Hour, 900 * time.Millisecond}, {time.Second, 9 * time.Second}, {9500 * time.Millisecond, 900 * time.Millisecond}} {
			pass(c.since)
			b.emit("oil", 1, polled)
			select {
			case wait := <-b.Lingering():
				if wait != c.want {
					t.Errorf("%v after the flush before, values linger for %v, want %v", c.since, wait, c.want)
				}
			default:
				t.Errorf("%v after the flush before, nobody is told that values linger", c.since)
			}
			b.must(b.Flush())
		}
		for n := range lingerFew { // each with a time of its own
			pass(time.Millisecond)
			b.emit("gas", float64(n), polled)
			wait := <-b.Lingering()
			if want := 900 * time.Millisecond; (wait == want) != (n == lingerFew-1) {
				t.Fatalf("of %d values the wait is %v", n+1, wait)
			}
		}
	})
}

// A kill costs what lingers as if it had not been polled: the next reading is due.
func TestAKillCostsWhatLingers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchOfLingering(t)
		b.emit("oil", 1, polled)
		b.must(b.Flush())
		stored := b.state.lastValues[0]
		pass(10 * time.Second)
		b.emit("oil", 2, polled)
		b.again()
		if last := b.state.lastValues[0]; !last.At.Equal(stored.At) || last.Value != 1 {
			t.Errorf("after the kill the last is %+v, want %+v", last, stored)
		}
	})
}

// Values whose commit failed linger on, and never more than so many.
func TestWhatLingersIsKeptWhereItCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := benchOfLingering(t)
		b.emit("oil", 1, polled)
		b.must(os.Remove(b.path))
		if err := b.Flush(); err == nil {
			t.Fatal("stored in a file that is gone")
		}
		if w := b.state.lingering; len(w.records) != 1 || len(w.values) != 1 || len(w.records[0].record.Body) == 0 {
			t.Errorf("what lingers is %+v", w)
		}
	})
}
