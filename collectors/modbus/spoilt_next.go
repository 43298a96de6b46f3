package modbus

import (
	"context"
	"errors"
	"slices"
	"time"

	"gauger/collectors/modbus/line"
)

// spoiltNext watches for a fault that some units have: a read over addresses that they do not have is answered as if
// nothing were amiss, and the answer to the request after it is spoilt. Where that happens again and again the first
// read is cut at its gaps.
type spoiltNext struct {
	previous    block                   // the request before, if it was answered and reads across gaps
	suspicions  map[line.Span]suspicion // by such a request
	cutsOnTrial []cutOnTrial
	noCutsUntil time.Time // until then nothing is cut: it did not help
}

// suspicion counts how often the answer behind a request was spoilt, and came at once when asked for again.
type suspicion struct {
	victim line.Span
	times  int
}

// cutOnTrial is a request that was cut because of its victim, on trial.
type cutOnTrial struct {
	holes          []hole
	victim         line.Span
	until          time.Time
	damagedAnswers int // of the victim since
}

const (
	cutAfter     = 3              // spoilt answers until the request before them is cut
	trialPeriod  = time.Hour      // how long the cut must have helped
	noCutsPeriod = 24 * time.Hour // after a cut that did not help
	maxTrials    = 8              // cuts on trial at a time
)

// repeat asks again where that tells something or may help; err is what became of the first request.
func (d *device) repeat(ctx context.Context, s line.Span, err error) (data []byte, _ error) {
	left := d.retries
	if before := d.spoiltNext.previous; before.gaps > 0 {
		data, err = d.line.Read(ctx, d.requestFor(s), d.timeout)
		d.findSpoiler(before, s, err)
		left--
	} else {
		d.clearSuspicions(s)
		d.noteDamageAfterCut(s)
	}
	for ; left > 0 && errors.Is(err, line.ErrDamaged); left-- {
		data, err = d.line.Read(ctx, d.requestFor(s), d.timeout)
	}
	return data, err
}

// findSpoiler decides, by what became of the victim in other company, who spoilt its answer.
func (d *device) findSpoiler(before block, victim line.Span, again error) {
	switch {
	case again == nil:
		d.accuseSpoiler(before, victim)
	case damagedOrMissing(again):
		d.clearSuspicions(victim)
	}
}

// damagedOrMissing says whether an answer came damaged or not at all. A gateway that says so is sound itself.
func damagedOrMissing(err error) bool {
	if err == nil {
		return false
	}
	if _, refusal := errors.AsType[*line.Exception](err); refusal {
		return false
	}
	return errors.Is(err, line.ErrFrame) || errors.Is(err, line.ErrSilent)
}

// accuseSpoiler counts what a request did to the one behind it, and cuts it when that has happened often enough.
func (d *device) accuseSpoiler(before block, victim line.Span) {
	f := &d.spoiltNext
	now := time.Now()
	if now.Before(f.noCutsUntil) {
		return
	}
	if f.suspicions == nil {
		f.suspicions = map[line.Span]suspicion{}
	}
	b := suspicion{victim, f.suspicions[before.Span].times + 1}
	f.suspicions[before.Span] = b
	if b.times < cutAfter {
		return
	}
	delete(f.suspicions, before.Span)
	cut := cutOnTrial{victim: victim, until: now.Add(trialPeriod)}
	places := d.blockPlaces(before)
	for i := 1; i < len(places); i++ {
		from := blockOf(places[:i]).End()
		if count := places[i].From - from; count > 0 {
			cut.holes = append(cut.holes, hole{Table: before.Table, From: from, Count: count})
		}
	}
	for _, h := range cut.holes {
		d.addHole(h)
	}
	f.cutsOnTrial = append(f.cutsOnTrial, cut)
	f.cutsOnTrial = f.cutsOnTrial[max(0, len(f.cutsOnTrial)-maxTrials):]
}

// clearSuspicions clears whoever was blamed for damage that comes without them too.
func (d *device) clearSuspicions(victim line.Span) {
	for before, b := range d.spoiltNext.suspicions {
		if b.victim.Overlaps(victim) {
			delete(d.spoiltNext.suspicions, before)
		}
	}
}

// noteDamageAfterCut notes damage that came although the request before was cut. After a while that cut is undone.
func (d *device) noteDamageAfterCut(victim line.Span) {
	f := &d.spoiltNext
	now := time.Now()
	f.cutsOnTrial = slices.DeleteFunc(f.cutsOnTrial, func(c cutOnTrial) bool { return now.After(c.until) })
	for i := range f.cutsOnTrial {
		if f.cutsOnTrial[i].victim.Overlaps(victim) {
			f.cutsOnTrial[i].damagedAnswers++
		}
	}
	f.cutsOnTrial = slices.DeleteFunc(f.cutsOnTrial, func(c cutOnTrial) bool {
		if c.damagedAnswers < cutAfter {
			return false
		}
		for _, h := range c.holes {
			d.removeHole(h)
		}
		f.noCutsUntil = now.Add(noCutsPeriod)
		return true
	})
}
