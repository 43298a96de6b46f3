package modbus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/linetest"
)

// logbook is a host that notes when each unit was read, in whole polls, and keeps nothing else.
type logbook struct {
	collectorstest.Host
	begun time.Time
	good  map[string][]time.Duration // by device, since the beginning

	pulses collectors.Pulses
	hung   error // that the line's collector seemed to
}

// Emit implements collectors.Host.
func (h *logbook) Emit(_ context.Context, batch []collectors.Reading) error {
	h.hung = errors.Join(h.hung, h.pulses.Hung(3*time.Second))
	for _, r := range batch {
		if r.Quality != collectors.Good {
			return nil
		}
	}
	device, _, _ := strings.Cut(string(batch[0].Point), "/")
	h.good[device] = append(h.good[device], time.Since(h.begun))
	return nil
}

// within counts the polls of a device from one moment until another.
func (h *logbook) within(device string, from, to time.Duration) int {
	first, _ := slices.BinarySearch(h.good[device], from)
	end, _ := slices.BinarySearch(h.good[device], to)
	return end - first
}

// death of one unit of ten.
type death struct {
	name string
	url  string
	wrap linetest.Envelope
	do   func(w *linetest.Witness, q linetest.Asked) []linetest.Piece
}

func waysToBeDead() (all []death) {
	refuses := func(after time.Duration) func(*linetest.Witness, linetest.Asked) []linetest.Piece {
		return func(w *linetest.Witness, q linetest.Asked) []linetest.Piece {
			return []linetest.Piece{{After: after, Bytes: w.Envelope.Answer(q, []byte{q.Function | 0x80, 0x0B})}}
		}
	}
	silent := func(*linetest.Witness, linetest.Asked) []linetest.Piece { return nil }
	for _, l := range linetest.Wires {
		all = append(all, death{"silent", l.URL, l.Envelope, silent})
		if l.Envelope != linetest.InTCP {
			continue
		}
		all = append(all,
			death{"0x0B after 0.98 s", l.URL, l.Envelope, refuses(980 * time.Millisecond)},
			death{"0x0B after 1.02 s", l.URL, l.Envelope, refuses(1020 * time.Millisecond)},
			death{"0x0B at once", l.URL, l.Envelope, refuses(linetest.Thinks)},
			death{"closes the connection", l.URL, l.Envelope, func(*linetest.Witness, linetest.Asked) []linetest.Piece {
				return []linetest.Piece{{After: linetest.Thinks, HangUp: true}}
			}})
	}
	return all
}

// TestOneOfTenUnitsIsDead counts the polls of the nine others, and how soon the dead one is back. The line takes
// 20 ms for a transaction and does one at a time; every unit is to be polled once a second, with a time-out of one.
// GAUGER_DEAD_HOURS is how long it is dead.
func TestOneOfTenUnitsIsDead(t *testing.T) {
	dead := 3 * time.Minute
	if hours := linetest.NumberFrom(t, "GAUGER_DEAD_HOURS", 0); hours > 0 {
		dead = time.Duration(hours) * time.Hour
	}
	for _, d := range waysToBeDead() {
		for _, from := range []time.Duration{0, 95*time.Second + 300*time.Millisecond} {
			t.Run(fmt.Sprintf("%s %s from %s", d.wrap, d.name, from), func(t *testing.T) { d.run(t, from, from+dead) })
		}
	}
}

func (d death) run(t *testing.T, from, until time.Duration) {
	const unit, after = 5, 2 * time.Minute
	var book *logbook
	dials := 0
	synctest.Test(t, func(t *testing.T) {
		book = &logbook{begun: time.Now(), good: map[string][]time.Duration{}}
		w := &linetest.Witness{Envelope: d.wrap, Turnaround: linetest.Thinks, Queued: true}
		w.Spoil = func(q linetest.Asked, _ []byte) ([]linetest.Piece, bool) {
			if now := time.Since(book.begun); q.Unit != unit || now < from || now >= until {
				return nil, false
			}
			return d.do(w, q), true
		}
		lines := linesTo(w)
		var site []Device
		for u := 1; u <= 10; u++ {
			site = append(site, Device{Name: fmt.Sprint(u), URL: d.url, Unit: new(u), Every: time.Second, Timeout: time.Second, Points: []Point{holding("level", 0)}})
		}
		all, err := New(lines, site)
		if err != nil || len(all) != 1 {
			t.Fatalf("%d collectors, %v", len(all), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), until+after)
		defer cancel()
		if err := all[0].Run(collectors.WithPulse(ctx, book.pulses.Part("line")), book); err != nil || book.hung != nil {
			t.Error(err, book.hung)
		}
		dials = w.Dials
	})
	d.judge(t, book, from, until, until+after)
	if strings.HasPrefix(d.name, "0x0B at once") && dials > 1 {
		t.Errorf("%d connections; an exception is no reason for a second one", dials)
	}
}

func (d death) judge(t *testing.T, book *logbook, from, until, end time.Duration) {
	const minute, least = 60 * time.Second, 57
	for u := 1; u <= 10; u++ {
		name := fmt.Sprint(u)
		worst, at := 60, time.Duration(0)
		for start := from + 10*time.Second; start+minute <= end; start += time.Second {
			if u == 5 && start < until+2*time.Second {
				continue
			}
			if n := book.within(name, start, start+minute); n < worst {
				worst, at = n, start
			}
		}
		if worst < least {
			t.Errorf("unit %s: %d polls in the minute from %s, want at least %d", name, worst, at, least)
		}
	}
	if book.within("5", until, until+2*time.Second+100*time.Millisecond) == 0 {
		t.Errorf("the unit is back at %s, and not read within two of its intervals", until)
	}
	if before := book.within("5", 0, until); from > 0 && before < int(from/time.Second)-1 {
		t.Errorf("%d polls of the unit while it was alive", before)
	}
}
