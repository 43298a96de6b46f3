package main

import (
	"context"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"gauger/agent/cloud"
	"gauger/config"
)

// burst is how many requests may leave at once before the pace holds them back.
const burst = 4

// spread is the longest wait with which a backlog begins to leave after a boot: when the power comes back to a field, a
// hundred sites must not call at once.
const spread = time.Minute

// pace spreads requests over time for a metered link: at most so many a second in the long run, with a small burst.
// Toward the box itself, or with rate: off, there is nothing to spare and it holds nothing back.
type pace struct {
	mu    sync.Mutex
	every time.Duration // 0: no pace
	next  time.Time     // when the request after the burst may leave
	hold  time.Time     // a backlog waits until then, after the first request
	first bool          // a request has left
}

// paceOf is the configured pace.
func paceOf(cfg *config.Config) *pace {
	u, err := url.Parse(cfg.Service.URL)
	if cfg.Link.Rate <= 0 || err != nil || cloud.Loopback(u.Hostname()) {
		return &pace{}
	}
	return &pace{every: time.Duration(float64(time.Second) / float64(cfg.Link.Rate))}
}

// backlog is told how many records waited when the box was opened.
func (p *pace) backlog(waiting uint64, now time.Time) {
	if p.every > 0 && waiting > burst {
		p.hold = now.Add(rand.N(spread))
	}
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
	if p.every == 0 {
		return 0
	}
	if p.first && now.Before(p.hold) {
		return p.hold.Sub(now)
	}
	p.first = true
	if earliest := now.Add(-burst * p.every); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(p.every)
	return max(0, p.next.Sub(now))
}
