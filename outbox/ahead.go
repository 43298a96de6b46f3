package outbox

import (
	"context"
	"errors"
	"slices"
	"time"
)

// heldBatch was taken by the service, and its deletion waits (Decisions, in doc.go). Its records stay in flight.
type heldBatch struct {
	records []Record
	commit  *Commit // that deletes them, where that is decided
	timer   *time.Timer
	done    chan struct{} // closed when what the timer began has ended
	took    time.Duration
	err     error
}

// leaveWithin: a deletion waits so long for a commit to go with.
const leaveWithin = 30 * time.Second

// maxHold: no deletion waits longer for the next one; minHold: none less long.
const maxHold = time.Second

var minHold time.Duration

// allIsWell says that nothing was refused or is tried again.
func (d *drain) allIsWell() bool {
	if d.unfinished() || d.breaker.open || len(d.poison.candidates) > 0 || !d.troubleSince.IsZero() {
		return false
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.s.counts.limit == 0 && len(d.s.failing) == 0
}

// hasMoreThan reports whether more waits than a batch that was taken.
func (d *drain) hasMoreThan(batch []Record) bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.s.counts.Waiting > uint64(len(batch))
}

// mayHold reports whether the deletion of a batch may wait for the next one's: there is more that can be sent meanwhile.
func (d *drain) mayHold(batch []Record) bool {
	return !d.s.Journal && d.s.Batch > 1 && d.allIsWell() && d.hasMoreThan(batch)
}

// mayLeaveLater reports whether the deletion of a batch may wait for a commit to go with. No more of them wait than one request has.
func (d *drain) mayLeaveLater(batch []Record) bool {
	n := len(batch)
	for _, h := range d.leaving {
		n += len(h.records)
	}
	return d.s.Linger > 0 && !d.s.Journal && n <= d.s.batchLimit() && d.allIsWell()
}

// keepsInFlight reports whether a batch was taken and not deleted yet.
func (d *drain) keepsInFlight(batch []Record) bool {
	is := func(h *heldBatch) bool {
		return h != nil && len(batch) > 0 && batch[0].Seq == h.records[0].Seq
	}
	return is(d.held) || slices.ContainsFunc(d.leaving, is)
}

// deletion stages that the service has the records of a batch.
func (d *drain) deletion(batch []Record) func(*group) error {
	return func(g *group) error {
		for _, r := range batch {
			d.s.stageDelivered(g, r)
		}
		return nil
	}
}

// hold lets the deletion of a batch wait for the next one.
func (d *drain) hold(batch []Record) {
	h := &heldBatch{records: batch, done: make(chan struct{})}
	h.timer = time.AfterFunc(max(minHold, min(d.deleteTook, maxHold)), func() {
		defer close(h.done)
		began := time.Now()
		h.err = d.b.submit(d.deletion(batch))
		h.took = time.Since(began)
	})
	d.held = h
}

// takeHeld returns the held batch, if it is not deleted by now; then it still is in flight.
func (d *drain) takeHeld() ([]Record, error) {
	h := d.held
	d.held = nil
	if h == nil {
		return nil, nil
	}
	if h.timer.Stop() {
		return h.records, nil
	}
	<-h.done
	d.deleteTook = h.took
	if errors.Is(h.err, ErrNoSpace) {
		return h.records, nil
	}
	d.release(h.records)
	return nil, h.err
}

// deleteHeld deletes the held batch at once: nothing is sent next.
func (d *drain) deleteHeld(ctx context.Context) error {
	batch, err := d.takeHeld()
	if err != nil || batch == nil {
		return err
	}
	defer d.release(batch)
	return d.delete(ctx, batch, false)
}

// deleteWithNext stages the deletion of a batch: it goes with the next commit that anybody makes.
func (d *drain) deleteWithNext(batch []Record) error {
	c, err := d.b.join(d.deletion(batch))
	if err != nil {
		return err
	}
	h := &heldBatch{records: batch, commit: c, done: make(chan struct{})}
	h.timer = time.AfterFunc(leaveWithin, func() {
		defer close(h.done)
		_ = c.Wait() // finishDeletions asks again for its end
		signal(d.s.wake)
	})
	d.leaving = append(d.leaving, h)
	return nil
}

// finishDeletions deletes what is held when nothing is sent next, and lets go of what was deleted with other commits; all: nothing
// waits any longer.
func (d *drain) finishDeletions(ctx context.Context, all bool) error {
	if d.held != nil && (all || d.delay > 0 || !d.hasMoreThan(d.held.records)) {
		if err := d.deleteHeld(ctx); err != nil {
			return err
		}
	}
	for len(d.leaving) > 0 {
		h := d.leaving[0]
		if done, _ := h.commit.Done(); !done && !all {
			return nil
		}
		d.leaving = d.leaving[1:]
		if !h.timer.Stop() {
			<-h.done
		}
		err := h.commit.Wait()
		if errors.Is(err, ErrNoSpace) {
			err = d.delete(ctx, h.records, false)
		}
		d.release(h.records)
		if err != nil {
			return err
		}
	}
	return nil
}

// untilGathered returns how long the drain waits for more records before it sends all that are there. The first of a run go at once:
// whoever has just started it wants to see them arrive.
func (d *drain) untilGathered(now time.Time) time.Duration {
	if d.s.Linger <= 0 || !d.allIsWell() || d.takenAt.IsZero() {
		return 0
	}
	d.b.mu.Lock()
	full := d.s.counts.Waiting >= uint64(d.s.batchLimit())
	d.b.mu.Unlock()
	if d.gatherTill.IsZero() {
		d.gatherTill = now.Add(d.s.Linger)
	}
	if full {
		d.gatherTill = now
	}
	return d.gatherTill.Sub(now)
}

// gather waits for more records, a Kick or the end of the wait.
func (d *drain) gather(ctx context.Context, left time.Duration) error {
	d.setActivity(Gathering)
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-d.s.wake:
	case <-timer.C:
	case <-d.s.kick:
		d.gatherTill = time.Now()
	}
	return d.b.Err()
}
