package ledger

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// A condition is over after three good readings; where they come rarely, after this. One reading begins it, but for what
// may be a false echo or one lost poll: that counts after two readings, or where they come rarely.
const (
	strikesNeeded = 2
	goodsNeeded   = 3
	patience      = 30 * time.Second
	longWhile     = time.Hour // an episode of gauger's own that lasts longer is told while it lasts
)

// Episode is something that has begun. It is kept over a restart once it counts.
type Episode struct {
	Rule, Source string
	Since        time.Time // onset
	Over         time.Time // first good reading after it; zero while it lasts
	Value        string    // at the onset
	Unit         string
	Note         string
	Open         bool // it counts
	Told         bool // sent while open
	Inherited    bool `json:"-"` // opened by an earlier run of the program
	strikes      int
	goods        int
	stamp, heard time.Time // the device's own time of the last reading, and when that came; zero: it has the box's time
}

// episodeKey names the episode of a rule and its source.
func episodeKey(rule, source string) string { return rule + "|" + source }

// condition says whether the reading meets the condition, and whether it ends it; between the two thresholds neither.
func (r Rule) condition(x collectors.Reading) (on, off bool) {
	good := x.Quality == collectors.Good && Finite(x.Value)
	switch {
	case r.Bad:
		return x.Quality == collectors.Bad, x.Quality != collectors.Bad
	case r.Stale > 0:
		return false, true
	case !good:
		return false, false
	case r.Above != nil:
		return x.Value > *r.Above, x.Value <= orElse(r.Clear, *r.Above)
	case r.Below != nil:
		return x.Value < *r.Below, x.Value >= orElse(r.Clear, *r.Below)
	case r.Bit != nil:
		on = uint64(int64(x.Value))>>uint(*r.Bit)&1 == 1
	case r.Equals != nil:
		on = x.Value == *r.Equals
	}
	return on, !on
}

func orElse(p *float64, v float64) float64 {
	if p == nil {
		return v
	}
	return *p
}

// applyRule lets one reading count for or against rule i, by its own time. What was going on first has its turn by the clock of
// the readings: between two that a device kept, the box's clock had none.
func (tx *txn) applyRule(i int, x collectors.Reading) {
	r := tx.l.site.Rules[i]
	on, off := r.condition(x)
	k, at := episodeKey(r.Name, string(r.Point)), x.At.Round(0)
	tx.settleEpisode(r, k, at)
	e, known := tx.episodes[k]
	switch {
	case known && e.stamp.Equal(at): // the same one, delivered once more
		return
	case on && !known:
		e = Episode{Rule: r.Name, Source: string(r.Point), Since: at, Value: valueText(x), Unit: string(x.Unit)}
		if x.Text == "" && math.IsNaN(x.Value) {
			e.Unit = ""
		}
		e.strikes = 1
	case on:
		e.strikes, e.goods, e.Over = e.strikes+1, 0, time.Time{}
	case off && known:
		if e.Over.IsZero() {
			e.Over = at
		}
		e.goods++
	case !known:
		return
	}
	if e.stamp, e.heard = (time.Time{}), tx.now; x.At == at {
		e.stamp = at
	}
	tx.setEpisode(k, e)
	tx.settleEpisode(r, k, at)
}

// settleEpisode opens or closes rule r's episode when its time has come.
func (tx *txn) settleEpisode(r Rule, k string, at time.Time) {
	e, known := tx.episodes[k]
	if !known {
		return
	}
	if !e.Over.IsZero() {
		if e.Open && e.goods < goodsNeeded && at.Sub(e.Over) < patience {
			return
		}
		tx.ownEpisodes()
		delete(tx.episodes, k)
		if e.Open {
			tx.queueEvent(r.event(e, e.Over))
			tx.putEpisodes()
		}
		return
	}
	if e.Open || !tx.conditionCounts(r, e, at.Sub(e.Since)) {
		return
	}
	e.Open, e.Told = true, r.Urgent
	tx.setEpisode(k, e)
	tx.putEpisodes()
	tx.logEpisode(e, "an event has begun")
	if r.Urgent {
		tx.queueEvent(r.event(e, at))
	}
}

// conditionCounts says whether a condition that lasted so long is one, and not a tank's false echo or one lost poll.
func (tx *txn) conditionCounts(r Rule, e Episode, lasted time.Duration) bool {
	level := func(in detectorInput) bool { return in.kind == tank.Level }
	doubtful := r.Bad || slices.ContainsFunc(tx.l.routes[r.Point].inputs, level)
	return lasted >= r.For && (!doubtful || e.strikes >= strikesNeeded || lasted >= patience)
}

// readingTime is the instant to which the episode has come. A device's own time goes on from its last reading: what it kept comes
// in pieces, and how old a piece is says nothing of how long its last value stood.
func (e Episode) readingTime(now time.Time) time.Time {
	if e.stamp.IsZero() {
		return now.Round(0)
	}
	return e.stamp.Add(now.Sub(e.heard))
}

// event is the event of the episode as it stands at end.
func (r Rule) event(e Episode, end time.Time) Event {
	note := cmp.Or(r.Note, "{point}: {value} {unit}")
	note = strings.NewReplacer("{value}", e.Value, "{unit}", e.Unit, "{point}", e.Source).Replace(note)
	return Event{Rule: r.Name, Object: r.Object, ObjectType: r.ObjectType, Note: strings.TrimSpace(note), Start: e.Since, End: end}
}

// applyRulesByClock gives every rule its turn by the clock: silence, and conditions whose readings come rarely.
func (tx *txn) applyRulesByClock() {
	for _, r := range tx.l.site.Rules {
		k := episodeKey(r.Name, string(r.Point))
		if r.Stale > 0 {
			tx.openStale(r, k)
		}
		tx.settleEpisode(r, k, tx.episodes[k].readingTime(tx.now))
	}
}

// openStale begins the episode of a point that has been silent for too long.
func (tx *txn) openStale(r Rule, k string) {
	last, now := tx.l.started, tx.now
	if x, ok := tx.l.latest.get(r.Point); ok {
		last = x.At
	}
	if last == last.Round(0) { // a device's own stamp is no older because the box's clock was set
		now = now.Add(-tx.judgeClock().deviation)
	}
	if _, known := tx.episodes[k]; known || now.Sub(last) < r.Stale {
		return
	}
	tx.setEpisode(k, Episode{Rule: r.Name, Source: string(r.Point), Since: last.Round(0), Value: "no reading", strikes: strikesNeeded})
}

// valueText is a reading's value as people read it; where it has none, why.
func valueText(x collectors.Reading) string {
	switch {
	case x.Text != "":
		return x.Text
	case math.IsNaN(x.Value) && x.Err != nil:
		return x.Err.Error()
	case math.IsNaN(x.Value):
		return "no value"
	}
	return strconv.FormatFloat(x.Value, 'g', 6, 64)
}
