package modbus

import (
	"context"
	"time"

	"gauger/collectors"
)

// delivery is what a round has for the host beside its batch, and what became of it.
type delivery struct {
	job    *job
	notice *collectors.Notice // nil: there is nothing to tell
	holes  []byte             // as they are remembered, so that a restart does not run into them again; nil: there are none
	learnt bool               // they have changed

	told, forgotten bool
}

// to hands everything over. What the host does not take is not kept: the next round has newer values, and tells again.
func (w *round) to(ctx context.Context, host collectors.Host) {
	_ = host.Emit(ctx, w.batch)
	w.giveBack()
	if w.notice != nil {
		w.told = host.Notice(ctx, *w.notice) == nil
	}
	if w.learnt {
		w.forgotten = host.Remember(w.job.device.memoryKey(), w.holes) != nil
	}
}

// deliver hands over what a round has read and shown of the unit, while the line goes on: it waits only for the delivery
// before, so that the line is never more than one ahead of the disk. (The goroutine ends with its delivery: one that stayed
// would keep its stack for each line.)
func (c *collector) deliver(ctx context.Context, host collectors.Host, t *job, s *round) {
	d := t.device
	c.awaitDelivery(ctx, host)
	d.noteRound(s, time.Now())
	if ctx.Err() != nil {
		s.giveBack()
		return
	}
	s.delivery = delivery{job: t, notice: d.healthNotice(time.Now())}
	if d.holesChanged {
		var err error
		s.holes, err = d.saveHoles()
		s.learnt, d.holesChanged = err == nil, err != nil
	}
	c.delivering = true
	go func() {
		s.to(c.handOver, host)
		c.delivered <- s
	}()
}

// awaitDelivery returns when nothing is being handed over any more.
func (c *collector) awaitDelivery(ctx context.Context, host collectors.Host) {
	if !c.delivering {
		return
	}
	if p := collectors.PulseOf(ctx); p.Rest() {
		defer p.Work()
	}
	c.noteDelivered(host, <-c.delivered)
}

// noteDelivered takes over what became of a delivery: also whether the tank is being hauled now.
func (c *collector) noteDelivered(host collectors.Host, w *round) {
	c.delivering = false
	if w.told {
		w.job.device.health.noteTold(w.notice)
	}
	if w.forgotten {
		w.job.device.holesChanged = true
	}
	if !w.job.busy {
		w.job.setNextDue(host)
	}
	returnRound(w)
}

// idle waits until the next unit may be due, or for what is being handed over: that may make one due earlier.
func (c *collector) idle(ctx context.Context, host collectors.Host, now time.Time) {
	until := c.wakeAt(now)
	if c.delivering {
		c.idleDelivering(ctx, host, until)
	} else if c.line.Await(ctx, &c.timer, until) {
		c.makeAllDue(time.Now())
	}
}

// idleDelivering is apart, since a stack of 8 KiB is halved only where whoever waits has used less than a quarter: a large site has
// thousands of lines, which all wait most of the time.
func (c *collector) idleDelivering(ctx context.Context, host collectors.Host, until time.Time) {
	if p := collectors.PulseOf(ctx); p.Rest() {
		defer p.Work()
	}
	c.timer.Set(time.Until(until))
	defer c.timer.Stop()
	select {
	case w := <-c.delivered:
		c.noteDelivered(host, w)
	case <-c.timer.C:
	case <-ctx.Done():
	}
}
