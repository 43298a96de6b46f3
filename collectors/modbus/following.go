package modbus

import (
	"context"
	"errors"
	"slices"
	"time"
)

// following watches for a fault that some units have: a read over addresses that they do not have is answered as if
// nothing were amiss, and the answer to the request after it is spoilt. Where that happens again and again the first
// read is cut at its gaps.
type following struct {
	last   block          // the request before, if it was answered and reads across gaps
	blamed map[span]blame // by such a request
	cuts   []incision
	pardon time.Time // until then nothing is cut: it did not help
}

// blame counts how often the answer behind a request was spoilt, and came at once when asked for again.
type blame struct {
	victim span
	times  int
}

// incision is a request that was cut because of its victim, on trial.
type incision struct {
	holes   []hole
	victim  span
	until   time.Time
	damages int // of the victim since
}

const (
	blameMost  = 3              // spoilt answers until the request before them is cut
	trialFor   = time.Hour      // how long the cut must have helped
	pardonFor  = 24 * time.Hour // after a cut that did not help
	trialsMost = 8              // cuts on trial at a time
)

// ask asks for a block. A request whose answer was damaged on its way is repeated: noise passes, while a unit that is
// silent or refuses would only do so again. Behind a read across gaps a missing answer is asked for again too: whether
// it comes then tells whether the read before spoilt it.
func (d *device) ask(ctx context.Context, b *block) ([]byte, error) {
	data, err := d.request(ctx, b.span)
	if spoilt(err) && ctx.Err() == nil {
		data, err = d.repeat(ctx, b.span, err)
	}
	d.following.last = block{}
	if err == nil && b.gaps > 0 {
		d.following.last = *b
	}
	return data, err
}

// repeat asks again where that tells something or may help; err is what became of the first request.
func (d *device) repeat(ctx context.Context, s span, err error) (data []byte, _ error) {
	left := d.retries
	if before := d.following.last; before.gaps > 0 {
		data, err = d.request(ctx, s)
		d.judge(before, s, err)
		left--
	} else {
		d.acquit(s)
		d.relapse(s)
	}
	for ; left > 0 && errors.Is(err, errDamaged); left-- {
		data, err = d.request(ctx, s)
	}
	return data, err
}

// judge decides, by what became of the victim in other company, who spoilt its answer.
func (d *device) judge(before block, victim span, again error) {
	switch {
	case again == nil:
		d.accuse(before, victim)
	case spoilt(again):
		d.acquit(victim)
	}
}

// spoilt says whether an answer came damaged or not at all. A gateway that says so is sound itself.
func spoilt(err error) bool {
	if err == nil {
		return false
	}
	if _, refusal := errors.AsType[*Exception](err); refusal {
		return false
	}
	return errors.Is(err, ErrFrame) || errors.Is(err, ErrSilent)
}

// accuse counts what a request did to the one behind it, and cuts it when that has happened often enough.
func (d *device) accuse(before block, victim span) {
	f := &d.following
	now := time.Now()
	if now.Before(f.pardon) {
		return
	}
	if f.blamed == nil {
		f.blamed = map[span]blame{}
	}
	b := blame{victim, f.blamed[before.span].times + 1}
	f.blamed[before.span] = b
	if b.times < blameMost {
		return
	}
	delete(f.blamed, before.span)
	cut := incision{victim: victim, until: now.Add(trialFor)}
	places := d.places(before)
	for i := 1; i < len(places); i++ {
		from := blockOf(places[:i]).to()
		if count := places[i].from - from; count > 0 {
			cut.holes = append(cut.holes, hole{before.table, from, count})
		}
	}
	for _, h := range cut.holes {
		d.dig(h)
	}
	f.cuts = append(f.cuts, cut)
	f.cuts = f.cuts[max(0, len(f.cuts)-trialsMost):]
}

// acquit clears whoever was blamed for damage that comes without them too.
func (d *device) acquit(victim span) {
	for before, b := range d.following.blamed {
		if overlap(b.victim, victim) {
			delete(d.following.blamed, before)
		}
	}
}

// relapse notes damage that came although the request before was cut. After a while that cut is undone.
func (d *device) relapse(victim span) {
	f := &d.following
	now := time.Now()
	f.cuts = slices.DeleteFunc(f.cuts, func(c incision) bool { return now.After(c.until) })
	for i := range f.cuts {
		if overlap(f.cuts[i].victim, victim) {
			f.cuts[i].damages++
		}
	}
	f.cuts = slices.DeleteFunc(f.cuts, func(c incision) bool {
		if c.damages < blameMost {
			return false
		}
		for _, h := range c.holes {
			d.fill(h)
		}
		f.pardon = now.Add(pardonFor)
		return true
	})
}

func overlap(a, b span) bool { return a.table == b.table && a.from < b.to() && b.from < a.to() }
