package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/collectors"
)

// Event is a diagnostic event before it is wire JSON.
type Event struct {
	Rule, Note         string
	Object, ObjectType string // empty: the site's
	Start, End         time.Time
	tank               string  // that it is about, and
	clocks             *Clocks // by which its times are; nil: it is about none
}

// event queues a diagnostic event. While the clock is not believed it waits: an event of 1970 or 2099 helps nobody.
func (d *draft) event(e Event) {
	if e.Object == "" {
		e.Object, e.ObjectType = d.l.site.Object, d.l.site.ObjectType
	}
	if e.End.Before(e.Start) {
		e.End = e.Start
	}
	if d.clockDoubted() || !clock.WasSet(e.Start) && !d.tanks.Agrees(d.now) {
		d.postpone(postponed{Event: &e, Tank: e.tank, Clocks: e.clocks})
		return
	}
	body, err := d.l.site.encodeEvent(e)
	if err != nil {
		d.unwritable("an event of "+e.Rule, err)
		return
	}
	d.append(Events, "", body)
	d.says = append(d.says, func() {
		d.l.log.Info().Str("rule", e.Rule).Str("note", e.Note).Time("start", e.Start).Time("end", e.End).Msg("event queued")
	})
}

// detected queues what the detector found: its times are by the clock of the tank's readings.
func (d *draft) detected(e tank.Event) {
	clocks := d.overtaken(e.Tank, &e.Start, &e.End)
	out := d.named(e)
	out.tank, out.clocks = e.Tank, clocks
	d.event(out)
}

// diagnosis queues what is to be said of a tank, by the box's clock.
func (d *draft) diagnosis(e tank.Event) { d.event(d.named(e)) }

// named is an event that names its tank.
func (d *draft) named(e tank.Event) Event {
	out := Event{Rule: e.Rule, Note: e.Note, Start: e.Start, End: e.End}
	for _, t := range d.l.site.Tanks {
		if t.ID == e.Tank {
			out.Object, out.ObjectType = t.Object, t.ObjectType
		}
	}
	if e.Tank != "" && !strings.Contains(e.Note, e.Tank) {
		out.Note = e.Tank + ": " + e.Note
	}
	return out
}

// notice books what a collector says: an episode that begins, one that ends, or an instant.
func (d *draft) notice(n collectors.Notice) {
	k := key(n.Rule, n.Source)
	e, known := d.open[k]
	note := n.Source + ": " + n.Note
	switch {
	case n.Until.IsZero() && known:
		if e.Inherited { // whoever tells of it now will tell of its end
			e.Inherited = false
			d.ownEpisodes()
			d.open[k] = e
		}
		return
	case n.Until.IsZero():
		e = Episode{Rule: n.Rule, Source: n.Source, Since: n.Since.Round(0), Note: note, Open: true}
		d.ownEpisodes()
		d.open[k] = e
		d.keepEpisodes()
		d.say(e, "something is wrong")
		return
	case known:
		d.close(k, e, n.Until.Round(0))
		return
	}
	d.event(Event{Rule: n.Rule, Note: note, Start: n.Since.Round(0), End: n.Until.Round(0)})
}

// close ends an episode of gauger's own and queues its event.
func (d *draft) close(k string, e Episode, at time.Time) {
	d.ownEpisodes()
	delete(d.open, k)
	d.keepEpisodes()
	d.say(e, "right again")
	d.event(Event{Rule: e.Rule, Note: e.Note, Start: e.Since, End: at})
}

// recovered closes episodes that an earlier run left open, once the device they are about is read again: the
// collector of this run does not know of them.
func (d *draft) recovered(r collectors.Reading) {
	for k, e := range d.open {
		if e.Inherited && e.about(r.Point) && d.l.ruleOf(e) == nil {
			d.close(k, e, d.now.Round(0)) // the reading may be of a time before
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

// silence tells, once, of an episode of gauger's own that has lasted for a long while.
func (d *draft) silence() {
	for k, e := range d.open {
		if e.Told || !e.Open || d.l.ruleOf(e) != nil || d.now.Sub(e.Since) < longWhile {
			continue
		}
		e.Told = true
		d.ownEpisodes()
		d.open[k] = e
		d.keepEpisodes()
		d.event(Event{Rule: e.Rule, Note: e.Note + " (still so)", Start: e.Since, End: d.now.Round(0)})
	}
}

// shiftEpisodes moves the onsets of what is going on when the wall clock was set.
func (d *draft) shiftEpisodes(before time.Time, step time.Duration) {
	if len(d.open) == 0 {
		return
	}
	d.ownEpisodes()
	for k, e := range d.open {
		if e.Since.After(before.Add(clock.Tolerance)) || !e.stamp.IsZero() { // a device's clock was not set
			continue
		}
		e.Since = e.Since.Add(step)
		if !e.Over.IsZero() {
			e.Over = e.Over.Add(step)
		}
		d.open[k] = e
	}
	d.keepEpisodes()
}

// keepEpisodes stores the episodes that count.
func (d *draft) keepEpisodes() {
	stored := map[string]Episode{}
	for k, e := range d.open {
		if e.Open {
			stored[k] = e
		}
	}
	d.keep(openState, stored)
}

// say logs an edge after the commit.
func (d *draft) say(e Episode, msg string) {
	d.says = append(d.says, func() {
		d.l.log.Warn().Str("rule", e.Rule).Str("source", e.Source).Str("note", e.Note).Time("since", e.Since).Msg(msg)
	})
}

// Book queues an event that did not come from a reading: a record refused by the service, a key about to expire.
func (l *Ledger) Book(e Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.draft(time.Now())
	d.event(e)
	if err := l.commit(d, ""); err != nil {
		return fmt.Errorf("store the event %s: %w", e.Rule, err)
	}
	return nil
}

// CloseInherited ends the episodes of an earlier run whose source begins with prefix: whoever told of them knows nothing
// of that run, and will tell again if it is still so.
func (l *Ledger) CloseInherited(prefix string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.draft(time.Now())
	for k, e := range l.s.open {
		if e.Inherited && strings.HasPrefix(e.Source, prefix) {
			d.close(k, e, d.now.Round(0))
		}
	}
	return l.commit(d, "")
}
