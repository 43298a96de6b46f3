package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/mqtt/sparkplug"
)

// nodeMessage is one message of a node, with the readings and the errors that come of it.
type nodeMessage struct {
	arrival
	payload  *sparkplug.Payload
	node     *spNode
	device   *spDevice // nil: nobody reads it
	kind     string
	path     string // GROUP/NODE[/DEVICE]
	readings []collectors.Reading
	errs     []error // what makes the message worth keeping
}

// decodeNodeMessage takes one message of a node. The error is what makes the message worth keeping.
func (sp *spNodes) decodeNodeMessage(n *spNode, kind, device string, a arrival) ([]collectors.Reading, error) {
	m := &nodeMessage{arrival: a, node: n, kind: kind, device: n.devices[device], path: sparkplug.JoinPath(n.Group, n.Name, device)}
	switch kind {
	case "NDATA", "DDATA", "NBIRTH", "DBIRTH", "NDEATH", "DDEATH":
		if !a.Retained() { // a birth that was kept says nothing about now
			sp.parse(m)
		}
	}
	return m.readings, errors.Join(m.errs...)
}

// keepError keeps an error, with the message's kind and path.
func (m *nodeMessage) keepError(format string, cause any) {
	if len(m.errs) < maxReasons {
		m.errs = append(m.errs, fmt.Errorf("%s of %s "+format, m.kind, m.path, cause))
	}
}

// parse checks a message and takes it as its kind demands.
func (sp *spNodes) parse(m *nodeMessage) {
	if !sp.over(m.conn, m.at) {
		m.keepError("came through %s that has ended; it is asked for its birth", "a connection")
		return
	}
	var err error
	if m.payload, err = sparkplug.Parse(m.Payload()); m.sentLen > 0 {
		err = fmt.Errorf("has %d bytes, more than a packet may have (%d); only its beginning was kept", m.sentLen, sp.limit)
	}
	if err != nil {
		m.node.Doubt(err, m.at)
		m.keepError("%w", err)
		return
	}
	switch m.kind {
	case "NDEATH":
		if m.node.Died(m.payload) {
			for _, d := range m.node.devices {
				sp.died(m, d, "node %s has died (NDEATH)")
			}
		}
	case "NBIRTH":
		m.node.Begin(m.payload, m.at)
		sp.read(m, true)
	default:
		sp.follow(m)
	}
}

// follow takes a message that belongs to the birth before it.
func (sp *spNodes) follow(m *nodeMessage) {
	key := sp.recent.key(m.arrival, true)
	if m.node.Repeats(m.payload) && key == m.node.lastKey {
		return // the broker repeats it
	}
	m.node.lastKey = key
	if !m.node.Follow(m.payload, m.at) {
		m.early()
		return
	}
	switch {
	case m.device == nil: // nobody reads it
	case m.kind == "DDEATH":
		sp.died(m, m.device, "device %s has died (DDEATH)")
	case m.kind != "DBIRTH" && !m.device.Born:
		m.early()
	default:
		sp.read(m, m.kind == "DBIRTH")
	}
}

// early counts a message that came before the birth, keeps the first, the tenth and so on, and asks for the birth.
func (m *nodeMessage) early() {
	if m.device == nil {
		m.node.CameEarly(nil, m.at)
		return
	}
	m.node.CameEarly(m.device.Birth, m.at)
	if n := m.device.Early; powerOfTen(uint64(n)) {
		m.keepError("came before its birth, without which the aliases mean nothing (message %d of this kind since then); it is asked for its birth", n)
	}
}

// died makes the points of a device Bad.
func (sp *spNodes) died(m *nodeMessage, d *spDevice, format string) {
	d.End(m.at)
	m.readings = append(m.readings, sp.lose(d, fmt.Errorf(format, m.path), m.at)...)
}

// read takes the metrics of a message. A birth defines them first, and what it lacks is Bad.
func (sp *spNodes) read(m *nodeMessage, birth bool) {
	if m.device == nil {
		return
	}
	if birth {
		sp.returned(m.device, m.at)
		m.define()
	}
	m.payload.Each(func(metric *sparkplug.Metric) {
		def, err := m.device.Find(metric)
		if err != nil {
			m.node.Doubt(err, m.at)
			m.keepError("%w", err)
		}
		if def == nil {
			return
		}
		if err := def.Agrees(metric); err != nil {
			m.node.Doubt(fmt.Errorf("metric %s %w", def.Name, err), m.at)
		}
		for _, p := range m.device.readers[def] {
			sp.readMetric(p, def, metric, m)
		}
	})
}

// define takes the definitions of a birth. The points of a metric that it lacks are Bad.
func (m *nodeMessage) define() {
	m.device.Define(m.payload)
	for def, points := range m.device.readers {
		if !def.Born {
			m.readings = append(m.readings, badReadings(points, m.at, fmt.Errorf("the birth of %s has no metric %q; check the metric's name", m.device.Path, def.Name))...)
		}
	}
}

func (sp *spNodes) readMetric(p *point, def *sparkplug.Definition, metric *sparkplug.Metric, m *nodeMessage) {
	out := p.newOutcome(m.at)
	r := &out.reading
	r.Past = metric.Historical
	p.setMetricTime(&out, cmp.Or(metric.Millis, m.payload.Millis))
	if r.Past && !out.deviceTime {
		m.keepError("has a historical value of no time: %w", out.timeErr)
		return
	}
	err := def.Agrees(metric)
	var raw any
	if err == nil {
		raw, err = metric.Value(cmp.Or(metric.Type, def.Type))
	}
	switch {
	case err != nil:
		out.undecodable = fmt.Errorf("%s %w", p.subject(), err)
		r.Err = out.undecodable
	case raw == nil:
		r.Err = p.noValue()
	default:
		if r.Err = p.setValue(r, metricText(raw), &out); r.Err == nil {
			r.Quality, r.Err = metric.Quality.Judge()
		}
	}
	if out.undecodable != nil {
		m.keepError("for point "+string(p.name)+": %w", out.undecodable)
	}
	if n := m.node; r.Quality == collectors.Good && n.Uncertain != nil && len(metric.Name) == 0 {
		r.Quality, r.Err = collectors.Uncertain, fmt.Errorf("%w; until %s/%s is born again its aliases are not sure", n.Uncertain, n.Group, n.Name)
	}
	p.rejectStuckTime(&out, m.arrival)
	sp.use(p, &out, m)
}

// use hands a reading on. One of the past says nothing about now, and is only worth anything when it is good.
func (sp *spNodes) use(p *point, out *outcome, m *nodeMessage) {
	use := out.reading.Quality == collectors.Good
	if !out.reading.Past {
		use = p.accept(out, m.arrival)
		p.noteHeard(out, m.arrival, sp.notices)
		p.trackClock(out, m.arrival, sp.notices)
	}
	if use {
		m.readings = append(m.readings, out.reading)
	}
}

// setMetricTime gives a reading the time of its metric, or of its message, in milliseconds since 1970; 0: of its arrival.
func (p *point) setMetricTime(out *outcome, ms uint64) {
	if ms == 0 {
		out.timeErr = errors.New("the node tells no time")
		return
	}
	at, err := plausibleTime(time.UnixMilli(int64(min(ms, math.MaxInt64))), out.reading.At)
	if err != nil {
		out.timeErr = fmt.Errorf("time of the metric: %w; the time of arrival is used", err)
		return
	}
	out.reading.At, out.deviceTime = at, true
}

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
	}
	sp.notices.add(collectors.Notice{Rule: eventrules.CommLoss, Source: sp.label + " " + d.Path, Since: d.commLossSince, Note: why.Error()})
	return badReadings(d.points, now, why)
}

// returned closes what was announced of a device, when it is born again.
func (sp *spNodes) returned(d *spDevice, now time.Time) {
	if !d.commLossSince.IsZero() {
		sp.notices.add(collectors.Notice{Rule: eventrules.CommLoss, Source: sp.label + " " + d.Path, Since: d.commLossSince, Until: now, Note: d.Path + " is born again"})
		d.commLossSince = time.Time{}
	}
}
