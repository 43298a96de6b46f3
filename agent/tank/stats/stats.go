// Package stats has the few statistics and figures that the tank's detector and the tank's book share. Its functions
// are pure, and their results are compared to the bit: another order of the same sums is another result.
package stats

import (
	"math"
	"slices"
)

// Median sorts v in place; of none it is NaN.
func Median(v []float64) float64 {
	n := len(v)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

// Clamp is v, or the nearer end of lo to hi.
func Clamp(v, lo, hi float64) float64 { return math.Max(lo, math.Min(v, hi)) }

// Finite says that v is a number, and not infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Square is v times v.
func Square(v float64) float64 { return v * v }

// Round rounds half away from zero to a number of decimal places. A decimal half that binary cannot hold, as 0.145,
// counts as one.
func Round(v float64, places int) float64 {
	p := math.Pow(10, float64(places))
	return math.Round(v*p+math.Copysign(1e-9, v)) / p
}

// LeastAt is where between two bounds a function of one low place is least.
func LeastAt(f func(at float64) float64, lo, hi float64) float64 {
	best, least := lo, math.Inf(1)
	for range 3 {
		for k, step, from := 0, (hi-lo)/12, lo; k <= 12; k++ {
			at := from + float64(k)*step
			if left := f(at); left < least {
				best, least, lo, hi = at, left, at-step, at+step
			}
		}
	}
	return best
}

// Product is the sum of the products of two lists.
func Product(a, b []float64) (sum float64) {
	for k := range a {
		sum += a[k] * b[k]
	}
	return sum
}

// Basis are lists of as many values, none of which holds a part of another.
type Basis [][]float64

// Without takes out of some values what they hold of a basis, in place.
func (b Basis) Without(x []float64) []float64 {
	for _, e := range b {
		share := Product(x, e) / Product(e, e)
		for k := range x {
			x[k] -= share * e[k]
		}
	}
	return x
}
