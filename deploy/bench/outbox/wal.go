package main

import (
	"path/filepath"
	"sync"

	"github.com/tidwall/wal"
)

// tidwall is tidwall/wal with its defaults, which sync each write.
type tidwall struct {
	group
	log  *wal.Log
	mu   sync.Mutex
	came *sync.Cond
	last uint64 // index of the newest record
}

func openWAL(dir string) (store, error) {
	o := *wal.DefaultOptions
	o.AllowEmpty = true // a queue can be empty
	log, err := wal.Open(filepath.Join(dir, "wal"), &o)
	if err != nil {
		return nil, err
	}
	w := &tidwall{log: log}
	w.came = sync.NewCond(&w.mu)
	w.write = w.append
	if w.last, err = log.LastIndex(); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *tidwall) append(bodies [][]byte) error {
	var batch wal.Batch
	last := w.last
	for _, body := range bodies {
		last++
		batch.Write(last, body)
	}
	if err := w.log.WriteBatch(&batch); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = last
	w.came.Broadcast()
	return nil
}

// newest waits until there is a record behind after.
func (w *tidwall) newest(after uint64) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.last <= after {
		w.came.Wait()
	}
	return w.last
}

func (w *tidwall) drain(n, batch int, sent func([][]byte)) error {
	first, err := w.log.FirstIndex()
	if err != nil {
		return err
	}
	for n > 0 {
		upTo := min(w.newest(first-1), first+uint64(min(batch, n))-1)
		var bodies [][]byte
		for i := first; i <= upTo; i++ {
			body, err := w.log.Read(i)
			if err != nil {
				return err
			}
			bodies = append(bodies, body)
		}
		sent(bodies)
		if err := w.log.TruncateFront(upTo + 1); err != nil {
			return err
		}
		first, n = upTo+1, n-len(bodies)
	}
	return nil
}

func (w *tidwall) close() error { return w.log.Close() }
