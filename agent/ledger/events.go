package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/collectors"
)

// Event is a diagnostic event before it is wire JSON.
type Event struct {
	Rule, Note         string
	Object, ObjectType string // empty: the site's
	Start, End         time.Time
	tank               string      // that it is about, and
	clocks             *ClockZeros // by which its times are; nil: it is about none
}

// queueEvent queues a diagnostic event. While the clock is not believed it waits: an event of 1970 or 2099 helps nobody.
func (tx *txn) queueEvent(e Event) {
	if e.Object == "" {
		e.Object, e.ObjectType = tx.l.site.Object, tx.l.site.ObjectType
	}
	if e.End.Before(e.Start) {
		e.End = e.Start
	}
	if tx.clockDoubted() || !clock.WasSet(e.Start) && !tx.tanks.Agrees(tx.now) {
		tx.deferRecord(deferredRecord{Event: &e, Tank: e.tank, Clocks: e.clocks})
		return
	}
	body, err := tx.l.site.Wire.EncodeEvent(cloud.DiagnosticEvent{
		Start: e.Start, End: e.End, ObjectID: e.Object, ObjectType: e.ObjectType, Rule: e.Rule, Note: e.Note,
	})
	if err != nil {
		tx.leaveOut("an event of "+e.Rule, err)
		return
	}
	tx.queue(Events, "", body)
	tx.afterCommit = append(tx.afterCommit, func() {
		tx.l.log.Info().Str("rule", e.Rule).Str("note", e.Note).Time("start", e.Start).Time("end", e.End).Msg("event queued")
	})
}

// queueTankEvent queues what the detector found: its times are by the clock of the tank's readings.
func (tx *txn) queueTankEvent(e tank.Event) {
	clocks := tx.onBoxClock(e.Tank, &e.Start, &e.End)
	out := tx.withTank(e)
	out.tank, out.clocks = e.Tank, clocks
	tx.queueEvent(out)
}

// queueDiagnosis queues what is to be said of a tank, by the box's clock.
func (tx *txn) queueDiagnosis(e tank.Event) { tx.queueEvent(tx.withTank(e)) }

// withTank is an event that names its tank.
func (tx *txn) withTank(e tank.Event) Event {
	out := Event{Rule: e.Rule, Note: e.Note, Start: e.Start, End: e.End}
	if t := tx.l.site.tank(e.Tank); t != nil {
		out.Object, out.ObjectType = t.Object, t.ObjectType
	}
	if e.Tank != "" && !strings.Contains(e.Note, e.Tank) {
		out.Note = e.Tank + ": " + e.Note
	}
	return out
}

// applyNotice books what a collector says: an episode that begins, one that ends, or an instant.
func (tx *txn) applyNotice(n collectors.Notice) {
	k := episodeKey(n.Rule, n.Source)
	e, known := tx.episodes[k]
	note := n.Source + ": " + n.Note
	switch {
	case n.Until.IsZero() && known:
		if e.Inherited || !e.Over.IsZero() || e.Note != note { // whoever tells of it now will tell of its end, and knows the reason of now
			e.Inherited, e.Over, e.Note = false, time.Time{}, note+either(e.Over.IsZero() && !strings.HasSuffix(e.Note, comesAndGoes), "", comesAndGoes)
			tx.setEpisode(k, e)
		}
	case n.Until.IsZero():
		e = Episode{Rule: n.Rule, Source: n.Source, Since: n.Since.Round(0), Note: note, Open: true}
		tx.setEpisode(k, e)
		tx.putEpisodes()
		tx.logEpisode(e, "something is wrong")
		tx.l.openings.count(k, tx.now)
	case known && tx.l.openings.often(k):
		e.Over = n.Until.Round(0)
		tx.setEpisode(k, e)
	case known:
		tx.closeEpisode(k, e, n.Until.Round(0))
	default:
		tx.queueEvent(Event{Rule: n.Rule, Note: note, Start: n.Since.Round(0), End: n.Until.Round(0)})
	}
}

// openings counts how often each episode of a collector's began within an hour. One that comes and goes (two nodes of one name, of which each
// ends the other) costs three commits and an event each time: after the first few it stays open until it has not come back
// for a while. Nobody needs it after a restart.
type openings map[string]*opening

type opening struct {
	from time.Time
	n    int
}

const (
	openingsEach = 10               // that are told one by one in an hour
	openingsCalm = 10 * time.Minute // without it, and it is over

	comesAndGoes = "; it comes and goes since then" // of one that stayed open and is there again
)

func (o openings) count(k string, now time.Time) {
	maps.DeleteFunc(o, func(_ string, x *opening) bool { return now.Sub(x.from) > time.Hour })
	if o[k] == nil {
		o[k] = &opening{from: now}
	}
	o[k].n++
}

func (o openings) often(k string) bool { return o[k] != nil && o[k].n > openingsEach }

// closeCalmed ends the episodes that came and went, and do no more.
func (tx *txn) closeCalmed() {
	for k, e := range tx.episodes {
		if e.Open && !e.Over.IsZero() && tx.l.ruleOf(e) == nil && tx.now.Sub(e.Over) >= openingsCalm {
			e.Note = strings.TrimSuffix(e.Note, comesAndGoes) + "; it came and went again and again"
			tx.closeEpisode(k, e, e.Over)
		}
	}
}

// closeEpisode ends an episode of gauger's own and queues its event.
func (tx *txn) closeEpisode(k string, e Episode, at time.Time) {
	tx.ownEpisodes()
	delete(tx.episodes, k)
	tx.putEpisodes()
	tx.logEpisode(e, "right again")
	tx.queueEvent(Event{Rule: e.Rule, Note: e.Note, Start: e.Since, End: at})
}

// closeRecovered closes episodes that an earlier run left open, once the device they are about is read again: the
// collector of this run does not know of them.
func (tx *txn) closeRecovered(p collectors.Point) {
	for k, e := range tx.episodes {
		if e.Inherited && e.about(p) && tx.l.ruleOf(e) == nil {
			tx.closeEpisode(k, e, tx.now.Round(0)) // the reading may be of a time before
		}
	}
}

// about says that an episode's source is a point, its device, devices of which it is one, or something of theirs that
// is named after them and a blank.
func (e Episode) about(p collectors.Point) bool {
	devices, _, _ := strings.Cut(e.Source, " ")
	return e.Source == string(p) || slices.Contains(strings.Split(devices, ","), deviceOf(p))
}

// ruleOf is the configured rule behind an episode, or nil for one of gauger's own.
func (l *Ledger) ruleOf(e Episode) *Rule {
	for i, r := range l.site.Rules {
		if r.Name == e.Rule && string(r.Point) == e.Source {
			return &l.site.Rules[i]
		}
	}
	return nil
}

// tellLongEpisodes tells, once, of an episode of gauger's own that has lasted for a long while.
func (tx *txn) tellLongEpisodes() {
	for k, e := range tx.episodes {
		if e.Told || !e.Open || tx.l.ruleOf(e) != nil || tx.now.Sub(e.Since) < longWhile {
			continue
		}
		e.Told = true
		tx.setEpisode(k, e)
		tx.putEpisodes()
		tx.queueEvent(Event{Rule: e.Rule, Note: e.Note + " (still so)", Start: e.Since, End: tx.now.Round(0)})
	}
}

// closeQuietRefusals ends the episodes of devices that talk no more nonsense than is stored.
func (tx *txn) closeQuietRefusals() {
	for k, e := range tx.episodes {
		if e.Rule != eventrules.MessagesDropped {
			continue
		}
		if dropped, ok := tx.l.refusals.quiet(e.Source, tx.l.started, tx.now); ok {
			e.Note += "; dropped so far: " + dropped
			tx.closeEpisode(k, e, tx.now.Round(0))
		}
	}
}

// shiftEpisodes moves the onsets of what is going on when the wall clock was set.
func (tx *txn) shiftEpisodes(before time.Time, step time.Duration) {
	if len(tx.episodes) == 0 {
		return
	}
	tx.ownEpisodes()
	for k, e := range tx.episodes {
		if e.Since.After(before.Add(clock.Tolerance)) || !e.stamp.IsZero() { // a device's clock was not set
			continue
		}
		e.Since = e.Since.Add(step)
		if !e.Over.IsZero() {
			e.Over = e.Over.Add(step)
		}
		tx.episodes[k] = e
	}
	tx.putEpisodes()
}

// putEpisodes stores the episodes that count.
func (tx *txn) putEpisodes() {
	stored := map[string]Episode{}
	for k, e := range tx.episodes {
		if e.Open {
			stored[k] = e
		}
	}
	tx.putJSON(episodesKey, stored)
}

// logEpisode logs an edge after the commit.
func (tx *txn) logEpisode(e Episode, msg string) {
	tx.afterCommit = append(tx.afterCommit, func() {
		tx.l.log.Warn().Str("rule", e.Rule).Str("source", e.Source).Str("note", e.Note).Time("since", e.Since).Msg(msg)
	})
}

// QueueEvent queues an event that did not come from a reading: a record refused by the service, a key about to expire.
func (l *Ledger) QueueEvent(e Event) error {
	if err := l.update(func(tx *txn) error { tx.queueEvent(e); return nil }); err != nil {
		return fmt.Errorf("store the event %s: %w", e.Rule, err)
	}
	return nil
}

// CloseInherited ends the episodes of an earlier run whose source begins with prefix: whoever told of them knows nothing
// of that run, and will tell again if it is still so.
func (l *Ledger) CloseInherited(prefix string) error {
	return l.update(func(tx *txn) error {
		for k, e := range l.state.episodes {
			if e.Inherited && strings.HasPrefix(e.Source, prefix) {
				tx.closeEpisode(k, e, tx.now.Round(0))
			}
		}
		return nil
	})
}

// leaveOut tells of something that cannot be written down. It is left out: the rest of the batch must not wait for it.
func (tx *txn) leaveOut(name string, why error) {
	tx.afterCommit = append(tx.afterCommit, func() {
		tx.l.log.Error().Err(why).Str("name", name).Msg("something cannot be written down and was left out")
	})
	if name != episodesKey { // the notice itself is kept there
		tx.applyNotice(collectors.Notice{Rule: eventrules.RecordUnwritable, Source: UnwritableSource + clip(name), Since: tx.now,
			Note: "it cannot be written down and was left out, while everything else goes on: " + why.Error()})
	}
}

// clip shortens a name for people.
func clip(name string) string {
	if len(name) > 80 {
		return name[:80] + "..."
	}
	return name
}

// UnwritableSource begins the sources of notices about records and state that could not be written.
const UnwritableSource = "what is kept as "

// The journal of what made no ticket: a small piece of state for each movement, so that one more costs one write.
const (
	verdictKey   = "verdict/"
	verdictsKept = 100 // of each tank
	verdictsFor  = 60 * 24 * time.Hour
)

// journaledRules are the rules of the detector's events that explain a time without a ticket. The others tell of a movement
// whose verdict is kept.
var journaledRules = []string{eventrules.Stuck, eventrules.Step, eventrules.Gap, eventrules.BadValue, eventrules.SpikeRate, eventrules.ClockStep, eventrules.UnexplainedLoss, eventrules.OilUnloaded}

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
