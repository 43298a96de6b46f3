package mqtt

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"gauger/collectors"
)

const (
	// disconnectTimeout is how long an orderly disconnection may take.
	disconnectTimeout = 500 * time.Millisecond
	// maxUnsubscribes is how many unknown topics may wait to be unsubscribed; further ones are left for the next connection.
	maxUnsubscribes = 16
)

// session is one client id at one broker, with all points that are read through it.
//
// Three goroutines meet in it: the library's, which only puts messages into the queue; the one that keeps the
// connection (run); and the committer, which decodes, hands over and acknowledges. What the first two tell the
// third is the queue and the link. What stands below the committer's line belongs to it alone.
type session struct {
	brokers     []*url.URL // fixed after New, like all of this block
	client      string
	label       string
	presence    presence
	credentials credentials
	clean       bool
	limit       int
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	grace       time.Duration // how long the broker may be away without a word about it
	points      []*point
	zones       *deviceZones
	routes      routes
	host        collectors.Host

	queue        *queue
	link         brokerLink
	publications chan publication // messages to be published
	unsubscribes chan string      // topics that nobody reads and that come nevertheless

	lastAlive time.Time // the time in the memory; run's alone

	// The committer's.
	seed          maphash.Seed
	recent        *recentMessages
	nodes         spNodes
	presenceConn  *packetConn              // the connection over which our own word of being there came back
	instances     []*point                 // of templates
	pointNames    map[string]bool          // of all points that there are
	unknown       map[string]*unknownTopic // by topic
	commLossSince time.Time                // beginning of the comm-loss episode that was announced; zero when there is none
	heardSinceBad bool                     // something has come since the points were last made Bad
	episodes      map[episode]time.Time    // subscriptions that were announced as not in order
}

// newSession prepares the session that the first device of it asks for.
func newSession(brokers []*url.URL, d Device, opt Session) *session {
	s := &session{
		brokers: brokers, client: d.clientID(), clean: opt.Clean, limit: opt.MaxPacket, dial: opt.Dial,
		credentials: credentials{username: d.Username, password: d.Password, caFile: d.CAFile, certFile: d.CertFile, keyFile: d.KeyFile, server: d.Server},
		presence:    newPresence(d, opt.Clean), grace: restartGrace, queue: newQueue(), link: brokerLink{wake: make(chan struct{}, 1)}, unsubscribes: make(chan string, maxUnsubscribes), publications: make(chan publication, maxPublications),
		seed: maphash.MakeSeed(), recent: newRecentMessages(), zones: &deviceZones{}, unknown: map[string]*unknownTopic{}, pointNames: map[string]bool{}, heardSinceBad: true,
		episodes: map[episode]time.Time{},
	}
	if s.clean {
		s.client, s.grace = fmt.Sprintf("gauger-%08x", rand.Uint32()), 0
	}
	if s.limit == 0 {
		s.limit = maxPacket
	}
	s.limit = max(s.limit, minPacket)
	if s.dial == nil {
		s.dial = tcpDial
	}
	return s
}

// addDevice takes a device into the session.
func (s *session) addDevice(d Device) error {
	s.label = strings.TrimPrefix(s.label+","+d.Name, ",")
	s.nodes.listenOnly = d.ListenOnly
	for _, opts := range d.Points {
		p, err := newPoint(d.Name, opts)
		if err != nil {
			return err
		}
		p.zone, p.zones = cmp.Or(d.Zone, time.Local), s.zones
		s.zones.site = p.zone.String()
		s.points = append(s.points, p)
		s.pointNames[string(p.name)] = true
		if p.Sparkplug == "" {
			s.routes.add(p)
			continue
		}
		if err := s.nodes.add(p); err != nil {
			return err
		}
		s.limit = max(s.limit, maxBirth)
	}
	return nil
}

// run keeps the connection and commits what comes through it, until ctx ends.
func (s *session) run(ctx context.Context, host collectors.Host) {
	s.host = host
	s.link.begin(time.Now())
	var wg sync.WaitGroup
	committed := make(chan struct{})
	wg.Go(func() {
		defer close(committed)
		s.runCommitter(ctx)
	})
	for ctx.Err() == nil {
		s.tryBrokers(ctx, committed)
		collectors.Wait(ctx, s.link.pause(time.Now()))
	}
	wg.Wait()
}

// tryBrokers tries the brokers in turn until one has let us in and that connection has ended.
func (s *session) tryBrokers(ctx context.Context, committed <-chan struct{}) {
	var whys error
	for _, broker := range s.brokers {
		s.link.trying(broker.String())
		why := s.serve(ctx, broker, committed)
		if ctx.Err() != nil {
			return
		}
		if state, _ := s.link.state(); state.up {
			whys = why
			break
		}
		if whys == nil {
			whys = why
		} else {
			whys = fmt.Errorf("%w; %w", whys, why)
		}
	}
	s.link.lost(time.Now(), whys)
}

// brokerNames are the brokers, for a person.
func (s *session) brokerNames() string {
	all := make([]string, len(s.brokers))
	for i, broker := range s.brokers {
		all[i] = broker.String()
	}
	return strings.Join(all, " or ")
}

// serve is one connection, from the first packet to the last. It returns why it ended.
func (s *session) serve(ctx context.Context, broker *url.URL, committed <-chan struct{}) error {
	c, err := s.connect(ctx, broker)
	if err != nil {
		return err
	}
	defer c.close()
	if err := s.resume(ctx, c); err != nil {
		return cmp.Or(c.conn.protocolError(), err)
	}
	s.link.restored(time.Now(), c.conn)
	if err := c.publishPresence(ctx, true); err != nil {
		return err
	}
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-c.lost:
			if strings.Contains(err.Error(), pahoPingError) {
				err = errSilent
			}
			return fmt.Errorf("connection to %s: %w", broker, cmp.Or(c.conn.protocolError(), err))
		case topic := <-s.unsubscribes:
			if err := c.unsubscribe(ctx, []string{topic}); err != nil {
				return err
			}
		case o := <-s.publications:
			if err := c.publish(ctx, o); err != nil {
				return err
			}
		case <-tick.C:
			if err := s.upkeep(ctx, c); err != nil {
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
