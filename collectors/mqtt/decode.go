package mqtt

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

const (
	// maxUnknownTopics bounds the topics without a point that are told apart.
	maxUnknownTopics = 64
	// unsubscribeEvery is the wait before a topic that comes nevertheless is unsubscribed once more.
	unsubscribeEvery = 10 * time.Minute
)

// correctPresence answers a false word about ourselves: the will of a connection that is gone may come after the present one
// has said that we are here.
func (c *committer) correctPresence(a arrival) {
	here := c.presence.message(true, a.conn.begunAt)
	switch {
	case bytes.Equal(a.Payload(), here.payload):
		c.presenceConn = a.conn // what comes before our own word on this connection is older than it
	case c.presenceConn == a.conn && c.presence.saysOffline(a.Payload()):
		c.requests.queuePublication(here)
	}
}

// decodeMessage turns one message into readings, and says why it must be kept as it is when something in it could not be
// decoded. It remembers the message, because whatever was decoded is delivered before anything else. The readings are lent until
// the next message.
func (c *committer) decodeMessage(a arrival) ([]collectors.Reading, error) {
	if n, kind, device := c.nodes.nodeOf(a.Topic()); n != nil {
		if c.recent.repeats(a, nil) {
			return nil, nil
		}
		readings, err := c.nodes.decodeNodeMessage(n, kind, device, a)
		c.heardSinceBad = c.heardSinceBad || len(readings) > 0
		return readings, err
	}
	if a.Topic() == c.presence.echoTopic() {
		c.correctPresence(a)
		return nil, nil
	}
	points := c.points.routes.pointsOf(a.Topic())
	if len(points) == 0 {
		c.dropUnknown(a)
		return nil, nil
	}
	points, unnamed := c.points.instancesOf(points, a.Topic())
	if full, ok := errors.AsType[tooManyTopics](unnamed); ok && !full.template.fullTold {
		full.template.fullTold = true
		c.notices.add(collectors.Notice{Rule: eventrules.TopicsTooMany, Source: strings.Replace(string(full.template.name), "/", " ", 1), Since: a.at, // of the device: the next run's readings of it end this
			Note: fmt.Sprintf("%v; %s and further ones are not read until the next start", full, excerpt(a.Topic()))})
	}
	if len(points) == 0 {
		return nil, unnamed
	}
	outcomes, why := c.decodePoints(points, a)
	for i := range outcomes {
		outcomes[i].point.rejectStuckTime(&outcomes[i], a)
	}
	if c.recent.repeats(a, outcomes) {
		return nil, nil
	}
	c.room.readings = emptied(c.room.readings)
	for i := range outcomes {
		o := &outcomes[i]
		switch {
		case c.clean: // somebody waits for it
			o.point.noteMissed(o, a, 1, c.notices)
		case !a.Retained():
			o.point.noteMissed(o, a, missesTold, c.notices)
		}
		if o.point.accept(o, a) {
			o.point.noteUnreadable(o, a, c.notices)
			c.room.readings = append(c.room.readings, o.reading)
			o.point.noteHeard(o, a, c.notices)
			o.point.trackClock(o, a, c.notices)
		}
	}
	c.heardSinceBad = c.heardSinceBad || len(c.room.readings) > 0
	return c.room.readings, errors.Join(why, unnamed)
}

// decodeRoom is used again for each message, so that decoding one makes no garbage.
type decodeRoom struct {
	document document
	outcomes []outcome
	readings []collectors.Reading
}

// roomKept bounds what is kept of it: a message may hold a list of many thousands.
const roomKept = 64

// emptied is a slice without what is in it, for the next message.
func emptied[T any](s []T) []T {
	if cap(s) > roomKept {
		return nil
	}
	clear(s)
	return s[:0]
}

// decodePoints reads every point out of a message. A point that the message says nothing about is left alone as long as
// another finds something: gateways send what has changed. The error is what makes the message worth keeping.
func (c *committer) decodePoints(points []*point, a arrival) ([]outcome, error) {
	outcomes, doc := emptied(c.room.outcomes), &c.room.document
	*doc = document{payload: a.Payload(), isLive: !a.waited && !a.Retained(), onlyCopy: a.waited && !a.Retained(), items: emptied(doc.items)}
	for _, p := range points {
		if a.sentLen > 0 {
			outcomes = append(outcomes, p.oversizedOutcome(a, c.limit))
		} else {
			outcomes = p.decode(outcomes, doc, a.at)
		}
	}
	c.room.outcomes = outcomes
	var whys []error
	var absent error
	found := false
	for i := range outcomes {
		o := &outcomes[i]
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

// unknownTopic is a topic whose messages no point reads.
type unknownTopic struct {
	messages       uint64
	unsubscribedAt time.Time // when it was last to be unsubscribed
}

// dropUnknown counts a message that no point reads and has its topic unsubscribed: left alone, such messages fill the
// broker's window until nothing else comes. It is told of at the first, tenth, hundredth message and so on.
func (c *committer) dropUnknown(a arrival) {
	topic := a.Topic()
	u := c.unknown[topic]
	if u == nil {
		if len(c.unknown) >= maxUnknownTopics {
			return
		}
		u = &unknownTopic{}
		c.unknown[topic] = u
	}
	u.messages++
	if u.unsubscribedAt.IsZero() || a.at.Sub(u.unsubscribedAt) >= unsubscribeEvery {
		if c.requests.queueUnsubscribe(topic) { // else the next message asks
			u.unsubscribedAt = a.at
		}
	}
	if !powerOfTen(u.messages) {
		return
	}
	shown := topic
	if len(shown) > 2*excerptBytes { // a topic may have 65,535 bytes
		shown = excerpt(topic)
	}
	c.notices.add(collectors.Notice{
		Rule: eventrules.UnknownTopic, Source: c.label + " " + shown, Since: a.at, Until: a.at,
		Note: fmt.Sprintf("%d messages on topic %s, which no point reads, were acknowledged and dropped; the subscription was made by an earlier configuration or another program with the client id %q", u.messages, shown, c.client),
	})
}
