package main

import (
	"context"
	"net/url"
	"sync"
	"time"

	"gauger/agent/cloud"
	"gauger/config"
)

// burst is how many requests may leave at once before the pace holds them back.
const burst = 4

// pace spreads requests over time for a metered link: at most so many a second in the long run, with a small burst.
type pace struct {
	mu    sync.Mutex
	every time.Duration
	next  time.Time // when the request after the burst may leave
}

// paceOf is the configured pace; nil where there is nothing to spare: toward the box itself, or with rate: off.
func paceOf(cfg *config.Config) func(ctx context.Context, stream string) error {
	u, err := url.Parse(cfg.Service.URL)
	if cfg.Link.Rate <= 0 || err != nil || cloud.Loopback(u.Hostname()) {
		return nil
	}
	p := &pace{every: time.Duration(float64(time.Second) / float64(cfg.Link.Rate))}
	return p.wait
}

// wait returns when the next request may leave, or with the error of ctx.
func (p *pace) wait(ctx context.Context, _ string) error {
	timer := time.NewTimer(p.book(time.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// book takes the next free place and returns how long it is away.
func (p *pace) book(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if earliest := now.Add(-burst * p.every); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(p.every)
	return max(0, p.next.Sub(now))
}
