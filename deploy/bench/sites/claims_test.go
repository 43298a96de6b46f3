package main

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gauger/agent/tank"
	"gauger/collectors/sim/sites"
	"gauger/deploy/proof"
)

// TestTheErrorIsAsWideAsItIs plays sites of every kind on seeds that the factors have not seen: a ticket's error holds as often as
// it should, in each class too, and is not made wide to be safe. Of the held-out kinds nothing but their share in the sums is told.
func TestTheErrorIsAsWideAsItIs(t *testing.T) {
	s := proof.Of(t, 280)
	all := append(sites.Kinds(true), sites.Kinds(false)...)
	var todo []job
	for i := range s.Cases() {
		todo = append(todo, job{all[i%len(all)], 90_000 + s.Seed, uint64(i / len(all))})
	}
	outcomes, _, err := playAll(todo, 2, inside)
	if err != nil {
		t.Fatal(err)
	}
	f := count(outcomes)
	check := func(name string, least, most float64, of func(claim) bool) {
		share, n := covered(f.claims, of)
		if n < 20 {
			return
		}
		chance := 2 * math.Sqrt(0.05*0.95/float64(n))
		text := fmt.Sprintf("%s: %.1f %% of %d", name, 100*share, n)
		t.Log(text)
		if share < least-chance || share > most+chance {
			t.Errorf("%s, want %.0f to %.0f %%", text, 100*least, 100*most)
		}
	}
	check("all", 0.93, 0.98, func(claim) bool { return true })
	for _, sensor := range named(f.claims, func(c claim) string { return c.sensor }) {
		check(sensor, 0.9, 1, func(c claim) bool { return c.sensor == sensor })
	}
	for _, way := range named(f.claims, func(c claim) string { return c.feeding }) {
		check("fed: "+way, 0.9, 1, func(c claim) bool { return c.feeding == way })
	}
	for _, size := range claimSizes {
		check(size.name, 0.9, 1, func(c claim) bool { return c.said >= size.from && c.said < size.to })
	}
	var wave []float64
	for _, c := range f.claims {
		if slices.Contains([]string{"gwr", "mag", "radar"}, c.sensor) {
			wave = append(wave, c.said)
		}
	}
	if said := middle(wave); said > 0.7+1.2/math.Sqrt(float64(len(wave))) {
		t.Errorf("good sensors say %.2f bbl, want 0.7 at most", said)
	}
}

// TestFactorsMakeEachClassHold learns factors from tickets whose error is too small by another factor in each class.
func TestFactorsMakeEachClassHold(t *testing.T) {
	truth := map[string]float64{"radar": 1.5, "float": 2, "analog": 1}
	var rs []residual
	for i := range 9000 {
		b := tank.ErrorBasis{Bbl: 1, Class: []string{"radar", "float", "analog"}[i%3]}
		rs = append(rs, residual{float64(i/3) / 2865 * truth[b.Class], b})
	}
	got, _ := factors(rs)
	for class, want := range truth {
		if math.Abs(got[class]-want) > 0.05*want {
			t.Errorf("%s: factor %.2f, want %.2f", class, got[class], want)
		}
	}
}
