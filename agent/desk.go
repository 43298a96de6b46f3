package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/link"
	"gauger/eventrules"
	"gauger/outbox"
)

// Desk answers the commands. Beside a running daemon they reach it through its socket; without one a command opens the
// store and sits at a desk of its own. Either way the same verb does the same thing.
type Desk struct {
	Ledger  *Ledger
	Box     *outbox.Box
	Client  *cloud.Client
	Clock   *clock.Clock
	Site    Site
	Version string
	Began   time.Time
	Daemon  bool                // the collectors run and the streams are drained
	Link    *link.Link          // nil: nothing is held back
	Gather  []Named             // the collectors, for what they could not decode
	Lines   func() []LineStatus // of the collectors that poll; nil: there are none
	Shut    func() error        // why there is no outbox; nil: there is one. Box and Client are nil then
	Doubts  []string            // what is wrong with the configuration that is at work
	verbs   map[string]Verb
	feeds   map[string]Feed
}

// Verb is one thing that can be asked for: JSON in, something that marshals out.
type Verb func(ctx context.Context, args json.RawMessage) (any, error)

// ErrVerb says that nobody knows the verb, which happens when command and daemon are of different versions.
var ErrVerb = errors.New("the running gauger does not know this request; restart it so that it is of the same version as this command")

// Call does one verb.
func (d *Desk) Call(ctx context.Context, verb string, args json.RawMessage) (any, error) {
	v, ok := d.verbs[verb]
	if !ok {
		return nil, d.unknownVerb(verb)
	}
	got, err := v(ctx, args)
	if errors.Is(err, outbox.ErrStream) {
		err = fmt.Errorf("%w; there are %s", err, strings.Join(slices.Sorted(maps.Keys(d.Box.Counts())), ", "))
	}
	return got, err
}

// Offer adds a verb; the commands bring what needs a device's own protocol.
func (d *Desk) Offer(name string, v Verb) { d.verbs[name] = v }

// person is the key under which a request's context names the local user.
type person struct{}

// WithPerson says which local user asks.
func WithPerson(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, person{}, name)
}

// Person is the local user who asks; "unknown" when nobody said.
func Person(ctx context.Context) string {
	if name, ok := ctx.Value(person{}).(string); ok && name != "" {
		return name
	}
	return "unknown"
}

// On makes a verb of a function with arguments and a result of their own types.
func On[A, R any](f func(ctx context.Context, args A) (R, error)) Verb {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var args A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, fmt.Errorf("read the request: %w", err)
			}
		}
		return f(ctx, args)
	}
}

// Arguments of the verbs.
type (
	// Which names records of a stream.
	Which struct {
		Stream string   `json:"stream"`
		State  string   `json:"state,omitempty"` // waiting, dead or delivered; empty: waiting and dead
		After  uint64   `json:"after,omitempty"`
		Limit  int      `json:"limit,omitempty"`
		Seqs   []uint64 `json:"seqs,omitempty"`
		Why    string   `json:"why,omitempty"`
		Whole  bool     `json:"whole,omitempty"` // with the request that takes each to the service
	}
	// Queue is a record that a command has made and checked.
	Queue struct {
		Stream  string          `json:"stream"`
		Address string          `json:"address,omitempty"`
		Body    json.RawMessage `json:"body"`
	}
	// Queued says where it stands.
	Queued struct {
		Stream  string `json:"stream"`
		Seq     uint64 `json:"seq"`
		Number  string `json:"number,omitempty"`
		Warning string `json:"warning,omitempty"`
	}
	// Ticket names a ticket, and what is to become of it.
	Ticket struct {
		Number string `json:"number"`
		Why    string `json:"why,omitempty"`
	}
	// Points names points; none means all.
	Points struct {
		Points []string `json:"points,omitempty"`
	}
	// None is no arguments, or no result.
	None struct{}
)

// Open lays out the verbs.
func (d *Desk) Open() *Desk {
	d.feeds = map[string]Feed{"readings": Following(d.readings)}
	d.verbs = map[string]Verb{
		"status": On(func(context.Context, None) (Status, error) { return d.Status() }),
		"read":   On(d.read),
		"queue":  On(d.queue),
		"clock.trust": On(func(context.Context, None) (None, error) {
			d.Clock.Confirm()
			return None{}, nil
		}),
		"outbox.list":   On(d.list),
		"outbox.show":   On(d.show),
		"outbox.retry":  On(d.retry),
		"outbox.drop":   On(d.drop),
		"outbox.decode": On(d.decode),
		"proof":         On(d.prove),
		"tickets.list":  On(func(context.Context, None) ([]Booked, error) { return d.Ledger.Tickets() }),
		"tickets.add":   On(d.add),
		"book":          On(func(_ context.Context, p BookPeriod) ([]BookRow, error) { return d.bookVerb(p) }),
		"tickets.match": On(func(ctx context.Context, a MatchArgs) (Matched, error) {
			b, warning, err := d.Ledger.Match(a, Person(ctx))
			return Matched{b, warning}, err
		}),
		"tickets.why": On(func(_ context.Context, a WhyArgs) (*Why, error) { return d.Ledger.why(a) }),
	}
	maps.Copy(d.verbs, d.siteVerbs())
	maps.Copy(d.verbs, d.cloudVerbs())
	return d
}

func (d *Desk) queue(_ context.Context, q Queue) (Queued, error) {
	if _, ok := operations[q.Stream]; !ok {
		return Queued{}, fmt.Errorf("no operation of the service takes %q", q.Stream)
	}
	out := Queued{Stream: q.Stream}
	err := d.Box.Update(func(tx *outbox.Tx) error {
		out.Seq = tx.Append(q.Stream, outbox.Record{
			Address: q.Address, Body: q.Body, At: time.Now().Round(0), Clock: byte(d.Clock.Grade(time.Now())), Config: d.Site.Config,
		})
		return nil
	})
	return out, err
}

func (d *Desk) add(ctx context.Context, w Written) (Queued, error) {
	number, warning, err := d.Ledger.Add(w, Person(ctx))
	return Queued{Stream: Tickets, Number: number, Warning: warning}, err
}

// states are the places of a record, by the words that people use.
var states = map[string]outbox.State{
	"waiting": outbox.Waiting, "dead": outbox.Dead, "delivered": outbox.Delivered, "dropped": outbox.Dropped,
}

// list gives at most Limit records of each stream and state asked for, those behind After.
func (d *Desk) list(_ context.Context, w Which) ([]Entry, error) {
	streams := []string{w.Stream}
	if w.Stream == "" {
		streams = slices.Sorted(maps.Keys(d.Box.Counts()))
	}
	asked := []outbox.State{outbox.Waiting, outbox.Dead}
	if w.State != "" {
		s, ok := states[w.State]
		if !ok {
			return nil, fmt.Errorf("a record is %s, not %q", strings.Join(slices.Sorted(maps.Keys(states)), ", "), w.State)
		}
		asked = []outbox.State{s}
	}
	if w.Limit <= 0 {
		w.Limit = 100
	}
	all := []Entry{}
	for _, stream := range streams {
		for _, state := range asked {
			found, err := d.Box.Entries(stream, state, w.After, w.Limit)
			if err != nil {
				return nil, err
			}
			for _, e := range found {
				one, err := d.shown(e, w.Whole)
				if err != nil {
					return nil, err
				}
				all = append(all, one)
			}
		}
	}
	return all, nil
}

func (d *Desk) show(_ context.Context, w Which) (Entry, error) {
	if len(w.Seqs) != 1 {
		return Entry{}, errors.New("name one record, as STREAM/NUMBER")
	}
	e, err := d.Box.Entry(w.Stream, w.Seqs[0])
	if err != nil {
		return Entry{}, err
	}
	return d.shown(e, true)
}

func (d *Desk) retry(_ context.Context, w Which) (int, error) {
	n, err := d.Box.Retry(w.Stream, w.Seqs...)
	d.Box.Kick(w.Stream)
	return n, err
}

func (d *Desk) drop(ctx context.Context, w Which) (int, error) {
	if strings.TrimSpace(w.Why) == "" {
		return 0, errors.New("say why with --why: a dropped record is gone, and the reason is kept")
	}
	n, err := d.Box.Drop(w.Stream, Person(ctx)+": "+w.Why, w.Seqs...)
	if n == 0 {
		return n, err
	}
	now := time.Now().Round(0)
	return n, errors.Join(err, d.Ledger.Book(Event{Rule: eventrules.OutboxDropped, Start: now, End: now,
		Note: fmt.Sprintf("%s of %s (%v) dropped by %s: %s", plural(n, "record"), w.Stream, w.Seqs, Person(ctx), w.Why)}))
}

// Kick lets every stream try again now: new keys have come, or a person asks.
func (d *Desk) Kick() {
	for stream := range operations {
		d.Box.Kick(stream)
	}
}
