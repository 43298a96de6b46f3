package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"gauger/agent/audit"
	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/flash"
	"gauger/agent/ledger"
	"gauger/agent/link"
	"gauger/collectors"
	"gauger/outbox"
)

// Server answers the commands. Beside a running daemon they reach it through its socket; without one a command opens the
// store and asks a server of its own. Either way the same request does the same thing.
type Server struct {
	Ledger       *ledger.Ledger
	Box          *outbox.Box
	Client       *cloud.Client
	Clock        *clock.Clock
	Site         ledger.Site
	Version      string
	Began        time.Time
	Daemon       bool                      // the collectors run and the streams are drained
	Flash        *flash.Meter              // nil: nobody measures
	Link         *link.Link                // nil: nothing is held back
	Figures      func() map[string]float64 // of the box, by the words of host devices; nil: nobody looks
	Collectors   []collectors.Named        // the collectors, for what they could not decode
	Lines        func() []LineStatus       // of the collectors that poll; nil: there are none
	NoOutbox     func() error              // why there is no outbox; nil: there is one. Box and Client are nil then
	Hung         func() error              // which part hangs; nil: nobody looks but at the box
	ConfigDoubts []string                  // what is wrong with the configuration that is at work
	ConfigOnDisk func() string             // says that the file is another one than the one at work; nil: nobody looks
	Page         string                    // address of the status page; empty: there is none
	Roles        Roles                     // who may ask for what
	Trail        *audit.Trail              // of who has done what; nil: none is kept
	Audited      func(e audit.Entry, unkept error)
	requests     map[string]verb
	live         map[string]liveVerb
	denials      denials
}

// verb is a request, and the role that it needs. What needs more than Look leaves an entry in the audit trail.
type verb struct {
	needs  Role
	answer Request
}

// Request is one thing that can be asked for: JSON in, something that marshals out.
type Request func(ctx context.Context, args json.RawMessage) (any, error)

// ErrUnknownRequest says that nobody knows the request, which happens when command and daemon are of different versions.
var ErrUnknownRequest = errors.New("the running gauger does not know this request; restart it so that it is of the same version as this command")

// Call answers one request.
func (d *Server) Call(ctx context.Context, name string, args json.RawMessage) (any, error) {
	v, ok := d.requests[name]
	if !ok {
		return nil, d.unknownRequest(name)
	}
	if err := d.Allow(ctx, name, v.needs, args); err != nil {
		return nil, err
	}
	got, err := v.answer(ctx, args)
	if v.needs != Look {
		d.audited(ctx, name, args, got, err)
	}
	return got, d.withNext(err)
}

// aboutRequest names what a request is about, by the names that the requests have for it, with the figures that it books, and why the
// person wants it. Nothing else of a request is kept: it may hold a key.
func aboutRequest(args json.RawMessage, result any) (record, figures, why string) {
	var about struct {
		Number, Tank, Slot, Stream, URL, Why, Anyway string
		Hauler, Basis, Replaces                      string
		Seq                                          uint64
		Seqs                                         []uint64
		Bbl, Open, Close                             float64
		Metered, Remove                              bool
		Set                                          map[string]string
	}
	_ = json.Unmarshal(args, &about) // what cannot be read has no name
	if q, ok := result.(QueuedRecord); ok {
		about.Stream, about.Seq, about.Number = q.Stream, q.Seq, cmp.Or(q.Number, about.Number)
	}
	made, _ := result.([]ledger.Edit)
	for _, e := range made {
		figures += "; " + e.String()
	}
	for _, field := range slices.Sorted(maps.Keys(about.Set)) {
		if len(made) == 0 { // it was not done
			figures += "; " + field + " " + about.Set[field]
		}
	}
	seqs := strings.Trim(fmt.Sprint(about.Seqs), "[]")
	switch {
	case about.Number != "":
		record = about.Number
	case about.Stream != "" && about.Seq > 0:
		record = fmt.Sprintf("%s/%d", about.Stream, about.Seq)
	case about.Stream != "" && len(about.Seqs) == 1:
		record = about.Stream + "/" + seqs
	case len(about.Seqs) > 0:
		record = strings.TrimSpace(about.Stream + " " + seqs)
	default:
		if line, err := url.Parse(about.URL); err == nil {
			line.User = nil
			about.URL = line.String()
		}
		record = cmp.Or(about.Tank, about.Slot, about.Stream, about.URL)
	}
	if about.Replaces != "" {
		figures += "; in the place of " + about.Replaces
	}
	if about.Open > 0 {
		figures += fmt.Sprintf(", %.2f to %.2f in", about.Open, about.Close)
	}
	switch {
	case about.Hauler != "" && about.Remove:
		figures = "; truck's ticket " + about.Hauler + " taken back"
	case about.Hauler != "":
		figures = strings.TrimRight(fmt.Sprintf("; truck's ticket %s of %.2f bbl %s", about.Hauler, about.Bbl, about.Basis), " ")
		if about.Metered {
			figures += ", by its meter"
		}
	}
	if about.Anyway != "" {
		about.Why = strings.TrimPrefix(about.Why+", anyway: "+about.Anyway, ", ")
	}
	return record, strings.TrimLeft(figures, ",; "), about.Why
}

// Register adds a request; the commands bring what needs a device's own protocol.
func (d *Server) Register(name string, needs Role, answer Request) {
	d.requests[name] = verb{needs, answer}
}

// Person is the name of the local user who asks; "unknown" when nobody said.
func Person(ctx context.Context) string { return CallerOf(ctx).Name }

// RequestOf makes a request of a function with arguments and a result of their own types.
func RequestOf[A, R any](f func(ctx context.Context, args A) (R, error)) Request {
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

// LiveStream is something to be looked at while it goes on: JSON in, and see is called with each thing that marshals, until
// it is over, ctx ends or see fails.
type LiveStream func(ctx context.Context, args json.RawMessage, see func(any) error) error

// liveVerb is a feed, and the role that it needs.
type liveVerb struct {
	needs Role
	feed  LiveStream
}

// RegisterLive adds a feed, as Register does a request.
func (d *Server) RegisterLive(name string, needs Role, f LiveStream) {
	d.live[name] = liveVerb{needs, f}
}

// Follow looks at one feed.
func (d *Server) Follow(ctx context.Context, name string, args json.RawMessage, see func(any) error) error {
	v, ok := d.live[name]
	if !ok {
		return d.unknownRequest(name)
	}
	if err := d.Allow(ctx, name, v.needs, args); err != nil {
		return err
	}
	err := v.feed(ctx, args, see)
	if v.needs != Look {
		d.audited(ctx, name, args, nil, err)
	}
	return err
}

// LiveStreamOf makes a feed of a function with arguments of its own type.
func LiveStreamOf[A any](f func(ctx context.Context, args A, see func(any) error) error) LiveStream {
	return func(ctx context.Context, raw json.RawMessage, see func(any) error) error {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return fmt.Errorf("read the request: %w", err)
		}
		return f(ctx, args, see)
	}
}

// Arguments of the requests.
type (
	// RecordQuery names records of a stream.
	RecordQuery struct {
		Stream string   `json:"stream"`
		State  string   `json:"state,omitempty"` // waiting, dead or delivered; empty: waiting and dead
		After  uint64   `json:"after,omitempty"`
		Limit  int      `json:"limit,omitempty"`
		Seqs   []uint64 `json:"seqs,omitempty"`
		Why    string   `json:"why,omitempty"`
		Whole  bool     `json:"whole,omitempty"`  // with the request that takes each to the service
		Absent bool     `json:"absent,omitempty"` // of tickets: a person has looked, and the service has none of them
	}
	// QueueArgs is a record that a command has made and checked.
	QueueArgs struct {
		Stream  string          `json:"stream"`
		Address string          `json:"address,omitempty"`
		Body    json.RawMessage `json:"body"`
	}
	// QueuedRecord says where it stands.
	QueuedRecord struct {
		Stream  string `json:"stream"`
		Seq     uint64 `json:"seq"`
		Number  string `json:"number,omitempty"`
		Warning string `json:"warning,omitempty"`
	}
	// TicketArgs names a ticket, and what is to become of it.
	TicketArgs struct {
		Number string `json:"number"`
		Why    string `json:"why,omitempty"`
		Left   bool   `json:"left,omitempty"` // it is void, though the service has it
	}
	// PointsArgs names points; none means all.
	PointsArgs struct {
		Points []string `json:"points,omitempty"`
	}
	// None is no arguments, or no result.
	None struct{}
)

// OpenWithoutOutbox lays out what can be asked for while there is no outbox: how the site stands, and what is read.
func (d *Server) OpenWithoutOutbox() *Server {
	d.live = map[string]liveVerb{}
	d.requests = map[string]verb{
		"status": {Look, RequestOf(func(context.Context, None) (Status, error) { return d.Status() })},
		"read":   {Look, RequestOf(d.read)},
	}
	return d
}

// Open lays out what can be asked for: that, and all that needs the outbox.
func (d *Server) Open() *Server {
	d.OpenWithoutOutbox()
	d.live["readings"] = liveVerb{Look, LiveStreamOf(d.readings)}
	maps.Copy(d.requests, map[string]verb{
		"queue":          {Operate, RequestOf(d.queue)},
		"memos.add":      {Operate, RequestOf(d.addMemo)},
		"clock.trust":    {Operate, RequestOf(func(context.Context, None) (None, error) { d.Clock.Confirm(); return None{}, nil })},
		"audit":          {Look, RequestOf(d.auditLog)},
		"outbox.list":    {Look, RequestOf(d.listRecords)},
		"outbox.show":    {Look, RequestOf(func(_ context.Context, w RecordQuery) (Entry, error) { return d.Record(w) })},
		"outbox.retry":   {Operate, RequestOf(d.retryRecords)},
		"outbox.drop":    {Operate, RequestOf(d.dropRecords)},
		"outbox.confirm": {Operate, RequestOf(d.confirmRecords)},
		"outbox.decode":  {Operate, RequestOf(d.redecode)},
		"proof":          {Look, RequestOf(d.prove)},
		"book":           {Look, RequestOf(d.bookDays)},
		"book.begins": {Look, RequestOf(func(context.Context, None) ([]ledger.BookBegin, error) {
			return d.Ledger.BookBegins(d.began(time.Now())), nil
		})},
		"tickets.list":  {Look, RequestOf(func(context.Context, None) ([]ledger.TicketRecord, error) { return d.Ledger.Tickets() })},
		"tickets.check": {Look, RequestOf(d.checkTickets)},
		"tickets.add":   {Operate, RequestOf(d.addTicket)},
		"tickets.match": {Operate, RequestOf(d.matchTicket)},
		"tickets.why":   {Look, RequestOf(func(_ context.Context, a ledger.ExplainArgs) (*ledger.Explanation, error) { return d.Ledger.Explain(a) })},
		"tickets.release": {Operate, RequestOf(func(ctx context.Context, t TicketArgs) (None, error) {
			return None{}, d.Ledger.Release(t.Number, Person(ctx))
		})},
		"tickets.reject": {Operate, RequestOf(d.rejectTicket)},
		"tickets.edit": {Operate, RequestOf(func(ctx context.Context, c ledger.EditArgs) ([]ledger.Edit, error) {
			return d.Ledger.Edit(c, Person(ctx))
		})},
		"tickets.hold": {Operate, RequestOf(d.holdTicket)},
		"tanks.list":   {Look, RequestOf(func(context.Context, None) ([]ledger.TankRow, error) { return d.Ledger.Tanks() })},
		"tanks.inhibit": {Operate, RequestOf(func(ctx context.Context, a InhibitArgs) (ledger.Inhibition, error) {
			return d.Ledger.Inhibit(a.Tank, a.For, Person(ctx), a.Why)
		})},
		"tanks.allow":   {Operate, RequestOf(func(_ context.Context, a InhibitArgs) (ledger.Inhibition, error) { return d.Ledger.Allow(a.Tank) })},
		"keys.show":     {Look, RequestOf(func(context.Context, None) ([]keys.Status, error) { return d.Client.Keys().Status(), nil })},
		"keys.renew":    {Keys, RequestOf(d.renew)},
		"keys.set":      {Keys, RequestOf(d.setKey)},
		"login":         {Keys, RequestOf(d.login)},
		"devices.query": {Look, RequestOf(d.devices)},
		"events.get":    {Look, RequestOf(d.events)},
	})
	return d
}

func (d *Server) queue(_ context.Context, q QueueArgs) (QueuedRecord, error) {
	op, ok := ledger.Operations[q.Stream]
	switch {
	case !ok:
		return QueuedRecord{}, fmt.Errorf("no operation of the service takes %q", q.Stream)
	case op == cloud.SaveRunTickets:
		return QueuedRecord{}, errors.New("a ticket is not queued as it is: `gauger tickets add` gives it its number and keeps who has written it")
	case len(q.Address) > outbox.MaxAddress:
		return QueuedRecord{}, fmt.Errorf("address: the id is longer than %d characters", outbox.MaxAddress)
	}
	body, err := d.Site.Wire.Checked(op, q.Address, q.Body)
	if err != nil {
		return QueuedRecord{}, fmt.Errorf("%s: %w; nothing was queued", q.Stream, err)
	}
	out := QueuedRecord{Stream: q.Stream}
	err = d.Box.Update(func(tx *outbox.Tx) error {
		out.Seq = tx.Append(q.Stream, outbox.Record{
			Address: q.Address, Body: body, At: time.Now().Round(0), Clock: byte(d.Clock.Grade(time.Now())), Config: d.Site.Config,
		})
		return nil
	})
	return out, err
}

// Kick lets every stream try again now: new keys have come, or a person asks.
func (d *Server) Kick() {
	for stream := range ledger.Operations {
		d.Box.Kick(stream)
	}
}

// bookDays answers `gauger book`.
func (d *Server) bookDays(_ context.Context, p ledger.BookPeriod) ([]ledger.BookRow, error) {
	rows, err := d.Ledger.BookDays(p)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(rows)
	if err != nil || len(b) > bookAnswer {
		return nil, fmt.Errorf("the tank book of this period is %d kB long, more than one answer; ask for fewer days with --from and --to, or for one --tank", len(b)>>10)
	}
	return rows, nil
}

const bookAnswer = 8 << 20
