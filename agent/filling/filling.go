// Package filling says when a tank that fills will hold a given volume. It is pure: it is given the levels of the last day in
// barrels, and says nothing where they do not tell.
//
// # Decisions
//
// Production is the rise outside of draws: half hours in which the stock fell, and those beside them, are cut out. The rate is the
// median of the slopes between far points of what is left, so that a spike or a missed draw does not turn it, and a separator's
// dumps, whose every half hour is either nothing or too much, do not bias it.
//
// How far it is off is told by the levels alone: by how much the older half of a window filled at another rate than the newer,
// and by the largest step away from the line. Of the windows the one with the least of both is taken. Where a tenth
// is passed, nothing is said: a wrong hour sends a truck for nothing.
package filling

import (
	"math"
	"slices"
	"time"
)

const (
	step     = 30 * time.Minute
	silence  = 30 * time.Minute // between two levels, over which nothing is known of the flow
	falls    = 0.5              // bbl in a step: what falls by more is a draw, or what it leaves behind
	steps    = 48               // that are looked at: a day
	least    = 0.02             // bbl an hour, below which nothing fills
	doubtful = 0.10             // the share by which the rate may be off
	ahead    = 12.0             // for n steps the halves' middles lie n/2 apart; the change between them goes on for 6 more, three hours
	furthest = 72 * time.Hour   // that anything is said ahead
)

// windows are the numbers of steps that a rate is taken over.
var windows = [...]int{40, 28, 20, 14, 10, 8}

// Level is the stock of a tank at a time.
type Level struct {
	At  time.Time
	Bbl float64
}

// Flow is what comes into a tank.
type Flow struct {
	At      time.Time // of the newest level
	Bbl     float64   // that level
	PerHour float64   // barrels
	Doubt   float64   // the share by which it may be off
	Grain   float64   // barrels by which it comes at once, as a separator dumps
}

// Moment is when something will be, and between which times it will be.
type Moment struct {
	At   time.Time `json:"at"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Of finds the flow by levels in the order of their times; false: they do not tell.
func Of(levels []Level) (f Flow, ok bool) {
	if len(levels) < 2 {
		return f, false
	}
	last := levels[len(levels)-1]
	f.At, f.Bbl, f.Doubt = last.At, last.Bbl, math.Inf(1)
	rises := risesOf(levels, last.At)
	for _, n := range windows {
		if n > len(rises) {
			continue
		}
		sum := make([]float64, n+1) // from the newest back
		for i := range n {
			sum[i+1] = sum[i] + rises[i]
		}
		rate := slope(sum)
		if rate*float64(time.Hour/step) < least {
			continue
		}
		grain := 0.0
		for i, s := range sum {
			grain = math.Max(grain, math.Abs(s-rate*float64(i)))
		}
		drift := math.Abs(slope(sum[:n/2+1])-slope(sum[n/2:])) * (1 + ahead/float64(n))
		if doubt := (drift + grain/float64(n)) / rate; doubt < f.Doubt {
			f.PerHour, f.Doubt, f.Grain = rate*float64(time.Hour/step), doubt, grain
		}
	}
	return f, f.Doubt <= doubtful
}

// Until says when the tank will hold so many barrels; false: it is not known.
func (f Flow) Until(bbl float64) (m Moment, ok bool) {
	more := bbl - f.Bbl
	if f.PerHour <= 0 || more <= 0 {
		return m, false
	}
	hours := more / f.PerHour
	give := f.Doubt + f.Grain/more
	if hours > furthest.Hours() || give > 2*doubtful {
		return m, false
	}
	at := func(factor float64) time.Time {
		return f.At.Add(time.Duration(hours * factor * float64(time.Hour)))
	}
	return Moment{at(1), at(1 - give), at(1 + give)}, true
}

// risesOf are the barrels by which the stock rose in each step back from a time, without those in which it was drawn or nobody
// looked. The newest comes first.
func risesOf(levels []Level, end time.Time) (rises []float64) {
	var all [steps]float64
	var unfit [steps]bool
	later, known := levels[len(levels)-1].Bbl, true
	for i := range steps {
		sooner, seen := levelAt(levels, end.Add(-time.Duration(i+1)*step))
		all[i] = later - sooner
		unfit[i] = !seen || !known
		later, known = sooner, seen
	}
	for i := range steps {
		drawn := false
		for _, k := range [...]int{i - 1, i, i + 1} {
			drawn = drawn || k >= 0 && k < steps && !unfit[k] && all[k] < -falls
		}
		if !drawn && !unfit[i] {
			rises = append(rises, all[i])
		}
	}
	return rises
}

// levelAt is the stock at a time, between the levels before and after it; false where they are too far apart.
func levelAt(levels []Level, at time.Time) (bbl float64, ok bool) {
	i, exact := slices.BinarySearchFunc(levels, at, func(l Level, at time.Time) int { return l.At.Compare(at) })
	switch {
	case exact:
		return levels[i].Bbl, true
	case i == 0 || i == len(levels):
		return 0, false
	}
	a, b := levels[i-1], levels[i]
	apart := b.At.Sub(a.At)
	if apart > silence {
		return 0, false
	}
	return a.Bbl + (b.Bbl-a.Bbl)*at.Sub(a.At).Seconds()/apart.Seconds(), true
}

// slope is the median of the slopes between points that are at least a third of all apart, per point.
func slope(y []float64) float64 {
	var all []float64
	for i := range y {
		for k := i + max(1, len(y)/3); k < len(y); k++ {
			all = append(all, (y[k]-y[i])/float64(k-i))
		}
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
