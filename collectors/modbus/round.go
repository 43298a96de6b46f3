package modbus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
)

// round is one round of requests to a device, and what came of it.
type round struct {
	delivery
	device        *device
	batch         []collectors.Reading // one for each point, in the points' order; nil before the first answer
	hasTurn       bool                 // to decode; giveBack ends it
	answeredSpans []line.Span          // what was answered with data, where something is to be asked for twice

	asked            time.Time     // the last request; zero: what is failing now was not asked for
	tried            bool          // something was asked for
	answered         bool          // the unit is there, even if it only refuses
	read             bool          // it gave a value
	missed           int           // requests in a row without an answer, from which it would be concluded that the unit is gone
	unanswered       int           // requests in a row without an answer
	skipRest         error         // no further request makes sense, for this reason
	unansweredBlocks []block       // what was not answered
	refusedBlocks    []block       // what was refused by a word that is none about addresses
	narrowing        byte          // the exception code that a block is being cut for; 0: none
	lastError        error         // the last thing that went wrong
	duration         time.Duration // that its requests had the line, or waited for it
}

// place is where the reading of a point goes that was just asked for.
func (s *round) place(i uint16) *collectors.Reading {
	if s.batch == nil {
		s.batch = borrowBatch(len(s.device.points))
	}
	return &s.batch[i]
}

// run asks for every point once, and draws the conclusions: what stays unanswered, what must be read again, what is known
// now.
func (s *round) run(ctx context.Context) *round {
	for _, b := range s.device.blocks {
		s.request(ctx, b)
		s.verifyAnswered(ctx)
	}
	s.splitUnanswered(ctx)
	s.splitRefused(ctx)
	s.verifyAnswered(ctx)
	s.applyCompanions()
	if s.device.holesChanged {
		s.device.replan()
	}
	return s
}

// request asks for one block and turns it into readings. It is true when every point of it was answered with data.
func (s *round) request(ctx context.Context, b block) bool {
	s.asked = time.Time{}
	if why := s.skipRest; why != nil {
		s.markBad(b, notAskedFor(b, why))
		s.lastError = s.skipRest
		return false
	}
	if why := s.device.whyParked(b.Span); why != nil {
		s.markBad(b, why)
		return false
	}
	if s.device.letOthersPass != nil {
		s.device.letOthersPass(ctx)
	}
	data, err := s.ask(ctx, b)
	if err != nil {
		return s.afterError(ctx, b, err)
	}
	s.awaitDecoding(ctx)
	s.store(b, data)
	return true
}

// notAskedFor is why a block was left out, after a request for another one.
func notAskedFor(b block, why error) error {
	if errors.Is(why, line.ErrDown) {
		return why
	}
	return fmt.Errorf("%s was not asked for, after the request before it: %w", b.Span, why)
}

// ask puts the request for a block on the line. One whose answer was damaged on its way is repeated: noise passes, while a
// unit that is silent or refuses would only do so again. Behind a read across gaps a missing answer is asked for again too:
// whether it comes then tells whether the read before spoilt it.
func (s *round) ask(ctx context.Context, b block) ([]byte, error) {
	d := s.device
	s.asked, s.tried = time.Now(), true
	data, err := d.line.Read(ctx, d.requestFor(b.Span), d.timeout)
	if damagedOrMissing(err) && ctx.Err() == nil {
		data, err = d.repeat(ctx, b.Span, err)
	}
	d.spoiltNext.previous = block{}
	if err == nil && b.gaps > 0 {
		d.spoiltNext.previous = b
	}
	s.duration += time.Since(s.asked)
	return data, err
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
		return s.afterRefusal(ctx, b, err)
	}
	return false
}

func (s *round) store(b block, data []byte) {
	now := time.Now()
	s.noteAnswer()
	s.read = true
	s.device.cache.StoreAnswer(b.Span, data)
	if len(s.device.rereadPlaces) > 0 {
		s.answeredSpans = append(s.answeredSpans, b.Span)
	}
	for _, i := range b.points {
		p := &s.device.points[i]
		r := s.place(i)
		*r = p.decode(b.Span.Cut(data, p.span()), now)
		r.Asked = s.asked
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
		r := s.place(i)
		*r = s.device.points[i].badReading(now, why)
		r.Asked = s.asked
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
	data, err := s.ask(ctx, b)
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

// batchPool are slices that polls have filled and hosts have read. A host keeps nothing of a batch (collectors.Host),
// so the next poll of whatever device fills it again: a box that reads many devices at once has few answers to decode
// at once. (A sync.Pool is emptied by the collector, which a large site calls every second: each poll made garbage of its batch.)
var batchPool struct {
	mu     sync.Mutex
	free   [][]collectors.Reading
	rounds []*round
}

// decodingMost devices may have an answer decoded and not yet given to the host at once, of those that have one request a round: on
// a busy box a thousand answers come in the time that one commit takes, and a batch is fifty times as large as its answer.
const decodingMost = 32

// awaitDecoding waits for a turn to decode the last answer of a round.
func (s *round) awaitDecoding(ctx context.Context) {
	if s.device.decoding == nil || len(s.device.blocks) > 1 || len(s.device.rereadPlaces) > 0 || s.hasTurn {
		return // there is more to ask for, which nobody else is to wait for
	}
	select {
	case s.device.decoding <- struct{}{}:
		s.hasTurn = true
	case <-ctx.Done():
	}
}

// giveBack ends the round's use of its batch.
func (s *round) giveBack() {
	returnBatch(s.batch)
	s.batch = nil
	if s.hasTurn {
		s.hasTurn = false
		<-s.device.decoding
	}
}

// borrowBatch is a slice of so many empty readings.
func borrowBatch(n int) []collectors.Reading {
	batchPool.mu.Lock()
	defer batchPool.mu.Unlock()
	last := len(batchPool.free) - 1
	if last < 0 || cap(batchPool.free[last]) < n {
		return make([]collectors.Reading, n)
	}
	batch := batchPool.free[last][:n]
	batchPool.free = batchPool.free[:last]
	return batch
}

// returnBatch takes a slice back that nobody reads any more.
func returnBatch(batch []collectors.Reading) {
	clear(batch)
	batchPool.mu.Lock()
	defer batchPool.mu.Unlock()
	if cap(batch) > 0 && len(batchPool.free) < decodingMost {
		batchPool.free = append(batchPool.free, batch)
	}
}

// newRound is an empty round.
func (d *device) newRound() *round {
	batchPool.mu.Lock()
	defer batchPool.mu.Unlock()
	last := len(batchPool.rounds) - 1
	if last < 0 {
		return &round{device: d}
	}
	s := batchPool.rounds[last]
	batchPool.rounds = batchPool.rounds[:last]
	s.device = d
	return s
}

// returnRound takes back a round of which nobody wants to know anything more.
func returnRound(s *round) {
	*s = round{}
	batchPool.mu.Lock()
	defer batchPool.mu.Unlock()
	if len(batchPool.rounds) < decodingMost {
		batchPool.rounds = append(batchPool.rounds, s)
	}
}
