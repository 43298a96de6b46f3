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
)

// runTicket is the run ticket of a held load, as people have edited it.
func (s *Site) runTicket(h HeldTicket, t Tank, grade clock.Grade) cloud.RunTicket {
	load := h.Load
	r := *t.stated(&load)
	r.Number, r.TankID, r.Purchaser = h.Number, load.Tank, t.Purchaser
	r.OpeningLevel, r.ClosingLevel, r.Start, r.End = load.Open, load.Close, load.Start, load.End
	r.Comments = s.comments(t, h, grade, s.Wire.CommentsMax)
	applyEdits(&r, h.Edits)
	return r
}

// queueTicket turns a held load into the service's run ticket and queues it, together with its book entry.
func (tx *txn) queueTicket(h HeldTicket) error {
	t := tx.l.site.tank(h.Load.Tank)
	if t == nil {
		return errUnconfigured(h.Load.Tank)
	}
	load := h.Load
	ticket := tx.l.site.runTicket(h, *t, tx.grade())
	body, err := tx.l.site.Wire.EncodeRunTicket(ticket)
	if err != nil {
		return err
	}
	tx.queue(Tickets, "", body)
	tx.recordTicket(TicketRecord{Number: h.Number, Tank: load.Tank, Queued: tx.now.Round(0), Ticket: body, Load: &load, Person: h.Person,
		Start: load.Start, End: load.End, Edits: h.Edits, Stop: h.Stop, Matches: h.Matches,
		Volumes: tx.l.site.volumes(t, &load, &ticket)})
	if len(load.Review) > 0 && h.Told.IsZero() {
		tx.queueDiagnosis(tank.Event{Rule: eventrules.LoadNeedsReview, Tank: load.Tank, Start: load.Start, End: load.End,
			Note: fmt.Sprintf("%s: ticket %s of %.1f bbl needs review: %s", load.Tank, h.Number, load.GaugeBbl, strings.Join(load.Review, ", "))})
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
	raw, err := tx.l.box.Get(ticketKey + b.Number)
	var kept TicketRecord
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("read ticket %s: %w", b.Number, err))
		return
	}
	kept.Matches = b.Matches
	tx.putJSON(ticketKey+b.Number, kept)
}

// Add queues a ticket that a person wrote, under a number of its own unless one is given. The warning names an
// automatic ticket of the same tank and time: then both would be booked.
func (l *Ledger) Add(w ManualTicket, person string) (number, warning string, err error) {
	t := l.site.tank(w.Tank)
	if t == nil {
		return "", "", l.site.errNoTank(w.Tank)
	}
	if !w.Start.Before(w.End) {
		return "", "", errors.New("the load must end after it began")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	tx := l.begin(time.Now())
	switch {
	case w.Number == "":
		w.Number = firstFree(l.site.number("M", w.Tank, w.Start), l.site.numberMax(), tx.numberTaken)
	case tx.numberTaken(w.Number):
		return "", "", fmt.Errorf("ticket number %s is in use; a ticket that has left cannot be changed", w.Number)
	}
	if warning, err = l.overlap(w); err != nil {
		return "", "", err
	}
	body, err := l.site.Wire.EncodeRunTicket(cloud.RunTicket{
		Number: w.Number, TankID: w.Tank, OpeningLevel: w.Open, ClosingLevel: w.Close, SealOn: w.SealOn, SealOff: w.SealOff,
		TopTemperature: w.TopTemperature, BottomTemperature: w.BottomTemperature, SpecificGravity: w.SpecificGravity, BSW: w.BSW,
		Comments: w.Comments, Start: w.Start, End: w.End, Purchaser: cmp.Or(w.Purchaser, t.Purchaser),
	})
	if err != nil {
		return "", "", err
	}
	tx.queue(Tickets, "", body)
	tx.recordTicket(TicketRecord{Number: w.Number, Tank: w.Tank, Queued: tx.now.Round(0), Ticket: body, Person: person, Start: w.Start, End: w.End,
		Gauged: []float64{w.Open, w.Close}, Volumes: tx.l.site.manualVolumes(*t, &w)})
	return w.Number, warning, l.commit(tx, "")
}

// overlap looks for another ticket of the same tank and time, queued, sent or held. The same ticket once more, as a command that
// is said twice writes it, is an error.
func (l *Ledger) overlap(w ManualTicket) (warning string, err error) {
	all, err := l.listTickets()
	if err != nil {
		return "", err
	}
	for _, b := range all {
		if b.Tank != w.Tank || b.Rejected != "" || !b.Start.Before(w.End) || !w.Start.Before(b.End) {
			continue
		}
		if b.Start.Equal(w.Start) && b.End.Equal(w.End) && slices.Equal(b.Gauged, []float64{w.Open, w.Close}) {
			return "", fmt.Errorf("ticket %s says the same already, tank, times and gauges; a load is booked once. If there were two, correct the times", b.Number)
		}
		if warning == "" {
			warning = fmt.Sprintf("ticket %s already covers %s from %s to %s: both will be booked", b.Number, b.Tank,
				b.Start.In(l.site.Zone).Format("2006-01-02 15:04"), b.End.In(l.site.Zone).Format("15:04"))
		}
	}
	return warning, nil
}

// Tickets lists every ticket there ever was, by start; held ones have no position yet.
func (l *Ledger) Tickets() ([]TicketRecord, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listTickets()
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
		load := h.Load
		all = append(all, TicketRecord{Number: h.Number, Handle: h.Handle, Tank: load.Tank, Load: &load, Start: load.Start, End: load.End,
			Queued: h.Due, Person: "held", Rejected: h.Barred, Stop: h.Stop, Edits: h.Edits, Matches: h.Matches})
	}
	for i := range all {
		l.site.complete(&all[i])
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start.Before(all[j].Start) })
	return all, nil
}

// errNoTank says that a tank is not configured, and which are.
func (s *Site) errNoTank(id string) error {
	var ids []string
	for i := range s.Tanks {
		ids = append(ids, s.Tanks[i].ID)
	}
	return fmt.Errorf("no tank %q is configured; the tanks are %s", id, strings.Join(ids, ", "))
}

// encodeEvent makes an event's wire JSON.
func (s Site) encodeEvent(e Event) ([]byte, error) {
	return s.Wire.EncodeEvent(cloud.DiagnosticEvent{
		Start: e.Start, End: e.End, ObjectID: e.Object, ObjectType: e.ObjectType, Rule: e.Rule, Note: e.Note,
	})
}

// encodeValue makes the wire JSON of one of a well's values.
func (s Site) encodeValue(v Value, number float64, at time.Time) ([]byte, error) {
	set := cloud.ValueSet{Code: v.Code, Values: []cloud.Value{{Value: number, At: at}}}
	if !v.Target {
		return s.Wire.EncodeTagValues(set)
	}
	body, _, err := s.Wire.EncodeTargets(set) // the warning about an unknown code was given by `gauger check`
	return body, err
}

// Ticket is the record of a number; zero when there is none.
func (k *smallState) Ticket(number string) (b TicketRecord, err error) {
	err = k.LoadState(ticketKey+number, &b)
	return b, err
}
