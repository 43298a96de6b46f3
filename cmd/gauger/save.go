package main

import (
	"context"
	"errors"
	"flag"
	"time"

	"gauger/config"
)

// record is something for the service that a command has made and checked.
type record struct {
	stream, address string
	body            []byte
	what            string // for the person who has asked for it
}

// queueFlags is what every command that writes may be told.
type queueFlags struct {
	file string
	waitOptions
}

// waitOptions is how long a command that has queued something looks on.
type waitOptions struct {
	none bool
	most time.Duration
}

func addWaitFlags(f *flag.FlagSet, w *waitOptions) {
	f.BoolVar(&w.none, "no-wait", false, "only queue; do not wait to see it delivered")
	f.DurationVar(&w.most, "wait", patience, "how `LONG` to wait for the service's answer")
}

func addQueueFlags(f *flag.FlagSet) *queueFlags {
	s := &queueFlags{}
	f.StringVar(&s.file, "file", "", "read the records from a JSON `FILE` in the service's own shape; - is standard input")
	addWaitFlags(f, &s.waitOptions)
	return s
}

// queueRecords makes records with the site's settings, queues all of them or, when one is wrong, none, and sees them off.
func queueRecords(ctx context.Context, c *call, s *queueFlags, make func(*config.Config) ([]record, error)) error {
	cfg, err := config.Load(c.config)
	if err != nil {
		return unreadable(err)
	}
	records, err := make(cfg)
	if err != nil {
		return asUsage(err)
	}
	return withConnection(c, func(d *connection) error {
		all, err := d.queueAll(ctx, records)
		if err == nil {
			err = d.awaitDelivery(ctx, all, s.waitOptions)
		}
		if err != nil {
			return errors.Join(err, printFateLines(c.err, all))
		}
		return printFates(c, d, all)
	})
}

// asUsage says that what was given cannot be used as it is.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[usage](err); ok {
		return u
	}
	return usage{err.Error()}
}

// optional makes a flag for a figure that may be left out.
func optional(f *flag.FlagSet, into **float64, name, about string) {
	f.Func(name, about, func(text string) error {
		v, err := parseNumber(text)
		*into = &v
		return err
	})
}

// moments reads the times of flags in the site's zone.
type moments struct {
	zone *time.Location
	now  time.Time
	err  error
}

func siteTimes(zone *time.Location) *moments { return &moments{zone: zone, now: time.Now()} }

// at reads one flag's text; absent is what a missing one means. The first mistake is kept.
func (ms *moments) at(name, text string, absent time.Time) time.Time {
	if text == "" {
		return absent
	}
	t, err := parseTime(text, ms.zone, ms.now)
	if err != nil && ms.err == nil {
		ms.err = usage{dashed(name) + ": " + err.Error()}
	}
	return t
}
