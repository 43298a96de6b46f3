package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/config"
	"gauger/outbox"
	"gauger/outbox/preflight"
)

// outboxStreams are the outbox's queues. Tickets and memos never give way to the quota; events go oldest last, and of tag
// values the older are thinned. Each of the others has a share that it does not exceed.
func outboxStreams(w cloud.Wire, s config.Shares) []outbox.Stream {
	return []outbox.Stream{
		{Name: ledger.Tickets, Batch: w.Batch.Tickets, Journal: true},
		{Name: ledger.Memos, Batch: 1},
		{Name: ledger.Events, Batch: w.Batch.Events, Keep: outbox.OldestLast, Share: s.Events},
		{Name: ledger.Targets, Batch: w.Batch.Targets, Keep: outbox.OldestLast, Share: s.Targets},
		{Name: ledger.TagValues, Batch: w.Batch.TagValues, Keep: outbox.ThinFirst, Share: s.TagValues},
		{Name: ledger.Refused, Keep: outbox.OldestFirst, Held: true, Share: s.Refused},
	}
}

// outboxFile is the outbox's place in the store.
func outboxFile(cfg *config.Config) string { return filepath.Join(cfg.Store.Path, "outbox.db") }

// openOutbox opens the outbox of the store, and makes the folder when there is none.
func openOutbox(cfg *config.Config, pace func(ctx context.Context, stream string) error, notify func(outbox.Note)) (*outbox.Box, error) {
	if err := os.MkdirAll(cfg.Store.Path, 0o700); err != nil {
		return nil, fmt.Errorf("make the store (store.path): %w", err)
	}
	return outbox.Open(outboxFile(cfg), outbox.Options{
		MaxBytes: int64(cfg.Store.MaxBytes), Streams: outboxStreams(cfg.Service.Wire, cfg.Store.Shares), Notify: notify, Label: ledger.RecordLabel,
		ReceiptsFor: time.Duration(cfg.Store.Receipts.Days) * 24 * time.Hour, ReceiptsBytes: int64(cfg.Store.Receipts.MaxBytes),
		Preflight: checkItself(), Pace: pace,
	})
}

// checkItself lets a child process examine the outbox before it is opened: a damaged file can crash or hang its reader.
// Where the program cannot find itself the file is only looked at quickly.
func checkItself() func(path string) error {
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		return nil
	}
	return preflight.InChild(self, "outbox", "check")
}
