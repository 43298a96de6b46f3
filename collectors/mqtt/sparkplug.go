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

// sparkplug is what a session knows of Sparkplug nodes. It belongs to the committer.
type sparkplug struct {
	nodes  map[string]*node // by GROUP/NODE
	silent bool             // nothing may be published
	via    *guard           // the connection that the nodes were heard over
}

// add takes a point in.
func (sp *sparkplug) add(p *point) error {
	group, name, device, err := plugPath(p.Sparkplug)
	if err != nil {
		return err
	}
	if sp.nodes == nil {
		sp.nodes = map[string]*node{}
	}
	n := sp.nodes[group+"/"+name]
	if n == nil {
		n = &node{group: group, name: name, bdSeq: -1, scopes: map[string]*scope{}}
		sp.nodes[group+"/"+name] = n
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
func (sp *sparkplug) find(topic string) (n *node, kind, device string) {
	if sp.nodes == nil {
		return nil, "", ""
	}
	group, kind, name, device := plugTopic(topic)
	return sp.nodes[group+"/"+name], kind, device
}

// over notes which connection a message came through. It is false for one that has ended since.
func (sp *sparkplug) over(via *guard, now time.Time) bool {
	if via == sp.via {
		return true
	}
	if sp.via != nil && via.since.Before(sp.via.since) {
		return false
	}
	sp.via = via
	for _, n := range sp.nodes {
		n.reset(now)
		n.ask = now.Add(rand.N(time.Second * time.Duration(min(len(sp.nodes), 30))))
	}
	return true
}

// said is one message of a node, and what has come of it.
type said struct {
	arrival
	*payload
	n        *node
	sc       *scope // nil: nobody reads it
	kind     string
	what     string // GROUP/NODE[/DEVICE]
	readings []collectors.Reading
	whys     []error // what makes the message worth keeping
}

// hear takes one message of a node. The error is what makes the message worth keeping.
func (s *session) hear(n *node, kind, device string, a arrival) ([]collectors.Reading, error) {
	m := &said{arrival: a, n: n, kind: kind, sc: n.scopes[device], what: strings.TrimSuffix(n.group+"/"+n.name+"/"+device, "/")}
	switch kind {
	case "NDATA", "DDATA", "NBIRTH", "DBIRTH", "NDEATH", "DDEATH":
		if !a.Retained() { // a birth that was kept says nothing about now
			s.listen(m)
		}
	}
	s.heard = s.heard || len(m.readings) > 0
	return m.readings, errors.Join(m.whys...)
}

// refuse keeps a reason, with what the message was.
func (m *said) refuse(format string, why any) {
	if len(m.whys) < reasons {
		m.whys = append(m.whys, fmt.Errorf("%s of %s "+format, m.kind, m.what, why))
	}
}

// listen decides what kind of message it is.
func (s *session) listen(m *said) {
	if !s.plug.over(m.via, m.at) {
		m.refuse("came through %s that has ended; it is asked for its birth", "a connection")
		return
	}
	var err error
	if m.payload, err = parsePayload(m.Payload()); m.trueLen > 0 {
		err = fmt.Errorf("has %d bytes, more than a packet may have (%d); only its beginning was kept", m.trueLen, s.limit)
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
func (n *node) begin(m *said) {
	n.reset(m.at)
	n.born, n.bdSeq, n.seq, n.ask = true, deathOf(m.payload), byte(m.seq), time.Time{}
}

// follow takes a message that belongs to the birth before it.
func (s *session) follow(m *said) {
	key := s.key(m.arrival, true)
	if m.has && byte(m.seq) == m.n.seq && key == m.n.last {
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
func (m *said) early() {
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
func (s *session) death(m *said) {
	n := m.n
	if of := deathOf(m.payload); n.born && of >= 0 && n.bdSeq >= 0 && of != n.bdSeq {
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
func (s *session) gone(m *said, sc *scope, format string) {
	sc.unborn(m.at)
	m.readings = append(m.readings, s.lose(sc, fmt.Errorf(format, m.what), m.at)...)
}

// lose announces that a scope is away, and gives a Bad reading of each of its points.
func (s *session) lose(sc *scope, why error, now time.Time) []collectors.Reading {
	if sc.away.IsZero() {
		sc.away = now
		s.link.tell(collectors.Notice{Rule: eventrules.CommLoss, Source: s.label + " " + sc.what, Since: now, Note: why.Error()})
	}
	return allBad(sc.points, now, why)
}

// take reads the metrics of a message. A birth defines them first, and what it lacks is Bad.
func (s *session) take(m *said, birth bool) {
	if m.sc == nil {
		return
	}
	if birth {
		s.returned(m)
	}
	m.each(func(x *metric) {
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
func (s *session) returned(m *said) {
	sc, now := m.sc, m.at
	if !sc.away.IsZero() {
		s.link.tell(collectors.Notice{Rule: eventrules.CommLoss, Source: s.label + " " + sc.what, Since: sc.away, Until: now, Note: sc.what + " is born again"})
		sc.away = time.Time{}
	}
	sc.birth(m.payload)
	for name, w := range sc.wanted {
		if !w.born {
			m.readings = append(m.readings, allBad(w.points, now, fmt.Errorf("the birth of %s has no metric %q; check the metric's name", sc.what, name))...)
		}
	}
}

// agrees says whether a value is of the type that the metric was born with.
func (m *metric) agrees(w *wanted) error {
	if m.kind != 0 && w.kind != 0 && m.kind != w.kind {
		return fmt.Errorf("is %s, and its birth said %s", m.kind, w.kind)
	}
	return nil
}

// metric makes a reading of one metric for one point.
func (s *session) metric(p *point, w *wanted, x *metric, m *said) {
	out := p.blank(m.at)
	r := &out.reading
	r.Past = x.past
	p.plugTime(&out, cmp.Or(x.at, m.ms))
	if x.past && !out.timed {
		m.refuse("has a historical value of no time: %w", out.undated)
		return
	}
	err := x.agrees(w)
	var raw any
	if err == nil {
		raw, err = x.raw(cmp.Or(x.kind, w.kind))
	}
	switch {
	case err != nil:
		out.refuse = fmt.Errorf("%s %w", p.subject(), err)
		r.Err = out.refuse
	default:
		if r.Err = p.fill(r, raw, &out); r.Err == nil {
			r.Quality, r.Err = x.quality.judge()
		}
	}
	if out.refuse != nil {
		m.refuse("for point "+string(p.name)+": %w", out.refuse)
	}
	if n := m.n; r.Quality == collectors.Good && n.doubt != nil && len(x.name) == 0 {
		r.Quality, r.Err = collectors.Uncertain, fmt.Errorf("%w; until %s/%s is born again its aliases are not sure", n.doubt, n.group, n.name)
	}
	p.believe(&out, m.arrival)
	s.use(p, out, m)
}

// use hands a reading on. One of the past says nothing about now, and is only worth anything when it is good.
func (s *session) use(p *point, out outcome, m *said) {
	judged, use := out.reading, out.reading.Quality == collectors.Good
	if !judged.Past {
		judged, use = p.judge(out, m.arrival)
		s.alive(p, m.arrival)
		s.dated(p, out, m.arrival)
	}
	if use {
		m.readings = append(m.readings, judged)
	}
}

// plugTime gives a reading the time of its metric, or of its message, in milliseconds since 1970; 0: of its arrival.
func (p *point) plugTime(out *outcome, ms uint64) {
	if ms == 0 {
		out.undated = errors.New("the node tells no time")
		return
	}
	at, err := plausible(time.UnixMilli(int64(min(ms, math.MaxInt64))), out.reading.At)
	if err != nil {
		out.undated = fmt.Errorf("time of the metric: %w; the time of arrival is used", err)
		return
	}
	out.reading.At, out.timed = at, true
}

// watchNodes asks for the births that are due, and tells of nodes that do not come.
func (s *session) watchNodes(ctx context.Context, state linkState, now time.Time) {
	if !state.up || state.via == nil {
		return
	}
	s.plug.over(state.via, now)
	for _, n := range s.plug.nodes {
		if !n.ask.IsZero() && !now.Before(n.ask) && !s.plug.silent {
			s.say(rebirth(n, now))
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
	t := trouble{eventrules.MessageLost, n.group + "/" + n.name}
	since, open := s.troubles[t]
	notice := collectors.Notice{Rule: t.rule, Source: s.label + " " + t.filter, Since: n.lost}
	switch {
	case n.doubt != nil && !open:
		s.troubles[t] = n.lost
		notice.Note = fmt.Sprintf("%v; its values are uncertain until it is born again", n.doubt)
	case n.doubt == nil && open:
		delete(s.troubles, t)
		notice.Since, notice.Until, notice.Note = since, now, fmt.Sprintf("node %s is born again, or gone", t.filter)
	default:
		return
	}
	s.link.tell(notice)
}
