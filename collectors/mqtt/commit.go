package mqtt

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sort"
	"strconv"
	"time"

	"gauger/collectors"
	"gauger/eventrules"
)

const (
	// firstRetry and longestRetry bound the wait before something that the host did not take is offered again.
	firstRetry   = 100 * time.Millisecond
	longestRetry = 10 * time.Second
	// unknownTopics bounds the topics without a point that are told apart.
	unknownTopics = 64
	// askAgain is the wait before a topic that comes nevertheless is unsubscribed once more.
	askAgain = 10 * time.Minute
	// reasons is how many are kept of why parts of one message could not be decoded.
	reasons = 8
)

// commit takes what arrives, in groups, until ctx ends.
func (s *session) commit(ctx context.Context) {
	s.memorable(s.recallZones())
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.queue.ready:
			s.settle(ctx, s.queue.gather(ctx))
		case <-s.link.wake:
			s.watch(ctx, time.Now())
		case <-tick.C:
			s.watch(ctx, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// settle decodes one group, hands it over, and only then acknowledges it.
func (s *session) settle(ctx context.Context, group []arrival) {
	var batch []collectors.Reading
	var refused []collectors.Refusal
	for _, a := range group {
		readings, why := s.digest(a)
		batch = append(batch, readings...)
		if why != nil {
			refused = append(refused, s.refusal(a, readings, why))
		}
	}
	inOrder(batch)
	if s.deliver(ctx, refused, batch) != nil {
		return // not acknowledged: the broker sends it again
	}
	acknowledge(group)
	s.memorable(s.rememberZones())
}

// memorable tells of something that could not be recalled or remembered; nothing is lost by that but time.
func (s *session) memorable(err error) {
	if now := time.Now(); err != nil {
		s.link.tell(collectors.Notice{Rule: eventrules.MemoryFailed, Source: s.label, Since: now, Until: now, Note: err.Error()})
	}
}

// inOrder puts the readings of each point in the order of their times, as far as they came together: a gateway that
// catches up sends the newest first, now and then.
func inOrder(batch []collectors.Reading) {
	places := map[collectors.Point][]int{}
	mixed := map[collectors.Point]bool{}
	for i, r := range batch {
		at := places[r.Point]
		if n := len(at); n > 0 && r.At.Before(batch[at[n-1]].At) {
			mixed[r.Point] = true
		}
		places[r.Point] = append(at, i)
	}
	for p := range mixed {
		sorted := make([]collectors.Reading, len(places[p]))
		for i, at := range places[p] {
			sorted[i] = batch[at]
		}
		sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].At.Before(sorted[j].At) })
		for i, at := range places[p] {
			batch[at] = sorted[i]
		}
	}
}

// acknowledge tells the broker that a group is kept. What came through a connection that is gone cannot be
// acknowledged any more; the broker sends it again, and then it is recognised.
func acknowledge(group []arrival) {
	due, all := map[*guard]int{}, map[*guard]int{}
	for _, a := range group {
		if all[a.via]++; a.Qos() > 0 {
			due[a.via]++
		}
	}
	for via, n := range due {
		via.expect(n)
	}
	for _, a := range group {
		a.Ack()
	}
	for via, n := range all {
		via.settled(n)
	}
}

// deliver hands over until the host has taken everything; the error is the end of ctx. What the host does not take
// stays here, and behind it the queue and then the broker hold what comes: nothing is dropped.
func (s *session) deliver(ctx context.Context, refused []collectors.Refusal, batch []collectors.Reading) error {
	wait := firstRetry
	for {
		var err error
		if refused, err = s.offer(ctx, refused, batch); err == nil {
			return nil
		}
		if !collectors.Wait(ctx, wait/2+rand.N(wait/2)) {
			return ctx.Err()
		}
		wait = min(wait*2, longestRetry)
	}
}

// offer hands over once. It returns the refusals that are still to be kept, so that none is kept twice.
func (s *session) offer(ctx context.Context, refused []collectors.Refusal, batch []collectors.Reading) ([]collectors.Refusal, error) {
	if len(refused) > 0 {
		if err := s.host.Refuse(ctx, refused); err != nil {
			return refused, err
		}
	}
	if len(batch) == 0 {
		return nil, nil
	}
	return nil, s.host.Emit(ctx, batch)
}

// digest turns one message into readings, and says why it must be kept as it is when something in it could not be
// decoded. It remembers the message, because whatever was digested is delivered before anything else.
func (s *session) digest(a arrival) ([]collectors.Reading, error) {
	if n, kind, device := s.plug.find(a.Topic()); n != nil {
		if s.repeated(a, nil) {
			return nil, nil
		}
		return s.hear(n, kind, device, a)
	}
	if a.Topic() == s.presence.watched() {
		s.corrected(a)
		return nil, nil
	}
	points := s.routes.find(a.Topic())
	if len(points) == 0 {
		s.stranger(a)
		return nil, nil
	}
	points, unnamed := s.instances(points, a.Topic())
	if len(points) == 0 {
		return nil, unnamed
	}
	outcomes, why := s.decode(points, a)
	for i := range outcomes {
		outcomes[i].point.believe(&outcomes[i], a)
	}
	if s.repeated(a, outcomes) {
		return nil, nil
	}
	var readings []collectors.Reading
	for _, o := range outcomes {
		if r, use := o.point.judge(o, a); use {
			readings = append(readings, r)
			s.alive(o.point, a)
			s.dated(o.point, o, a)
		}
	}
	s.heard = s.heard || len(readings) > 0
	return readings, errors.Join(why, unnamed)
}

// decode reads every point out of a message. A point that the message says nothing about is left alone as long as
// another finds something: gateways send what has changed. The error is what makes the message worth keeping.
func (s *session) decode(points []*point, a arrival) ([]outcome, error) {
	var outcomes []outcome
	doc := &document{payload: a.Payload(), live: !a.waited && !a.Retained(), kept: a.waited && !a.Retained()}
	for _, p := range points {
		if a.trueLen > 0 {
			outcomes = append(outcomes, p.oversized(a, s.limit))
		} else {
			outcomes = append(outcomes, p.decode(doc, a.at)...)
		}
	}
	var whys []error
	var absent error
	found := false
	for _, o := range outcomes {
		found = found || !o.absent
		if o.absent {
			absent = o.reading.Err
		}
		if o.refuse != nil && len(whys) < reasons {
			whys = append(whys, fmt.Errorf("point %s: %w", o.point.name, o.refuse))
		}
	}
	if !found {
		whys = append(whys, absent)
	}
	for i := range outcomes {
		// A filter with wildcards may well catch messages of another kind; a topic of its own should not.
		outcomes[i].absent = outcomes[i].absent && (found || wildcard(plain(outcomes[i].point.Topic)))
	}
	return outcomes, errors.Join(whys...)
}

// oversized is what a message means that was too long to be taken whole.
func (p *point) oversized(a arrival, limit int) outcome {
	out := p.blank(a.at)
	out.refuse = fmt.Errorf("payload of %d bytes is longer than a packet may be (%d); only its beginning was kept", a.trueLen, limit)
	out.reading.Err = out.refuse
	return out
}

// repeated tells whether a message was digested before. With a device's time in it that was understood and believed, the
// same payload is the same message, and so is a retained one that comes with every new subscription. Else two equal ones
// may both be meant, as from a device whose clock is dead; then only a redelivery under the same packet id counts.
func (s *session) repeated(a arrival, outcomes []outcome) bool {
	same := a.Retained()
	for _, o := range outcomes {
		same = same || o.timed
	}
	key := s.key(a, same)
	if (same || a.Duplicate()) && s.recent.has(key) {
		return true
	}
	if same || a.Qos() > 0 {
		s.recent.add(key)
	}
	return false
}

// key stands for a message in the memory of recent ones: topic and payload, and the packet id unless those are enough.
func (s *session) key(a arrival, enough bool) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	_, _ = h.WriteString(a.Topic()) // a maphash never fails
	_ = h.WriteByte(0)
	if !enough {
		_, _ = h.WriteString(strconv.Itoa(int(a.MessageID())))
	}
	_ = h.WriteByte(0)
	_, _ = h.Write(a.Payload())
	return h.Sum64()
}

// judge decides whether an outcome is used, and how good it is. A retained message may be any age: it counts only
// when the device says that it is newer than what we have.
func (p *point) judge(o outcome, a arrival) (collectors.Reading, bool) {
	r := o.reading
	if o.absent || a.Retained() && o.timed && !r.At.After(p.newest) {
		return r, false
	}
	if o.timed && r.At.After(p.newest) {
		p.newest = r.At
	}
	if r.Quality == collectors.Good && !o.timed && (a.waited || a.Retained()) {
		r.Quality, r.AgeUnknown, r.Err = collectors.Uncertain, true, errAge[a.Retained()]
	}
	return r, true
}

// errAge says why the age of a value is not known, of one that was not retained by the broker and of one that was.
var errAge = map[bool]error{
	false: errors.New("may have waited at the broker, without a time of the device: its age is not known"),
	true:  errors.New("retained by the broker, without a time of the device: its age is not known"),
}

// unread is a topic whose messages no point reads.
type unread struct {
	messages uint64
	asked    time.Time // when it was last to be unsubscribed
}

// stranger counts a message that no point reads and has its topic unsubscribed: left alone, such messages fill the
// broker's window until nothing else comes. It is told of at the first, tenth, hundredth message and so on.
func (s *session) stranger(a arrival) {
	topic := a.Topic()
	u := s.unknown[topic]
	if u == nil {
		if len(s.unknown) >= unknownTopics {
			return
		}
		u = &unread{}
		s.unknown[topic] = u
	}
	u.messages++
	if u.asked.IsZero() || a.at.Sub(u.asked) >= askAgain {
		select {
		case s.strange <- topic:
			u.asked = a.at
		default: // the next message asks
		}
	}
	if !powerOfTen(u.messages) {
		return
	}
	s.link.tell(collectors.Notice{
		Rule: eventrules.UnknownTopic, Source: s.label + " " + topic, Since: a.at, Until: a.at,
		Note: fmt.Sprintf("%d messages on topic %s, which no point reads, were acknowledged and dropped; the subscription was made by an earlier configuration or another program with the client id %q", u.messages, topic, s.client),
	})
}

func powerOfTen(n uint64) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}
