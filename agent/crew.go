package agent

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/collectors"
)

// Crew runs the collectors of a process. A collector whose devices a changed configuration has as they were goes on, with its
// connections, while ledger and agent are exchanged: what it has to say waits for the next ledger.
type Crew struct {
	Log zerolog.Logger

	mu     sync.RWMutex
	ledger *ledger.Ledger // nil: between two
	open   chan struct{}  // closed when there is a ledger again
	groups map[string]*group
}

// group is collectors that are started and stopped together.
type group struct {
	members []collectors.Named
	pulses  collectors.Pulses
	ctx     context.Context // nil: not started yet
	stop    context.CancelFunc
	ended   sync.WaitGroup
}

// NewCrew is a crew without collectors.
func NewCrew(log zerolog.Logger) *Crew {
	return &Crew{Log: log, open: make(chan struct{}), groups: map[string]*group{}}
}

// Hung names the part that hangs; nil: none does.
func (c *Crew) Hung(usual time.Duration) error {
	var err error
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, g := range c.groups {
		err = cmp.Or(err, g.pulses.Hung(usual))
	}
	return err
}

// Add takes in collectors, which are started with the next ledger. The key says of which devices they are.
func (c *Crew) Add(key string, members []collectors.Named) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.groups[key] = &group{members: members}
}

// Members are the collectors of a key, and whether there are such.
func (c *Crew) Members(key string) ([]collectors.Named, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	g := c.groups[key]
	if g == nil {
		return nil, false
	}
	return g.members, true
}

// Use hands everything to a ledger from now on, and starts whoever is not at work yet.
func (c *Crew) Use(l *ledger.Ledger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ledger = l
	close(c.open)
	for _, g := range c.groups {
		if g.ctx != nil {
			continue
		}
		g.ctx, g.stop = context.WithCancel(context.Background())
		for _, m := range g.members {
			ctx := collectors.WithPulse(g.ctx, g.pulses.Part(m.Name))
			g.ended.Go(func() { c.collect(ctx, m) })
		}
	}
}

// Pause lets everybody wait for the next ledger, once what was begun with this one is done.
func (c *Crew) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ledger != nil {
		c.ledger, c.open = nil, make(chan struct{})
	}
}

// Stop ends the groups but those that keep names, and returns when they have ended.
func (c *Crew) Stop(keep func(key string) bool) {
	var ending []*group
	c.mu.Lock()
	for key, g := range c.groups {
		if keep != nil && keep(key) {
			continue
		}
		delete(c.groups, key)
		if g.ctx != nil {
			g.stop()
			ending = append(ending, g)
		}
	}
	c.mu.Unlock()
	for _, g := range ending {
		g.ended.Wait()
	}
}

// collect runs one collector. The loss of one is an event and a log line, and stops nothing else.
func (c *Crew) collect(ctx context.Context, m collectors.Named) {
	err := m.Collector.Run(ctx, watchedHost{crewHost{c, ctx, m.Name}})
	collectors.PulseOf(ctx).Rest()
	if ctx.Err() == nil {
		c.tellEnd(ctx, m, err)
	}
}

// tellEnd tells of a collector that has ended by itself. (What that takes stays off the stack of those that run: a large site has
// thousands, for which 4 KiB each are enough.)
func (c *Crew) tellEnd(ctx context.Context, m collectors.Named, err error) {
	switch {
	case err == nil:
		c.Log.Info().Str("device", m.Name).Msg("the recording has been played")
	default:
		c.Log.Error().Err(err).Str("device", m.Name).Msg("this device cannot be read; the others go on")
		now := time.Now().Round(0)
		e := ledger.Event{Rule: eventrules.DeviceStatus, Note: m.Name + " cannot be read: " + err.Error(), Start: now, End: now}
		if err := c.with(ctx, func(l *ledger.Ledger) error { return l.QueueEvent(e) }); err != nil {
			c.Log.Error().Err(err).Msg("the event about it could not be stored")
		}
	}
}

// with does something with the ledger, once there is one.
func (c *Crew) with(ctx context.Context, do func(l *ledger.Ledger) error) error {
	for {
		c.mu.RLock()
		if c.ledger != nil {
			defer c.mu.RUnlock()
			return do(c.ledger)
		}
		open := c.open
		c.mu.RUnlock()
		select {
		case <-ctx.Done():
			return fmt.Errorf("between two configurations: %w", ctx.Err())
		case <-open:
		}
	}
}

// crewHost is a collector's host over all ledgers of the process.
type crewHost struct {
	crew *Crew
	ctx  context.Context // the collector's
	name string
}

func (h crewHost) Emit(ctx context.Context, batch []collectors.Reading) error {
	return h.crew.with(ctx, func(l *ledger.Ledger) error { return l.Host(h.name).Emit(ctx, batch) })
}

func (h crewHost) Keeps(r collectors.Refusal) (keeps bool) {
	if h.crew.with(h.ctx, func(l *ledger.Ledger) error { keeps = l.Host(h.name).Keeps(r); return nil }) != nil {
		return true // and Refuse will not take it
	}
	return keeps
}

func (h crewHost) Refuse(ctx context.Context, batch []collectors.Refusal) error {
	return h.crew.with(ctx, func(l *ledger.Ledger) error { return l.Host(h.name).Refuse(ctx, batch) })
}

func (h crewHost) Notice(ctx context.Context, n collectors.Notice) error {
	return h.crew.with(ctx, func(l *ledger.Ledger) error { return l.Host(h.name).Notice(ctx, n) })
}

func (h crewHost) Recall(name string) (v []byte, err error) {
	err = h.crew.with(h.ctx, func(l *ledger.Ledger) (err error) {
		v, err = l.Host(h.name).Recall(name)
		return err
	})
	return v, err
}

func (h crewHost) Remember(name string, v []byte) error {
	return h.crew.with(h.ctx, func(l *ledger.Ledger) error { return l.Host(h.name).Remember(name, v) })
}

func (h crewHost) Hurry(points []collectors.Point) (hurry bool) {
	_ = h.crew.with(h.ctx, func(l *ledger.Ledger) error { hurry = l.Host(h.name).Hurry(points); return nil }) // whoever is stopped needs not hurry
	return hurry
}
