package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gauger/agent/recorder"
	"gauger/agent/tank"
	"gauger/collectors"
)

const (
	levelApart = 10 * time.Second // between two levels of the recorder that are told
	levelsMost = 2000

	gaugeApart = 6.0              // inches between a hand's gauge and the tank's own level of that time, beyond which one of them is another's
	gaugeAbout = 20 * time.Minute // by which a person may err in the time
)

// levels adds what a tank's level was between two times: what the detector still knows, and of longer ago what the
// recorder has kept.
func (l *Ledger) levels(w *Explanation, i int, from, to time.Time) {
	var known []tank.Moment
	var ring *recorder.Ring
	var g setup
	l.see(func() {
		known = l.state.setups.detector.Levels(l.state.tanks, i, time.Time{}, w.Now.AddDate(100, 0, 0))
		w.Levels = l.state.setups.detector.Levels(l.state.tanks, i, from, to)
		ring, g = l.recording.ring, l.state.setups.inForce[i]
	})
	for k := range w.Levels { // the detector's are all by the gauge of today
		w.Levels[k].In = hundredths(g.asReadThen(w.Levels[k].At, w.Levels[k].In))
	}
	if len(known) > 0 {
		w.Oldest = known[0].At
	}
	if ring == nil || len(known) > 0 && !from.Before(w.Oldest) {
		return
	}
	if oldest := ring.Stats().Oldest; !oldest.IsZero() && (w.Oldest.IsZero() || oldest.Before(w.Oldest)) {
		w.Oldest = oldest
	}
	points := []collectors.Point{g.Level}
	for _, p := range g.History {
		points = append(points, p.Level)
	}
	var kept []tank.Moment
	for row, err := range ring.Rows(from, to, points...) {
		if err != nil {
			w.Damage = err.Error()
			continue
		}
		then := g.pastSetupAt(row.At)
		in, err := tank.LevelInches(row.Value, row.Unit, then.Height)
		n := len(kept)
		if err != nil || row.Point != then.Level || row.Quality != collectors.Good || n > 0 && row.At.Sub(kept[n-1].At) < levelApart || n >= levelsMost {
			continue
		}
		kept = append(kept, tank.Moment{At: row.At, In: hundredths(in + float64(then.Offset))})
	}
	if len(kept) > len(w.Levels) {
		w.Levels = kept
	}
}

// Contradictions are the gauges of a person's ticket that the tank's own levels of those times speak against: most probably it
// is another tank, or another day. Where nothing was read nothing is said; nor where it is near the gauge of the ticket that it replaces, or
// of a load that was seen at that time: a value that hung was no gauge there, and is none here.
func (l *Ledger) Contradictions(w ManualTicket) (doubts []string) {
	i := l.site.index(w.Tank)
	if i < 0 {
		return nil
	}
	all, _ := l.Tickets() // whoever adds the ticket hears why they cannot be read
	about := l.site.scaled(gaugeAbout)
	for k, g := range []struct {
		which string
		in    float64
		at    time.Time
	}{{"opening", w.Open, w.Start}, {"closing", w.Close, w.End}} {
		if slices.ContainsFunc(all, func(b TicketRecord) bool {
			known := b.gauges()
			same := strings.EqualFold(b.Number, w.Replaces) || b.Load != nil && b.Start.Before(w.End.Add(about)) && w.Start.Before(b.End.Add(about))
			return b.Tank == w.Tank && known != nil && same && math.Abs(known[k]-g.in) <= gaugeApart
		}) {
			continue
		}
		e := Explanation{Now: time.Now()}
		l.levels(&e, i, g.at.Add(-about), g.at.Add(about))
		if len(e.Levels) == 0 {
			continue
		}
		byLevel := func(a, b tank.Moment) int { return cmp.Compare(a.In, b.In) }
		low, high := slices.MinFunc(e.Levels, byLevel).In, slices.MaxFunc(e.Levels, byLevel).In
		if g.in < low-gaugeApart || g.in > high+gaugeApart {
			doubts = append(doubts, fmt.Sprintf("the %s gauge is %s, and %s itself told %s to %s about %s: is it another tank or day", g.which,
				tank.Length(g.in).Gauge(), w.Tank, tank.Length(low).Gauge(), tank.Length(high).Gauge(), l.site.localMinute(g.at)))
		}
	}
	return doubts
}

// ExplainArgs asks what became of a tank's level about an instant.
type ExplainArgs struct {
	Tank string    `json:"tank"`
	At   time.Time `json:"at"`
}

// Explanation is all that is known of a tank about an instant.
type Explanation struct {
	Tank     string         `json:"tank"`
	At       time.Time      `json:"at"`
	Now      time.Time      `json:"now"`
	Tickets  []TicketRecord `json:"tickets,omitempty"`  // that cover it or are within the hour
	Verdicts []tank.Verdict `json:"verdicts,omitempty"` // of what made no ticket
	Waiting  []tank.Verdict `json:"waiting,omitempty"`  // of what is not decided yet
	Levels   []tank.Moment  `json:"levels,omitempty"`   // within the hour
	Oldest   time.Time      `json:"oldest,omitzero"`    // from when on levels are known
	Damage   string         `json:"damage,omitempty"`   // of what the recorder has kept
	MinLoad  float64        `json:"min_load_bbl"`
	MinRate  float64        `json:"min_rate"` // barrels per minute
	Lact     bool           `json:"lact,omitempty"`
}

// explainWithin, to both sides of an instant: a clock on a wall and a memory are no better.
const explainWithin = time.Hour

// Explain gathers what is known of an instant.
func (l *Ledger) Explain(a ExplainArgs) (*Explanation, error) {
	i := l.site.index(a.Tank)
	if i < 0 {
		return nil, l.site.errNoTank(a.Tank)
	}
	from, to := a.At.Add(-explainWithin), a.At.Add(explainWithin)
	t := &l.site.Tanks[i]
	w := &Explanation{Tank: a.Tank, At: a.At, Now: time.Now().Round(0), MinLoad: t.Loads.MinLoad, MinRate: t.Loads.MinRate, Lact: t.Lact}
	l.levels(w, i, from, to)
	var err error
	if w.Verdicts, err = l.verdicts(a.Tank, from, to); err != nil {
		return w, err
	}
	var all []TicketRecord
	l.see(func() {
		w.Waiting = l.state.setups.detector.Waiting(l.state.tanks, i)
		all, err = l.listTickets()
	})
	for i := range all {
		if b := &all[i]; b.Tank == a.Tank && !b.End.Before(from) && !b.Start.After(to) {
			w.Tickets = append(w.Tickets, *b)
		}
	}
	return w, err
}

// verdicts reads the journal of a tank between two times, by start as their names are.
func (k *smallState) verdicts(id string, from, to time.Time) ([]tank.Verdict, error) {
	names, err := k.box.Names(verdictKey + id + "/")
	if err != nil {
		return nil, fmt.Errorf("read the verdicts of %s: %w", id, err)
	}
	var all []tank.Verdict
	for _, name := range names {
		var v tank.Verdict
		if err := k.LoadState(name, &v); err != nil {
			return nil, err
		}
		if v.Tank == id && !v.End.Before(from) && !v.Start.After(to) {
			all = append(all, v)
		}
	}
	return all, nil
}
