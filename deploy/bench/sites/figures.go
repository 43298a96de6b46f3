package main

import (
	"math"
	"slices"

	"gauger/collectors/sim/sites"
)

// figures of a heap of sites. Errors, coverage and bias are of loads whose barrels the recording can give (class hard).
type figures struct {
	sites, loads, lost, right, hard, found int
	markedLoads                            int
	false, falseMarked                     int
	errors, offs, said, expert             []float64
	trueBbl, offBbl                        float64
	wrong, wrongMarked, good, goodMarked   int
	claims                                 []claim
	expertRight                            int
}

// claim is an error that a ticket said it has at most, and whether that held.
type claim struct {
	sensor, feeding string
	said            float64
	held            bool
}

func count(all []outcome) figures {
	var f figures
	for _, o := range all {
		f.sites++
		for _, v := range o.loads {
			f.load(v)
		}
		for _, t := range o.false {
			f.false++
			f.wrong++
			f.offBbl += math.Abs(t.bbl)
			if t.marked {
				f.falseMarked++
				f.wrongMarked++
			}
		}
	}
	return f
}

func (f *figures) load(v verdict) {
	f.loads++
	if !v.found {
		f.lost++
	} else {
		f.found++
		if v.marked {
			f.markedLoads++
		}
	}
	if v.Class == sites.Review {
		// Whatever it says, it cannot know: it must ask.
		if v.found {
			f.wrong++
			if v.marked {
				f.wrongMarked++
			}
		}
		return
	}
	f.hard++
	f.trueBbl += v.Gauge
	f.offBbl += math.Abs(v.off)
	if off := v.Expert - v.Gauge; !math.IsNaN(off) {
		f.expert = append(f.expert, math.Abs(off))
		if near(off, v.Gauge) {
			f.expertRight++
		}
	}
	if v.found {
		f.ticket(v)
	}
}

// ticket counts the one of a hard load.
func (f *figures) ticket(v verdict) {
	f.errors, f.offs = append(f.errors, math.Abs(v.off)), append(f.offs, v.off)
	if near(v.off, v.Gauge) {
		f.right++
		f.good++
		if v.marked {
			f.goodMarked++
		}
	} else {
		f.wrong++
		if v.marked {
			f.wrongMarked++
		}
	}
	if v.hasSaid {
		f.said = append(f.said, v.said)
		// A claim is written to a tenth of a barrel.
		f.claims = append(f.claims, claim{v.Sensor, v.Feeding, v.said, math.Abs(v.off) <= v.said+0.05})
	}
}

// covered is the share of claims that held, of those that are asked for.
func covered(claims []claim, of func(claim) bool) (share float64, n int) {
	kept := 0
	for _, c := range claims {
		if of(c) {
			n++
			if c.held {
				kept++
			}
		}
	}
	return ratio(kept, n), n
}

func ratio(a, b int) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}

func middle(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, y := range x {
		sum += y
	}
	return sum / float64(len(x))
}
