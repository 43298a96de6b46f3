package mqtt

import (
	"hash/maphash"
)

// repeats tells whether a message was decoded before, and remembers it. With a device's time in it that was understood and believed, the
// same payload is the same message, and so is a retained one that comes with every new subscription. Else two equal ones
// may both be meant, as from a device whose clock is dead; then only a redelivery under the same packet id counts.
func (r *recentMessages) repeats(a arrival, outcomes []outcome) bool {
	same := a.Retained()
	for _, o := range outcomes {
		same = same || o.deviceTime
	}
	key := r.key(a, same)
	if (same || a.Duplicate()) && r.has(key) {
		return true
	}
	if same || a.Qos() > 0 {
		r.remember(key)
	}
	return false
}

// key identifies a message in the memory of recent ones: topic and payload, and the packet id unless those are enough.
func (r *recentMessages) key(a arrival, enough bool) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	_, _ = h.WriteString(a.Topic()) // a maphash never fails
	_ = h.WriteByte(0)
	if !enough {
		_, _ = h.Write([]byte{byte(a.MessageID() >> 8), byte(a.MessageID())})
	}
	_ = h.WriteByte(0)
	_, _ = h.Write(a.Payload())
	return h.Sum64()
}

// recentMessages remembers which messages were decoded lately, in bounded memory.
type recentMessages struct {
	seed maphash.Seed
	seen map[uint64]struct{}
	ring []uint64
	next int
}

// recentItems is more than any broker was seen to have in flight, and more than the queue holds: what was queued when
// a connection broke comes again behind it.
const recentItems = 2 * queueItems

func newRecentMessages() *recentMessages {
	return &recentMessages{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

func (r *recentMessages) has(key uint64) bool {
	_, ok := r.seen[key]
	return ok
}

// remember remembers a key and forgets the oldest.
func (r *recentMessages) remember(key uint64) {
	if r.has(key) {
		return
	}
	if len(r.ring) < recentItems {
		r.ring = append(r.ring, key)
	} else {
		delete(r.seen, r.ring[r.next])
		r.ring[r.next] = key
		r.next = (r.next + 1) % recentItems
	}
	r.seen[key] = struct{}{}
}
