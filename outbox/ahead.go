package outbox

import (
	"context"
	"errors"
	"time"
)

// heldBatch was taken by the service, and its deletion waits for the next batch's (Decisions, in doc.go). Its records stay in flight.
type heldBatch struct {
	records []Record
	timer   *time.Timer
	done    chan struct{} // closed when the timer's deletion has ended
	took    time.Duration
	err     error
}

// maxHold: no deletion waits longer for the next one; minHold: none less long.
const maxHold = time.Second

var minHold time.Duration

// mayHold reports whether the deletion of a batch may wait: there is more that can be sent meanwhile, and nothing was refused.
func (d *drain) mayHold(batch []Record) bool {
	if d.s.Journal || d.s.Batch == 1 || d.unfinished() || d.breaker.open || len(d.poison.candidates) > 0 {
		return false
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.s.counts.limit == 0 && len(d.s.failing) == 0 && d.s.counts.Waiting > uint64(len(batch))
}

// holds reports whether a batch is the one that is held.
func (d *drain) holds(batch []Record) bool {
	return d.held != nil && len(batch) > 0 && batch[0].Seq == d.held.records[0].Seq
}

// hasMoreThanHeld reports whether more waits than what is held.
func (d *drain) hasMoreThanHeld() bool {
	if d.held == nil {
		return true
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.s.counts.Waiting > uint64(len(d.held.records))
}

// hold lets the deletion of a batch wait for the next one.
func (d *drain) hold(batch []Record) {
	h := &heldBatch{records: batch, done: make(chan struct{})}
	h.timer = time.AfterFunc(max(minHold, min(d.deleteTook, maxHold)), func() {
		defer close(h.done)
		began := time.Now()
		h.err = d.b.submit(func(g *group) error {
			for _, r := range h.records {
				d.b.stageDelivered(g, d.s, r)
			}
			return nil
		})
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
