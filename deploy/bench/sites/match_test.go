package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/collectors/sim/sites"
)

// site of the clean truck: one load.
func site(t *testing.T) *sites.Site {
	t.Helper()
	for _, k := range append(sites.Kinds(true), sites.Kinds(false)...) {
		if k.Name == "clean truck" {
			return k.Make(1, 0)
		}
	}
	t.Fatal("no clean truck")
	return nil
}

// perfect is the ticket that the truth would write.
func perfect(m sites.Movement, comments string) ticket {
	var out ticket
	out.Tank.ExternalID = m.Tank
	out.OpeningLevel.Level, out.ClosingLevel.Level = m.Open, m.Close
	out.Start, out.End, out.Comments = m.Start, m.End, comments
	return out
}

func TestMatch(t *testing.T) {
	s := site(t)
	m := s.Movements[0]
	right := perfect(m, "conf=0.99; err_bbl=0.3; table=strap")
	short := perfect(m, "needs review; err_bbl=9")
	short.ClosingLevel.Level += 5
	late := perfect(m, "err_bbl=0.1")
	late.Start, late.End = m.End.Add(3*time.Hour), m.End.Add(4*time.Hour)
	for _, c := range []struct {
		name                                   string
		tickets                                []ticket
		found, right, lost, false, wrongMarked int
	}{
		{"the truth", []ticket{right}, 1, 1, 0, 0, 0},
		{"short and marked", []ticket{short}, 1, 0, 0, 0, 1},
		{"nothing", nil, 0, 0, 1, 0, 0},
		{"another time", []ticket{late}, 0, 0, 1, 1, 0},
		{"and one more", []ticket{right, late}, 1, 1, 0, 1, 0},
		{"twice", []ticket{right, right}, 1, 1, 0, 1, 0},
	} {
		f := count([]outcome{match(s, c.tickets)})
		got := [5]int{f.found, f.right, f.lost, f.false, f.wrongMarked}
		if want := [5]int{c.found, c.right, c.lost, c.false, c.wrongMarked}; got != want {
			t.Errorf("%s: found, right, lost, false, wrong and marked %v, want %v", c.name, got, want)
		}
	}
}

func TestReviewMustAsk(t *testing.T) {
	s := site(t)
	s.Movements[0].Class = sites.Review
	exact := perfect(s.Movements[0], "conf=0.99")
	f := count([]outcome{match(s, []ticket{exact})})
	if f.wrong != 1 || f.wrongMarked != 0 || f.right != 0 || f.hard != 0 {
		t.Errorf("a load that cannot be known, and no mark: %+v", f)
	}
}

func TestClaims(t *testing.T) {
	s := site(t)
	m := s.Movements[0]
	off := perfect(m, "err_bbl=0.2")
	off.OpeningLevel.Level += 0.5
	f := count([]outcome{match(s, []ticket{perfect(m, "err_bbl=0.2")}), match(s, []ticket{off})})
	share, n := covered(f.claims, func(claim) bool { return true })
	if n != 2 || share != 0.5 {
		t.Errorf("%d claims, %.2f held", n, share)
	}
	if bias := mean(f.offs); bias <= 0 || math.IsNaN(bias) {
		t.Errorf("a ticket that says too much has a bias of %.2f", bias)
	}
}

// TestHeldOutKindsAreNotNamed asks that the report names no held-out kind unless asked for it.
func TestHeldOutKindsAreNotNamed(t *testing.T) {
	var all []outcome
	for _, k := range append(sites.Kinds(true), sites.Kinds(false)...) {
		all = append(all, outcome{kind: k.Name, held: k.HeldOut()})
	}
	for _, asked := range []bool{false, true} {
		var out strings.Builder
		report(&out, all, options{held: asked})
		for _, k := range sites.Kinds(false) {
			if strings.Contains(out.String(), "\n"+k.Name+" ") != asked {
				t.Errorf("asked %v: %s", asked, k.Name)
			}
		}
	}
}
