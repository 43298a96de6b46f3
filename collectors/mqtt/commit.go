package mqtt

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"gauger/collectors"
)

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

	points *pointSet
	zones  *deviceZones
	nodes  *spNodes
	recent *recentMessages

	presenceConn  *packetConn              // the connection over which our own word of being there came back
	unknown       map[string]*unknownTopic // by topic
	commLossSince time.Time                // beginning of the comm-loss episode that was announced; zero when there is none
	heardSinceBad bool                     // something has come since the points were last made Bad
	episodes      map[episode]time.Time    // subscriptions that were announced as not in order
}

// addDevice takes the points of a device.
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
	for {
		select {
		case <-c.queue.ready:
			c.commitGroup(ctx, c.queue.takeGroup(ctx))
		case <-c.link.wake:
			c.watch(ctx, time.Now())
		case <-tick.C:
			c.watch(ctx, time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// commitGroup decodes one group, hands it over, and only then acknowledges it.
func (c *committer) commitGroup(ctx context.Context, group []arrival) {
	var batch []collectors.Reading
	var refused []collectors.Refusal
	for _, a := range group {
		readings, why := c.decodeMessage(a)
		batch = append(batch, readings...)
		if why != nil {
			refused = append(refused, newRefusal(c.label, a, readings, why))
		}
	}
	sortByTime(batch)
	if c.delivery.deliver(ctx, refused, batch) != nil {
		return // not acknowledged: the broker sends it again
	}
	acknowledge(group)
	c.noticeMemoryFailed(c.zones.remember(c.host, c.settings))
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
