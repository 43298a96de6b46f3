package mqtt

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"gauger/collectors"
)

const (
	// refusedWait is how long what could not be decoded may wait for more of it: a commit costs some thirty kilobytes of flash,
	// for one message as for many. Messages are acknowledged in the order in which they came, so that all behind it wait too.
	refusedWait = 2 * time.Second
	// refusedBytes end the wait, and so does a full window: the broker sends nothing more before we acknowledge.
	refusedBytes = 256 << 10
)

// unacknowledged is what waits for the commit of messages that could not be decoded. Its readings are on disk already.
type unacknowledged struct {
	group   []arrival
	refused []collectors.Refusal
	bytes   int // of the refused
	due     <-chan time.Time
}

// committer decodes what arrives, hands it over, and acknowledges it then. All of it belongs to one goroutine.
type committer struct {
	*settings
	brokers  []*url.URL
	grace    time.Duration // how long the broker may be away without a word about it
	queue    *queue
	link     *brokerLink
	notices  *notices
	requests *requests
	host     collectors.Host
	delivery delivery
	room     decodeRoom
	batch    []collectors.Reading // of a group, used again

	points *pointSet
	zones  *deviceZones
	nodes  *spNodes
	recent *recentMessages
	waits  unacknowledged

	presenceConn  *packetConn              // the connection over which our own word of being there came back
	unknown       map[string]*unknownTopic // by topic
	commLossSince time.Time                // beginning of the comm-loss episode that was announced; zero when there is none
	commLossWhy   string                   // its reason, as it was told
	heardSinceBad bool                     // something has come since the points were last made Bad
	episodes      map[episode]time.Time    // subscriptions that were announced as not in order
}

func (c *committer) addDevice(d Device) error {
	c.nodes.listenOnly = d.ListenOnly
	for _, opts := range d.Points {
		p, err := newPoint(d.Name, opts)
		if err != nil {
			return err
		}
		p.siteZone, p.zones = cmp.Or(d.Zone, time.Local), c.zones
		c.zones.site = p.siteZone.String()
		c.points.addPoint(p)
		if p.Sparkplug == "" {
			continue
		}
		if err := c.nodes.addPoint(p); err != nil {
			return err
		}
	}
	return nil
}

// commitUntilDone takes what arrives, in groups, until ctx ends.
func (c *committer) commitUntilDone(ctx context.Context, host collectors.Host) {
	c.host, c.delivery.host, c.nodes.delivery.host = host, host, host
	c.noticeMemoryFailed(c.zones.recall(host, c.settings))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for pulse := collectors.PulseOf(ctx); ; {
		pulse.Work() // once a second at least
		select {
		case <-c.queue.ready:
			c.commitGroup(ctx, c.queue.takeGroup(ctx))
		case <-c.waits.due:
			c.storeRefused(ctx)
		case <-c.link.wake:
			c.watch(ctx, time.Now())
		case <-tick.C:
			c.watch(ctx, time.Now())
		case <-ctx.Done():
			if _, err := c.delivery.handOver(context.WithoutCancel(ctx), c.waits.refused, nil); err == nil {
				acknowledge(c.waits.group)
			}
			return
		}
	}
}

// commitGroup decodes one group, hands it over, and only then acknowledges it.
func (c *committer) commitGroup(ctx context.Context, group []arrival) {
	batch := c.batch[:0]
	w := &c.waits
	live := true // what the broker had kept for us comes as fast as it is acknowledged, and ends with a silence
	for _, a := range group {
		readings, why := c.decodeMessage(a)
		batch = append(batch, readings...)
		live = live && !a.waited
		if why == nil {
			continue
		}
		if r := newRefusal(c.deviceOf(a.Topic()), a, readings, why); c.host.Keeps(r) {
			w.refused, w.bytes = append(w.refused, r), w.bytes+len(r.Raw)
		}
	}
	if c.batch = nil; cap(batch) <= roomOfGroup {
		c.batch = batch
	}
	sortByTime(batch)
	if c.delivery.deliver(ctx, nil, batch) != nil {
		return // not acknowledged: the broker sends it again
	}
	if len(w.group) == 0 {
		w.group = group
	} else {
		w.group = append(w.group, group...)
		c.queue.reuse(group)
	}
	switch {
	case len(w.refused) == 0 || !live || len(w.group) >= receiveWindow || w.bytes >= refusedBytes:
		c.storeRefused(ctx)
	case w.due == nil:
		w.due = time.After(refusedWait)
	}
	c.noticeMemoryFailed(c.zones.remember(c.host, c.settings))
}

// storeRefused stores what could not be decoded, and acknowledges it with all that came behind it.
func (c *committer) storeRefused(ctx context.Context) {
	if c.delivery.deliver(ctx, c.waits.refused, nil) != nil {
		return
	}
	acknowledge(c.waits.group)
	c.queue.reuse(c.waits.group)
	c.waits = unacknowledged{}
}

// deviceOf names the device of a topic; where no point reads it, all devices of the session.
func (c *committer) deviceOf(topic string) string {
	points := c.points.routes.pointsOf(topic)
	if n, _, name := c.nodes.nodeOf(topic); n != nil && n.devices[name] != nil {
		points = n.devices[name].points
	}
	if len(points) == 0 {
		return c.label
	}
	return strings.TrimSuffix(string(points[0].name), "/"+points[0].Name)
}

// noticeMemoryFailed tells of something that could not be recalled or remembered; nothing is lost by that but time.
func (c *committer) noticeMemoryFailed(err error) { c.notices.addMemoryFailed(c.label, err) }

// brokerNames are the brokers, for a person.
func (c *committer) brokerNames() string {
	all := make([]string, len(c.brokers))
	for i, broker := range c.brokers {
		all[i] = broker.String()
	}
	return strings.Join(all, " or ")
}
