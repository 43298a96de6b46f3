package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"gauger/config"
)

// outgoingRecord is something for the service that a command has made and checked.
type outgoingRecord struct {
	stream, address string
	body            []byte
	what            string // for the person who has asked for it
}

// queueFlags of every command that writes.
type queueFlags struct {
	file string
	waitOptions
}

// waitOptions of a command that has queued something and looks on.
type waitOptions struct {
	none bool
	most time.Duration
}

func addWaitFlags(f *pflag.FlagSet, w *waitOptions) {
	f.BoolVar(&w.none, "no-wait", false, "only queue; do not wait to see it delivered")
	f.DurationVar(&w.most, "wait", defaultWait, "how `LONG` to wait for the service's answer")
}

func addQueueFlags(f *pflag.FlagSet) *queueFlags {
	s := &queueFlags{}
	f.StringVar(&s.file, "file", "", "read the records from a JSON `FILE` in the service's own shape; - is standard input")
	addWaitFlags(f, &s.waitOptions)
	return s
}

// queueRecords makes records with the site's settings, queues all of them or, when one is wrong, none, and sees them off.
func queueRecords(ctx context.Context, c *call, s *queueFlags, make func(*config.Config) ([]outgoingRecord, error)) error {
	cfg, err := config.Load(c.config)
	if err != nil {
		return asConfigError(err)
	}
	records, err := make(cfg)
	if err != nil {
		return asUsageError(err)
	}
	return withConnection(c, func(d *connection) error {
		all, err := d.queueAll(ctx, records)
		if err == nil {
			err = d.awaitDelivery(ctx, all, s.waitOptions)
		}
		if err != nil {
			return errors.Join(err, printDeliveryLines(c.err, all))
		}
		return printDeliveries(c, d, all)
	})
}
