package mqtt

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"gauger/collectors"
)

// session is one client id at one broker, with all points that are read through it.
//
// Three goroutines meet in it: the library's, which only puts messages into the queue; the one that keeps the
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

// addDevice takes a device into the session.
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
	wg.Go(func() {
		defer close(committed)
		s.committer.commitUntilDone(collectors.WithPart(ctx, s.label+", what it has brought"), host)
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
			if strings.Contains(err.Error(), pahoPingError) {
				err = errSilent
			}
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
