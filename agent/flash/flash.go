// Package flash spares the memory card. budget.go bounds what is stored of messages that nobody can decode: a device that talks
// nonsense ten times a second would otherwise write tens of gigabytes a day. flash.go tells what the program has had written,
// and how long a card lasts at that rate.
//
// Decisions:
//   - One budget stands for messages and for bytes: each message is charged its bytes, and at least the burst's bytes by the
//     burst's messages, which is about what it costs on disk when it is stored with a dozen others.
//   - What is used up opens again only with room for a batch, since one message by itself costs some thirty kilobytes.
//   - The first few of each topic go beyond the budget, up to once more the burst: else whoever invents topics has no bound.
//   - Who keeps a message keeps with it what was left then: so a restart refills nothing, and nothing is written for that alone.
//   - A day is the last day, not the mean since the start: a fault of this morning shows today.
package flash

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// sectorBytes is the unit of the kernel's count of what a process has had written.
const sectorBytes = 512

// Written is what this process has had written to disks since it began, in bytes; what a file system writes for itself is
// not in it. 0 where the kernel does not count.
func Written() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return int64(u.Oublock) * sectorBytes
}

// Card is the memory that the store is on, as the configuration names it; the zero value is not known.
type Card struct {
	Bytes  int64
	Cycles int // how often each cell may be written
}

// Years that the card lasts when so much is written each day; 0: not known, or nothing is written. Its own copying and
// whatever else the box writes are not in it.
func (c Card) Years(day int64) float64 {
	if day <= 0 {
		return 0
	}
	return float64(c.Bytes) * float64(c.Cycles) / float64(day) / 365.25
}

// Meter tells what is written in a day.
type Meter struct {
	Card Card

	written func() int64
	mu      sync.Mutex
	samples []sample // one an hour, the last day's; the first is the start
}

type sample struct {
	at    time.Time
	bytes int64
}

const (
	sampleEvery = time.Hour
	// minSpan: what is written at the start of a run is no measure of its day.
	minSpan = 10 * time.Minute
)

// Figures are what the disk has to bear.
type Figures struct {
	Bytes int64   `json:"bytes"`                    // since the start
	Day   int64   `json:"bytes_a_day,omitempty"`    // at the rate of the last day; 0: too early to say
	Years float64 `json:"years_of_flash,omitempty"` // that the configured card lasts at that rate; 0: not known
}

// String says it in a sentence.
func (f Figures) String() string {
	text := fmt.Sprintf("%.2f MB since the start", float64(f.Bytes)/1e6)
	if f.Day > 0 {
		text += fmt.Sprintf(", %.2f MB a day", float64(f.Day)/1e6)
	}
	switch {
	case f.Years > 100:
		text += "; the flash lasts more than 100 years of it"
	case f.Years > 0:
		text += fmt.Sprintf("; the flash lasts %.1f years of it at most", f.Years)
	}
	return text
}

// NewMeter begins to measure.
func NewMeter(card Card) *Meter {
	m := &Meter{Card: card, written: Written}
	m.samples = []sample{{time.Now(), m.written()}}
	return m
}

// Run takes a sample each hour until ctx ends.
func (m *Meter) Run(ctx context.Context) error {
	t := time.NewTicker(sampleEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-t.C:
			m.mu.Lock()
			m.samples = append(m.samples, sample{now, m.written()})
			for now.Sub(m.samples[0].at) > 24*time.Hour {
				m.samples = m.samples[1:]
			}
			m.mu.Unlock()
		}
	}
}

// Figures of an instant.
func (m *Meter) Figures(now time.Time) Figures {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := Figures{Bytes: m.written()}
	first := m.samples[0]
	if span := now.Sub(first.at); span >= minSpan {
		f.Day = int64(float64(f.Bytes-first.bytes) / span.Hours() * 24)
		f.Years = m.Card.Years(f.Day)
	}
	return f
}
