package modbus

import (
	"context"
	"errors"
	"time"

	"gauger/collectors"
)

// New makes one collector for each line that the devices name. A line's collector asks its units one after the
// other, each on its own beat; lines do not wait for each other. The error names every mistake in the options.
func New(lines *Lines, devices []Device) ([]collectors.Collector, error) {
	if err := problems(devices); err != nil {
		return nil, err
	}
	byLine := map[*Line]*collector{}
	var all []collectors.Collector
	for _, options := range devices {
		d, err := newDevice(lines, options)
		if err != nil {
			return nil, err
		}
		c := byLine[d.line]
		if c == nil {
			c = &collector{line: d.line}
			byLine[d.line] = c
			all = append(all, c)
		}
		c.turns = append(c.turns, &turn{device: d})
	}
	for _, c := range byLine {
		for _, t := range c.turns {
			t.device.shared = len(c.turns) > 1
		}
	}
	return all, nil
}

// collector asks the units of one line.
type collector struct {
	line  *Line
	turns []*turn
}

// turn is a device and when it is to be asked.
type turn struct {
	device *device
	beat   collectors.Phase
	due    time.Time
	asked  time.Time // when it was last asked
}

// String names the collector by its line.
func (c *collector) String() string { return "modbus " + c.line.URL() }

// Run implements collectors.Collector.
func (c *collector) Run(ctx context.Context, host collectors.Host) error {
	start := time.Now()
	for _, t := range c.turns {
		t.beat, t.due = collectors.Phase{Start: start, Every: t.device.every}, start
		if memory, err := host.Recall(t.device.memory()); err == nil {
			// Without the memory, or with a damaged one, the same is learnt again in a few rounds.
			_ = t.device.loadHoles(memory)
		}
	}
	for ctx.Err() == nil {
		now := time.Now()
		t := c.next(now)
		if c.line.Await(ctx, t.due) {
			c.rouse()
			continue
		}
		if ctx.Err() != nil {
			break
		}
		t.asked = time.Now()
		t.due = t.beat.After(t.asked)
		t.device.round(ctx, host)
	}
	_ = c.line.hangUp(context.WithoutCancel(ctx)) // nothing was being written, so a close that fails loses nothing
	return nil
}

// rouse makes every unit due, since the line that they are on is open again.
func (c *collector) rouse() {
	for _, t := range c.turns {
		t.due, t.device.health.until = time.Now(), time.Time{}
	}
}

// next is the turn that comes first: of those that are due the one that was asked longest ago. A round that does
// not fit into its interval then takes longer for all alike, and a unit that costs a time-out comes after the
// others, which have been due while it was waited for.
func (c *collector) next(now time.Time) *turn {
	var first *turn
	for _, t := range c.turns {
		if first == nil || t.before(first, now) {
			first = t
		}
	}
	return first
}

func (t *turn) before(other *turn, now time.Time) bool {
	if t.due.After(now) || other.due.After(now) {
		return t.due.Before(other.due)
	}
	return t.asked.Before(other.asked)
}

// round asks the device once and hands over one batch.
func (d *device) round(ctx context.Context, host collectors.Host) {
	batch := d.batch(ctx)
	if ctx.Err() != nil {
		return
	}
	// A batch that the host does not take is not kept: the next round has newer values.
	_ = host.Emit(ctx, batch)
	d.report(ctx, host)
	d.keep(host)
}

// batch is a reading for each point, asked for now unless the unit is left alone.
func (d *device) batch(ctx context.Context) []collectors.Reading {
	if now := time.Now(); d.health.resting(now) {
		return d.rest(now)
	}
	s := d.visit(ctx)
	d.note(s, time.Now())
	return s.batch
}

func (d *device) visit(ctx context.Context) *sweep {
	if d.health.absent() {
		return d.probe(ctx)
	}
	return d.read(ctx)
}

// keep remembers the holes, so that a restart does not run into them again.
func (d *device) keep(host collectors.Host) {
	if !d.learnt {
		return
	}
	b, err := d.saveHoles()
	if err = errors.Join(err, host.Remember(d.memory(), b)); err == nil {
		d.learnt = false
	}
}
