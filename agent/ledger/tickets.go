package ledger

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/outbox"
)

// runTicket is the run ticket of a held load, as people have edited it.
func (s *Site) runTicket(h HeldTicket, t Tank, grade clock.Grade) cloud.RunTicket {
	load := h.Load
	r := *t.stated(&load)
	r.Number, r.TankID, r.Purchaser = h.Number, load.Tank, t.Purchaser
	r.OpeningLevel, r.ClosingLevel, r.Start, r.End = load.Open, load.Close, load.Start, load.End
	if h := load.Hidden(); h != nil {
		r.Start, r.End = roundedWithin(h, load.Start, load.End)
	}
	r.Comments = s.comments(t, h, grade, s.Wire.CommentsMax)
	applyEdits(&r, h.Edits)
	return r
}

// roundedWithin are the times of a load that nobody saw, rounded to what can be known of them: a time to the second would claim
// a reading. They are rounded down, so that the production day stays, and never to before the last reading that was above.
func roundedWithin(seen *tank.Span, start, end time.Time) (from, to time.Time) {
	step := time.Minute
	for _, wider := range []time.Duration{5 * time.Minute, 15 * time.Minute} {
		if seen.To.Sub(seen.From) >= 8*wider {
			step = wider
		}
	}
	if from = start.Truncate(step); from.Before(seen.From) {
		from = start
	}
	if to = end.Truncate(step); !to.After(from) {
		to = end
	}
	return from, to
}

// queueTicket turns a held load into the service's run ticket and queues it, together with its book entry.
func (tx *txn) queueTicket(h HeldTicket) error {
	t := tx.l.site.tank(h.Load.Tank)
	if t == nil {
		return errUnconfigured(h.Load.Tank)
	}
	b, ticket := h.record(tx.now.Round(0)), tx.l.site.runTicket(h, *t, tx.grade())
	load := b.Load
	body, err := tx.l.site.Wire.EncodeRunTicket(ticket)
	if err != nil {
		return err
	}
	tx.queue(Tickets, "", body)
	b.Ticket, b.Person, b.Volumes = body, h.Person, tx.l.site.volumes(t, load, &ticket)
	tx.recordTicket(b)
	if len(load.Review) > 0 && h.Told.IsZero() {
		tx.queueDiagnosis(tank.Event{Rule: eventrules.LoadNeedsReview, Tank: load.Tank, Start: load.Start, End: load.End,
			Note: fmt.Sprintf("%s: ticket %s of %.1f bbl needs review: %s", load.Tank, h.Number, load.GaugeBbl, tank.JoinReasons(load.Review))})
	}
	tx.afterCommit = append(tx.afterCommit, func() {
		tx.l.log.Info().Str("number", h.Number).Str("tank", load.Tank).Float64("open_in", hundredths(load.Open)).
			Float64("close_in", hundredths(load.Close)).Float64("bbl", hundredths(load.GaugeBbl)).Msg("ticket queued")
	})
	return nil
}

// errUnconfigured says that a held ticket's tank is gone from the configuration.
func errUnconfigured(id string) error {
	return fmt.Errorf("tank %s is no longer configured; put it back until this ticket has left", id)
}

// recordTicket stages the entry of a number. That of a ticket goes with its record, whose position in the outbox it has.
func (tx *txn) recordTicket(b TicketRecord) {
	tx.l.site.complete(&b)
	if k := episodeKey(eventrules.TicketUnwritable, b.Tank); tx.episodes[k].Open { // another of the tank that still cannot be written says so again
		tx.closeEpisode(k, tx.episodes[k], tx.now.Round(0))
	}
	if b.Volumes != nil {
		own := *b.Volumes
		for _, name := range dropNotFinite(&own) {
			own.Missing = append(slices.Clone(own.Missing), name+", which came out as no number")
		}
		b.Volumes = &own
	}
	if _, err := json.Marshal(b); err != nil { // the ticket itself can be: it leaves, and what it was made of is not kept
		tx.leaveOut(ticketKey+b.Number, err)
		b.Load, b.Volumes, b.Matches, b.Gauged = nil, nil, nil, nil
	}
	if b.Ticket == nil {
		tx.putJSON(ticketKey+b.Number, b)
		return
	}
	tx.records[len(tx.records)-1].ticket = &b
}

// putTruckTickets stages a ticket's truck tickets: with a held load, or in the book.
func (tx *txn) putTruckTickets(b *TicketRecord) {
	if i := slices.IndexFunc(tx.held.all, func(h HeldTicket) bool { return h.Number == b.Number && h.Handle == b.Handle }); i >= 0 {
		tx.held.edit(i).Matches = b.Matches
		return
	}
	tx.amendTicket(b.Number, func(kept *TicketRecord) { kept.Matches = b.Matches })
}

// amendTicket stages a change of what is kept of a ticket that has left.
func (tx *txn) amendTicket(number string, change func(*TicketRecord)) {
	raw, err := tx.l.box.Get(ticketKey + number)
	var kept TicketRecord
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("read ticket %s: %w", number, err))
		return
	}
	change(&kept)
	tx.putJSON(ticketKey+number, kept)
}

// ErrNoTicket says that no ticket has the number that was asked for; ErrLeft that it is held no more.
var (
	ErrNoTicket = errors.New("no such ticket")
	ErrLeft     = errors.New("it is not held any more")
)

// hasLeft finds a ticket that can only be voided; an error says what is done with one that cannot.
func (l *Ledger) hasLeft(number string) (b TicketRecord, err error) {
	if i := l.state.held.find(number); i >= 0 {
		return b, fmt.Errorf("ticket %s is held and has not left: `gauger tickets edit` changes it, `gauger tickets reject` forgets it", l.state.held.all[i].name())
	}
	if err = l.LoadState(ticketKey+strings.ToUpper(number), &b); err != nil {
		return b, err
	}
	e, err := l.box.Entry(Tickets, b.Seq)
	switch {
	case b.Number == "" || b.Rejected != "" || err == nil && (e.State == outbox.Waiting || e.State == outbox.Dead):
		return b, l.whyNotHeld(number)
	case b.Voided != "":
		next := either(b.ReplacedBy != "", "it is that one which can be replaced or voided now", "`gauger tickets add` without --replaces writes another")
		return b, fmt.Errorf("ticket %s is void already: %s; %s", b.Number, b.Voided, next)
	case err == nil && e.State == outbox.Dropped:
		return b, fmt.Errorf("ticket %s was dropped, and nothing of it is booked; `gauger tickets add` writes another", b.Number)
	}
	return b, nil
}

// void stages that a ticket that has left counts no more; by is the one that is booked in its place, if any.
func (tx *txn) void(number, person, why, by string) (b TicketRecord) {
	tx.amendTicket(strings.ToUpper(number), func(kept *TicketRecord) {
		kept.VoidedAt, kept.ReplacedBy = tx.now.Round(0), by
		kept.Voided = person + " on " + kept.VoidedAt.In(tx.l.site.Zone).Format(time.DateOnly) + ": " + why + either(by == "", "", "; "+by+bookedInstead)
		b = *kept
	})
	tx.queueDiagnosis(tank.Event{Rule: eventrules.TicketCorrection, Tank: b.Tank, Start: b.Start, End: tx.now.Round(0),
		Note: fmt.Sprintf("%s: ticket %s is wrong and counts no more: void it; by %s", b.Tank, b.Number, b.Voided)})
	return b
}

// whyNotHeld says what became of a ticket that a person wants to change, and what can still be done.
func (l *Ledger) whyNotHeld(number string) error {
	var b TicketRecord
	if err := l.LoadState(ticketKey+strings.ToUpper(number), &b); err != nil {
		return err
	}
	at := l.site.localMinute(b.Queued)
	switch {
	case b.Number == "":
		return fmt.Errorf("%w among those held: %s; `gauger tickets list` shows them all", ErrNoTicket, number)
	case b.Voided != "":
		return fmt.Errorf("ticket %s: %w: it is void, by %s; nothing of it is booked", b.Number, ErrLeft, b.Voided)
	case b.Rejected != "":
		return fmt.Errorf("ticket %s: %w: it was rejected on %s by %s; `gauger tickets add` writes another", b.Number, ErrLeft, at, b.Rejected)
	}
	if e, err := l.box.Entry(Tickets, b.Seq); err == nil && (e.State == outbox.Waiting || e.State == outbox.Dead) {
		if e.MaybeStored() {
			return fmt.Errorf("ticket %s: %w: it was sent without a clear answer: %s; if it has not and it is wrong, take it out with `gauger outbox drop %s/%d --absent --why TEXT`, and write the right one with `gauger tickets add`",
				b.Number, ErrLeft, MaybeThere(b.Seq), Tickets, b.Seq)
		}
		return fmt.Errorf("ticket %s: %w: it is in the queue since %s and is not delivered; if it is wrong, take it out with `gauger outbox drop %s/%d --why TEXT`, and write the right one with `gauger tickets add`",
			b.Number, ErrLeft, at, Tickets, b.Seq)
	}
	return fmt.Errorf("ticket %s: %w: it left on %s and cannot be changed; if it is wrong, `gauger tickets add --replaces %[1]s --why TEXT` books the right one in its place; if no oil was run, `gauger tickets reject %[1]s --left --why TEXT`",
		b.Number, ErrLeft, at)
}

// Add queues a ticket that a person wrote, under a number of its own unless one is given. What speaks against it forbids it,
// unless the person says why it is right all the same; then it is the warning. So do its contradictions.
func (l *Ledger) Add(w ManualTicket, person string, contradictions ...string) (number, warning string, err error) {
	err = l.update(func(tx *txn) error {
		number, warning, err = tx.add(w, person, contradictions)
		return err
	})
	return number, warning, err
}

func (tx *txn) add(w ManualTicket, person string, contradictions []string) (number, warning string, err error) {
	l := tx.l
	w.Replaces = strings.ToUpper(w.Replaces)
	known, err := l.listTickets()
	if err != nil {
		return "", "", err
	}
	doubts, err := tx.judgeManual(&w, known)
	if err == nil {
		warning, err = insisted(append(doubts, contradictions...), w.Anyway)
	}
	if err != nil {
		return "", "", err
	}
	if w.Number == "" {
		w.Number = firstFree(l.site.number("M", w.Tank, w.Start), l.site.numberMax(), tx.numberTaken)
	}
	t := l.site.tank(w.Tank)
	ticket := w.runTicket(t)
	body, err := l.site.Wire.EncodeRunTicket(ticket)
	if err != nil {
		return "", "", err
	}
	var matches []TruckTicket
	if w.Replaces != "" { // its event comes first: recordTicket gives the newest record its position
		matches = tx.void(w.Replaces, person, w.Why, w.Number).Matches
	}
	tx.queue(Tickets, "", body)
	tx.recordTicket(TicketRecord{Number: w.Number, Tank: w.Tank, Matches: matches, Queued: tx.now.Round(0), Ticket: body, Person: person, Start: w.Start, End: w.End,
		Gauged: []float64{w.Open, w.Close}, Volumes: l.site.volumes(t, w.load(t), &ticket), Anyway: w.Anyway,
		Given: &Given{w.TopTemperature, w.BottomTemperature, w.SpecificGravity, w.BSW, w.SealOff, w.SealOn, w.Purchaser, w.Comments}})
	return w.Number, warning, nil
}

// RecordOfFile names one of several records that a person hands in at once; "" where it is the only one.
func RecordOfFile(i, of int) string {
	if of == 1 {
		return ""
	}
	return fmt.Sprintf("record %d: ", i+1)
}

// Doubts are what speaks against tickets that a person writes; an error is what forbids one. Each is looked at beside those
// before it too, so that a file of them is queued whole or not at all.
func (l *Ledger) Doubts(all []ManualTicket) (doubts []string, err error) {
	l.see(func() { doubts, err = l.doubts(all) })
	return doubts, err
}

func (l *Ledger) doubts(all []ManualTicket) (doubts []string, err error) {
	tx := l.begin(time.Now())
	known, err := l.listTickets()
	if err != nil {
		return nil, err
	}
	for i, w := range all {
		found, err := tx.judgeManual(&w, known)
		record := RecordOfFile(i, len(all))
		if err != nil {
			return nil, fmt.Errorf("%s%w", record, err)
		}
		for _, d := range found {
			doubts = append(doubts, record+d)
		}
		known = append(known, TicketRecord{Number: cmp.Or(w.Number, fmt.Sprintf("of record %d", i+1)), Tank: w.Tank, Start: w.Start, End: w.End,
			Gauged: []float64{w.Open, w.Close}})
	}
	return doubts, nil
}

// judgeManual says what speaks against a ticket that a person writes, beside the tickets known, from one of which it may inherit; an error
// is what forbids it.
func (tx *txn) judgeManual(w *ManualTicket, known []TicketRecord) (doubts []string, err error) {
	site := &tx.l.site
	var old TicketRecord
	if w.Replaces != "" {
		if old, err = tx.l.hasLeft(w.Replaces); err != nil {
			return nil, err
		}
	}
	site.inherit(w, known)
	if err := site.CheckManual(*w); err != nil {
		return nil, err
	}
	t := site.tank(w.Tank)
	doubt := func(format string, args ...any) { doubts = append(doubts, fmt.Sprintf(format, args...)) }
	if late := w.End.Sub(tx.now.Round(0)); late > ahead {
		err := fmt.Errorf("the load ends at %s, which has not come yet: here it is %s", tx.localTime(w.End), tx.localTime(tx.now))
		if tx.grade() == clock.Trusted {
			return nil, err
		}
		doubt("%v by a clock that nothing has confirmed", err)
	}
	if w.Number != "" && (tx.numberTaken(w.Number) || slices.ContainsFunc(known, func(b TicketRecord) bool { return b.Number == w.Number })) {
		return nil, fmt.Errorf("ticket number %s is in use; a ticket that has left cannot be changed", w.Number)
	}
	if w.Replaces != "" {
		if old.Tank != w.Tank {
			doubt("ticket %s is of tank %s, and none of its temperatures, gravity and BS&W is taken over for %s", old.Number, old.Tank, w.Tank)
		}
		if _, err := plainText("the reason", w.Why, textMost); err != nil || strings.TrimSpace(w.Why) == "" {
			return nil, cmp.Or(err, errors.New("say why "+w.Replaces+" is wrong, with --why: it stands in the ticket that replaces it"))
		}
	}
	for _, b := range known {
		from, to, covers := b.Start, b.End, "already covers"
		if b.Load != nil && b.Load.Hidden() != nil { // it can have been at any time between two readings
			from, to, covers = b.Load.Hidden().From, b.Load.Hidden().To, "has a load that nobody saw of"
		}
		if b.Tank != w.Tank || b.Off() || b.Number != "" && strings.EqualFold(b.Number, w.Replaces) || !from.Before(w.End) || !w.Start.Before(to) || tx.l.droppedTicket(b) {
			continue
		}
		if b.Start.Equal(w.Start) && b.End.Equal(w.End) && slices.Equal(b.Gauged, []float64{w.Open, w.Close}) {
			return nil, fmt.Errorf("ticket %s says the same already, tank, times and gauges; a load is booked once. If there were two, correct the times", b.Number)
		}
		doubt("ticket %s %s %s from %s to %s: both would be booked", b.Name(), covers, b.Tank, site.localMinute(from), site.timeOfDay(to))
	}
	for _, v := range tx.l.state.setups.detector.Waiting(tx.l.state.tanks, site.index(w.Tank)) {
		if v.Bbl >= t.Loads.MinLoad && v.Start.Before(w.End) && w.Start.Before(v.End) {
			doubt("the level of %s fell from %s on, and gauger makes a ticket of that by itself when it has stayed down: both would be booked", w.Tank, tx.localTime(v.Start))
		}
	}
	if took := w.End.Sub(w.Start); took > longLoad {
		doubt("the load takes %.0f hours", took.Hours())
	}
	if past, year := tx.now.Round(0).Sub(w.Start), tx.now.Round(0).Sub(w.Start.AddDate(1, 0, 0)); past > longAgo || year >= 0 && year < lateMost {
		doubt("the load began on %s, %.0f days ago: look at the year", w.Start.In(site.Zone).Format(time.DateOnly), past.Hours()/24)
	}
	doubts = append(doubts, unlikePast(w.Tank, w.Start, w.BSW, known, site.Zone)...)
	if w.Purchaser != "" {
		doubts = append(doubts, unknownBuyer(site.Tanks, w.Purchaser, known)...)
	}
	full, err1 := t.Table.Barrels(w.Open)
	left, err2 := t.Table.Barrels(w.Close)
	if least := t.Loads.MinLoad; err1 == nil && err2 == nil && full-left < least {
		doubt("by the table it is %.1f bbl, and a load of tank %s has at least %g (loads.min_load)", full-left, w.Tank, least)
	}
	doubts = append(doubts, fillsTooFast(t, w, known)...)
	if err1 == nil && err2 == nil {
		doubts = append(doubts, tooMuch(t.Loads, full-left, w.End.Sub(w.Start))...)
	}
	return append(doubts, figureDoubts(w.runTicket(t))...), nil
}

// droppedTicket says that a person has taken a ticket out of the queue, so that its load is not booked.
func (l *Ledger) droppedTicket(b TicketRecord) bool {
	e, err := l.box.Entry(Tickets, b.Seq)
	return b.Seq > 0 && err == nil && e.State == outbox.Dropped
}

// Tickets lists every ticket there ever was, by start; held ones have no position yet.
func (l *Ledger) Tickets() (all []TicketRecord, err error) {
	l.see(func() { all, err = l.listTickets() })
	return all, err
}

func (l *Ledger) listTickets() ([]TicketRecord, error) {
	names, err := l.box.Names(ticketKey)
	if err != nil {
		return nil, fmt.Errorf("list the tickets: %w", err)
	}
	var all []TicketRecord
	for _, name := range names {
		var b TicketRecord
		if err := l.LoadState(name, &b); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	for _, h := range l.state.held.all {
		b := h.record(h.Due)
		b.Made = cmp.Or(h.Made, h.Load.End)
		b.Handle, b.Person, b.Rejected, b.ForPerson = h.Handle, "held", h.Barred, h.waitsForPerson(&l.site)
		all = append(all, b)
	}
	for i := range all {
		l.site.complete(&all[i])
	}
	linkReplaced(all)
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start.Before(all[j].Start) })
	linkLoads(all, l.droppedTicket)
	linkTrucks(all)
	return all, nil
}

// Ticket is the record of a number; zero when there is none.
func (l *Ledger) Ticket(number string) (b TicketRecord, err error) {
	l.see(func() { err = l.LoadState(ticketKey+number, &b) })
	return b, err
}
