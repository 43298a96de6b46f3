package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/outbox"
)

// EventProof compares the diagnostic events that were delivered with what GetEvents gives back. They are the same when
// object, rule and start (to the second) are. Both are of events whose start lies in the stretch.
type EventProof struct {
	Compared  bool         `json:"compared"`       // false: what the service has is unknown, and Note says why
	Note      string       `json:"note,omitempty"` // also what could not be compared
	Delivered int          `json:"delivered"`      // by the receipts
	Service   int          `json:"service"`        // found there, of the objects of these events
	Missing   []EventCount `json:"missing"`        // delivered, and not there
	Doubled   []EventCount `json:"doubled"`        // there more often than delivered
	Unknown   []EventCount `json:"unknown"`        // there, and not from this gauger, or from before its receipts
}

// EventCount is an event, how often it was delivered, and how often the service has it.
type EventCount struct {
	ledger.EventRef
	Delivered int `json:"delivered"`
	Service   int `json:"service"`
}

// eventKey: two events with the same key are one.
type eventKey struct {
	rule, object string
	start        int64
}

// eventTally counts the events with one key.
type eventTally struct {
	EventCount
	undelivered int // waiting or refused: the service may have them, or not
}

// eventComparison holds the events of a stretch beside those that the service has.
type eventComparison struct {
	zone     cloud.Wire
	from, to time.Time
	since    time.Time // receipts are kept from then on; zero: all are
	all      map[eventKey]*eventTally
	vague    int // receipts that do not say which event it was
}

// at finds the tally of an event whose start lies in the stretch; nil: it does not, or cannot be told.
func (l *eventComparison) at(ref ledger.EventRef) *eventTally {
	start, ok := l.zone.ReadTime(ref.Start)
	if !ok || start.Before(l.from) || !start.Before(l.to) {
		return nil
	}
	k := eventKey{ledger.ShortRule(ref.Rule), strings.ToLower(ref.Object), start.Unix()}
	if l.all[k] == nil {
		ref.Start = start.UTC().Format(time.RFC3339)
		l.all[k] = &eventTally{EventCount: EventCount{EventRef: ref}}
	}
	return l.all[k]
}

// addRecord counts one record of the stream of events.
func (l *eventComparison) addRecord(e outbox.Entry) {
	label := e.Label
	if e.State == outbox.Waiting || e.State == outbox.Dead {
		label = ledger.RecordLabel(ledger.Events, e.Record)
	}
	ref, ok := ledger.ReadEventRef(label)
	if !ok {
		if e.State == outbox.Delivered && !e.Record.At.Before(l.from) {
			l.vague++
		}
		return
	}
	t := l.at(ref)
	switch {
	case t == nil:
	case e.State == outbox.Delivered:
		t.Delivered++
	default:
		t.undelivered++
	}
}

// mostDifferences bounds each list of differences.
const mostDifferences = 1000

// compare asks the service for the same stretch. An answer of another shape, or none, means unknown.
func (d *Server) compare(ctx context.Context, l *eventComparison) EventProof {
	p := EventProof{Missing: []EventCount{}, Doubled: []EventCount{}, Unknown: []EventCount{}}
	for _, t := range l.all {
		p.Delivered += t.Delivered
	}
	if err := d.fetchEvents(ctx, l, &p); err != nil {
		p.Note = "what the service has is unknown: " + err.Error()
		return p
	}
	p.Compared = true
	for k, t := range l.all {
		switch at := time.Unix(k.start, 0); {
		case t.Service > t.Delivered+t.undelivered && t.Delivered+t.undelivered > 0:
			p.Doubled = append(p.Doubled, t.EventCount)
		case t.Service < t.Delivered:
			p.Missing = append(p.Missing, t.EventCount)
		case t.Service > 0 && t.Delivered+t.undelivered == 0 && !at.Before(l.since):
			p.Unknown = append(p.Unknown, t.EventCount)
		}
	}
	for _, list := range []*[]EventCount{&p.Missing, &p.Doubled, &p.Unknown} {
		all := *list
		sort.Slice(all, func(i, j int) bool {
			return all[i].Start+all[i].Rule+all[i].Object < all[j].Start+all[j].Rule+all[j].Object
		})
		*list = all[:min(len(all), mostDifferences)]
	}
	if l.vague > 0 {
		p.Note = ledger.Plural(l.vague, "receipt") + " of an earlier version of gauger do not say which event it was, so that the service may show some as unknown"
	}
	return p
}

// eventObject limits a query for events.
type eventObject struct{ id, kind string }

// asked says that a query can be limited to it: the service knows these two types.
func (o eventObject) asked() bool { return o.kind == "Device" || o.kind == "Well" }

// objects are those that the events of a stretch name, and the site's own.
func (d *Server) objects(l *eventComparison) (all []eventObject) {
	kinds := map[string]string{strings.ToLower(d.Site.Object): d.Site.ObjectType}
	for _, t := range l.all {
		kinds[strings.ToLower(t.Object)] = t.Type
	}
	delete(kinds, "")
	for _, id := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, eventObject{id, kinds[id]})
	}
	return all
}

// fetchEvents counts what the service has. It is asked for a minute more, since the query's times are cut to whole seconds
// or minutes and its end is exclusive.
func (d *Server) fetchEvents(ctx context.Context, l *eventComparison, p *EventProof) error {
	for _, o := range d.objects(l) {
		q := cloud.EventQuery{Type: "Diagnostic", Start: l.from, End: l.to.Add(time.Minute)}
		if o.asked() {
			q.ObjectID, q.ObjectType = o.id, o.kind
		}
		err := d.Client.AllEvents(ctx, q, func(page cloud.Page[cloud.Event]) error {
			if len(page.Odd) > 0 { // it may be any of those that are counted
				return fmt.Errorf("element [%d] of the answer: %w: %w", page.Odd[0], errEvent, cloud.ErrShape)
			}
			for _, e := range page.Items {
				if err := l.addFound(o, e, p); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errEvent says that an event of the service cannot be told from others.
var errEvent = errors.New("an event of the answer has no rule, object or time that can be read; name their paths in service.wire.events")

// addFound counts one event of the service's answer to the query for an object.
func (l *eventComparison) addFound(o eventObject, e cloud.Event, p *EventProof) error {
	if e.ObjectID != "" && !strings.EqualFold(e.ObjectID, o.id) {
		return nil // another's
	}
	start, ok := l.zone.ReadTime(e.Start)
	if !ok || e.Rule == "" || e.ObjectID == "" && !o.asked() {
		return fmt.Errorf("%w: %w", errEvent, cloud.ErrShape)
	}
	if start.Before(l.from) || !start.Before(l.to) {
		return nil // the service understood the range otherwise
	}
	p.Service++
	if t := l.at(ledger.EventRef{Rule: e.Rule, Start: e.Start, Object: o.id, Type: o.kind}); t != nil {
		t.Service++
	}
	return nil
}
