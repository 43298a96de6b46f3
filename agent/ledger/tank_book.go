package ledger

import (
	"cmp"
	"fmt"
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

// BookTicket is a run of the book by its ticket.
type BookTicket struct {
	Number string  `json:"number"` // empty until it is fixed
	Bbl    float64 `json:"bbl"`
	State  string  `json:"state"` // queued, held, rejected, voided or unknown; written: by a person, and none of the book's runs
	Why    string  `json:"why,omitempty"`
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
		for _, run := range r.RunList {
			r.Tickets = append(r.Tickets, bookTicketOf(run, id, tickets))
		}
		for _, b := range tickets {
			if b.Load == nil && b.Voided == "" && b.Tank == id && b.Day == date && b.Volumes != nil {
				r.Tickets = append(r.Tickets, BookTicket{b.Number, b.Volumes.OpenBbl - b.Volumes.CloseBbl, "written", b.Person})
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// bookTicketOf finds the ticket of a run of the book: the one of its tank that begins with it.
func bookTicketOf(run tankbook.Run, id string, all []TicketRecord) BookTicket {
	t := BookTicket{Bbl: run.Bbl, State: "unknown"}
	for _, b := range all {
		if b.Tank != id || b.Load == nil || !sameLoadStart(b.Load.Start, run.Start) && !sameLoadStart(b.Load.Began, run.Start) {
			continue // its clock may have been set since the run was booked
		}
		t.Number, t.State = b.Number, "queued"
		switch {
		case b.Rejected != "":
			t.State, t.Why = "rejected", b.Rejected
		case b.Ticket == nil:
			t.State = "held"
		}
		for _, f := range b.Found {
			t.Why = "learned later: " + f.Note
		}
		if b.Voided != "" {
			t.State, t.Why = "voided", b.Voided
		}
	}
	return t
}

// sameLoadStart says that two starts are of one load.
func sameLoadStart(a, b time.Time) bool { return a.Sub(b).Abs() <= sameStart }
