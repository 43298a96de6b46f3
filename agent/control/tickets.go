package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/audit"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/outbox"
)

// Arguments and results of the requests for held tickets and for work on tanks.
type (
	// HoldArgs keeps a held ticket: until a time, for a while, or until a person releases it when both are zero.
	HoldArgs struct {
		Number string        `json:"number"`
		Until  time.Time     `json:"until,omitzero"`
		For    time.Duration `json:"for,omitempty"`
		Why    string        `json:"why,omitempty"`
	}
	// HoldResult says when a ticket on hold leaves by itself; zero: not before a person releases it.
	HoldResult struct {
		Leaves time.Time `json:"leaves,omitzero"`
	}
	// InhibitArgs is work on a tank, and for how long.
	InhibitArgs struct {
		Tank string        `json:"tank"`
		For  time.Duration `json:"for,omitempty"`
		Why  string        `json:"why,omitempty"`
	}
)

func (d *Server) addTicket(ctx context.Context, w ledger.ManualTicket) (QueuedRecord, error) {
	number, warning, err := d.Ledger.Add(w, Person(ctx), d.Ledger.Contradictions(w)...)
	return QueuedRecord{Stream: ledger.Tickets, Number: number, Warning: warning}, err
}

// checkTickets says what speaks against tickets that a person is about to add.
func (d *Server) checkTickets(_ context.Context, all []ledger.ManualTicket) ([]string, error) {
	doubts, err := d.Ledger.Doubts(all)
	if err != nil {
		return nil, err
	}
	for i, w := range all {
		for _, c := range d.Ledger.Contradictions(w) {
			doubts = append(doubts, ledger.RecordOfFile(i, len(all))+c)
		}
	}
	return doubts, nil
}

func (d *Server) matchTicket(ctx context.Context, a ledger.MatchArgs) (ledger.MatchResult, error) {
	b, warning, err := d.Ledger.Match(a, Person(ctx))
	return ledger.MatchResult{Ticket: b, Warning: warning}, err
}

func (d *Server) rejectTicket(ctx context.Context, t TicketArgs) (None, error) {
	if t.Left {
		return None{}, d.Ledger.Void(t.Number, Person(ctx), t.Why)
	}
	return None{}, d.Ledger.Reject(t.Number, Person(ctx), t.Why)
}

func (d *Server) holdTicket(ctx context.Context, a HoldArgs) (HoldResult, error) {
	if a.For > 0 {
		a.Until = time.Now().Round(0).Add(a.For)
	}
	leaves, err := d.Ledger.Hold(a.Number, Person(ctx), a.Why, a.Until)
	return HoldResult{leaves}, err
}

// Ticket finds one by its number or its handle.
func (d *Server) Ticket(name string) (TicketRow, error) {
	if d.NoOutbox != nil {
		return TicketRow{}, NoOutboxError(d.NoOutbox().Error())
	}
	all, err := d.Ledger.Tickets()
	if err != nil {
		return TicketRow{}, err
	}
	for _, b := range slices.Backward(all) {
		if name != "" && (strings.EqualFold(b.Number, name) || strings.EqualFold(b.Handle, name)) {
			return d.ticketRow(b)
		}
	}
	return TicketRow{}, fmt.Errorf("there is no ticket %s: %w", name, ErrNoTicket)
}

// ErrNoTicket says that nobody knows a ticket.
var ErrNoTicket = errors.New("no ticket has this number")

// ticketRow joins a ticket and its record in the outbox.
func (d *Server) ticketRow(b ledger.TicketRecord) (TicketRow, error) {
	if b.Seq == 0 {
		return TicketRowOf(b, nil), nil
	}
	e, err := d.Box.Entry(ledger.Tickets, b.Seq)
	switch {
	case errors.Is(err, outbox.ErrRecord):
		return TicketRowOf(b, nil), nil
	case err != nil:
		return TicketRow{}, err
	}
	return TicketRowOf(b, new(d.withReason(e))), nil
}

// unread says which tickets that are no longer held, of the last days by their load or by the truck's ticket, have a doubt to which nobody has
// said anything; empty: none.
func (d *Server) unread(all []ledger.TicketRecord, now time.Time) string {
	n, bbl, named := 0, 0.0, []string{}
	for _, b := range slices.Backward(all) {
		row := TicketRow{TicketRecord: b}
		if !b.Left() || now.Sub(row.touched()) > paperBack {
			continue
		}
		row, err := d.ticketRow(b)
		why := row.ForReview()
		if err != nil || why == nil { // the list tells the error
			continue
		}
		if n, bbl = n+1, bbl+*cmp.Or(row.Barrels(), new(0.0)); n <= namedSources {
			waits := ""
			if row.State == "waiting" {
				waits = "not sent yet, "
			}
			named = append(named, row.Name()+" ("+waits+ledger.JoinReasons(why)+")")
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s of the last 7 days, hauled or matched then, %.2f bbl, %s review: %s. `gauger tickets list --review` shows all: match the truck's ticket, or replace or void what is wrong; what the service may have more than once, look for in its list, have the copies taken out there, and say so with `gauger outbox confirm tickets/SEQ --why TEXT`",
		ledger.Plural(n, "ticket"), bbl, one(n, "needs", "need"), strings.Join(named, "; "))
}

// one is a word for one thing, or for several.
func one(n int, word, words string) string {
	if n == 1 {
		return word
	}
	return words
}

// Overview is all that a page about the site shows.
type Overview struct {
	Status
	Faces   []ledger.TankFace
	Recent  []TicketRow // the newest first
	KeyList []keys.Status
	Box     map[string]float64 // the box's own figures, by the words of host devices; those that it does not tell are absent
	Changes []audit.Entry      // the newest of the audit trail first
}

// recentTickets that an overview has, and what is left of the production day of the last of them; recentChanges of the audit trail.
const (
	recentTickets = 50
	recentChanges = 8
)

// Overview looks at everything once.
func (d *Server) Overview() (o Overview, err error) {
	if d.Figures != nil {
		o.Box = d.Figures()
	}
	if d.Trail != nil {
		o.Changes = d.Trail.Newest(recentChanges)
	}
	if d.NoOutbox != nil {
		o.Status = d.statusWithoutOutbox(time.Now())
		o.Faces = d.Ledger.Faces(nil, o.Now)
		for i := range o.Faces {
			o.Faces[i].Phase = notWatched
		}
		return o, nil
	}
	var tickets []ledger.TicketRecord
	if o.Status, tickets, err = d.look(time.Now()); err != nil {
		return o, err
	}
	o.Faces, o.KeyList = d.Ledger.Faces(tickets, o.Now), d.Client.Keys().Status()
	for _, b := range slices.Backward(tickets) {
		if n := len(o.Recent); n >= recentTickets && o.Recent[n-1].Day != b.Day {
			break // the barrels of a day are those of all its tickets
		}
		row, err := d.ticketRow(b)
		if err != nil {
			return o, err
		}
		o.Recent = append(o.Recent, row)
	}
	return o, nil
}

// Unready are the reasons for which a person is needed; none: everything is well, but that records may have waited for less than two
// minutes. Beside a reason of the four answers the single problems are not told: most are of the same thing.
func (d *Server) Unready(o Overview) []string {
	why := []string{}
	if o.StoreTrouble != "" {
		why = append(why, "store: "+o.StoreTrouble)
	}
	for i, t := range o.Tanks {
		switch {
		case t.Quality != "good":
			why = append(why, strings.TrimSuffix("there is no good level of "+t.ID+": "+d.noLevel(i, o.Status), ": "))
		case t.Quiet(o.Now):
			why = append(why, "the newest level of "+t.ID+" came "+Ago(o.Now, t.At))
		}
	}
	for _, a := range o.Answers {
		if a.State == Bad && a.About != "reading" && !(a.About == "sending" && (o.onlyDead() || o.soonSent())) {
			why = append(why, a.About+": "+a.Text)
		}
	}
	if len(why) > 0 {
		return append(why, sentences(o.dead[ledger.Tickets].problems(d, ledger.Tickets))...)
	}
	var soon []Problem // what `gauger status` says of records that have only begun to wait
	if o.soonSent() {
		soon = o.waitingProblems(o.noKeyWorks())
	}
	for _, p := range o.Found {
		if !slices.Contains(soon, p) {
			why = append(why, p.sentence())
		}
	}
	return why
}

// soonSent says that what is not taken has not waited for long, and that it may pass by itself.
func (s Status) soonSent() bool {
	return s.Daemon && s.Shut == "" && !s.Oldest.IsZero() && s.Now.Sub(s.Oldest) <= overdue && s.Apart()+s.Parked() == 0
}

// noLevel says why tank i has none; empty: nobody knows.
func (d *Server) noLevel(i int, s Status) string {
	if s.Tanks[i].Error != "" {
		return s.Tanks[i].Error
	}
	at := slices.IndexFunc(s.Points, func(p PointReading) bool { return p.Point == d.Site.Tanks[i].Level })
	if at < 0 {
		return ""
	}
	return s.Points[at].Error
}
