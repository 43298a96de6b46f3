package mqtt

import (
	"context"
	"fmt"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/mqtt/sparkplug"
)

// birthWait bounds the time without a birth; then that is told of, and the points are Bad.
const birthWait = 90 * time.Second

// spNodes are the Sparkplug nodes of a session. They belong to the committer.
type spNodes struct {
	*settings
	notices    *notices
	requests   *requests
	recent     *recentMessages
	delivery   delivery
	byPath     map[string]*spNode // by GROUP/NODE
	listenOnly bool               // nothing may be published
	conn       *packetConn        // the connection that the nodes were heard over
}

// spNode is a node with its devices.
type spNode struct {
	*sparkplug.Node
	devices  map[string]*spDevice // by name; the node itself is ""
	lastKey  uint64               // of the latest message, to know it when it comes twice
	gapSince time.Time            // of the message-lost that was announced; zero when there is none
}

// spDevice is a node itself or one of its devices, with the points that read its metrics.
type spDevice struct {
	*sparkplug.Birth
	points        []*point
	readers       map[*sparkplug.Definition][]*point
	commLossSince time.Time // of the comm-loss that was announced; zero when there is none
}

// addPoint takes a point in.
func (sp *spNodes) addPoint(p *point) error {
	group, name, device, err := nodePath(p.Sparkplug)
	if err != nil {
		return err
	}
	path := group + "/" + name
	n := sp.byPath[path]
	if n == nil {
		n = &spNode{Node: sparkplug.NewNode(group, name), devices: map[string]*spDevice{}}
		sp.byPath[path] = n
	}
	d := n.devices[device]
	if d == nil {
		d = &spDevice{Birth: n.BirthOf(device), readers: map[*sparkplug.Definition][]*point{}}
		n.devices[device] = d
	}
	metric := d.DefinitionOf(p.Metric)
	d.readers[metric], d.points = append(d.readers[metric], p), append(d.points, p)
	return nil
}

// nodeOf is the node that a topic is about, if we read it, with the kind of the message and the device.
func (sp *spNodes) nodeOf(topic string) (n *spNode, kind, device string) {
	group, kind, name, device := sparkplug.SplitTopic(topic)
	return sp.byPath[group+"/"+name], kind, device
}

// assumeBorn makes a node seem born, for a message that was kept.
func (n *spNode) assumeBorn(kind, device string) {
	n.AssumeBorn(kind, device)
	n.lastKey = 0
}

// over notes which connection a message came through. It is false for one that has ended since.
func (sp *spNodes) over(conn *packetConn, now time.Time) bool {
	if conn == sp.conn {
		return true
	}
	if sp.conn != nil && conn.connackAt.Before(sp.conn.connackAt) {
		return false
	}
	sp.conn = conn
	for _, n := range sp.byPath {
		n.Connect(now, len(sp.byPath))
	}
	return true
}

// watchNodes asks for the births that are due, and tells of nodes that do not come.
func (sp *spNodes) watchNodes(ctx context.Context, state linkState, now time.Time) {
	if !state.up || state.conn == nil {
		return
	}
	sp.over(state.conn, now)
	for _, n := range sp.byPath {
		if !sp.listenOnly && n.RebirthDue(now) {
			sp.requests.queuePublication(rebirth(n.Group, n.Name, now))
		}
		sp.watchGap(n, now)
		for _, d := range n.devices {
			if d.Born || !d.commLossSince.IsZero() || now.Sub(d.Since) < birthWait {
				continue
			}
			why := fmt.Errorf("%s has told no birth for %s, without which its data cannot be read", d.Path, now.Sub(d.Since).Round(time.Second))
			_ = sp.delivery.deliver(ctx, nil, sp.lose(d, why, now))
		}
	}
}

// rebirth is the request to a node to tell its births again.
func rebirth(group, node string, now time.Time) publication {
	topic, payload := sparkplug.Rebirth(group, node, now)
	return publication{topic: topic, payload: payload}
}

// watchGap opens and closes the episode of a node of which a message was lost.
func (sp *spNodes) watchGap(n *spNode, now time.Time) {
	path := n.Group + "/" + n.Name
	notice := collectors.Notice{Rule: eventrules.MessageLost, Source: sp.label + " " + path, Since: n.UncertainSince}
	switch open := !n.gapSince.IsZero(); {
	case n.Uncertain != nil && !open:
		n.gapSince = n.UncertainSince
		notice.Note = fmt.Sprintf("%v; its values are uncertain until it is born again", n.Uncertain)
	case n.Uncertain == nil && open:
		notice.Since, notice.Until, notice.Note = n.gapSince, now, fmt.Sprintf("node %s is born again, or gone", path)
		n.gapSince = time.Time{}
	default:
		return
	}
	sp.notices.add(notice)
}

// lose announces that a device is away, and gives a Bad reading of each of its points.
func (sp *spNodes) lose(d *spDevice, why error, now time.Time) []collectors.Reading {
	if d.commLossSince.IsZero() {
		d.commLossSince = now
		sp.notices.add(collectors.Notice{Rule: eventrules.CommLoss, Source: sp.label + " " + d.Path, Since: now, Note: why.Error()})
	}
	return badReadings(d.points, now, why)
}

// returned closes what was announced of a device, when it is born again.
func (sp *spNodes) returned(d *spDevice, now time.Time) {
	if !d.commLossSince.IsZero() {
		sp.notices.add(collectors.Notice{Rule: eventrules.CommLoss, Source: sp.label + " " + d.Path, Since: d.commLossSince, Until: now, Note: d.Path + " is born again"})
		d.commLossSince = time.Time{}
	}
}
