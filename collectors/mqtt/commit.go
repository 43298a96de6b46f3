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
	// maxUnknownTopics bounds the topics without a point that are told apart.
	maxUnknownTopics = 64
	// unsubscribeEvery is the wait before a topic that comes nevertheless is unsubscribed once more.
	unsubscribeEvery = 10 * time.Minute
	// maxReasons is how many are kept of why parts of one message could not be decoded.
	maxReasons = 8
)

// runCommitter takes what arrives, in groups, until ctx ends.
func (s *session) runCommitter(ctx context.Context) {
	s.memoryFailed(s.recallZones())
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.queue.ready:
			s.commitGroup(ctx, s.queue.takeGroup(ctx))
		case <-s.link.wake:
			s.watch(ctx, time.Now())
		case <-tick.C:
			s.watch(ctx, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// commitGroup decodes one group, hands it over, and only then acknowledges it.
func (s *session) commitGroup(ctx context.Context, group []arrival) {
	var batch []collectors.Reading
	var refused []collectors.Refusal
	for _, a := range group {
		readings, why := s.decodeMessage(a)
		batch = append(batch, readings...)
		if why != nil {
			refused = append(refused, s.newRefusal(a, readings, why))
		}
	}
	sortByTime(batch)
	if s.deliver(ctx, refused, batch) != nil {
		return // not acknowledged: the broker sends it again
	}
	acknowledge(group)
	s.memoryFailed(s.rememberZones())
}

// memoryFailed tells of something that could not be recalled or remembered; nothing is lost by that but time.
func (s *session) memoryFailed(err error) {
	if now := time.Now(); err != nil {
		s.link.addNotice(collectors.Notice{Rule: eventrules.MemoryFailed, Source: s.label, Since: now, Until: now, Note: err.Error()})
	}
}

// sortByTime puts the readings of each point in the order of their times, as far as they came together: a gateway that
// catches up sends the newest first, now and then.
func sortByTime(batch []collectors.Reading) {
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
	due, all := map[*packetConn]int{}, map[*packetConn]int{}
	for _, a := range group {
		if all[a.conn]++; a.Qos() > 0 {
			due[a.conn]++
		}
	}
	for via, n := range due {
		via.expectAcks(n)
	}
	for _, a := range group {
		a.Ack()
	}
	for via, n := range all {
		via.countAcked(n)
	}
}

// deliver hands over until the host has taken everything; the error is the end of ctx. What the host does not take
// stays here, and behind it the queue and then the broker hold what comes: nothing is dropped.
func (s *session) deliver(ctx context.Context, refused []collectors.Refusal, batch []collectors.Reading) error {
	wait := firstRetry
	for {
		var err error
		if refused, err = s.handOver(ctx, refused, batch); err == nil {
			return nil
		}
		if !collectors.Wait(ctx, wait/2+rand.N(wait/2)) {
			return ctx.Err()
		}
		wait = min(wait*2, longestRetry)
	}
}

// handOver hands over once. It returns the refusals that are still to be kept, so that none is kept twice.
func (s *session) handOver(ctx context.Context, refused []collectors.Refusal, batch []collectors.Reading) ([]collectors.Refusal, error) {
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

// decodeMessage turns one message into readings, and says why it must be kept as it is when something in it could not be
// decoded. It remembers the message, because whatever was digested is delivered before anything else.
func (s *session) decodeMessage(a arrival) ([]collectors.Reading, error) {
	if n, kind, device := s.nodes.find(a.Topic()); n != nil {
		if s.isDuplicate(a, nil) {
			return nil, nil
		}
		return s.receive(n, kind, device, a)
	}
	if a.Topic() == s.presence.echoTopic() {
		s.correctPresence(a)
		return nil, nil
	}
	points := s.routes.find(a.Topic())
	if len(points) == 0 {
		s.dropUnknown(a)
		return nil, nil
	}
	points, unnamed := s.instancesOf(points, a.Topic())
	if len(points) == 0 {
		return nil, unnamed
	}
	outcomes, why := s.decodePoints(points, a)
	for i := range outcomes {
		outcomes[i].point.rejectStuckTime(&outcomes[i], a)
	}
	if s.isDuplicate(a, outcomes) {
		return nil, nil
	}
	var readings []collectors.Reading
	for _, o := range outcomes {
		if r, use := o.point.accept(o, a); use {
			readings = append(readings, r)
			s.noteHeard(o.point, a)
			s.trackClock(o.point, o, a)
		}
	}
	s.heardSinceBad = s.heardSinceBad || len(readings) > 0
	return readings, errors.Join(why, unnamed)
}

// decodePoints reads every point out of a message. A point that the message says nothing about is left alone as long as
// another finds something: gateways send what has changed. The error is what makes the message worth keeping.
func (s *session) decodePoints(points []*point, a arrival) ([]outcome, error) {
	var outcomes []outcome
	doc := &document{payload: a.Payload(), isLive: !a.waited && !a.Retained(), onlyCopy: a.waited && !a.Retained()}
	for _, p := range points {
		if a.sentLen > 0 {
			outcomes = append(outcomes, p.oversizedOutcome(a, s.limit))
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
		if o.undecodable != nil && len(whys) < maxReasons {
			whys = append(whys, fmt.Errorf("point %s: %w", o.point.name, o.undecodable))
		}
	}
	if !found {
		whys = append(whys, absent)
	}
	for i := range outcomes {
		// A filter with wildcards may well catch messages of another kind; a topic of its own should not.
		outcomes[i].absent = outcomes[i].absent && (found || wildcard(withoutGroup(outcomes[i].point.Topic)))
	}
	return outcomes, errors.Join(whys...)
}

// oversizedOutcome is what a message means that was too long to be taken whole.
func (p *point) oversizedOutcome(a arrival, limit int) outcome {
	out := p.newOutcome(a.at)
	out.undecodable = fmt.Errorf("payload of %d bytes is longer than a packet may be (%d); only its beginning was kept", a.sentLen, limit)
	out.reading.Err = out.undecodable
	return out
}

// isDuplicate tells whether a message was digested before. With a device's time in it that was understood and believed, the
// same payload is the same message, and so is a retained one that comes with every new subscription. Else two equal ones
// may both be meant, as from a device whose clock is dead; then only a redelivery under the same packet id counts.
func (s *session) isDuplicate(a arrival, outcomes []outcome) bool {
	same := a.Retained()
	for _, o := range outcomes {
		same = same || o.deviceTime
	}
	key := s.messageKey(a, same)
	if (same || a.Duplicate()) && s.recent.has(key) {
		return true
	}
	if same || a.Qos() > 0 {
		s.recent.add(key)
	}
	return false
}

// messageKey stands for a message in the memory of recent ones: topic and payload, and the packet id unless those are enough.
func (s *session) messageKey(a arrival, enough bool) uint64 {
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

// accept decides whether an outcome is used, and how good it is. A retained message may be any age: it counts only
// when the device says that it is newer than what we have.
func (p *point) accept(o outcome, a arrival) (collectors.Reading, bool) {
	r := o.reading
	if o.absent || a.Retained() && o.deviceTime && !r.At.After(p.newestTime) {
		return r, false
	}
	if o.deviceTime && r.At.After(p.newestTime) {
		p.newestTime = r.At
	}
	if r.Quality == collectors.Good && !o.deviceTime && (a.waited || a.Retained()) {
		r.Quality, r.AgeUnknown, r.Err = collectors.Uncertain, true, ageUnknown[a.Retained()]
	}
	return r, true
}

// ageUnknown says why the age of a value is not known, of one that was not retained by the broker and of one that was.
var ageUnknown = map[bool]error{
	false: errors.New("may have waited at the broker, without a time of the device: its age is not known"),
	true:  errors.New("retained by the broker, without a time of the device: its age is not known"),
}

// unknownTopic is a topic whose messages no point reads.
type unknownTopic struct {
	messages       uint64
	unsubscribedAt time.Time // when it was last to be unsubscribed
}

// dropUnknown counts a message that no point reads and has its topic unsubscribed: left alone, such messages fill the
// broker's window until nothing else comes. It is told of at the first, tenth, hundredth message and so on.
func (s *session) dropUnknown(a arrival) {
	topic := a.Topic()
	u := s.unknown[topic]
	if u == nil {
		if len(s.unknown) >= maxUnknownTopics {
			return
		}
		u = &unknownTopic{}
		s.unknown[topic] = u
	}
	u.messages++
	if u.unsubscribedAt.IsZero() || a.at.Sub(u.unsubscribedAt) >= unsubscribeEvery {
		select {
		case s.unsubscribes <- topic:
			u.unsubscribedAt = a.at
		default: // the next message asks
		}
	}
	if !powerOfTen(u.messages) {
		return
	}
	s.link.addNotice(collectors.Notice{
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
