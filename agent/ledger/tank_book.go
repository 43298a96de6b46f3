package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
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
func (s *Site) bookRules() tankbook.Rules {
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
	if !ok || r.Quality != collectors.Good || !Finite(v) {
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
	b, err := packedState(tx.tankBook)
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("write down the tank book: %w", err))
		return
	}
	tx.putState(openDaysKey, b)
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
	Product string       `json:"product,omitempty"` // water, of which nothing is in the site's lines; empty: oil
}

// BookTicket is a run of the book by its ticket, or a ticket that a person wrote.
type BookTicket struct {
	Number     string  `json:"number"`    // empty until it is fixed
	Bbl        float64 `json:"bbl"`       // by its gauges, with what flowed in meanwhile
	GaugeBbl   float64 `json:"gauge_bbl"` // by the gauges alone
	RunsBbl    float64 `json:"runs_bbl"`  // what the day's runs have of it
	State      string  `json:"state"`     // held, waiting, delivered, refused, dropped, rejected, left, voided; unknown: the store has no ticket of it
	Why        string  `json:"why,omitempty"`
	Written    string  `json:"written_by,omitempty"`
	Since      string  `json:"written_on,omitempty"`  // a date
	InPlaceOf  string  `json:"in_place_of,omitempty"` // the ticket that gauger made of the same load
	Replaced   string  `json:"replaced_by,omitempty"`
	BookedWith string  `json:"booked_with,omitempty"` // the ticket of a person's that is booked for its load

	fell float64 // by the level, of the load in whose place it is booked
	day  string  // the production day of that load
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

// BookDays lists the days of a period that are closed, or over with levels that ended before by date, and within a date by the tanks' ids.
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
	asked := func(date, id string) bool {
		return date >= p.From && (p.To == "" || date <= p.To) && (p.Tank == "" || id == p.Tank)
	}
	days, err := l.daysBeside(names, func(date, id string) bool {
		moved := func(b TicketRecord) bool { return b.ReplacedBy != "" && b.Day == date && b.Tank == id } // a ticket of another day stands for its load
		return asked(date, id) || slices.ContainsFunc(tickets, moved)
	})
	if err != nil {
		return nil, err
	}
	rows := []BookRow{}
	for _, name := range slices.Sorted(maps.Keys(days)) {
		r := BookRow{Date: strings.Split(name[len(closedDaysKey):], "/")[0], Day: days[name], Tickets: []BookTicket{}}
		if t := l.site.tank(r.Tank); t != nil && t.Water {
			r.Product = "water"
		}
		l.bookTickets(&r, tickets, days)
		rows = append(rows, r)
	}
	tankbook.JoinDays(len(rows), func(i int) *tankbook.Day { return &rows[i].Day }, l.rules.Zone)
	return slices.DeleteFunc(rows, func(r BookRow) bool { return !asked(r.Date, r.Tank) }), nil
}

// daysBeside are by name the days that are wanted, those that are not closed, and those before and after them as far as no stock parts them:
// what came on such days is known for all of them together.
func (l *Ledger) daysBeside(names []string, wanted func(date, id string) bool) (map[string]tankbook.Day, error) {
	days := map[string]tankbook.Day{}
	for i, t := range l.site.Tanks {
		for _, d := range l.state.tankBook.Unclosed(l.state.setups.detector, l.rules, l.state.tanks, i, time.Now()) {
			name := closedDaysKey + l.site.productionDay(d.From) + "/" + t.ID
			days[name], names = d, append(names, name)
		}
	}
	slices.Sort(names)
	back := slices.Clone(names)
	slices.Reverse(back)
	for _, way := range []struct {
		names []string
		next  func(tankbook.Day) *float64 // the stock on the side to which it goes
	}{
		{back, func(d tankbook.Day) *float64 { return d.Opening }}, {names, func(d tankbook.Day) *float64 { return d.Closing }},
	} {
		goesOn := map[string]bool{} // by tank: no stock parts this day from the one before it on the way
		for _, name := range way.names {
			date, id, _ := strings.Cut(name[len(closedDaysKey):], "/")
			d, known := days[name]
			if !known {
				if !wanted(date, id) && !goesOn[id] {
					continue
				}
				if err := l.LoadState(name, &d); err != nil {
					return nil, err
				}
				days[name] = d
			}
			goesOn[id] = way.next(d) == nil
		}
	}
	return days, nil
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
	return hundredths(bbl)
}

// bookTickets joins a closed day with its tickets. The level says what has left the tank, the run tickets what was run: a load of which
// no ticket is booked is none of the day's runs, and a ticket that a person wrote is one. A run is what lies between its gauges and what
// flowed in meanwhile, whoever wrote its ticket. What lies between level and tickets is named, so that the balance closes as before.
func (l *Ledger) bookTickets(r *BookRow, all []TicketRecord, days map[string]tankbook.Day) {
	runs, instead := 0.0, map[string]string{} // instead: the tickets that are booked in the place of a load's own
	other := func(bbl float64, what string) {
		if bbl = hundredths(bbl); bbl != 0 {
			r.Other += bbl
			r.OtherParts = append(r.OtherParts, tankbook.Part{Kind: tankbook.PartTickets, Bbl: bbl, What: what})
		}
	}
	for _, run := range r.RunList {
		t := l.bookTicketOf(run, r.Tank, all)
		runs, r.Tickets = runs+t.RunsBbl, append(r.Tickets, t)
	}
	for i := range all {
		b := &all[i]
		if b.Load != nil || b.Tank != r.Tank || b.Volumes == nil {
			continue
		}
		t := l.ticketInBook(b, hundredths(b.Volumes.OpenBbl-b.Volumes.CloseBbl), 0)
		if t.RunsBbl == 0 {
			continue
		}
		load := l.bookedLoad(b, all, days)
		if t.Written, t.Since = b.Person, b.Queued.In(l.site.Zone).Format(time.DateOnly); load != nil {
			t = t.inPlaceOf(load, b.share)
			l.moveRun(r, &t, b, load)
			instead[load.Number] = b.Number
		}
		if b.Day != r.Date {
			continue
		}
		runs, r.Tickets = runs+t.RunsBbl, append(r.Tickets, t)
		if load == nil {
			other(-t.RunsBbl, "no load that gauger saw has "+t.Number+", written by hand and a run")
			continue
		}
		other(t.fell-t.RunsBbl, "the level fell by that much more in the load of "+load.Number+" than "+t.Number+" has, which is booked in its place")
	}
	for i := range r.Tickets {
		t := &r.Tickets[i]
		if t.BookedWith = instead[t.Number]; t.Written == "" && t.RunsBbl == 0 && t.BookedWith == "" {
			other(t.Bbl, "the level fell in the load of "+t.Number+", which nobody books as a run")
		}
	}
	r.Runs = hundredths(runs)
	r.Foot()
}

// bookedLoad is the run of the load that a person's ticket is of; nil where gauger saw none.
func (l *Ledger) bookedLoad(b *TicketRecord, all []TicketRecord, days map[string]tankbook.Day) *BookTicket {
	i := slices.IndexFunc(all, func(x TicketRecord) bool { return b.LoadOf != "" && x.Number == b.LoadOf })
	if i < 0 {
		return nil
	}
	of := &all[i]
	for _, run := range days[closedDaysKey+of.Day+"/"+of.Tank].RunList {
		if t := l.bookTicketOf(run, of.Tank, all); t.Number == of.Number {
			t.day = of.Day
			return &t
		}
	}
	t := l.ticketInBook(of, hundredths(of.Load.GaugeBbl), bookedInflow(of.Load)) // its day is under way
	t.day = of.Day
	return &t
}

// inPlaceOf is a person's ticket with what flowed in over its share of a load that gauger saw, and what the level fell by in that.
func (t BookTicket) inPlaceOf(load *BookTicket, share [2]float64) BookTicket {
	part := func(bbl float64) float64 { return hundredths(hundredths(bbl*share[1]) - hundredths(bbl*share[0])) }
	inflow := part(hundredths(load.Bbl - load.GaugeBbl))
	t.InPlaceOf, t.fell = load.Number, part(load.Bbl)
	t.Bbl, t.RunsBbl = hundredths(t.Bbl+inflow), hundredths(t.RunsBbl+inflow)
	return t
}

// moveRun counts a load that is booked on another production day than that of its levels as a run across the gauge-offs between: in the
// stocks there it has not left yet, or has left already.
func (l *Ledger) moveRun(r *BookRow, t *BookTicket, b *TicketRecord, load *BookTicket) {
	more := func(loaded, booked bool) float64 { // what the stock at a gauge-off has more: whether the load, and its ticket, are of days before it
		switch {
		case loaded == booked:
			return 0
		case loaded:
			return t.fell
		}
		return -t.fell
	}
	opens, closes := more(load.day < r.Date, b.Day < r.Date), more(load.day <= r.Date, b.Day <= r.Date)
	if opens == 0 && closes == 0 {
		return
	}
	if r.Opening != nil {
		r.Opening, r.OpeningInRun = new(*r.Opening+opens), r.OpeningInRun+opens
	}
	if r.Closing != nil {
		r.Closing, r.ClosingInRun = new(*r.Closing+closes), r.ClosingInRun+closes
	}
	where := either(opens+closes < 0, "count as gone", "count as in the tank")
	r.Remarks = append(slices.Clone(r.Remarks), fmt.Sprintf("since %s the load of %s, which the level has on %s, is booked with %s on %s: at the gauge-off between its %.2f bbl %s",
		t.Since, load.Number, load.day, t.Number, b.Day, t.fell, where))
}

// bookTicketOf finds the ticket of a run of the book: the one of its tank that begins with it. Its barrels are those that the ticket has.
func (l *Ledger) bookTicketOf(run tankbook.Run, id string, all []TicketRecord) BookTicket {
	gauge, inflow := hundredths(run.GaugeBbl), hundredths(run.Inflow)
	t := BookTicket{Bbl: hundredths(gauge + inflow), GaugeBbl: gauge, RunsBbl: hundredths(gauge + inflow), State: "unknown"}
	for i := range all {
		b := &all[i]
		if b.Tank != id || b.Load == nil || !sameLoadStart(b.Load.Start, run.Start) && !sameLoadStart(b.Load.Began, run.Start) {
			continue // its clock may have been set since the run was booked
		}
		if own := bookedInflow(b.Load); math.Abs(own-run.Inflow) < 0.01 { // what was rounded twice is the ticket's
			inflow = own
		}
		t = l.ticketInBook(b, hundredths(b.Load.GaugeBbl), inflow)
	}
	return t
}

// ticketInBook is a ticket of so many barrels as the book shows it. Nothing of one that nobody will book is a run.
func (l *Ledger) ticketInBook(b *TicketRecord, gauge, inflow float64) BookTicket {
	bbl := hundredths(gauge + inflow)
	t := BookTicket{Number: b.Number, Bbl: bbl, GaugeBbl: gauge, RunsBbl: bbl, State: "left", Replaced: b.ReplacedBy}
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
