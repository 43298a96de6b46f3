package main

import (
	"fmt"
	"time"

	"gauger/agent/tank"
	"gauger/collectors/sim/sites"
)

// detector is the site's tanks as gauger.yaml describes them.
func detector(s *sites.Site, every time.Duration) (tank.Site, error) {
	var tanks []tank.Tank
	for _, t := range s.Tanks() {
		table, err := tank.NewTable(t.Strapping)
		if err != nil {
			return tank.Site{}, err
		}
		tanks = append(tanks, tank.Tank{ID: t.ID, Sensor: t.Sensor, Group: t.Group, Height: tank.Length(t.Height), Table: table, Every: every, Loads: tank.Loads{TruckMax: tank.DefaultLoads().TruckMax, GroupSettle: sites.GroupSettle}})
	}
	return tank.NewSite(tanks)
}

// inside judges the detector alone, as play does the program: faster, and it knows of each
// ticket what its error was made of.
func inside(s *sites.Site) (outcome, error) {
	loads, err := detect(s)
	if err != nil {
		return outcome{}, err
	}
	var tickets []ticket
	for _, l := range loads {
		t := ticket{Start: l.Start, End: l.End, load: &l, Comments: fmt.Sprintf("err_bbl=%.1f; %s", l.ErrorBbl, review(l))}
		t.Tank.ExternalID, t.OpeningLevel.Level, t.ClosingLevel.Level = l.Tank, l.Open, l.Close
		tickets = append(tickets, t)
	}
	return match(s, tickets), nil
}

func review(l tank.Load) string {
	if len(l.Review) == 0 {
		return ""
	}
	return "needs review: " + tank.JoinReasons(l.Review)
}

// detect gives the detector a site's readings as the ledger does, without the program around it: what was not stored is
// lost where the box starts again.
func detect(s *sites.Site) ([]tank.Load, error) {
	site, err := detector(s, s.Poll())
	if err != nil {
		return nil, err
	}
	var st tank.State
	var stored []byte
	var loads []tank.Load
	ticked, boot := time.Time{}, 0
	feed := func(in tank.Input) error {
		mark := st.Mark()
		var out []tank.Outcome
		st, out = site.Next(st, in)
		for _, o := range out {
			if o.Load != nil {
				loads = append(loads, *o.Load)
			}
		}
		if st.Mark() == mark {
			return nil
		}
		var err error
		stored, err = st.MarshalBinary()
		return err
	}
	for r := range s.Readings {
		if r.Boot != boot {
			boot, st = r.Boot, tank.State{}
			if err := st.UnmarshalBinary(stored); stored != nil && err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		in := tank.Input{Tank: r.Tank, Value: r.Value, Good: r.Good, At: r.At, Mono: r.Mono, Boot: int64(r.Boot) + 1}
		if err := feed(in); err != nil {
			return nil, err
		}
		if r.At.Sub(ticked) >= time.Minute {
			ticked, in.Kind = r.At, tank.Tick
			if err := feed(in); err != nil {
				return nil, err
			}
		}
	}
	return loads, nil
}
