package modbus

import (
	"context"
	"fmt"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
)

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
