package modbus

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/share"
)

// New makes one collector for each line that the devices name, and one for each address that they are shared at. A
// line's collector asks its units one after the other, each on its own beat; lines do not wait for each other. Only those masters
// may read what is shared; none means everybody. The error names every mistake in the options.
func New(lines *line.Lines, devices []Device, masters ...netip.Prefix) ([]collectors.Collector, error) {
	if err := optionsError(devices); err != nil {
		return nil, err
	}
	byLine := map[*line.Line]*collector{}
	var all []collectors.Collector
	for _, options := range devices {
		d, err := newDevice(lines, options)
		if err != nil {
			return nil, err
		}
		d.decoding = lines.Turns(decodingMost)
		c := byLine[d.line]
		if c == nil {
			c = &collector{line: d.line, delivered: make(chan *round, 1)}
			byLine[d.line] = c
			all = append(all, c)
		}
		c.jobs = append(c.jobs, newJob(d))
	}
	var shared []*share.Cache
	for _, c := range all {
		for _, t := range c.(*collector).jobs {
			if t.device.cache != nil {
				shared = append(shared, t.device.cache)
			}
		}
	}
	return append(all, share.Servers(shared, masters)...), nil
}

// collector asks the units of one line, one request at a time.
type collector struct {
	line *line.Line
	jobs []*job

	handOver   context.Context // Run's, without its pulse: a delivery that rests is not the line's rest
	delivering bool            // a batch is on its way to the disk
	delivered  chan *round     // what became of it
	timer      collectors.Timer

	lastSilentProbe time.Time // when a silent unit was last asked
	silentUnitsFrom time.Time // no silent unit is asked before
}

// String names the collector by its line.
func (c *collector) String() string { return "modbus " + c.line.URL() }

func (c *collector) Run(ctx context.Context, host collectors.Host) error {
	collectors.PulseOf(ctx).Work()
	c.handOver = collectors.WithPulse(ctx, nil)
	c.startBeats(time.Now(), host)
	for ctx.Err() == nil {
		now := time.Now()
		if t := c.nextJob(now); t != nil {
			c.serve(ctx, host, t)
			continue
		}
		c.idle(ctx, host, now)
	}
	c.awaitDelivery(ctx, host)
	_ = c.line.HangUp(context.WithoutCancel(ctx)) // nothing was being written, so a close that fails loses nothing
	return nil
}

// makeAllDue makes every unit due, since the line that they are on is open again.
func (c *collector) makeAllDue(now time.Time) {
	c.silentUnitsFrom = now
	for _, t := range c.jobs {
		t.due = now
	}
}

// startBeats has every unit asked at once, in the order of the configuration. From then on the beats of the units are
// spread over their intervals in the same order, so that no burst of requests makes them wait for each other. A beat
// counts from an interval ago: a faster one, for a haul that is under way, must not wait until the slow one begins.
func (c *collector) startBeats(start time.Time, host collectors.Host) {
	for i, t := range c.jobs {
		every := t.device.every
		t.start = start.Add(every*time.Duration(i)/time.Duration(len(c.jobs)) - every)
		t.every, t.due = every, start
		if memory, err := host.Recall(t.device.memoryKey()); err == nil {
			// Without the memory, or with a damaged one, the same is learnt again in a few rounds.
			_ = t.device.loadHoles(memory)
		}
	}
	c.lastSilentProbe = start
}

// serve asks one unit for everything it has.
func (c *collector) serve(ctx context.Context, host collectors.Host, t *job) {
	deadline := t.deadline()
	if t.device.health.silent() {
		deadline = noDeadline // whoever answers comes first
		c.lastSilentProbe = time.Now()
	}
	t.asked, t.busy = time.Now(), true
	if len(c.jobs) > 1 {
		t.device.letOthersPass = func(ctx context.Context) { c.serveMoreUrgent(ctx, host, deadline) }
	}
	if t.device.health.absent() {
		c.deliver(ctx, host, t, t.device.probeRound(ctx))
	} else {
		c.deliver(ctx, host, t, t.device.newRound().run(ctx))
	}
	t.busy = false
	t.setNextDue(host)
	c.noteServed(t)
}

// noteServed notes what a round took, or how long the line is to be left to others after a silent unit.
func (c *collector) noteServed(t *job) {
	if t.device.health.silent() {
		c.silentUnitsFrom = time.Now().Add(c.pauseAfterSilence(t.device))
		return
	}
	c.line.NoteRound(line.Round{Device: t.device.name, Every: t.every, Took: t.device.lastDuration, At: t.asked})
}

// serveMoreUrgent asks the units that are due and have an earlier deadline, each of them once. They may be passed in turn,
// but only by still earlier ones.
func (c *collector) serveMoreUrgent(ctx context.Context, host collectors.Host, deadline time.Time) {
	for now := time.Now(); ctx.Err() == nil; {
		var first *job
		for _, t := range c.jobs {
			if t.overtakes(now, deadline) && (first == nil || t.deadline().Before(first.deadline())) {
				first = t
			}
		}
		if first == nil {
			return
		}
		c.serve(ctx, host, first)
	}
}

// Read asks the devices once and returns a reading for each of their points, in the order of the configuration.
// What could not be read is Bad and says why. The lines stay open; whoever made them closes them. The error is a
// mistake in the options, or the context's.
func Read(ctx context.Context, lines *line.Lines, devices []Device) ([]collectors.Reading, error) {
	if err := optionsError(devices); err != nil {
		return nil, err
	}
	made := make([]*device, len(devices))
	for i, options := range devices {
		d, err := newDevice(lines, options)
		if err != nil {
			return nil, err
		}
		made[i] = d
	}
	var wait sync.WaitGroup
	batches := make([][]collectors.Reading, len(made))
	for i, d := range made {
		wait.Go(func() { batches[i] = d.newRound().run(ctx).batch })
	}
	wait.Wait()
	var all []collectors.Reading
	for _, b := range batches {
		all = append(all, b...)
	}
	return all, ctx.Err()
}
