package ledger

import (
	"context"
	"slices"
	"sync"

	"gauger/collectors"
)

// watchers are the people who look on while readings arrive.
type watchers struct {
	mu  sync.Mutex
	all []chan []collectors.Reading
}

// send gives everyone a copy of the batch; who is slow misses it. Looking on must never hold up the disk.
func (w *watchers) send(batch []collectors.Reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) > 0 {
		batch = slices.Clone(batch)
	}
	for _, c := range w.all {
		select {
		case c <- batch:
		default:
		}
	}
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
