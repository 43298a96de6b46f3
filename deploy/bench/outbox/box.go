package main

import (
	"context"
	"path/filepath"
	"slices"

	"gauger/outbox"
)

const stream = "tags"

// box is gauger's outbox through its public functions: what it does for gauger it does here, checksums, counts and
// receipts too.
type box struct{ *outbox.Box }

// boxOptions has one stream that gives way to nothing, with room for what the benchmark stores.
func boxOptions(quota int64) outbox.Options {
	return outbox.Options{MaxBytes: quota, Streams: []outbox.Stream{{Name: stream, Batch: 100}}}
}

func openBox(dir string) (store, error) {
	b, err := outbox.Open(filepath.Join(dir, "outbox.db"), boxOptions(1<<30))
	return box{b}, err
}

func (b box) put(bodies [][]byte) error {
	return b.Update(func(tx *outbox.Tx) error {
		for _, body := range bodies {
			tx.Append(stream, outbox.Record{Body: body})
		}
		return nil
	})
}

func (b box) drain(n, _ int, sent func([][]byte)) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	return b.Drain(ctx, stream, taker(func(batch []outbox.Record) {
		bodies := make([][]byte, len(batch))
		for i, r := range batch {
			bodies[i] = r.Body
		}
		sent(bodies)
		if n -= len(batch); n <= 0 {
			cancel()
		}
	}))
}

func (b box) close() error { return b.Close() }

// taker is a service that takes everything at once.
type taker func(batch []outbox.Record)

func (t taker) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	t(batch)
	return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
}
