package modbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gauger/collectors"
)

// device is one unit with its points, and what has been learnt about it.
type device struct {
	name    string
	line    *Line
	unit    byte
	every   time.Duration
	timeout time.Duration
	retries int  // of a request whose answer came damaged
	shared  bool // other units are on the line

	points []point
	blocks []block
	twice  []place // what is asked for twice
	holes  []hole
	learnt bool             // the holes changed since they were remembered
	doubts map[hole]int     // holes that were seen, but not often enough to believe
	mutes  map[span]int     // requests that go unanswered while the unit answers others
	parked map[span]parking // places that are refused even when asked for alone
	health health
}

// newDevice makes a device of checked options.
func newDevice(lines *Lines, d Device) (*device, error) {
	line, err := lines.Open(d.URL)
	if err != nil {
		return nil, fmt.Errorf("device %s: %w", d.Name, err)
	}
	points, err := compile(d)
	if err != nil {
		return nil, err
	}
	made := &device{
		name: d.Name, line: line, unit: byte(d.UnitID()), points: points,
		every: cmp.Or(d.Every, DefaultEvery), timeout: cmp.Or(d.Timeout, DefaultTimeout), retries: DefaultRetries,
		doubts: map[hole]int{}, mutes: map[span]int{}, parked: map[span]parking{},
	}
	if d.Retries != nil {
		made.retries = *d.Retries
	}
	made.twice = placesOf(points, func(p *point) bool { return p.again })
	made.replan()
	return made, nil
}

func (d *device) replan() {
	d.blocks = plan(d.points, func(*point) bool { return true }, d.holes, d.line.at.cost())
	d.agesFirst()
}

// ask puts a request for s on the line. One whose answer was damaged on its way is repeated: noise passes, while a
// unit that is silent or refuses would only do so again.
func (d *device) ask(ctx context.Context, s span) (data []byte, err error) {
	r := Request{Unit: d.unit, Table: s.table, Address: uint16(s.from), Quantity: uint16(s.count)}
	for range 1 + d.retries {
		data, err = d.line.Read(ctx, r, d.timeout)
		if !errors.Is(err, errDamaged) {
			break
		}
	}
	return data, err
}

// cut is what belongs to s in the data of a request for whole: its bytes, or a byte with its bit lowest.
func cut(data []byte, whole, s span) []byte {
	at := s.from - whole.from
	if s.table.bits() {
		return []byte{data[at/8] >> (at % 8) & 1}
	}
	return data[s.table.bytes(at):s.table.bytes(at+s.count)]
}

// sweep is one round of requests to a device, and what came of it.
type sweep struct {
	device *device
	batch  []collectors.Reading // one for each point, in the points' order
	good   []span               // what was answered with data, where something is to be asked for twice

	asked    time.Time // the last request; zero: what is failing now was not asked for
	answered bool      // the unit is there, even if it only refuses
	silent   int       // requests in a row without an answer, from which it would be concluded that the unit is gone
	unheard  int       // requests in a row without an answer
	stop     error     // no further request makes sense, for this reason
	mute     []block   // what was not answered
	err      error     // the last thing that went wrong
}

func (d *device) newSweep() *sweep {
	return &sweep{device: d, batch: make([]collectors.Reading, len(d.points))}
}

// read asks for every point once.
func (d *device) read(ctx context.Context) *sweep {
	s := d.newSweep()
	s.run(ctx)
	return s
}

// run asks for every block, and draws the conclusions: what is mute, what must be read again, what is known now.
func (s *sweep) run(ctx context.Context) {
	for _, b := range s.device.blocks {
		s.take(ctx, b)
	}
	s.hearMutes(ctx)
	s.verify(ctx)
	s.consult()
	if s.device.learnt {
		s.device.replan()
	}
}

// take asks for one block and turns it into readings. It is true when every point of it was answered with data.
func (s *sweep) take(ctx context.Context, b block) bool {
	s.asked = time.Time{}
	if s.stop != nil {
		s.fail(b, s.stop)
		return false
	}
	if p, ok := s.device.parked[b.span]; ok && time.Now().Before(p.until) {
		s.fail(b, p.err)
		return false
	}
	s.asked = time.Now()
	data, err := s.device.ask(ctx, b.span)
	switch {
	case err == nil:
		s.decode(b, data)
		return true
	case ctx.Err() != nil || errors.Is(err, ErrDown):
		s.stop = err
		s.fail(b, err)
	case refusesAddress(err):
		s.heard()
		return s.split(ctx, b, err)
	case errors.Is(err, ErrSilent) || errors.Is(err, ErrFrame) || errors.Is(err, errGone):
		s.miss(b, err)
	default:
		s.heard()
		s.fail(b, err)
	}
	return false
}

func (s *sweep) decode(b block, data []byte) {
	now := time.Now()
	s.heard()
	if len(s.device.twice) > 0 {
		s.good = append(s.good, b.span)
	}
	for _, i := range b.points {
		p := &s.device.points[i]
		s.batch[i] = p.decode(cut(data, b.span, p.span), now)
		s.batch[i].Asked = s.asked
	}
	if b.spans == 1 {
		s.device.heal(b.span)
	}
	delete(s.device.mutes, b.span)
}

// fail makes every point of a block Bad for the given reason.
func (s *sweep) fail(b block, why error) {
	now := time.Now()
	s.err = why
	for _, i := range b.points {
		s.batch[i] = s.device.points[i].bad(now, why)
		s.batch[i].Asked = s.asked
	}
}

// heard notes that the unit is there.
func (s *sweep) heard() { s.answered, s.silent, s.unheard = true, 0, 0 }

// miss notes a request without a usable answer. A unit that leaves two in a row unanswered, or one when it was
// silent in the last round already, is not asked again in this round: it would only use up the line.
func (s *sweep) miss(b block, err error) {
	s.fail(b, err)
	s.silent++
	s.unheard++
	if errors.Is(err, ErrSilent) {
		s.mute = append(s.mute, b)
	}
	if s.silent >= 2 || !s.answered && s.device.health.misses > 0 {
		s.stop = err
	}
}

// verify asks once more for the points that say so, and believes only what both answers agree on.
func (s *sweep) verify(ctx context.Context) {
	for _, b := range s.good {
		var again []place
		for _, p := range s.device.twice {
			if covers(b, p.span) {
				again = append(again, p)
			}
		}
		if len(again) > 0 {
			s.compare(ctx, blockOf(again))
		}
	}
}

func (s *sweep) compare(ctx context.Context, b block) {
	s.asked = time.Now()
	data, err := s.device.ask(ctx, b.span)
	now, differs := time.Now(), false
	for _, i := range b.points {
		p, first := &s.device.points[i], s.batch[i]
		if first.Quality != collectors.Good {
			continue
		}
		if err != nil {
			s.batch[i] = p.bad(now, fmt.Errorf("verify: %w", err))
			s.batch[i].Asked = s.asked
			continue
		}
		s.batch[i] = p.decode(cut(data, b.span, p.span), now)
		if second := s.batch[i]; p.twice && second.Quality == collectors.Good && !p.agrees(first, second) {
			differs = true
			s.batch[i] = p.bad(now, fmt.Errorf("two requests do not agree: %s and then %s; at most %v %s apart are plausible", show(first), show(second), p.agree, p.unit))
		}
		s.batch[i].Asked = s.asked
	}
	if differs {
		s.device.line.suspect(ctx, s.device.timeout)
	}
}

func show(r collectors.Reading) string {
	if r.Text != "" {
		return r.Text
	}
	return fmt.Sprint(r.Value)
}
