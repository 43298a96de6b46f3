package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
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
func (tx *txn) journalOutcomes(out []tank.Outcome) {
	for _, o := range out {
		if o.Verdict != nil {
			tx.putVerdict(*o.Verdict)
		}
		if e := o.Event; e != nil && slices.Contains(journaledRules, e.Rule) && !slices.ContainsFunc(out, verdictOn(*e)) {
			tx.putVerdict(tank.Verdict{Tank: e.Tank, What: e.Rule, Why: strings.TrimPrefix(e.Note, "tank "+e.Tank+": "), Start: e.Start, End: e.End})
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
func (tx *txn) putVerdict(v tank.Verdict) {
	tankKey := verdictKey + v.Tank + "/"
	dropNotFinite(&v)
	tx.putJSON(tankKey+v.Start.UTC().Format("20060102T150405Z")+"/"+v.What, v)
	names, err := tx.l.box.Names(tankKey)
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("look for old verdicts: %w", err))
		return
	}
	limit := tankKey + tx.now.Add(-verdictsFor).UTC().Format("20060102T150405Z")
	old := max(0, len(names)+1-verdictsKept)
	for i, name := range names { // in the order of their names, which is that of their times
		if i < old || tx.grade() >= clock.Assumed && name < limit {
			tx.putState(name, nil)
		}
	}
}
