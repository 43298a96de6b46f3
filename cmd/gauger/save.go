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

// saving is what every command that writes may be told.
type saving struct {
	file string
	waiting
}

// waiting is how long a command that has queued something looks on.
type waiting struct {
	none bool
	most time.Duration
}

func waitFlags(f *flag.FlagSet, w *waiting) {
	f.BoolVar(&w.none, "no-wait", false, "only queue; do not wait to see it delivered")
	f.DurationVar(&w.most, "wait", patience, "how `LONG` to wait for the service's answer")
}

func saveFlags(f *flag.FlagSet) *saving {
	s := &saving{}
	f.StringVar(&s.file, "file", "", "read the records from a JSON `FILE` in the service's own shape; - is standard input")
	waitFlags(f, &s.waiting)
	return s
}

// save makes records with the site's settings, queues all of them or, when one is wrong, none, and sees them off.
func (m *Main) save(ctx context.Context, c *common, s *saving, make func(*config.Config) ([]record, error)) error {
	cfg, err := config.Load(c.config)
	if err != nil {
		return unreadable(err)
	}
	records, err := make(cfg)
	if err != nil {
		return asUsage(err)
	}
	return m.with(c, func(d *desk) error {
		all, err := d.add(ctx, records)
		if err == nil {
			err = d.follow(ctx, all, s.waiting)
		}
		if err != nil {
			return errors.Join(err, tellText(m.Err, all))
		}
		return m.tell(c, d, all)
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
		v, err := number(text)
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
	t, err := instant(text, ms.zone, ms.now)
	if err != nil && ms.err == nil {
		ms.err = usage{dashed(name) + ": " + err.Error()}
	}
	return t
}
