package mqtt

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

// session is one client id at one broker, with all points that are read through it.
//
// Three goroutines meet in it: the one of the library that reads, which puts messages into the queue; the one that keeps the
// connection (run); and the committer's, which decodes, hands over and acknowledges. What the first two tell the
// third is the queue, the link and the notices; what it asks of the second are the requests.
type session struct {
	*settings
	brokers   []*url.URL
	queue     *queue
	link      *brokerLink
	notices   *notices
	requests  *requests
	topics    *subscriptions
	committer *committer
}

// newSession prepares the session that the first device of it asks for.
func newSession(brokers []*url.URL, d Device, opt Session) *session {
	wake := make(chan struct{}, 1)
	s := &session{
		settings: newSettings(d, opt), brokers: brokers, queue: newQueue(), requests: newRequests(),
		link: &brokerLink{wake: wake}, notices: &notices{wake: wake},
	}
	s.topics = &subscriptions{settings: s.settings, link: s.link, notices: s.notices}
	s.committer = newCommitter(s)
	return s
}

func (s *session) addDevice(d Device) error {
	s.settings.addDevice(d)
	return s.committer.addDevice(d)
}

// run keeps the connection and commits what comes through it, until ctx ends.
func (s *session) run(ctx context.Context, host collectors.Host) {
	s.topics.host, s.topics.filters = host, s.filters()
	s.link.begin(time.Now())
	var wg sync.WaitGroup
	committed := make(chan struct{})
	committing := collectors.WithPart(ctx, s.label+", what it has brought")
	wg.Go(func() {
		defer close(committed)
		s.committer.commitUntilDone(committing, host)
	})
	ctx = collectors.WithPart(ctx, s.label)
	for ctx.Err() == nil {
		s.tryBrokers(ctx, committed)
		collectors.Wait(ctx, s.link.pause(time.Now()))
	}
	wg.Wait()
}

// filters are the topics to subscribe to, sorted, none within another. Who only looks on takes no share from a group:
// what it got would be lost to the others.
func (s *session) filters() []string {
	var all []string
	for _, p := range s.committer.points.all {
		if s.clean {
			all = append(all, withoutGroup(p.Topic))
		} else {
			all = append(all, p.Topic)
		}
	}
	if own := s.presence.echoTopic(); own != "" {
		all = append(all, own)
	}
	return minimalFilters(all)
}

// tryBrokers tries the brokers in turn until one has let us in and that connection has ended.
func (s *session) tryBrokers(ctx context.Context, committed <-chan struct{}) {
	var errs error
	for _, broker := range s.brokers {
		s.link.trying(broker.String())
		collectors.PulseOf(ctx).Work()
		err := s.serve(ctx, broker, committed)
		if ctx.Err() != nil {
			return
		}
		if state, _ := s.link.state(); state.up {
			errs = err
			break
		}
		if errs == nil {
			errs = err
		} else {
			errs = fmt.Errorf("%w; %w", errs, err)
		}
	}
	s.link.lost(time.Now(), errs)
}

// serve is one connection, from the first packet to the last. It returns why it ended.
func (s *session) serve(ctx context.Context, broker *url.URL, committed <-chan struct{}) error {
	c, err := connect(ctx, s.settings, s.queue, broker)
	if err != nil {
		return err
	}
	defer c.close()
	if err := s.topics.resume(ctx, c); err != nil {
		return cmp.Or(c.conn.protocolError(), err)
	}
	s.link.restored(time.Now(), c.conn)
	if err := c.publishPresence(ctx, true); err != nil {
		return err
	}
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	pulse := collectors.PulseOf(ctx)
	for {
		pulse.Rest()
		select {
		case err := <-c.lost:
			return fmt.Errorf("connection to %s: %w", broker, cmp.Or(c.conn.protocolError(), err))
		case topic := <-s.requests.unsubscribes:
			pulse.Work()
			if err := c.unsubscribe(ctx, []string{topic}); err != nil {
				return err
			}
		case p := <-s.requests.publications:
			pulse.Work()
			if err := c.publish(ctx, p); err != nil {
				return err
			}
		case <-tick.C:
			pulse.Work()
			if err := s.topics.upkeep(ctx, c); err != nil {
				return err
			}
		case <-ctx.Done():
			// What is being committed is acknowledged before the connection goes.
			select {
			case <-committed:
			case <-time.After(disconnectTimeout):
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), disconnectTimeout)
			defer cancel()
			_ = c.publishPresence(ctx, false) // a broker that does not answer any more tells it by itself
			return nil
		}
	}
}

func newCommitter(s *session) *committer {
	c := &committer{
		settings: s.settings, brokers: s.brokers, grace: restartGrace, queue: s.queue, link: s.link, notices: s.notices, requests: s.requests,
		points: newPointSet(), zones: &deviceZones{}, recent: newRecentMessages(),
		unknown: map[string]*unknownTopic{}, heardSinceBad: true, episodes: map[episode]time.Time{},
	}
	if s.clean {
		c.grace = 0
	}
	c.nodes = &spNodes{settings: s.settings, notices: s.notices, requests: s.requests, recent: c.recent, byPath: map[string]*spNode{}}
	return c
}

// aliveEvery is the interval at which a session that goes on is remembered with the time: the precision with which the interval
// of a lost session is known after a power cut. More often would wear the flash.
const aliveEvery = time.Hour

const (
	// refusedRetry is the wait before a refused topic is asked for again. Some brokers refuse a subscription whose packet
	// id is that of a message they have in flight; a moment later it is not.
	refusedRetry = time.Second
	// upkeepEvery is the interval at which refused topics are asked for while the connection lasts: somebody may have permitted them.
	upkeepEvery = 10 * time.Minute
	// refusedFrom is the least answer to a subscription that is no quality of service.
	refusedFrom = 3
)

// sessionMemory is kept by the host over restarts.
type sessionMemory struct {
	Topics []string  `json:"topics"` // every filter that the broker may still hold for us
	Alive  time.Time `json:"alive"`  // a time at which the session was known to exist
}

// subscriptions are those of a session, with the host's memory of them.
type subscriptions struct {
	*settings
	link      *brokerLink
	notices   *notices
	host      collectors.Host
	filters   []string  // sorted, none within another
	lastAlive time.Time // the time in the memory
}

// resume brings the broker's idea of the session and ours together: old subscriptions end, all present ones are made
// anew, and a session that the broker has forgotten is announced.
func (t *subscriptions) resume(ctx context.Context, c *connection) error {
	wanted := t.filters
	if t.clean {
		return t.subscribeAndRetry(ctx, c, wanted)
	}
	now := time.Now()
	old, known, err := t.recallTopics(c.broker)
	if err != nil {
		return err
	}
	if known && !c.conn.sessionPresent {
		t.noticeLoss(c.broker, old.Alive, now)
	}
	// Remembered before the broker hears of it: a topic that was forgotten between would never be unsubscribed.
	held := union(old.Topics, wanted)
	if !slices.Equal(held, old.Topics) {
		if err := t.rememberTopics(c.broker, held, now); err != nil {
			return err
		}
	} else if t.lastAlive = old.Alive; !c.conn.sessionPresent {
		t.lastAlive = time.Time{}
	}
	t.renewAlive(c.broker, held, now)
	stale := slices.DeleteFunc(slices.Clone(held), func(f string) bool { return slices.Contains(wanted, f) })
	if len(stale) > 0 {
		if err := c.unsubscribe(ctx, stale); err != nil {
			return err
		}
	}
	if err := t.subscribeAndRetry(ctx, c, wanted); err != nil {
		return err
	}
	if len(stale) > 0 {
		return t.rememberTopics(c.broker, wanted, now)
	}
	return nil
}

// subscribeAndRetry asks for topics, and once more for those that are refused. It is done at every connection: a broker that
// lost the session says so, but one that lost a single subscription does not.
func (t *subscriptions) subscribeAndRetry(ctx context.Context, c *connection, wanted []string) error {
	answers, err := c.subscribe(ctx, wanted)
	if err != nil {
		return err
	}
	if refused := refusedIn(answers); len(refused) > 0 {
		collectors.Wait(ctx, refusedRetry)
		again, err := c.subscribe(ctx, refused)
		if err != nil {
			return err
		}
		maps.Copy(answers, again)
	}
	t.link.setAnswers(answers)
	return nil
}

// refusedIn are the topics that were not granted.
func refusedIn(answers map[string]byte) []string {
	var refused []string
	for filter, code := range answers {
		if code >= refusedFrom {
			refused = append(refused, filter)
		}
	}
	return refused
}

// upkeep is done now and then while a connection lasts.
func (t *subscriptions) upkeep(ctx context.Context, c *connection) error {
	if !t.clean {
		t.renewAlive(c.broker, t.filters, time.Now())
	}
	_, answers := t.link.state()
	refused := refusedIn(answers)
	if len(refused) == 0 {
		return nil
	}
	return t.subscribeAndRetry(ctx, c, refused)
}

// noticeLoss tells of a session that existed at the given time and does not any more. A time that a clock told which was
// not set, or is behind now, says nothing: what is missing began before this connection, and nobody knows when.
func (t *subscriptions) noticeLoss(broker *url.URL, alive, now time.Time) {
	if state, _ := t.link.state(); state.connectedBefore {
		alive = state.since
	}
	between := "between " + alive.UTC().Format(time.RFC3339) + " and "
	if alive.Year() < 2000 || alive.After(now) {
		alive, between = now, "before "
	}
	t.notices.add(collectors.Notice{
		Rule: eventrules.SessionLost, Source: t.label, Since: alive, Until: now,
		Note: fmt.Sprintf("broker %s has forgotten the session of %q: what was published %s%s may be missing; let the broker keep sessions on disk (Mosquitto: persistence true)",
			broker, t.client, between, now.UTC().Format(time.RFC3339)),
	})
}

// memoryName is the name under which the host keeps this session's memory of a broker: each has a session of its own.
func (t *subscriptions) memoryName(broker *url.URL) string {
	return "mqtt " + t.client + " " + broker.String()
}

// recallTopics reads the memory; known is false when there is none.
func (t *subscriptions) recallTopics(broker *url.URL) (m sessionMemory, known bool, err error) {
	raw, err := t.host.Recall(t.memoryName(broker))
	if err != nil {
		return m, false, fmt.Errorf("recall the topics at %s: %w", broker, err)
	}
	if raw == nil || json.Unmarshal(raw, &m) != nil {
		return sessionMemory{}, false, nil // what cannot be read is as good as none: old topics are then found by their messages
	}
	return m, true, nil
}

// renewAlive renews the time in the memory when it is old. That it fails is no reason to give up a connection that works.
func (t *subscriptions) renewAlive(broker *url.URL, topics []string, now time.Time) {
	if age := now.Sub(t.lastAlive); age >= 0 && age < aliveEvery {
		return
	}
	if err := t.rememberTopics(broker, topics, now); err != nil {
		t.notices.addMemoryFailed(t.label, err)
	}
}

// rememberTopics writes the memory.
func (t *subscriptions) rememberTopics(broker *url.URL, topics []string, alive time.Time) error {
	raw, err := json.Marshal(sessionMemory{Topics: topics, Alive: alive.UTC().Truncate(time.Second)})
	if err == nil {
		err = t.host.Remember(t.memoryName(broker), raw)
	}
	if err != nil {
		return fmt.Errorf("remember the topics at %s: %w", broker, err)
	}
	t.lastAlive = alive
	return nil
}

// union is the sorted union of two lists of filters.
func union(a, b []string) []string {
	both := slices.Concat(a, b)
	slices.Sort(both)
	return slices.Compact(both)
}
