package modbus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// parking keeps a place that is refused even when asked for alone from costing a request in every round.
type parking struct {
	until time.Time
	pause time.Duration
	err   error
	times int // that it was refused after it had been answered
	fine  int // answers in a row since
}

const (
	parkFirst = 10 * time.Second
	parkMost  = time.Minute
)

// probation is how many answers in a row a place that was refused must give until it is read together with others
// again: one, but more and more where it is refused only at times. Each return would cost a round of splitting.
func (p parking) probation() int {
	if p.times <= 1 {
		return 1
	}
	return 5 << min(p.times, 8)
}

// believeAfter is how often two halves must succeed where the whole is refused, before the whole is no longer
// asked for. Once may be a unit that is just starting.
const believeAfter = 2

// muteAfter is how often a request must stay unanswered by a unit that answers others, before it is cut.
const muteAfter = 3

// giveUpAfter is how many parts in a row may stay unanswered until the unit counts as gone in the middle of it.
const giveUpAfter = 8

// split asks for the parts of a block that was refused as a whole, down to the one place that is at fault. Only
// that one stays Bad.
func (s *sweep) split(ctx context.Context, b block, why error) bool {
	if b.spans == 1 {
		s.fail(b, why)
		s.device.park(b.span, why)
		return false
	}
	left, right := s.halves(b)
	between := hole{table: b.table, from: left.to(), count: max(0, right.from-left.to())}
	okLeft := s.part(ctx, left)
	okRight := s.part(ctx, right)
	if okLeft && okRight {
		s.device.doubt(between)
	}
	return okLeft && okRight
}

// part is take for a part of a block, which goes on where take would give up.
func (s *sweep) part(ctx context.Context, b block) bool {
	mute := len(s.mute)
	if s.take(ctx, b) {
		return true
	}
	if len(s.mute) == mute || s.unheard >= giveUpAfter || ctx.Err() != nil {
		return false
	}
	s.mute, s.silent, s.stop = s.mute[:mute], 0, nil
	return s.split(ctx, b, s.batch[b.points[0]].Err)
}

// halves cuts a block at its widest gap, which is the likeliest reason for a refusal, or else in the middle.
func (s *sweep) halves(b block) (left, right block) {
	places := s.device.places(b)
	at, widest := len(places)/2, 0
	for i := 1; i < len(places); i++ {
		if gap := places[i].from - blockOf(places[:i]).to(); gap > widest {
			at, widest = i, gap
		}
	}
	return blockOf(places[:at]), blockOf(places[at:])
}

// hearMutes cuts the requests that stay unanswered again and again although the unit answers others: some units
// say nothing at all where they should refuse.
func (s *sweep) hearMutes(ctx context.Context) {
	if !s.answered || ctx.Err() != nil {
		return
	}
	for _, b := range slices.Clone(s.mute) {
		s.device.mutes[b.span]++
		if s.device.mutes[b.span] >= muteAfter {
			delete(s.device.mutes, b.span)
			s.silent, s.stop = 0, nil
			s.split(ctx, b, s.batch[b.points[0]].Err)
		}
	}
}

// park notes a place that is refused when asked for alone: no request may run across it, and it is asked for less often.
func (d *device) park(s span, why error) {
	p := d.parked[s]
	if p.fine > 0 || p.times == 0 {
		p.times, p.pause = p.times+1, 0
	}
	p.pause = min(max(2*p.pause, parkFirst), parkMost)
	p.until, p.err, p.fine = time.Now().Add(p.pause), why, 0
	d.parked[s] = p
	d.dig(s)
}

// parkedFor is why a place is not asked for now; nil: it is.
func (d *device) parkedFor(s span) error {
	if p, ok := d.parked[s]; ok && time.Now().Before(p.until) {
		return p.err
	}
	return nil
}

// heal notes that a place that may have been refused was answered, and after a while forgets the refusal.
func (d *device) heal(s span) {
	i := slices.Index(d.holes, s)
	if i < 0 {
		return
	}
	p := d.parked[s]
	p.fine++
	d.parked[s] = p
	if p.fine >= p.probation() {
		d.fill(s)
	}
}

// doubt counts a suspected hole, and believes in it after a while.
func (d *device) doubt(h hole) {
	d.doubts[h]++
	if d.doubts[h] >= believeAfter {
		delete(d.doubts, h)
		d.dig(h)
	}
}

func (d *device) dig(h hole) {
	if !slices.Contains(d.holes, h) {
		d.holes = append(d.holes, h)
		d.learnt = true
	}
}

// fill forgets a hole.
func (d *device) fill(h hole) {
	if i := slices.Index(d.holes, h); i >= 0 {
		d.holes = slices.Delete(d.holes, i, i+1)
		d.learnt = true
	}
}

// memory is the name under which a device's holes are remembered.
func (d *device) memory() string { return "modbus/" + d.name + "/holes" }

// saveHoles writes the holes as [[table, from, count], ...]; nil when there are none.
func (d *device) saveHoles() ([]byte, error) {
	if len(d.holes) == 0 {
		return nil, nil
	}
	rows := make([][3]int, 0, len(d.holes))
	for _, h := range d.holes {
		rows = append(rows, [3]int{int(h.table), h.from, h.count})
	}
	return json.Marshal(rows)
}

// loadHoles reads what saveHoles wrote.
func (d *device) loadHoles(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	var rows [][3]int
	if err := json.Unmarshal(b, &rows); err != nil {
		return fmt.Errorf("remembered holes of %s: %w", d.name, err)
	}
	for _, r := range rows {
		if r[0] >= 0 && r[0] < len(tableNames) {
			d.holes = append(d.holes, hole{Table(r[0]), r[1], r[2]})
		}
	}
	d.replan()
	return nil
}
