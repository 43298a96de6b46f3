package main

import (
	"math"
	"slices"
	"time"

	"gauger/agent/tank"
	"gauger/collectors/sim/sites"
)

// verdict is one movement that had to become a ticket.
type verdict struct {
	sites.Movement
	site    string
	found   bool
	marked  bool
	off     float64 // bbl, the ticket's gauge less the true one
	said    float64 // bbl, the error that the ticket claims at most
	hasSaid bool
	load    *tank.Load // what made the ticket, where it is one and known
}

// near says that so many barrels off a load are still right: within 1 bbl or 1 %.
func near(off, gauge float64) bool { return math.Abs(off) <= max(1, 0.01*math.Abs(gauge)) }

// falseTicket is one that no movement asked for.
type falseTicket struct {
	ticket
	site   string
	bbl    float64
	marked bool
}

// outcome is one site played.
type outcome struct {
	kind  string
	held  bool
	loads []verdict
	false []falseTicket
}

// pair is a load and a ticket that overlap.
type pair struct {
	load, ticket int
	share        float64
}

// match gives each load the ticket that overlaps it most. A load that the recording shows as one with another may have
// several; a ticket of a movement that may be one or not is neither right nor false.
func match(s *sites.Site, tickets []ticket) outcome {
	out := outcome{}
	var pairs []pair
	for i, m := range s.Movements {
		for j, t := range tickets {
			if x := overlap(m, t); x > 0 && (m.Class == sites.Hard || m.Class == sites.Review) {
				pairs = append(pairs, pair{i, j, x})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		if a.share > b.share {
			return -1
		}
		return 1
	})
	of, used := map[int][]int{}, map[int]bool{}
	for _, p := range pairs {
		if !used[p.ticket] && (len(of[p.load]) == 0 || s.Movements[p.load].Class == sites.Review) {
			of[p.load], used[p.ticket] = append(of[p.load], p.ticket), true
		}
	}
	for i, m := range s.Movements {
		if m.Class != sites.Hard && m.Class != sites.Review {
			continue
		}
		v := verdict{Movement: m, site: s.Name, found: len(of[i]) > 0, off: -m.Gauge}
		for _, j := range of[i] {
			t := tickets[j]
			v.off += s.Barrels(m.Tank, t.OpeningLevel.Level, t.ClosingLevel.Level)
			v.marked = v.marked || t.review()
			said, has := t.errBbl()
			v.said, v.hasSaid = v.said+said, has
			if len(of[i]) == 1 {
				v.load = t.load
			}
		}
		out.loads = append(out.loads, v)
	}
	for j, t := range tickets {
		free := slices.ContainsFunc(s.Movements, func(m sites.Movement) bool { return m.Class == sites.Free && overlap(m, t) > 0 })
		if !used[j] && !free {
			bbl := s.Barrels(t.Tank.ExternalID, t.OpeningLevel.Level, t.ClosingLevel.Level)
			out.false = append(out.false, falseTicket{t, s.Name, bbl, t.review()})
		}
	}
	return out
}

// overlap of a movement, widened by what an expert cannot tell of its times, with a ticket: the share of both together.
func overlap(m sites.Movement, t ticket) float64 {
	if m.Tank != t.Tank.ExternalID {
		return 0
	}
	from, to := m.Start.Add(-m.TimeTol), m.End.Add(m.TimeTol)
	end := t.End
	if end.Sub(t.Start) < time.Minute {
		end = t.Start.Add(time.Minute)
	}
	both := min(to.Unix(), end.Unix()) - max(from.Unix(), t.Start.Unix())
	either := max(to.Unix(), end.Unix()) - min(from.Unix(), t.Start.Unix())
	return max(0, float64(both)/float64(either))
}
