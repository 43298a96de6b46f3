package flash

import (
	"fmt"
	"testing"
	"time"
)

var usual = Limits{Messages: 2000, Bytes: 4e6, Day: 5e6}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// play gives a budget n messages of one topic, each another one, over a time; it returns how many are to be stored.
func play(b *Budget, topic string, n, size int, from time.Time, over time.Duration) (kept int) {
	for i := range n {
		at := from.Add(over / time.Duration(n) * time.Duration(i))
		if b.Judge(topic, fmt.Appendf(nil, "%s %d", at, i), size, at) == Keep {
			kept++
		}
	}
	return kept
}

func TestABurstAndThenSoMuchADay(t *testing.T) {
	for _, c := range []struct {
		name         string
		n, size      int
		burst, inDay int
	}{
		{"small ones, by their number", 20_000, 200, 2000, 2500},
		{"large ones, by their bytes", 2000, 40_000, 100, 125},
	} {
		b := NewBudget(usual, noon)
		if got := play(b, "a", c.n, c.size, noon, time.Minute); got < c.burst || got > c.burst+c.burst/50 {
			t.Errorf("%s: %d at once, want %d", c.name, got, c.burst)
		}
		if got := play(b, "a", 20*c.n, c.size, noon.Add(time.Minute), 24*time.Hour); got < c.inDay*94/100 || got > c.inDay*102/100 {
			t.Errorf("%s: %d in the day after, want %d", c.name, got, c.inDay)
		}
	}
}

// TestWhatOpensAgainOpensForABatch: one message by itself costs as much as twenty.
func TestWhatOpensAgainOpensForABatch(t *testing.T) {
	b := NewBudget(usual, noon)
	last, runs, kept := false, 0, 0
	for i := range 24 * 3600 {
		keep := b.Judge("a", fmt.Append(nil, i), 200, noon.Add(time.Duration(i)*time.Second)) == Keep
		if keep && !last {
			runs++
		}
		if keep {
			kept++
		}
		last = keep
	}
	if kept < 4300 || kept < 30*runs {
		t.Errorf("%d stored in %d runs", kept, runs)
	}
}

func TestSamplesOfEveryTopicAndEqualOnes(t *testing.T) {
	b := NewBudget(usual, noon)
	play(b, "loud", 10_000, 200, noon, time.Second)
	at := noon.Add(time.Second)
	for i := range 300 {
		if got := play(b, fmt.Sprint("tank/", i), 10, 200, at, 0); got != samplesEach {
			t.Fatalf("%d of topic %d, want %d", got, i, samplesEach)
		}
	}
	if got := b.Judge("tank/0", fmt.Appendf(nil, "%s 0", at), 200, at); got != Equal {
		t.Errorf("the same again: %v", got)
	}
	// Whoever invents topics has no more than once more the burst.
	kept := 0
	for i := range 50_000 {
		kept += play(b, fmt.Sprint("invented/", i), 1, 60_000, at, 0)
	}
	if kept > 67 || b.Left() < -4e6 {
		t.Errorf("%d of topics that nobody knows, %d left", kept, b.Left())
	}
}

// TestARestartRefillsNothing: not by itself, and not with a clock that went back; a day refills by a day's bytes.
func TestARestartRefillsNothing(t *testing.T) {
	b := NewBudget(usual, noon)
	play(b, "a", 1000, 200, noon, 0)
	left := b.Left()
	for range 100 { // a crash loop
		again := NewBudget(usual, noon)
		again.Resume(b.Left(), -time.Hour)
		play(again, "a", 100, 200, noon, 0)
		b = again
	}
	if b.Left() > -left/100 && b.Left() > usual.Bytes/32 {
		t.Errorf("%d left of %d after a hundred restarts", b.Left(), left)
	}
	b.Resume(-1e6, 12*time.Hour)
	if got := b.Left(); got != 1.5e6 {
		t.Errorf("half a day after %d: %d", -1_000_000, got)
	}
	b.Resume(0, 365*24*time.Hour)
	if got := b.Left(); got != usual.Bytes {
		t.Errorf("a year later: %d", got)
	}
}
