package ledger

import (
	"os"
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
	tx.apply(r)
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
