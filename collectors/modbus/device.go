package modbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gauger/collectors"
)

// device is one unit with its points, and what has been learnt about it.
type device struct {
	name    string
	line    *Line
	unit    byte
	every   time.Duration
	hurried time.Duration // the interval while one of its tanks is being hauled; 0: every
	timeout time.Duration
	retries int                   // of a request whose answer came damaged
	yield   func(context.Context) // lets more urgent units go before the next request; nil: there are none

	points    []point
	blocks    []block
	twice     []place // what is asked for twice
	terms     terms   // of the configuration; the holes in it are forbidden
	holes     []hole
	learnt    bool             // the holes changed since they were remembered
	doubts    map[hole]int     // holes that were seen, but not often enough to believe
	mutes     map[span]int     // requests that go unanswered while the unit answers others
	parked    map[span]parking // places that are refused even when asked for alone
	following following
	took      time.Duration // that the last round which was answered had the line
	health    health
	shelf     *shelf // for other masters; nil: none
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
	made := outline(d, points, line.at)
	made.line = line
	line.forbid(made.unit, made.terms.holes)
	made.shelf = newShelf(d.Share, made)
	made.replan()
	return made, nil
}

// outline is the device without its line: enough to plan with.
func outline(d Device, points []point, at endpoint) *device {
	retries := DefaultRetries
	if d.Retries != nil {
		retries = *d.Retries
	}
	return &device{
		name: d.Name, unit: byte(d.UnitID()), points: points,
		every: cmp.Or(d.Every, DefaultEvery), hurried: d.EveryWhileLoading, timeout: cmp.Or(d.Timeout, DefaultTimeout), retries: retries,
		terms: d.terms(at), twice: placesOf(points, func(p *point) bool { return p.again }),
		doubts: map[hole]int{}, mutes: map[span]int{}, parked: map[span]parking{},
	}
}

func (d *device) replan() {
	t := d.terms
	t.holes = slices.Concat(t.holes, d.holes)
	d.blocks = plan(d.points, func(*point) bool { return true }, t)
	d.agesFirst()
}

// places are the places of a block.
func (d *device) places(b block) []place {
	return placesOf(d.points, func(p *point) bool {
		return slices.ContainsFunc(b.points, func(i uint16) bool { return &d.points[i] == p })
	})
}

// request puts a request for s on the line.
func (d *device) request(ctx context.Context, s span) ([]byte, error) {
	r := Request{Unit: d.unit, Table: s.table, Address: uint16(s.from), Quantity: uint16(s.count)}
	return d.line.Read(ctx, r, d.timeout)
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
	batch  []collectors.Reading // one for each point, in the points' order; nil before the first answer
	good   []span               // what was answered with data, where something is to be asked for twice

	asked    time.Time     // the last request; zero: what is failing now was not asked for
	tried    bool          // something was asked for
	answered bool          // the unit is there, even if it only refuses
	silent   int           // requests in a row without an answer, from which it would be concluded that the unit is gone
	unheard  int           // requests in a row without an answer
	stop     error         // no further request makes sense, for this reason
	mute     []block       // what was not answered
	err      error         // the last thing that went wrong
	took     time.Duration // that its requests had the line, or waited for it
}

func (d *device) newSweep() *sweep {
	return &sweep{device: d}
}

// set puts what was just asked for in its point's place.
func (s *sweep) set(i uint16, r collectors.Reading) {
	if s.batch == nil {
		s.batch = borrowBatch(len(s.device.points))
	}
	r.Asked = s.asked
	s.batch[i] = r
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
		s.verify(ctx)
	}
	s.hearMutes(ctx)
	s.verify(ctx)
	s.consult()
	if s.device.learnt {
		s.device.replan()
	}
}

// ask puts the request for one block on the line, when whoever is more urgent has gone.
func (s *sweep) ask(ctx context.Context, b *block) ([]byte, error) {
	if s.device.yield != nil {
		s.device.yield(ctx)
	}
	return s.askNow(ctx, b)
}

func (s *sweep) askNow(ctx context.Context, b *block) ([]byte, error) {
	s.asked, s.tried = time.Now(), true
	data, err := s.device.ask(ctx, b)
	s.took += time.Since(s.asked)
	return data, err
}

// take asks for one block and turns it into readings. It is true when every point of it was answered with data.
func (s *sweep) take(ctx context.Context, b block) bool {
	s.asked = time.Time{}
	if why := s.spares(b.span); why != nil {
		s.fail(b, why)
		return false
	}
	data, err := s.ask(ctx, &b)
	if err != nil {
		return s.without(ctx, b, err)
	}
	s.decode(b, data)
	return true
}

// spares is why a request is not put on the line now; nil: it is.
func (s *sweep) spares(where span) error {
	if s.stop != nil {
		return s.stop
	}
	return s.device.parkedFor(where)
}

// without goes on after a request that failed. It is true when every point of it was answered with data all the same.
func (s *sweep) without(ctx context.Context, b block, err error) bool {
	switch {
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
	s.device.shelf.put(b.span, data)
	if len(s.device.twice) > 0 {
		s.good = append(s.good, b.span)
	}
	for _, i := range b.points {
		p := &s.device.points[i]
		s.set(i, p.decode(cut(data, b.span, p.span()), now))
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
	s.device.shelf.refuse(b, why)
	for _, i := range b.points {
		s.set(i, s.device.points[i].bad(now, why))
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

// verify asks at once again for the points that say so, and believes only what both answers agree on.
func (s *sweep) verify(ctx context.Context) {
	good := s.good
	s.good = nil
	for _, first := range good {
		if b, ok := s.device.second(first); ok {
			s.compare(ctx, b)
		}
	}
}

// second is the request that asks again for what of a first one is asked for twice, if anything.
func (d *device) second(first span) (b block, ok bool) {
	var again []place
	for _, p := range d.twice {
		if covers(first, p.span) {
			again = append(again, p)
		}
	}
	if len(again) == 0 {
		return block{}, false
	}
	return blockOf(again), true
}

func (s *sweep) compare(ctx context.Context, b block) {
	data, err := s.askNow(ctx, &b)
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
		s.batch[i] = p.decode(cut(data, b.span, p.span()), now)
		if second := s.batch[i]; p.twice && second.Quality == collectors.Good && !p.agrees(first, second) {
			differs = true
			s.device.shelf.forget(p.span())
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
