package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"gauger/collectors"
	"gauger/eventrules"
)

const (
	// maxBirth is the packet limit of a session with Sparkplug nodes: a birth holds every metric of a node at once.
	maxBirth = 512 << 10
	// birthWait is how long a node may be without its birth before that is told of and its points are Bad.
	birthWait = 90 * time.Second
)

// spNodes is what a session knows of Sparkplug nodes. It belongs to the committer.
type spNodes struct {
	byName     map[string]*node // by GROUP/NODE
	listenOnly bool             // nothing may be published
	conn       *packetConn      // the connection that the nodes were heard over
}

// add takes a point in.
func (sp *spNodes) add(p *point) error {
	group, name, device, err := ParsePath(p.Sparkplug)
	if err != nil {
		return err
	}
	if sp.byName == nil {
		sp.byName = map[string]*node{}
	}
	n := sp.byName[group+"/"+name]
	if n == nil {
		n = &node{group: group, name: name, bdSeq: -1, scopes: map[string]*scope{}}
		sp.byName[group+"/"+name] = n
	}
	s := n.scopes[device]
	if s == nil {
		s = &scope{what: p.Sparkplug, wanted: map[string]*wanted{}}
		n.scopes[device] = s
	}
	w := s.wanted[p.Metric]
	if w == nil {
		w = &wanted{}
		s.wanted[p.Metric] = w
	}
	w.points, s.points = append(w.points, p), append(s.points, p)
	return nil
}

// find is the node that a topic is about, if we read it, with the kind of the message and the device.
func (sp *spNodes) find(topic string) (n *node, kind, device string) {
	if sp.byName == nil {
		return nil, "", ""
	}
	group, kind, name, device := SplitTopic(topic)
	return sp.byName[group+"/"+name], kind, device
}

// over notes which connection a message came through. It is false for one that has ended since.
func (sp *spNodes) over(via *packetConn, now time.Time) bool {
	if via == sp.conn {
		return true
	}
	if sp.conn != nil && via.connackAt.Before(sp.conn.connackAt) {
		return false
	}
	sp.conn = via
	for _, n := range sp.byName {
		n.reset(now)
		n.ask = now.Add(rand.N(time.Second * time.Duration(min(len(sp.byName), 30))))
	}
	return true
}

// nodeMessage is one message of a node, and what has come of it.
type nodeMessage struct {
	arrival
	payload  *Payload
	n        *node
	sc       *scope // nil: nobody reads it
	kind     string
	what     string // GROUP/NODE[/DEVICE]
	readings []collectors.Reading
	errs     []error // what makes the message worth keeping
}

// receive takes one message of a node. The error is what makes the message worth keeping.
func (s *session) receive(n *node, kind, device string, a arrival) ([]collectors.Reading, error) {
	m := &nodeMessage{arrival: a, n: n, kind: kind, sc: n.scopes[device], what: strings.TrimSuffix(n.group+"/"+n.name+"/"+device, "/")}
	switch kind {
	case "NDATA", "DDATA", "NBIRTH", "DBIRTH", "NDEATH", "DDEATH":
		if !a.Retained() { // a birth that was kept says nothing about now
			s.listen(m)
		}
	}
	s.heardSinceBad = s.heardSinceBad || len(m.readings) > 0
	return m.readings, errors.Join(m.errs...)
}

// refuse keeps a reason, with what the message was.
func (m *nodeMessage) refuse(format string, why any) {
	if len(m.errs) < maxReasons {
		m.errs = append(m.errs, fmt.Errorf("%s of %s "+format, m.kind, m.what, why))
	}
}

// listen decides what kind of message it is.
func (s *session) listen(m *nodeMessage) {
	if !s.nodes.over(m.conn, m.at) {
		m.refuse("came through %s that has ended; it is asked for its birth", "a connection")
		return
	}
	var err error
	if m.payload, err = ParsePayload(m.Payload()); m.sentLen > 0 {
		err = fmt.Errorf("has %d bytes, more than a packet may have (%d); only its beginning was kept", m.sentLen, s.limit)
	}
	if err != nil {
		m.n.wonder(err, m.at)
		m.refuse("%w", err)
		return
	}
	switch m.kind {
	case "NDEATH":
		s.death(m)
	case "NBIRTH":
		m.n.begin(m)
		s.take(m, true)
	default:
		s.follow(m)
	}
}

// begin is a node's birth: all that was said before is over.
func (n *node) begin(m *nodeMessage) {
	n.reset(m.at)
	n.born, n.bdSeq, n.seq, n.ask = true, bdSeqOf(m.payload), byte(m.payload.Seq), time.Time{}
}

// follow takes a message that belongs to the birth before it.
func (s *session) follow(m *nodeMessage) {
	key := s.messageKey(m.arrival, true)
	if m.payload.HasSeq && byte(m.payload.Seq) == m.n.seq && key == m.n.last {
		return // the broker repeats it
	}
	m.n.last = key
	gap := m.n.follow(m.payload)
	switch {
	case !m.n.born:
		m.early()
		return
	case gap != nil:
		m.n.wonder(gap, m.at)
	}
	switch {
	case m.sc == nil: // nobody reads this device
	case m.kind == "DDEATH":
		s.gone(m, m.sc, "device %s has died (DDEATH)")
	case m.kind != "DBIRTH" && !m.sc.born:
		m.early()
	default:
		s.take(m, m.kind == "DBIRTH")
	}
}

// early counts a message that came before the birth, keeps the first, the tenth and so on, and asks for the birth.
func (m *nodeMessage) early() {
	m.n.want(m.at)
	if m.sc == nil {
		return
	}
	if m.sc.noted++; powerOfTen(uint64(m.sc.noted)) {
		m.refuse("came before its birth, without which the aliases mean nothing (message %d of this kind since then); it is asked for its birth", m.sc.noted)
	}
}

// want asks for a birth, if that is not under way.
func (n *node) want(now time.Time) {
	if n.ask.IsZero() {
		n.ask = now.Add(rand.N(time.Second))
	}
}

// wonder marks a node of which a message is lost: perhaps the one that gave an alias to another metric.
func (n *node) wonder(why error, now time.Time) {
	if n.born && n.doubt == nil {
		n.doubt, n.lost = why, now
	}
	n.want(now)
}

// death makes every point of a node and of its devices Bad, unless it is the death of an earlier life.
func (s *session) death(m *nodeMessage) {
	n := m.n
	if of := bdSeqOf(m.payload); n.born && of >= 0 && n.bdSeq >= 0 && of != n.bdSeq {
		return
	}
	if n.born {
		n.ask = time.Time{} // it is born anew when it returns
	}
	n.born, n.doubt = false, nil
	for _, sc := range n.scopes {
		s.gone(m, sc, "node %s has died (NDEATH)")
	}
}

// gone makes the points of a scope Bad.
func (s *session) gone(m *nodeMessage, sc *scope, format string) {
	sc.unborn(m.at)
	m.readings = append(m.readings, s.lose(sc, fmt.Errorf(format, m.what), m.at)...)
}

// lose announces that a scope is away, and gives a Bad reading of each of its points.
func (s *session) lose(sc *scope, why error, now time.Time) []collectors.Reading {
	if sc.away.IsZero() {
		sc.away = now
		s.link.addNotice(collectors.Notice{Rule: eventrules.CommLoss, Source: s.label + " " + sc.what, Since: now, Note: why.Error()})
	}
	return badReadings(sc.points, now, why)
}

// take reads the metrics of a message. A birth defines them first, and what it lacks is Bad.
func (s *session) take(m *nodeMessage, birth bool) {
	if m.sc == nil {
		return
	}
	if birth {
		s.returned(m)
	}
	m.payload.Each(func(x *Metric) {
		w, err := m.sc.find(x)
		if err != nil {
			m.n.wonder(err, m.at)
			m.refuse("%w", err)
		}
		if w == nil {
			return
		}
		if err := x.agrees(w); err != nil {
			m.n.wonder(fmt.Errorf("metric %s %w", w.points[0].Metric, err), m.at)
		}
		for _, p := range w.points {
			s.metric(p, w, x, m)
		}
	})
}

// returned takes a birth: it closes what was announced of the scope, and what it lacks is Bad.
func (s *session) returned(m *nodeMessage) {
	sc, now := m.sc, m.at
	if !sc.away.IsZero() {
		s.link.addNotice(collectors.Notice{Rule: eventrules.CommLoss, Source: s.label + " " + sc.what, Since: sc.away, Until: now, Note: sc.what + " is born again"})
		sc.away = time.Time{}
	}
	sc.birth(m.payload)
	for name, w := range sc.wanted {
		if !w.born {
			m.readings = append(m.readings, badReadings(w.points, now, fmt.Errorf("the birth of %s has no metric %q; check the metric's name", sc.what, name))...)
		}
	}
}

// agrees says whether a value is of the type that the metric was born with.
func (m *Metric) agrees(w *wanted) error {
	if m.Type != 0 && w.kind != 0 && m.Type != w.kind {
		return fmt.Errorf("is %s, and its birth said %s", m.Type, w.kind)
	}
	return nil
}

// metric makes a reading of one metric for one point.
func (s *session) metric(p *point, w *wanted, x *Metric, m *nodeMessage) {
	out := p.newOutcome(m.at)
	r := &out.reading
	r.Past = x.Historical
	p.setMetricTime(&out, cmp.Or(x.Millis, m.payload.Millis))
	if x.Historical && !out.deviceTime {
		m.refuse("has a historical value of no time: %w", out.timeErr)
		return
	}
	err := x.agrees(w)
	var raw any
	if err == nil {
		raw, err = x.Value(cmp.Or(x.Type, w.kind))
	}
	switch {
	case err != nil:
		out.undecodable = fmt.Errorf("%s %w", p.subject(), err)
		r.Err = out.undecodable
	default:
		if r.Err = p.setValue(r, raw, &out); r.Err == nil {
			r.Quality, r.Err = x.Quality.Judge()
		}
	}
	if out.undecodable != nil {
		m.refuse("for point "+string(p.name)+": %w", out.undecodable)
	}
	if n := m.n; r.Quality == collectors.Good && n.doubt != nil && len(x.Name) == 0 {
		r.Quality, r.Err = collectors.Uncertain, fmt.Errorf("%w; until %s/%s is born again its aliases are not sure", n.doubt, n.group, n.name)
	}
	p.rejectStuckTime(&out, m.arrival)
	s.use(p, out, m)
}

// use hands a reading on. One of the past says nothing about now, and is only worth anything when it is good.
func (s *session) use(p *point, out outcome, m *nodeMessage) {
	judged, use := out.reading, out.reading.Quality == collectors.Good
	if !judged.Past {
		judged, use = p.accept(out, m.arrival)
		s.noteHeard(p, m.arrival)
		s.trackClock(p, out, m.arrival)
	}
	if use {
		m.readings = append(m.readings, judged)
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

// watchNodes asks for the births that are due, and tells of nodes that do not come.
func (s *session) watchNodes(ctx context.Context, state linkState, now time.Time) {
	if !state.up || state.conn == nil {
		return
	}
	s.nodes.over(state.conn, now)
	for _, n := range s.nodes.byName {
		if !n.ask.IsZero() && !now.Before(n.ask) && !s.nodes.listenOnly {
			s.enqueue(rebirth(n, now))
			n.ask = now.Add(n.patience())
			n.asked++
		}
		s.watchDoubt(n, now)
		for _, sc := range n.scopes {
			if sc.born || !sc.away.IsZero() || now.Sub(sc.since) < birthWait {
				continue
			}
			why := fmt.Errorf("%s has told no birth for %s, without which its data cannot be read", sc.what, now.Sub(sc.since).Round(time.Second))
			_ = s.deliver(ctx, nil, s.lose(sc, why, now))
		}
	}
}

// watchDoubt opens and closes the episode of a node of which a message was lost.
func (s *session) watchDoubt(n *node, now time.Time) {
	t := episode{eventrules.MessageLost, n.group + "/" + n.name}
	since, open := s.episodes[t]
	notice := collectors.Notice{Rule: t.rule, Source: s.label + " " + t.subject, Since: n.lost}
	switch {
	case n.doubt != nil && !open:
		s.episodes[t] = n.lost
		notice.Note = fmt.Sprintf("%v; its values are uncertain until it is born again", n.doubt)
	case n.doubt == nil && open:
		delete(s.episodes, t)
		notice.Since, notice.Until, notice.Note = since, now, fmt.Sprintf("node %s is born again, or gone", t.subject)
	default:
		return
	}
	s.link.addNotice(notice)
}
