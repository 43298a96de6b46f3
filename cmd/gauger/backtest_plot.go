package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/plot"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/config"
)

// tankLevel gathers the levels of one tank for a picture.
type tankLevel struct {
	tank   *config.Tank
	part   backtestRange
	series *plot.Series
}

func levelsOf(cfg *config.Config, c backtestRange) (all []tankLevel) {
	for i := range cfg.Tanks {
		if t := &cfg.Tanks[i]; c.tank == "" || c.tank == t.ID {
			all = append(all, tankLevel{t, c, &plot.Series{}})
		}
	}
	return all
}

// add takes a reading, in inches and with the tank's offset. What the detector takes for no level is a bad reading. A
// reading of a clock that was not set may turn out to lie within the range.
func (l tankLevel) add(r collectors.Reading) {
	if clock.WasSet(r.At) && !l.part.contains(l.tank.ID, r.At, r.At) {
		return
	}
	inches, err := tank.LevelInches(r.Value, r.Unit, l.tank.Height)
	inches += float64(l.tank.Offset)
	good := err == nil && r.Quality == collectors.Good && inches >= -1 && inches <= float64(l.tank.Height)+7
	l.series.Add(r.At, r.Boot, r.Mono, inches, good)
}

// maxTitleTanks stand in a picture's title; each has its name above its levels as well.
const maxTitleTanks = 4

func (t *trial) plot(path string, c backtestRange) error {
	p := plot.Picture{Title: cmp.Or(t.cfg.Site, t.cfg.ID), Zone: t.cfg.Zone, ProductionDay: time.Duration(t.cfg.ProductionDay), From: c.from, To: c.to}
	events, err := t.tankEvents()
	if err != nil {
		return err
	}
	for _, l := range t.watch.levels {
		if len(t.watch.levels) <= maxTitleTanks {
			p.Title += " · " + l.tank.ID
		}
		panel := plot.Panel{Name: l.tank.ID, About: describeTank(l.tank), Table: l.tank.Table, Level: l.series, Events: events[l.tank.ID]}
		for _, b := range t.booked {
			if b.Tank == l.tank.ID && b.Load != nil {
				panel.Loads = append(panel.Loads, plot.Load{Number: b.Number, Start: b.Start, End: b.End, Open: b.Load.Open, Close: b.Load.Close,
					Bbl: b.Load.GaugeBbl, Error: b.Load.ErrorBbl, Review: tank.JoinReasons(b.Load.Review)})
			}
		}
		p.Panels = append(p.Panels, panel)
	}
	return writeFile(path, "draw the picture", 0o666, func(w io.Writer) error { _, err := p.WriteTo(w); return err })
}

func describeTank(t *config.Tank) string {
	words := fmt.Sprintf("%.0f ft high", float64(t.Height)/12)
	if full, err := t.Table.Barrels(t.Table.Top()); err == nil {
		words += fmt.Sprintf(", %.0f bbl by the %s", full, tableName(t.Table.Name()))
	}
	return words + when(t.Lact(), "; a meter makes its tickets")
}

// tankEvents sorts the events to the tanks that they name. Those that name none stand with the first tank, and say so. A
// doubtful load is no event of the picture: it has its own colour.
func (t *trial) tankEvents() (map[string][]tank.Event, error) {
	events, err := t.readEvents()
	all := map[string][]tank.Event{}
	for _, e := range events {
		if e.Rule == eventrules.LoadNeedsReview {
			continue
		}
		id := tankNamedIn(t.cfg, e.Note)
		e.Note = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(e.Note, "tank "), id), ": ")
		if id == "" && len(t.watch.levels) > 0 {
			id, e.Rule = t.watch.levels[0].tank.ID, "(site) "+e.Rule
		}
		all[id] = append(all[id], e)
	}
	return all, err
}

// tankNamedIn is the tank that a note names first, empty when it names none.
func tankNamedIn(cfg *config.Config, note string) string {
	id, at := "", len(note)
	for _, t := range cfg.Tanks {
		if i := strings.Index(note, t.ID); i >= 0 && (i < at || i == at && len(t.ID) > len(id)) {
			id, at = t.ID, i
		}
	}
	return id
}

// readEvents reads the events back; their times are sent without a zone.
func (t *trial) readEvents() (all []tank.Event, err error) {
	zone := eventZone(t.cfg.Service.Wire, t.cfg.Zone)
	for _, raw := range t.events {
		var d diagnosticEvent
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, fmt.Errorf("read an event: %w", err)
		}
		e := tank.Event{Rule: d.Rule, Note: d.Note}
		if e.Start, err = parseTime(d.Start, zone, time.Time{}); err == nil {
			e.End, err = parseTime(d.End, zone, time.Time{})
		}
		if err != nil {
			return nil, fmt.Errorf("read the times of an event %s: %w", d.Rule, err)
		}
		all = append(all, e)
	}
	return all, nil
}
