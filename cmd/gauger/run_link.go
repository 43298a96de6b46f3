package main

import (
	"net/url"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/agent/link"
	"gauger/config"
	"gauger/outbox"
)

// linkStateKey is the name under which the box keeps the bytes of the day.
const linkStateKey = "link"

// streamClasses share the link: tickets, which make the money, come first. A memo is a person's, who waits for it.
var streamClasses = map[string]link.Class{
	ledger.Tickets: link.Must, ledger.Events: link.Soon, ledger.Memos: link.Soon, ledger.Targets: link.Later, ledger.TagValues: link.Bulk,
}

// newLink is the configured link.
func newLink(cfg *config.Config) *link.Link {
	o := link.Options{MaxBytes: int64(cfg.Link.MaxBytesPerDay), Zone: cfg.Zone, NotBefore: earliestClock, Streams: streamClasses}
	if cfg.Link.Rate > 0 {
		o.Every = time.Duration(float64(time.Second) / float64(cfg.Link.Rate))
	}
	for _, w := range cfg.Link.Windows {
		o.Windows = append(o.Windows, link.Window{From: time.Duration(w.From), To: time.Duration(w.To)})
	}
	return link.New(o)
}

// resumeLink takes up the bytes of the day, and spreads what waits already. Toward the box itself there is no herd.
func resumeLink(l *link.Link, cfg *config.Config, box *outbox.Box, log zerolog.Logger) error {
	kept, err := box.Get(linkStateKey)
	if err != nil {
		return err
	}
	if err := l.Resume(kept); err != nil {
		log.Warn().Err(err).Msg("the bytes of the day are counted anew")
	}
	if u, err := url.Parse(cfg.Service.URL); err != nil || cloud.Loopback(u.Hostname()) {
		return nil
	}
	waiting := uint64(0)
	for name := range streamClasses {
		waiting += box.Counts()[name].Waiting
	}
	l.Backlog(waiting, time.Now())
	return nil
}

// storeLinkUsage stores the bytes of the day. A disk that does not take them is the outbox's to tell.
func (d *daemon) storeLinkUsage(count []byte) {
	err := d.box.Update(func(tx *outbox.Tx) error {
		tx.Put(linkStateKey, count)
		return nil
	})
	if err != nil {
		d.log.Warn().Err(err).Msg("the bytes of the day were not stored; a restart counts fewer")
	}
}
