package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"gauger/agent/tank"
	"gauger/collectors/sim/sites"
)

const (
	covers      = 0.955 // share of the volumes that an error is to hold for, in each class
	gross       = 5.0   // times its error; what is off by more is a mistake, and no error should be as wide
	classLeast  = 40    // tickets from which on a class has a factor of its own
	classDoubt  = 150.0 // tickets that the factor 1 is worth: a class of few has no sure quantile
	fitRounds   = 50
	ownDoubt    = "volume uncertain" // a review's reason that is the error itself
	ownDoubtGap = "at an edge"
)

// residual is one ticket's error: what it was off by, and what it was thought to be off by at most.
type residual struct {
	off   float64 // bbl
	basis tank.ErrorBasis
}

// axes are the ways in which tickets are put into classes.
var axes = []func(tank.ErrorBasis) string{
	func(b tank.ErrorBasis) string { return b.Sensor },
	func(b tank.ErrorBasis) string { return b.Feeding },
	func(b tank.ErrorBasis) string { return b.Reading },
}

// usual are the classes of the later axes whose factor is 1: the first axis carries the size.
var usual = []string{"even", "dense"}

// calibrate plays the tuning kinds and prints the factors.
func calibrate(o options) error {
	o.held = false
	todo := slices.DeleteFunc(jobs(o), func(j job) bool { return j.kind.HeldOut() })
	outcomes, _, err := playAll(todo, o.jobs, inside)
	if err != nil {
		return err
	}
	rs, left := residuals(outcomes)
	writeFactors(os.Stdout, o, rs, left)
	return nil
}

// residuals are those of the tickets that an error can be learned from. What asks for review for a reason beside the size
// of its error is left out: nobody relies on its barrels, and it would make the others' errors wide. So is a load whose barrels the
// recording cannot give, and a gross mistake.
func residuals(all []outcome) (rs []residual, left int) {
	for _, o := range all {
		for _, v := range o.loads {
			if v.Class != sites.Hard || v.load == nil {
				continue
			}
			r := residual{math.Abs(v.off), v.load.ErrorBasis}
			named := slices.ContainsFunc(v.load.Review, func(why string) bool {
				return !strings.HasPrefix(why, ownDoubt) && !strings.HasSuffix(why, ownDoubtGap)
			})
			if named || r.off > gross*r.basis.Bbl {
				left++
				continue
			}
			rs = append(rs, r)
		}
	}
	return rs, left
}

// factors are learned in turns, an axis after the other, until in each class the error holds for as many as it should.
func factors(rs []residual) map[string]float64 {
	f := map[string]float64{}
	counts := map[string]int{}
	for _, axis := range axes {
		for _, r := range rs {
			f[axis(r.basis)] = 1
			counts[axis(r.basis)]++
		}
	}
	for range fitRounds {
		for i, axis := range axes {
			shares := map[string][]float64{}
			for _, r := range rs {
				shares[axis(r.basis)] = append(shares[axis(r.basis)], r.off/(r.basis.Bbl*product(f, r.basis)))
			}
			for class, x := range shares {
				if counts[class] >= classLeast || i == 0 {
					f[class] *= conformal(x)
				}
			}
		}
		for i, class := range usual {
			by := f[class]
			for _, other := range classes(rs, axes[i+1]) {
				if counts[other] >= classLeast {
					f[other] /= by
				}
			}
			for _, other := range classes(rs, axes[0]) {
				f[other] *= by
			}
		}
	}
	for class, x := range f { // a sensor's least error is known from outside, and no simulation makes it less
		n := float64(counts[class])
		f[class] = math.Pow(math.Max(1, x), n/(n+classDoubt))
	}
	return f
}

func product(f map[string]float64, b tank.ErrorBasis) float64 {
	p := 1.0
	for _, axis := range axes {
		p *= f[axis(b)]
	}
	return p
}

func classes(rs []residual, axis func(tank.ErrorBasis) string) []string {
	var names []string
	for _, r := range rs {
		names = append(names, axis(r.basis))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// conformal is the quantile that holds for a new one of the kind with the wanted chance.
func conformal(x []float64) float64 {
	slices.Sort(x)
	return x[min(len(x), int(math.Ceil(covers*float64(len(x)+1))))-1]
}

func writeFactors(w io.Writer, o options, rs []residual, left int) {
	f := factors(rs)
	fmt.Fprintf(w, "package tank\n\n// Made by the command below; not to be changed by hand. From %d loads of the simulated sites' tuning kinds\n// (collectors/sim/sites), without %d that are off by more than %g times their error or ask for review\n// for another reason than it.\n", len(rs), left, gross)
	fmt.Fprintf(w, "//\n//\tgo run ./deploy/bench/sites -calibrate -seed %s -n %d > agent/tank/error_factors.go\n\n", seedText(o.seeds), o.each)
	fmt.Fprintf(w, "// errorFactors are what a load's error is multiplied by for each of its three classes, so that it holds for %.1f %% of\n// those in each class; none is below 1, and those of few loads are drawn towards it.\nvar errorFactors = map[string]float64{\n", 100*covers)
	for _, axis := range axes {
		for _, class := range classes(rs, axis) {
			n := 0
			for _, r := range rs {
				if axis(r.basis) == class {
					n++
				}
			}
			fmt.Fprintf(w, "\t%q: %.2f, // %d loads\n", class, f[class], n)
		}
	}
	fmt.Fprintln(w, "}")
}

func seedText(seeds []uint64) string {
	var all []string
	for _, s := range seeds {
		all = append(all, fmt.Sprint(s))
	}
	return strings.Join(all, ",")
}
