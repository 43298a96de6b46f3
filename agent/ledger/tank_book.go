package ledger

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/agent/tankbook"
	"gauger/collectors"
)

const (
	openDaysKey    = "book-open" // the tank book's open days
	closedDaysKey  = "book/"     // one per closed production day and tank
	closedDaysKept = 420         // days for which a closed one is kept
)

// bookRules are the site's settings of its tank book.
func (s Site) bookRules() tankbook.Rules {
	r := tankbook.Rules{Zone: s.Zone, GaugeOff: s.ProductionDay, LossLimit: s.LossLimit, Metered: make([]bool, len(s.Tanks))}
	if r.Zone == nil {
		r.Zone = time.UTC
	}
	for i, t := range s.Tanks {
		r.Metered[i] = t.Production != ""
	}
	return r
}

// meterRead gives the book one reading of a tank's production meter.
func (tx *txn) meterRead(i int, r collectors.Reading) {
	v, ok := r.Unit.Barrels(r.Value)
	if !ok || r.Quality != collectors.Good || !finite(v) {
		return
	}
	var x tank.Input
	tx.stampInput(&x, r)
	tx.tankBook = tx.tankBook.Metered(tx.setups.detector, i, x.At, v)
}

// updateBook lets the tank book hear what the detector made of an input.
func (tx *txn) updateBook(x tank.Input, out []tank.Outcome) {
	var said []tankbook.Outcome
	tx.tankBook, said = tx.tankBook.Next(tx.setups.detector, tx.l.rules, tx.tanks, x, out)
	for _, o := range said {
		if o.Day != nil {
			tx.closeDay(*o.Day)
		}
		if o.Loss != nil {
			tx.queueTankEvent(*o.Loss)
		}
	}
}

// closeDay keeps a day that the book has closed, and lets go of those that are too old.
func (tx *txn) closeDay(day tankbook.Day) {
	if tx.replayBoot == 0 && day.To.Before(tx.l.clock.NotBefore) || !clock.WasSet(day.To) {
		return // of a clock that was not set
	}
	tx.putJSON(closedDaysKey+tx.l.site.productionDay(day.From)+"/"+day.Tank, day)
	oldest := closedDaysKey + tx.l.site.productionDay(day.From.AddDate(0, 0, -closedDaysKept))
	names, err := tx.l.box.Names(closedDaysKey)
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("look for old days of the tank book: %w", err))
	}
	for _, name := range names {
		if name >= oldest || tx.clockDoubted() {
			break
		}
		tx.putState(name, nil)
	}
	tx.putBook()
}

// putBook stores the open days, in the transaction that stores the detector's state: both go back to the same instant.
func (tx *txn) putBook() {
	b, err := tx.tankBook.MarshalBinary()
	if err == nil {
		b, err = pack(b)
	}
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("write down the tank book: %w", err))
		return
	}
	tx.putState(openDaysKey, b)
}

// loadBook reads the open days. What cannot be read is begun anew: the day is then incomplete, and says so.
func (l *Ledger) loadBook() (b tankbook.Book, err error) {
	raw, err := l.box.Get(openDaysKey)
	if err != nil {
		return b, fmt.Errorf("read the tank book: %w", err)
	}
	if raw == nil {
		return b, nil
	}
	if raw, err = unpack(raw); err == nil {
		err = b.UnmarshalBinary(raw)
	}
	if err != nil {
		l.log.Error().Err(err).Msg("the open days of the tank book cannot be read; they begin anew")
		return tankbook.Book{}, nil
	}
	return b, nil
}

// BookPeriod names production days of the tank book, as dates of the site's zone; empty: all.
type BookPeriod struct {
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"` // the last one
	Tank string `json:"tank,omitempty"`
}

// BookRow is a closed production day of a tank, with what has become of its runs.
type BookRow struct {
	Date string `json:"date"` // the local date on which the day began
	tankbook.Day
	Tickets []BookTicket `json:"tickets"`
}

// BookTicket is a run of the book by its ticket, or a ticket that a person wrote.
type BookTicket struct {
	Number   string  `json:"number"`    // empty until it is fixed
	Bbl      float64 `json:"bbl"`       // by the level, with what flowed in meanwhile; of a person's by its gauges
	GaugeBbl float64 `json:"gauge_bbl"` // by the gauges alone
	RunsBbl  float64 `json:"runs_bbl"`  // what the day's runs have of it
	State    string  `json:"state"`     // held, waiting, delivered, refused, dropped, rejected, left, voided; unknown: the store has no ticket of it
	Why      string  `json:"why,omitempty"`
	Written  string  `json:"written_by,omitempty"`
	Replaced string  `json:"replaced_by,omitempty"`
}

// BookBegin says what is to come of a tank in the book.
type BookBegin struct {
	Tank  string    `json:"tank"`
	Since time.Time `json:"since,omitzero"` // it is counted from then on; zero: it is not, or not known since when
	Next  time.Time `json:"next,omitzero"`  // about when its next row comes; zero: nothing is counted yet
	Whole time.Time `json:"whole,omitzero"` // about when the next row with both stocks does
}

// BookBegins says it of every tank; began is when the program did, behind which the recorder's file stays for a while.
func (l *Ledger) BookBegins(began time.Time) []BookBegin {
	all := make([]BookBegin, len(l.site.Tanks))
	var read time.Time
	if k := l.RecorderStatus(); k != nil && k.Error == "" {
		read = cmp.Or(k.Oldest, began)
	}
	l.see(func() {
		for i, t := range l.site.Tanks {
			b := BookBegin{Tank: t.ID}
			from, to, whole := l.state.tankBook.Open(i)
			switch {
			case from.IsZero():
			case whole:
				b.Since, b.Next, b.Whole = from, to.Add(tankbook.CloseAfter), to.Add(tankbook.CloseAfter)
			default:
				b.Next, b.Whole = to.Add(tankbook.CloseAfter), l.site.bookRules().NextGaugeOff(to).Add(tankbook.CloseAfter)
				if read.After(from) {
					b.Since = read
				}
			}
			all[i] = b
		}
	})
	return all
}

// BookDays lists the closed days of a period by date, and within a date by the tanks' ids.
func (l *Ledger) BookDays(p BookPeriod) (rows []BookRow, err error) {
	l.see(func() { rows, err = l.bookDays(p) })
	return rows, err
}

func (l *Ledger) bookDays(p BookPeriod) ([]BookRow, error) {
	names, err := l.box.Names(closedDaysKey)
	if err != nil {
		return nil, fmt.Errorf("list the tank book: %w", err)
	}
	tickets, err := l.listTickets()
	if err != nil {
		return nil, err
	}
	rows := []BookRow{}
	for _, name := range names {
		date, id, _ := strings.Cut(name[len(closedDaysKey):], "/")
		if date < p.From || p.To != "" && date > p.To || p.Tank != "" && id != p.Tank {
			continue
		}
		r := BookRow{Date: date, Tickets: []BookTicket{}}
		if err := l.LoadState(name, &r.Day); err != nil {
			return nil, err
		}
		l.bookTickets(&r, tickets)
		rows = append(rows, r)
	}
	return rows, nil
}

// BookPart is an amount in a day's other barrels that has a name.
type BookPart = tankbook.Part

// BookParts are the kinds of such amounts, in the order in which they came up.
var BookParts = []string{tankbook.PartTickets, tankbook.PartRemeasured, tankbook.PartUnseen}

// PartBbl is what of a day's other barrels is of a kind.
func (r *BookRow) PartBbl(kind string) (bbl float64) {
	for _, p := range r.OtherParts {
		if p.Kind == kind {
			bbl += p.Bbl
		}
	}
	return thousandths(bbl)
}

// bookTickets joins a closed day with its tickets. The level says what has left the tank, the run tickets what was run: a load of which
// no ticket is booked is none of the day's runs, and a ticket that a person wrote is one. What lies between the two is named, so
// that the balance closes as before.
func (l *Ledger) bookTickets(r *BookRow, all []TicketRecord) {
	for _, run := range r.RunList {
		r.Tickets = append(r.Tickets, l.bookTicketOf(run, r.Tank, all))
	}
	for i := range all {
		b := &all[i]
		if b.Load != nil || b.Tank != r.Tank || b.Day != r.Date || b.Volumes == nil {
			continue
		}
		if t := l.ticketInBook(b, b.Volumes.OpenBbl-b.Volumes.CloseBbl); t.RunsBbl != 0 {
			t.Written = b.Person
			r.Tickets = append(r.Tickets, t)
		}
	}
	fell, runs := 0.0, 0.0
	for _, t := range r.Tickets {
		if runs += t.RunsBbl; t.Written == "" {
			fell += t.Bbl
		}
	}
	if off := thousandths(fell - runs); off != 0 {
		r.Runs, r.Other = thousandths(r.Runs-off), thousandths(r.Other+off)
		r.OtherParts = append(r.OtherParts, tankbook.Part{Kind: tankbook.PartTickets, Bbl: off, What: differenceWords(r.Tickets)})
	}
}

func thousandths(v float64) float64 { return math.Round(v*1e3) / 1e3 }

// differenceWords says of which loads and tickets the level and the runs differ.
func differenceWords(all []BookTicket) string {
	var fell, wrote []string
	for _, t := range all {
		switch {
		case t.Written != "":
			wrote = append(wrote, t.Number)
		case t.RunsBbl == 0:
			fell = append(fell, t.Number)
		}
	}
	switch {
	case wrote == nil:
		return "the level fell in the load of " + strings.Join(fell, ", ") + ", which nobody books as a run"
	case fell == nil:
		return "no load that gauger saw has " + strings.Join(wrote, ", ") + ", written by hand and a run"
	}
	return "the level fell in the load of " + strings.Join(fell, ", ") + ", which nobody books as a run, less " + strings.Join(wrote, ", ") + ", written by hand"
}

// bookTicketOf finds the ticket of a run of the book: the one of its tank that begins with it.
func (l *Ledger) bookTicketOf(run tankbook.Run, id string, all []TicketRecord) BookTicket {
	t := BookTicket{Bbl: run.Bbl, GaugeBbl: run.GaugeBbl, RunsBbl: run.Bbl, State: "unknown"}
	for i := range all {
		b := &all[i]
		if b.Tank != id || b.Load == nil || !sameLoadStart(b.Load.Start, run.Start) && !sameLoadStart(b.Load.Began, run.Start) {
			continue // its clock may have been set since the run was booked
		}
		t = l.ticketInBook(b, run.Bbl)
		t.GaugeBbl = run.GaugeBbl
	}
	return t
}

// ticketInBook is a ticket of so many barrels as the book shows it. Nothing of one that nobody will book is a run.
func (l *Ledger) ticketInBook(b *TicketRecord, bbl float64) BookTicket {
	t := BookTicket{Number: b.Number, Bbl: bbl, GaugeBbl: bbl, RunsBbl: bbl, State: "left", Replaced: b.ReplacedBy}
	for _, f := range b.Found {
		t.Why = "learned later: " + f.Note
	}
	switch {
	case b.Rejected != "":
		t.State, t.Why, t.RunsBbl = "rejected", b.Rejected, 0
	case !b.Left():
		t.State = "held"
	case b.Voided != "":
		t.State, t.Why, t.RunsBbl = "voided", b.Voided, 0
	case l.droppedTicket(*b):
		t.State, t.RunsBbl = "dropped", 0
	default:
		if e, err := l.box.Entry(Tickets, b.Seq); err == nil {
			t.State = strings.Replace(e.State.String(), "dead", "refused", 1)
		}
	}
	return t
}

// sameLoadStart says that two starts are of one load.
func sameLoadStart(a, b time.Time) bool { return a.Sub(b).Abs() <= sameStart }

// linkReplaced says of each ticket which one is booked in its place, and of that which one it replaces. The version before has said it
// in the words of the void alone.
func linkReplaced(all []TicketRecord) {
	at := map[string]int{}
	for i := range all {
		at[all[i].Number] = i
	}
	for i := range all {
		b := &all[i]
		if text, ok := strings.CutSuffix(b.Voided, bookedInstead); ok && b.ReplacedBy == "" {
			by := text[strings.LastIndex(text, " ")+1:]
			if _, known := at[by]; known && by != b.Number {
				b.ReplacedBy = by
			}
		}
		if k, known := at[b.ReplacedBy]; known && b.ReplacedBy != "" {
			all[k].Replaces = b.Number
		}
	}
}
