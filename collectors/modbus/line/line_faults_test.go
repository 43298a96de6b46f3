package line

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/linetest"
)

// roundOf is one poll: three units with equal counts in turn, the places that get mixed up most easily.
var roundOf = []Request{
	{1, Holding, 0, 2}, {2, Holding, 0, 2}, {3, Holding, 0, 2}, {1, Holding, 4, 2}, {1, Holding, 8, 2}, {2, Holding, 4, 2},
	{1, Input, 0, 2}, {3, Coil, 32, 32}, {3, Discrete, 32, 32}, {3, Holding, 12, 4}, {2, Holding, 0, 2},
}

// trial is a line with one fault for some requests, and what is asked of it.
type trial struct {
	linetest.Wire
	linetest.Sequence
	queued   bool
	beat     time.Duration
	timeouts [3]time.Duration // of the units 1 to 3
	itsWord  bool             // the spoilt answer itself may say anything
	leaves   *rand.Rand       // when whoever asks leaves before the answer has come, while the fault lasts; nil: never
}

func (c trial) String() string {
	return fmt.Sprintf("%s, %s, queued %v, a poll every %s, time-outs %v", c.URL, c.Sequence, c.queued, c.beat, c.timeouts)
}

// outcome of a trial.
type outcome struct {
	right, failed int
	faults        []string // what must not be
}

func (o *outcome) add(more outcome) {
	o.right, o.failed, o.faults = o.right+more.right, o.failed+more.failed, append(o.faults, more.faults...)
}

func (o *outcome) fault(format string, args ...any) {
	o.faults = append(o.faults, fmt.Sprintf(format, args...))
}

// run polls on a beat until two polls after the fault were whole, and judges every value. The fault may cost what
// it costs while it lasts, and one poll more.
func (c trial) run(t *testing.T) (sum outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &linetest.Witness{Envelope: c.Envelope, Turnaround: linetest.Thinks, Queued: c.queued}
		w.Spoil = c.Of(w)
		lines := linesTo(w)
		line := linetest.Open(t, lines, c.URL)
		calls, after := 0, 0
		for poll := 0; after < 3; poll++ {
			begun := time.Now()
			over := w.Requests >= c.First+c.Times-1 && begun.After(w.SpoiltUntil)
			got := c.poll(t.Context(), w, line, over)
			calls += len(roundOf)
			sum.add(got)
			if over {
				if after++; after > 1 && got.failed > 0 {
					sum.fault("%d of the poll failed that began %s after the fault", got.failed, begun.Sub(w.SpoiltUntil))
				}
			}
			if poll > 300 {
				t.Fatalf("%s: the fault does not end", c)
			}
			collectors.Wait(t.Context(), c.beat-time.Since(begun))
		}
		if most := 40*calls + 30*c.Times; w.Reads > most || w.Requests > 3*calls || w.Open != 1 {
			sum.fault("%d reads and %d requests for %d calls, %d open streams", w.Reads, w.Requests, calls, w.Open)
		}
		linetest.Close(t, lines)
		if w.Open != 0 {
			sum.fault("%d streams are open after the end", w.Open)
		}
	})
	return sum
}

// poll asks everything once.
func (c trial) poll(ctx context.Context, w *linetest.Witness, line *Line, over bool) (sum outcome) {
	for _, r := range roundOf {
		before := w.Requests
		patience := time.Minute
		if !over && c.leaves != nil && c.leaves.IntN(8) == 0 {
			patience = time.Duration(c.leaves.IntN(60)) * time.Millisecond
		}
		asking, stop := context.WithTimeout(ctx, patience)
		data, err := line.Read(asking, r, c.timeouts[r.Unit-1])
		stop()
		if err != nil {
			sum.failed++
			continue
		}
		if err := w.Judge(data, asked(r), before); err != nil && !(c.itsWord && w.Requests == c.First) {
			sum.fault("%s: %v", r, err)
			continue
		}
		sum.right++
	}
	return sum
}

// asked is a request as the witness understands it.
func asked(r Request) linetest.Asked {
	function := map[Table]byte{Coil: 1, Discrete: 2, Holding: 3, Input: 4}[r.Table]
	return linetest.Asked{Unit: r.Unit, Function: function, Address: int(r.Address), Count: int(r.Quantity)}
}

// unequal time-outs make one unit's patience outlast another's.
var unequal = [3]time.Duration{time.Second, 300 * time.Millisecond, 2 * time.Second}

// census adds up trials, and fails the test for what must not be.
type census struct{ trials, right, failed int }

func (s *census) try(t *testing.T, c trial) {
	t.Helper()
	got := c.run(t)
	for _, f := range got.faults {
		t.Errorf("%s: %s", c, f)
	}
	s.trials, s.right, s.failed = s.trials+1, s.right+got.right, s.failed+got.failed
}

func (s *census) String() string {
	return fmt.Sprintf("%d trials: %d answers right, %d requests failed, no value of another place or poll", s.trials, s.right, s.failed)
}

// TestEachFaultAlone has every fault on every line; a long run (GAUGER_TRIALS) has it at every request of a poll.
func TestEachFaultAlone(t *testing.T) {
	var sum census
	long := os.Getenv("GAUGER_TRIALS") != ""
	for i, l := range linetest.Wires {
		for j, s := range linetest.Spoilings(l.Envelope) {
			for begin := range 11 {
				c := trial{Wire: l, Sequence: linetest.Sequence{Spoilings: []linetest.Spoiling{s}, First: 12 + begin, Times: 1 + 2*(begin%2)}, queued: true, beat: 2 * time.Second, timeouts: unequal}
				if s.Twin && l.Envelope != linetest.InTCP || !long && begin != 3*((i+j)%2) {
					continue // in the short run each fault begins with a poll's first request, or with a unit's second one
				}
				sum.try(t, c)
			}
		}
	}
	t.Log(&sum)
}

// TestFaultsTogether mixes faults at random, so far as something in the bytes still tells right from wrong.
// GAUGER_TRIALS is how many mixtures each line gets.
func TestFaultsTogether(t *testing.T) {
	trials := linetest.NumberFrom(t, "GAUGER_TRIALS", 200)
	var sum census
	for _, l := range linetest.Wires {
		known := slices.DeleteFunc(linetest.Spoilings(l.Envelope), func(s linetest.Spoiling) bool { return s.Alone || s.Twin && l.Envelope != linetest.InTCP })
		for seed := range uint64(trials) {
			random := rand.New(rand.NewPCG(seed, 3))
			c := trial{Wire: l, Sequence: linetest.Sequence{First: 12 + random.IntN(11), Times: 2 + random.IntN(12)}, timeouts: unequal}
			c.beat = []time.Duration{500 * time.Millisecond, 2 * time.Second, 10 * time.Second}[random.IntN(3)]
			kinds := known
			if c.queued = l.Envelope != linetest.InTCP || random.IntN(3) > 0; !c.queued {
				kinds = linetest.LateOnes() // whole answers may overtake each other where they are numbered
			}
			if random.IntN(2) == 0 {
				c.leaves = random
			}
			for range c.Times {
				c.Spoilings = append(c.Spoilings, kinds[random.IntN(len(kinds))])
			}
			sum.try(t, c)
		}
	}
	t.Log(&sum)
}
