package modbus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"gauger/collectors/modbus/line"
)

// parkedPlace keeps a place that is refused even when asked for alone from costing a request in every round.
type parkedPlace struct {
	until        time.Time
	pause        time.Duration
	refusal      error
	refusals     int // that it was refused after it had been answered
	answersSince int // answers in a row since
}

const (
	parkFirstPause = 10 * time.Second
	parkMaxPause   = time.Minute
)

// probation counts the answers in a row that a place that was refused must give until it is read together with others
// again: one, but more and more where it is refused only at times. Each return would cost a round of splitting.
func (p parkedPlace) probation() int {
	if p.refusals <= 1 {
		return 1
	}
	return 5 << min(p.refusals, 8)
}

// believeHoleAfter so many times that two halves succeeded where the whole is refused, the whole is no longer asked for.
// Once may be a unit that is just starting.
const believeHoleAfter = 2

// splitUnansweredAfter so many times a request is cut that a unit leaves unanswered, or refuses, while it answers others.
const splitUnansweredAfter = 3

// unitGoneAfter so many parts in a row without an answer the unit counts as gone in the middle of it.
const unitGoneAfter = 8

// split asks for the parts of a block that was refused as a whole, down to the one place that is at fault. Only
// that one stays Bad.
func (s *round) split(ctx context.Context, b block, why error) bool {
	if b.spans == 1 {
		if e, refused := errors.AsType[*line.Exception](why); refused && e.Code == 2 {
			why = fmt.Errorf("%w; manuals often count from 1, the wire from 0: `gauger probe` shows the neighbours", why)
		}
		s.markBad(b, why)
		s.device.park(b.Span, why)
		return false
	}
	left, right := s.device.halve(b)
	between := gapOf(left, right)
	okLeft := s.requestPart(ctx, left)
	okRight := s.requestPart(ctx, right)
	if okLeft && okRight {
		s.device.suspectHole(between)
	}
	return okLeft && okRight
}

// requestPart is request for a part of a block, which goes on where request would give up.
func (s *round) requestPart(ctx context.Context, b block) bool {
	mute := len(s.unansweredBlocks)
	if s.request(ctx, b) {
		return true
	}
	if len(s.unansweredBlocks) == mute || s.unanswered >= unitGoneAfter || ctx.Err() != nil {
		return false
	}
	s.unansweredBlocks, s.missed, s.skipRest = s.unansweredBlocks[:mute], 0, nil
	return s.split(ctx, b, s.batch[b.points[0]].Err)
}

// gapOf is what lies between the two halves of a block; its count is 0 where that is only a border.
func gapOf(left, right block) hole {
	return hole{Table: left.Table, From: left.End(), Count: max(0, right.From-left.End())}
}

// halve cuts a block at its widest gap, which is the likeliest reason for a refusal, or else in the middle.
func (d *device) halve(b block) (left, right block) {
	places := d.blockPlaces(b)
	at, widest := len(places)/2, 0
	for i := 1; i < len(places); i++ {
		if gap := places[i].From - blockOf(places[:i]).End(); gap > widest {
			at, widest = i, gap
		}
	}
	return blockOf(places[:at]), blockOf(places[at:])
}

// splitUnanswered cuts the requests that stay unanswered again and again although the unit answers others: some units
// say nothing at all where they should refuse.
func (s *round) splitUnanswered(ctx context.Context) {
	if !s.answered || ctx.Err() != nil {
		return
	}
	for _, b := range slices.Clone(s.unansweredBlocks) {
		put(&s.device.unanswered, b.Span, s.device.unanswered[b.Span]+1)
		if s.device.unanswered[b.Span] >= splitUnansweredAfter {
			delete(s.device.unanswered, b.Span)
			s.missed, s.skipRest = 0, nil
			s.split(ctx, b, s.batch[b.points[0]].Err)
		}
	}
}

// afterRefusal goes on after an exception that is no word about addresses: a unit that fails or is busy says so to whatever it
// is asked. Some say it of a register that they cannot read, or do not have, and only the block that covers it is then cut.
func (s *round) afterRefusal(ctx context.Context, b block, err error) bool {
	s.noteAnswer()
	if e, refused := errors.AsType[*line.Exception](err); refused && s.narrowing != 0 && e.Code == s.narrowing {
		return s.split(ctx, b, err)
	}
	if b.spans > 1 && s.narrowing == 0 {
		s.refusedBlocks = append(s.refusedBlocks, b)
		if b.gaps > 0 && s.device.health.refuses.IsZero() { // else it refuses whatever it is asked
			gap := gapOf(s.device.halve(b))
			err = fmt.Errorf("%w; no point wants %s, which is read across: if the unit cannot read that, `forbidden: [%s]` keeps away from it", err, gap, forbiddenText(gap))
		}
	}
	s.markBad(b, err)
	return false
}

// forbiddenText is a run of addresses as the configuration forbids it.
func forbiddenText(h hole) string {
	table := h.Table
	switch table {
	case line.EnronHolding:
		table = line.Holding
	case line.EnronInput:
		table = line.Input
	}
	if h.Count == 1 {
		return fmt.Sprintf("{%s: %d}", table, h.From)
	}
	return fmt.Sprintf("{%s: %d, count: %d}", table, h.From, h.Count)
}

// splitRefused cuts a block that is refused again and again once a place in it is answered that is asked for alone, each time
// another one: the unit itself is well then. A unit that refuses all costs one request more in so many rounds.
func (s *round) splitRefused(ctx context.Context) {
	for _, b := range s.refusedBlocks {
		n := s.device.unanswered[b.Span] + 1
		put(&s.device.unanswered, b.Span, n)
		if n%splitUnansweredAfter != 0 || ctx.Err() != nil {
			continue
		}
		why := s.batch[b.points[0]].Err
		places := s.device.blockPlaces(b)
		at := n / splitUnansweredAfter % len(places)
		if e, refused := errors.AsType[*line.Exception](why); refused && s.request(ctx, blockOf(places[at:at+1])) {
			s.device.unanswered[b.Span] = n - 1 // the next round cuts it at once
			s.narrowing = e.Code
			s.split(ctx, b, why)
			s.narrowing = 0
		}
	}
}

// park notes a place that is refused when asked for alone: no request may run across it, and it is asked for less often.
func (d *device) park(s line.Span, why error) {
	p := d.parked[s]
	if p.answersSince > 0 || p.refusals == 0 {
		p.refusals, p.pause = p.refusals+1, 0
	}
	p.pause = min(max(2*p.pause, parkFirstPause), parkMaxPause)
	p.until, p.refusal, p.answersSince = time.Now().Add(p.pause), why, 0
	put(&d.parked, s, p)
	d.addHole(s)
}

// whyParked is the refusal for which a place is not asked for now; nil: it is.
func (d *device) whyParked(s line.Span) error {
	if p, ok := d.parked[s]; ok && time.Now().Before(p.until) {
		return p.refusal
	}
	return nil
}

// noteAnswered notes that a place that may have been refused was answered, and after a while forgets the refusal.
func (d *device) noteAnswered(s line.Span) {
	i := slices.Index(d.holes, s)
	if i < 0 {
		return
	}
	p := d.parked[s]
	p.answersSince++
	put(&d.parked, s, p)
	if p.answersSince >= p.probation() {
		d.removeHole(s)
	}
}

// suspectHole counts a suspected hole, and believes in it after a while.
func (d *device) suspectHole(h hole) {
	put(&d.suspectedHoles, h, d.suspectedHoles[h]+1)
	if d.suspectedHoles[h] >= believeHoleAfter {
		delete(d.suspectedHoles, h)
		d.addHole(h)
	}
}

// put puts v into a map that is made with the first: most units refuse nothing and leave nothing unanswered.
func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

func (d *device) addHole(h hole) {
	if !slices.Contains(d.holes, h) {
		d.holes = append(d.holes, h)
		d.holesChanged = true
	}
}

func (d *device) removeHole(h hole) {
	if i := slices.Index(d.holes, h); i >= 0 {
		d.holes = slices.Delete(d.holes, i, i+1)
		d.holesChanged = true
	}
}

// memoryKey is the name under which a device's holes are remembered.
func (d *device) memoryKey() string { return "modbus/" + d.name + "/holes" }

// saveHoles writes the holes as [[table, from, count], ...]; nil when there are none.
func (d *device) saveHoles() ([]byte, error) {
	if len(d.holes) == 0 {
		return nil, nil
	}
	rows := make([][3]int, 0, len(d.holes))
	for _, h := range d.holes {
		rows = append(rows, [3]int{int(h.Table), h.From, h.Count})
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
		if r[0] >= 0 && r[0] <= int(line.EnronInput) {
			d.holes = append(d.holes, hole{Table: line.Table(r[0]), From: r[1], Count: r[2]})
		}
	}
	d.replan()
	return nil
}
