package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

// hostFor is one collector's host: the same ledger for all, but each has a memory of its own.
type hostFor struct {
	*Ledger
	device string
}

// Host returns the ledger as the named device's host.
func (l *Ledger) Host(device string) collectors.Host { return hostFor{l, device} }

// Emit implements collectors.Host.
func (h hostFor) Emit(ctx context.Context, batch []collectors.Reading) error {
	if err := ctx.Err(); err != nil || len(batch) == 0 {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.emit(time.Now(), h.device, batch)
}

// DecodedMessage is a kept message that can be decoded now.
type DecodedMessage struct {
	Seq      uint64
	Readings []collectors.Reading
	Values   int // records that were made of it
}

// QueueDecoded makes records of what kept messages hold, and takes the messages out of their stream.
func (l *Ledger) QueueDecoded(all []DecodedMessage) error {
	err := l.update(func(tx *txn) error {
		last := map[int]lastValue{}
		for i := range all {
			m := &all[i]
			before := len(tx.records)
			for _, r := range m.Readings {
				tx.applyRedecoded(r, last)
			}
			m.Values = len(tx.records) - before
			tx.decoded = append(tx.decoded, *m)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store what %d kept messages hold: %w", len(all), err)
	}
	return nil
}

// Notice implements collectors.Host.
func (h hostFor) Notice(ctx context.Context, n collectors.Notice) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := h.update(func(tx *txn) error { tx.applyNotice(n); return nil }); err != nil {
		return fmt.Errorf("store the notice %s of %s: %w", n.Rule, n.Source, err)
	}
	return nil
}

// Recall implements collectors.Host.
func (h hostFor) Recall(name string) ([]byte, error) {
	return h.box.Get(stateName(memoryKey + h.device + "/" + name))
}

// Remember implements collectors.Host.
func (h hostFor) Remember(name string, v []byte) error {
	return h.box.Update(func(tx *outbox.Tx) error {
		tx.Put(stateName(memoryKey+h.device+"/"+name), v)
		return nil
	})
}

// Hurry implements collectors.Host.
func (h hostFor) Hurry(points []collectors.Point) bool {
	loading := func(in detectorInput) bool { return in.kind == tank.Level && h.loading[in.tank].Load() }
	return slices.ContainsFunc(points, func(p collectors.Point) bool {
		return h.routes[p] != nil && slices.ContainsFunc(h.routes[p].inputs, loading)
	})
}

// Watch calls see with each batch until ctx ends or see fails.
func (l *Ledger) Watch(ctx context.Context, see func([]collectors.Reading) error) error {
	c := make(chan []collectors.Reading, 64)
	l.watchers.mu.Lock()
	l.watchers.all = append(l.watchers.all, c)
	l.watchers.mu.Unlock()
	defer func() {
		l.watchers.mu.Lock()
		l.watchers.all = slices.DeleteFunc(l.watchers.all, func(x chan []collectors.Reading) bool { return x == c })
		l.watchers.mu.Unlock()
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case batch := <-c:
			if err := see(batch); err != nil {
				return err
			}
		}
	}
}

// NewWithoutOutbox is a ledger without an outbox: it knows the newest readings and how the tanks are measured, and keeps nothing.
// Readings come to it through its ViewHost; none of its other hosts may be used.
func NewWithoutOutbox(site Site, clock *clock.Clock, log zerolog.Logger) (*Ledger, error) {
	l := newLedger(site, nil, clock, log)
	s := state{episodes: map[string]Episode{}, lastValues: make([]lastValue, len(site.Values))}
	err := l.loadSetups(&s)
	l.adopt(s)
	return l, err
}

// ViewHost returns a host that shows what collectors read. They must be such as tell a device nothing, and leave nothing
// behind: nothing of it is stored.
func (l *Ledger) ViewHost() collectors.Host { return viewHost{l} }

type viewHost struct{ l *Ledger }

// Emit implements collectors.Host.
func (o viewHost) Emit(ctx context.Context, batch []collectors.Reading) error {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	batch = withoutHistorical(batch)
	o.l.latest.store(batch)
	o.l.watchers.send(batch)
	return ctx.Err()
}

// Notice implements collectors.Host. There is no event to make of it.
func (o viewHost) Notice(ctx context.Context, n collectors.Notice) error {
	o.l.log.Warn().Str("rule", n.Rule).Str("source", n.Source).Bool("over", !n.Until.IsZero()).Msg(n.Note)
	return ctx.Err()
}

// The rest of collectors.Host. What cannot be decoded shows as a Bad reading.

func (o viewHost) Keeps(collectors.Refusal) bool                            { return true }
func (o viewHost) Refuse(ctx context.Context, _ []collectors.Refusal) error { return ctx.Err() }
func (o viewHost) Recall(string) ([]byte, error)                            { return nil, nil }
func (o viewHost) Remember(string, []byte) error                            { return nil }
func (o viewHost) Hurry([]collectors.Point) bool                            { return false }

// shutUnseen is too short for a load to begin and end in it, in site time.
const shutUnseen = time.Minute

// QueueOutboxShut leaves the event that tells of a time without an outbox. A load of that time shows as a fall from the level before; where
// no such level is stored, as on a new store, it shows nowhere, and the status says so too.
func (l *Ledger) QueueOutboxShut(since, until time.Time, why error) error {
	note := fmt.Sprintf("the outbox could not be opened from %s to %s; what was polled meanwhile was not stored, so that loads of that time may have no tickets",
		since.In(l.site.Zone).Format("2006-01-02 15:04:05"), until.In(l.site.Zone).Format("2006-01-02 15:04:05"))
	var err error
	if len(l.site.Tanks) > 0 && l.takenUp.IsZero() && until.Sub(since) >= l.site.scaled(shutUnseen) {
		note += ", and since no level of before is stored either, a load of that time shows nowhere"
		err = l.evictions.warn(mending{At: until.Round(0), Text: note, Do: "look at the paper: of a truck that was there then, write the ticket with `gauger tickets add`"})
	}
	return errors.Join(err, l.QueueEvent(Event{Rule: eventrules.OutboxShut, Start: since.Round(0), End: until.Round(0), Note: fmt.Sprintf("%s: %v", note, why)}))
}

// StoreAll stores how the tanks stand at this instant, though nothing has happened that asks for it: the next ledger of this process
// goes on from there.
func (l *Ledger) StoreAll() error {
	return l.update(func(tx *txn) error {
		tx.storedMark = ^tx.tanks.Mark()
		return nil
	})
}

// TakeOver makes l the continuation of the ledger that another configuration had in this process: the same run, the same clock,
// and of the devices whose collectors go on the newest readings and what these have told of. What the collectors that have stopped have
// told of is over: those that follow know nothing of it, and tell again if it is still so.
func (l *Ledger) TakeOver(from *Ledger, goesOn func(device string) bool) error {
	from.mu.Lock()
	defer from.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started, l.runID = from.started, from.runID
	l.boxBoot, l.uptimeAtStart = from.boxBoot, from.uptimeAtStart
	l.state.clockOffset, l.state.ticked, l.state.replayPositions = from.state.clockOffset, from.state.ticked, from.state.replayPositions
	known := maps.Clone(from.latest.devices)
	l.openings, l.latest = from.openings, from.latest
	from.openings, from.latest = openings{}, latestReadings{} // whoever still asks it finds nothing, and not what the other writes
	maps.DeleteFunc(l.latest.devices, func(device string, _ *deviceReadings) bool { return !goesOn(device) })
	tx := l.begin(time.Now())
	for k, e := range from.state.episodes {
		if own, known := l.state.episodes[k]; !known || !own.Since.Equal(e.Since) || tx.l.ruleOf(e) != nil || from.ruleOf(e) != nil {
			continue
		}
		devices, _, _ := strings.Cut(e.Source, " ")
		devices, _, _ = strings.Cut(devices, "/")
		if ours := strings.Split(devices, ","); slices.ContainsFunc(ours, func(d string) bool { return known[d] != nil }) && !slices.ContainsFunc(ours, goesOn) {
			tx.closeEpisode(k, e, tx.now.Round(0))
			continue
		}
		tx.setEpisode(k, e)
	}
	return l.commit(tx, "")
}
