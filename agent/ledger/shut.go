package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/collectors"
	"gauger/eventrules"
)

// NewWithoutOutbox is a ledger without an outbox: it knows the newest readings and how the tanks are measured, and keeps nothing.
// Readings come to it through its Look; none of its other hosts may be used.
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

// Refuse implements collectors.Host: what cannot be decoded shows as a Bad reading.
func (o viewHost) Refuse(ctx context.Context, _ []collectors.Refusal) error { return ctx.Err() }

// Notice implements collectors.Host. There is no event to make of it.
func (o viewHost) Notice(ctx context.Context, n collectors.Notice) error {
	o.l.log.Warn().Str("rule", n.Rule).Str("source", n.Source).Bool("over", !n.Until.IsZero()).Msg(n.Note)
	return ctx.Err()
}

// Recall implements collectors.Host.
func (o viewHost) Recall(string) ([]byte, error) { return nil, nil }

// Remember implements collectors.Host.
func (o viewHost) Remember(string, []byte) error { return nil }

// Hurry implements collectors.Host.
func (o viewHost) Hurry([]collectors.Point) bool { return false }

// QueueOutboxShut leaves the event that tells of a time without an outbox.
func (l *Ledger) QueueOutboxShut(since, until time.Time, why error) error {
	return l.QueueEvent(Event{Rule: eventrules.OutboxShut, Start: since.Round(0), End: until.Round(0), Note: fmt.Sprintf(
		"the outbox could not be opened from %s to %s; what was polled meanwhile was not stored, so that loads of that time may have no tickets: %v",
		since.In(l.site.Zone).Format("2006-01-02 15:04:05"), until.In(l.site.Zone).Format("2006-01-02 15:04:05"), why)})
}
