package flash

import (
	"hash/maphash"
	"time"
)

// Limits of what is stored of one device's messages that cannot be decoded.
type Limits struct {
	Messages int   // at once
	Bytes    int64 // at once
	Day      int64 // and then so many bytes a day
}

const (
	// samplesEach of a topic are kept whatever else came.
	samplesEach = 3
	// maxTopics and maxEqual bound what is remembered: topics that have samples, and messages that are stored.
	maxTopics = 1024
	maxEqual  = 8192
	// reopenAt is the part of the burst that must be there again before more than samples are kept.
	reopenAt = 1. / 32
)

// Verdict says what becomes of a message.
type Verdict uint8

// The verdicts.
const (
	Keep  Verdict = iota // it is to be stored
	Equal                // one like it is stored: it is counted
	Over                 // the budget is used up: it is counted
)

// Budget is that of one device. It does not lock.
type Budget struct {
	limits  Limits
	left    float64 // bytes; below 0 after samples that went beyond the budget
	at      time.Time
	shut    bool // used up, but for samples
	seed    maphash.Seed
	samples map[uint64]uint8    // messages that were kept of a topic, by its hash
	kept    map[uint64]struct{} // hashes of topic and payload of what is stored
}

// NewBudget is a budget of which nothing was used.
func NewBudget(l Limits, now time.Time) *Budget {
	return &Budget{
		limits: l, left: float64(l.Bytes), at: now, seed: maphash.MakeSeed(),
		samples: map[uint64]uint8{}, kept: map[uint64]struct{}{},
	}
}

// Left is what may still be stored at once, in bytes; below 0 where samples went beyond it.
func (b *Budget) Left() int64 { return int64(b.left) }

// Resume takes up what was left so long ago. A clock that went back since has no say.
func (b *Budget) Resume(left int64, ago time.Duration) {
	b.left = min(float64(left), float64(b.limits.Bytes))
	b.refill(min(max(ago, 0), 24*time.Hour))
	b.shut = b.left < b.reopen()
}

// Forget the messages that are stored: some have left the store. The samples of their topics still count.
func (b *Budget) Forget() { clear(b.kept) }

// Remember a message that is stored.
func (b *Budget) Remember(topic string, payload []byte) {
	if len(b.kept) >= maxEqual {
		b.Forget()
	}
	b.kept[b.hash(topic, payload)] = struct{}{}
}

// CountSample counts a message that is stored for its topic.
func (b *Budget) CountSample(topic string) {
	if t := b.hash(topic, nil); len(b.samples) < maxTopics || b.samples[t] > 0 {
		b.samples[t] = min(b.samples[t]+1, samplesEach)
	}
}

// Judge one message that takes so many bytes in the store, and charge it where it is to be kept.
func (b *Budget) Judge(topic string, payload []byte, size int, now time.Time) Verdict {
	b.refill(now.Sub(b.at))
	b.at = now
	if _, stored := b.kept[b.hash(topic, payload)]; stored {
		return Equal
	}
	cost := max(float64(size), float64(b.limits.Bytes)/float64(max(b.limits.Messages, 1)))
	if !b.sample(topic, cost) {
		b.shut = b.shut && b.left < b.reopen() || b.left < cost
		if b.shut {
			return Over
		}
	}
	b.left -= cost
	b.Remember(topic, payload)
	b.CountSample(topic)
	return Keep
}

// sample says whether a message is one of the first few of its topic, for which there is room in any case.
func (b *Budget) sample(topic string, cost float64) bool {
	n := b.samples[b.hash(topic, nil)]
	return n < samplesEach && (n > 0 || len(b.samples) < maxTopics) && b.left-cost >= -float64(b.limits.Bytes)
}

func (b *Budget) reopen() float64 { return float64(b.limits.Bytes) * reopenAt }

func (b *Budget) refill(passed time.Duration) {
	b.left = min(b.left+float64(b.limits.Day)*passed.Hours()/24, float64(b.limits.Bytes))
}

// hash of a topic and a payload.
func (b *Budget) hash(topic string, payload []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(b.seed)
	_, _ = h.WriteString(topic) // a maphash never fails
	_ = h.WriteByte(0)
	_, _ = h.Write(payload)
	return h.Sum64()
}
