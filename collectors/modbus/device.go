package modbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/share"
)

// device is one unit with its points, and what has been learnt about it.
type device struct {
	name              string
	line              *line.Line
	unit              byte
	every             time.Duration
	everyWhileLoading time.Duration // the interval while one of its tanks is being hauled; 0: every
	timeout           time.Duration
	retries           int                   // of a request whose answer came damaged
	letOthersPass     func(context.Context) // lets more urgent units go before the next request; nil: there are none

	points         []point
	blocks         []block
	rereadPlaces   []place    // what is asked for twice
	limits         planLimits // of the configuration; the holes in it are forbidden
	holes          []hole
	holesChanged   bool                      // the holes changed since they were remembered
	suspectedHoles map[hole]int              // holes that were seen, but not often enough to believe
	unanswered     map[line.Span]int         // requests that go unanswered while the unit answers others
	parked         map[line.Span]parkedPlace // places that are refused even when asked for alone
	spoiltNext     spoiltNext
	lastDuration   time.Duration // that the last round which was answered had the line
	health         health
	cache          *share.Cache // for other masters; nil: none
}

// newDevice makes a device of checked options.
func newDevice(lines *line.Lines, d Device) (*device, error) {
	line, err := lines.Open(d.URL)
	if err != nil {
		return nil, fmt.Errorf("device %s: %w", d.Name, err)
	}
	points, err := compile(d)
	if err != nil {
		return nil, err
	}
	made := outline(d, points, line.Endpoint())
	made.line = line
	line.Forbid(made.unit, made.limits.holes)
	made.share(d.Share)
	made.replan()
	return made, nil
}

// share keeps the answers for other masters at an address; empty: there are none. An answer is fresh for two rounds and
// a time-out: one that is late in one round is there in the next.
func (d *device) share(address string) {
	if address == "" {
		return
	}
	var spans []line.Span
	for _, p := range placesOf(d.points, func(*point) bool { return true }) {
		spans = append(spans, p.Span)
	}
	d.cache = share.NewCache(address, d.unit, 2*d.every+d.timeout, spans)
}

// outline is the device without its line: enough to plan with.
func outline(d Device, points []point, at line.Endpoint) *device {
	retries := DefaultRetries
	if d.Retries != nil {
		retries = *d.Retries
	}
	return &device{
		name: d.Name, unit: byte(d.UnitID()), points: points,
		every: cmp.Or(d.Every, DefaultEvery), everyWhileLoading: d.EveryWhileLoading, timeout: cmp.Or(d.Timeout, line.DefaultTimeout), retries: retries,
		limits: d.planLimits(at), rereadPlaces: placesOf(points, func(p *point) bool { return p.reread }),
		suspectedHoles: map[hole]int{}, unanswered: map[line.Span]int{}, parked: map[line.Span]parkedPlace{},
	}
}

func (d *device) replan() {
	t := d.limits
	t.holes = slices.Concat(t.holes, d.holes)
	d.blocks = plan(d.points, func(*point) bool { return true }, t)
	d.planAgesFirst()
}

// blockPlaces are the places of a block.
func (d *device) blockPlaces(b block) []place {
	return placesOf(d.points, func(p *point) bool {
		return slices.ContainsFunc(b.points, func(i uint16) bool { return &d.points[i] == p })
	})
}

// request puts a request for s on the line.
func (d *device) request(ctx context.Context, s line.Span) ([]byte, error) {
	r := line.Request{Unit: d.unit, Table: s.Table, Address: uint16(s.From), Quantity: uint16(s.Count)}
	return d.line.Read(ctx, r, d.timeout)
}

// round is one round of requests to a device, and what came of it.
type round struct {
	device        *device
	batch         []collectors.Reading // one for each point, in the points' order; nil before the first answer
	answeredSpans []line.Span          // what was answered with data, where something is to be asked for twice

	asked            time.Time     // the last request; zero: what is failing now was not asked for
	tried            bool          // something was asked for
	answered         bool          // the unit is there, even if it only refuses
	missed           int           // requests in a row without an answer, from which it would be concluded that the unit is gone
	unanswered       int           // requests in a row without an answer
	skipRest         error         // no further request makes sense, for this reason
	unansweredBlocks []block       // what was not answered
	lastError        error         // the last thing that went wrong
	duration         time.Duration // that its requests had the line, or waited for it
}

func (d *device) newRound() *round {
	return &round{device: d}
}

// set puts what was just asked for in its point's place.
func (s *round) set(i uint16, r collectors.Reading) {
	if s.batch == nil {
		s.batch = borrowBatch(len(s.device.points))
	}
	r.Asked = s.asked
	s.batch[i] = r
}

// read asks for every point once.
func (d *device) read(ctx context.Context) *round {
	s := d.newRound()
	s.run(ctx)
	return s
}

// run asks for every block, and draws the conclusions: what is mute, what must be read again, what is known now.
func (s *round) run(ctx context.Context) {
	for _, b := range s.device.blocks {
		s.request(ctx, b)
		s.verifyAnswered(ctx)
	}
	s.splitUnanswered(ctx)
	s.verifyAnswered(ctx)
	s.applyCompanions()
	if s.device.holesChanged {
		s.device.replan()
	}
}

// ask puts the request for one block on the line, when whoever is more urgent has gone.
func (s *round) ask(ctx context.Context, b *block) ([]byte, error) {
	if s.device.letOthersPass != nil {
		s.device.letOthersPass(ctx)
	}
	return s.askNow(ctx, b)
}

func (s *round) askNow(ctx context.Context, b *block) ([]byte, error) {
	s.asked, s.tried = time.Now(), true
	data, err := s.device.ask(ctx, b)
	s.duration += time.Since(s.asked)
	return data, err
}

// request asks for one block and turns it into readings. It is true when every point of it was answered with data.
func (s *round) request(ctx context.Context, b block) bool {
	s.asked = time.Time{}
	if why := s.whySkip(b.Span); why != nil {
		s.markBad(b, why)
		return false
	}
	data, err := s.ask(ctx, &b)
	if err != nil {
		return s.afterError(ctx, b, err)
	}
	s.store(b, data)
	return true
}

// whySkip is why a request is not put on the line now; nil: it is.
func (s *round) whySkip(where line.Span) error {
	if s.skipRest != nil {
		return s.skipRest
	}
	return s.device.whyParked(where)
}

// afterError goes on after a request that failed. It is true when every point of it was answered with data all the same.
func (s *round) afterError(ctx context.Context, b block, err error) bool {
	switch {
	case ctx.Err() != nil || errors.Is(err, line.ErrDown):
		s.skipRest = err
		s.markBad(b, err)
	case line.RefusesAddress(err):
		s.noteAnswer()
		return s.split(ctx, b, err)
	case errors.Is(err, line.ErrSilent) || errors.Is(err, line.ErrFrame) || errors.Is(err, line.ErrGone):
		s.noteMissing(b, err)
	default:
		s.noteAnswer()
		s.markBad(b, err)
	}
	return false
}

func (s *round) store(b block, data []byte) {
	now := time.Now()
	s.noteAnswer()
	s.device.cache.StoreAnswer(b.Span, data)
	if len(s.device.rereadPlaces) > 0 {
		s.answeredSpans = append(s.answeredSpans, b.Span)
	}
	for _, i := range b.points {
		p := &s.device.points[i]
		s.set(i, p.decode(b.Span.Cut(data, p.span()), now))
	}
	if b.spans == 1 {
		s.device.noteAnswered(b.Span)
	}
	delete(s.device.unanswered, b.Span)
}

// markBad makes every point of a block Bad for the given reason.
func (s *round) markBad(b block, why error) {
	now := time.Now()
	s.lastError = why
	s.device.cache.StoreRefusal(b.Span, b.spans, why)
	for _, i := range b.points {
		s.set(i, s.device.points[i].badReading(now, why))
	}
}

// noteAnswer notes that the unit is there.
func (s *round) noteAnswer() { s.answered, s.missed, s.unanswered = true, 0, 0 }

// noteMissing notes a request without a usable answer. A unit that leaves two in a row unanswered, or one when it was
// silent in the last round already, is not asked again in this round: it would only use up the line.
func (s *round) noteMissing(b block, err error) {
	s.markBad(b, err)
	s.missed++
	s.unanswered++
	if errors.Is(err, line.ErrSilent) {
		s.unansweredBlocks = append(s.unansweredBlocks, b)
	}
	if s.missed >= 2 || !s.answered && s.device.health.misses > 0 {
		s.skipRest = err
	}
}

// verifyAnswered asks at once again for the points that say so, and believes only what both answers agree on.
func (s *round) verifyAnswered(ctx context.Context) {
	good := s.answeredSpans
	s.answeredSpans = nil
	for _, first := range good {
		if b, ok := s.device.rereadOf(first); ok {
			s.verifyBlock(ctx, b)
		}
	}
}

// rereadOf is the request that asks again for what of a first one is asked for twice, if anything.
func (d *device) rereadOf(first line.Span) (b block, ok bool) {
	var again []place
	for _, p := range d.rereadPlaces {
		if first.Covers(p.Span) {
			again = append(again, p)
		}
	}
	if len(again) == 0 {
		return block{}, false
	}
	return blockOf(again), true
}

func (s *round) verifyBlock(ctx context.Context, b block) {
	data, err := s.askNow(ctx, &b)
	now, differs := time.Now(), false
	for _, i := range b.points {
		p, first := &s.device.points[i], s.batch[i]
		if first.Quality != collectors.Good {
			continue
		}
		if err != nil {
			s.batch[i] = p.badReading(now, fmt.Errorf("verify: %w", err))
			s.batch[i].Asked = s.asked
			continue
		}
		s.batch[i] = p.decode(b.Span.Cut(data, p.span()), now)
		if second := s.batch[i]; p.verify && second.Quality == collectors.Good && !p.agrees(first, second) {
			differs = true
			s.device.cache.Forget(p.span())
			s.batch[i] = p.badReading(now, fmt.Errorf("two requests do not agree: %s and then %s; at most %v %s apart are plausible", readingText(first), readingText(second), p.tolerance, p.unit))
		}
		s.batch[i].Asked = s.asked
	}
	if differs {
		s.device.line.NoteMismatch(ctx, s.device.timeout)
	}
}

func readingText(r collectors.Reading) string {
	if r.Text != "" {
		return r.Text
	}
	return fmt.Sprint(r.Value)
}
