package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"gauger/agent/tank"
	"gauger/collectors/sim/sites"
)

const (
	covers      = 0.955              // share of the volumes that an error is to hold for, in each class
	gross       = 5.0                // times its error; what is off by more is a mistake, and no error should be as wide
	classDoubt  = 150.0              // tickets that the factor 1 is worth: a class of few has no sure quantile
	ownDoubt    = "volume uncertain" // a review's reason that is the error itself
	ownDoubtGap = "at an edge"
)

// residual is one ticket's error: what it was off by, and what it was thought to be off by at most.
type residual struct {
	off   float64 // bbl
	basis tank.ErrorBasis
}

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

// factors are those by which the error of each class holds for as many as it should. How a well feeds its tank and how
// the readings come is in the error itself: factors for them came out at 1.
func factors(rs []residual) (f map[string]float64, counts map[string]int) {
	f, counts = map[string]float64{}, map[string]int{}
	shares := map[string][]float64{}
	for _, r := range rs {
		shares[r.basis.Class] = append(shares[r.basis.Class], r.off/r.basis.Bbl)
	}
	for class, x := range shares { // a sensor's least error is known from outside, and no simulation makes it less
		n := float64(len(x))
		f[class], counts[class] = math.Pow(math.Max(1, conformal(x)), n/(n+classDoubt)), len(x)
	}
	return f, counts
}

// conformal is the quantile that holds for a new one of the kind with the wanted chance.
func conformal(x []float64) float64 {
	slices.Sort(x)
	return x[min(len(x), int(math.Ceil(covers*float64(len(x)+1))))-1]
}

func writeFactors(w io.Writer, o options, rs []residual, left int) {
	f, counts := factors(rs)
	fmt.Fprintf(w, "package tank\n\n// Made by the command below; not to be changed by hand. From %d loads of the simulated sites' tuning kinds\n// (collectors/sim/sites), without %d that are off by more than %g times their error or ask for review\n// for another reason than it.\n", len(rs), left, gross)
	fmt.Fprintf(w, "//\n//\tgo run ./deploy/bench/sites -calibrate -seed %s -n %d > agent/tank/error_factors.go\n\n", seedText(o.seeds), o.each)
	fmt.Fprintf(w, "// errorFactors are what a load's error is multiplied by, a class (kind of sensor, or equaliser) each, so that it holds\n// for %.1f %% of each; none is below 1, and those of few loads are drawn towards it.\nvar errorFactors = map[string]float64{\n", 100*covers)
	for _, class := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(w, "\t%-23s %.2f, // %d loads\n", fmt.Sprintf("%q:", class), f[class], counts[class])
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
