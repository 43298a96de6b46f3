package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/eventrules"
)

// The journal of what made no ticket: a small piece of state for each movement, so that one more costs one write.
const (
	verdictKey   = "verdict/"
	verdictsKept = 100 // of each tank
	verdictsFor  = 60 * 24 * time.Hour
)

// journaledRules are the rules of the detector's events that explain a time without a ticket. The others tell of a movement
// whose verdict is kept.
var journaledRules = []string{eventrules.Stuck, eventrules.Step, eventrules.Gap, eventrules.BadValue, eventrules.SpikeRate, eventrules.ClockStep, eventrules.UnexplainedLoss}

// journalOutcomes keeps what the detector made of one input.
func (d *txn) journalOutcomes(out []tank.Outcome) {
	for _, o := range out {
		if o.Verdict != nil {
			d.putVerdict(*o.Verdict)
		}
		if e := o.Event; e != nil && slices.Contains(journaledRules, e.Rule) && !slices.ContainsFunc(out, verdictOn(*e)) {
			d.putVerdict(tank.Verdict{Tank: e.Tank, What: e.Rule, Why: strings.TrimPrefix(e.Note, "tank "+e.Tank+": "), Start: e.Start, End: e.End})
		}
	}
}

// verdictOn says whether an outcome is the verdict on what an event tells of.
func verdictOn(e tank.Event) func(tank.Outcome) bool {
	return func(o tank.Outcome) bool {
		return o.Verdict != nil && o.Verdict.Tank == e.Tank && o.Verdict.Start.Equal(e.Start) && o.Verdict.End.Equal(e.End)
	}
}

// putVerdict keeps one piece of the journal, and lets the oldest of the tank go.
func (d *txn) putVerdict(v tank.Verdict) {
	tankKey := verdictKey + v.Tank + "/"
	dropNotFinite(&v)
	d.putJSON(tankKey+v.Start.UTC().Format("20060102T150405Z")+"/"+v.What, v)
	names, err := d.l.box.Names(tankKey)
	if err != nil {
		d.errs = append(d.errs, fmt.Errorf("look for old verdicts: %w", err))
		return
	}
	limit := tankKey + d.now.Add(-verdictsFor).UTC().Format("20060102T150405Z")
	old := max(0, len(names)+1-verdictsKept)
	for i, name := range names { // in the order of their names, which is that of their times
		if i < old || d.grade() >= clock.Assumed && name < limit {
			d.putState(name, nil)
		}
	}
}

// verdicts reads the journal of a tank between two times, by start as their names are.
func (l *Ledger) verdicts(id string, from, to time.Time) ([]tank.Verdict, error) {
	names, err := l.box.Names(verdictKey + id + "/")
	if err != nil {
		return nil, fmt.Errorf("read the verdicts of %s: %w", id, err)
	}
	var all []tank.Verdict
	for _, name := range names {
		var v tank.Verdict
		if err := l.LoadState(name, &v); err != nil {
			return nil, err
		}
		if v.Tank == id && !v.End.Before(from) && !v.Start.After(to) {
			all = append(all, v)
		}
	}
	return all, nil
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

// explainWithin is how far about an instant people look: a clock on a wall and a memory are no better.
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
	l.mu.Lock()
	defer l.mu.Unlock()
	w.Waiting = l.state.detector.Waiting(l.state.tanks, i)
	all, err := l.listTickets()
	for i := range all {
		if b := &all[i]; b.Tank == a.Tank && !b.End.Before(from) && !b.Start.After(to) {
			w.Tickets = append(w.Tickets, *b)
		}
	}
	return w, err
}
