package mqtt

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/mqtt/sparkplug"
)

// point is a configured point, ready for use, with what the session remembers of it.
type point struct {
	Point
	name      collectors.Point
	valuePath path
	listPath  path // leads to a list, of which every element is a message of its own; nil: there is none
	timeAt    relPath
	siteZone  *time.Location
	zones     *deviceZones // what is known of times that do not say theirs
	zoneGuess zoneGuess    // of this point's
	qualityAt relPath      // of the quality
	unitAt    relPath
	registers *registerValue // how bytes are meant; nil: the value is text
	scale     float64

	instances map[string]*point // of a template, by the topic levels in the name
	fullTold  bool              // that it makes no more of them

	newestTime  time.Time   // latest device time that was used
	lastHeard   time.Time   // last arrival of a message, by this machine's clock
	keptFrom    time.Time   // when the device sent what the broker had kept, by its own time, until it is heard; zero: not known
	silentSince time.Time   // beginning of the silence that was announced; zero when there is none
	misread     bool        // it is none of the device: a missing value was announced in its stead
	missed      missedValue // the messages without its value
	unreadable  unreadableShare

	lostWithBroker bool // its last reading says that the broker is away

	lastSample deviceSample // by the device's time
	clockFault clockFault   // of the device's time
}

// relPath leads to the time, quality or unit beside a value: in its element of a list, or in the message as a whole.
type relPath struct {
	path      path // nil: nowhere
	inElement bool
}

// newPoint prepares a point of a device. Its options have been checked; what was not is refused here.
func newPoint(device string, opts Point) (*point, error) {
	p := &point{Point: opts, name: collectors.PointOf(device, opts.Name), scale: 1, siteZone: time.Local, zones: &deviceZones{}}
	if opts.Scale != nil {
		p.scale = *opts.Scale
	}
	if opts.Sparkplug != "" {
		group, node, _, err := nodePath(opts.Sparkplug)
		if err != nil {
			return nil, fmt.Errorf("sparkplug of %s: %w", p.name, err)
		}
		p.Topic = sparkplug.Filter(group, node)
	}
	if opts.Value != "" {
		whole, err := parsePath(opts.Value)
		if err != nil {
			return nil, fmt.Errorf("value %q of %s: %w", opts.Value, p.name, err)
		}
		if p.listPath, p.valuePath, err = whole.split(); err != nil {
			return nil, fmt.Errorf("value %q of %s: %w", opts.Value, p.name, err)
		}
	}
	for _, other := range []struct {
		key, text string
		place     *relPath
	}{{"time", opts.Time, &p.timeAt}, {"quality", opts.Quality, &p.qualityAt}, {"unit_path", opts.UnitPath, &p.unitAt}} {
		var err error
		if *other.place, err = p.relativePath(other.text); err != nil {
			return nil, fmt.Errorf("%s %q of %s: %w", other.key, other.text, p.name, err)
		}
	}
	var err error
	if p.registers, err = opts.parseRegisterOptions(); err != nil {
		return nil, fmt.Errorf("point %s: %w", p.name, err)
	}
	return p, nil
}

// relativePath reads the path of something that belongs to the value. Where that stands in a list, a path that begins in
// the same way leads into the same element.
func (p *point) relativePath(text string) (relPath, error) {
	if text == "" {
		return relPath{}, nil
	}
	whole, err := parsePath(text)
	if err != nil {
		return relPath{}, err
	}
	list, rest, err := whole.split()
	switch {
	case err != nil:
		return relPath{}, err
	case list == nil:
		return relPath{path: rest}, nil
	case p.listPath == nil || !slices.Equal(list, p.listPath):
		return relPath{}, fmt.Errorf("leads into another list than the value %q", p.Value)
	}
	return relPath{rest, true}, nil
}

// badReading is a reading without a value, and why.
func (p *point) badReading(at time.Time, why error) collectors.Reading {
	return collectors.Reading{Point: p.name, Value: math.NaN(), Unit: collectors.Unit(p.Unit), At: at, Err: why}
}

// badReadings is such a reading of each point.
func badReadings(points []*point, at time.Time, why error) []collectors.Reading {
	bad := make([]collectors.Reading, len(points))
	for i, p := range points {
		bad[i] = p.badReading(at, why)
	}
	return bad
}

// noteHeard notes that a point was heard, which ends its silence: what is told of a silence is whether it lasts. One that comes and
// goes costs no more than some events an hour, since the host tells those together. What the broker had retained is no sign of life,
// but its own time tells since when there has been none.
func (p *point) noteHeard(o *outcome, a arrival, told *notices) {
	if a.Retained() {
		if o.deviceTime && o.reading.At.After(p.keptFrom) {
			p.keptFrom = o.reading.At
		}
		return
	}
	p.lastHeard, p.keptFrom = a.at, time.Time{}
	if p.silentSince.IsZero() {
		return
	}
	if !p.misread {
		told.add(collectors.Notice{Rule: eventrules.Silent, Source: string(p.name), Since: p.silentSince, Until: a.at, Note: "heard again"})
	}
	p.silentSince, p.misread = time.Time{}, false
}

// missedValue counts the messages on a point's topic in which its value was not, since it was last in one.
type missedValue struct {
	messages uint64
	since    time.Time
	found    bool   // it was in a message of this run: a gateway may send what has changed
	why      string // what the latest had instead, of those that are looked at
	told     bool
}

// missesTold is after how many messages without the value that is told, where none ever had it: gateways send what has changed.
const missesTold = 10

// noteMissed follows whether messages have the point's value. One whose path leads nowhere is otherwise as silent as a device that
// is away. enough messages without it are told of.
func (p *point) noteMissed(o *outcome, a arrival, enough uint64, told *notices) {
	m := &p.missed
	notice := collectors.Notice{Rule: eventrules.ValueMissing, Source: string(p.name), Since: m.since}
	switch {
	case o.undecodable != nil:
		return // what it has is not known
	case !errors.Is(o.reading.Err, errAbsent):
		if m.told {
			notice.Until, notice.Note = a.at, "its value is in the messages again"
			told.add(notice)
		}
		*m = missedValue{found: true}
		return
	case m.messages == 0:
		m.since = a.at
	}
	if m.messages++; !powerOfTen(m.messages) {
		return
	}
	m.why = fmt.Sprintf("messages come on topic %s, and %v", p.Topic, o.reading.Err)
	if m.messages >= enough && !m.found && !m.told {
		m.told, notice.Since, notice.Note = true, m.since, m.why
		told.add(notice)
	}
}

// unreadableShare follows how many of a point's latest messages could not be decoded: between readable ones they would not be seen.
type unreadableShare struct {
	latest uint64 // a bit for each message, the newest lowest: it could not be decoded
	seen   int    // messages that the bits are of
	since  time.Time
	told   string // the reason that is known; empty: none was told
	newest error  // that of the newest, which is told of at the next look at the whole, once a second, where it is another
}

// It is told of where a tenth of the latest messages cannot be decoded, and more than a few; it is over below a twentieth.
const (
	unreadableFew  = 3
	unreadableFrom = 10
	unreadableOver = 20
)

// noteUnreadable counts one message that had the point's value, or should have.
func (p *point) noteUnreadable(o *outcome, a arrival, told *notices) {
	u := &p.unreadable
	refused := o.undecodable != nil && o.reading.Quality == collectors.Bad
	if refused && u.latest == 0 {
		u.since = a.at
	}
	u.latest <<= 1
	if u.seen = min(u.seen+1, 64); refused {
		u.latest |= 1
	}
	n := bits.OnesCount64(u.latest)
	switch {
	case refused && (u.told != "" || n >= unreadableFew && n*unreadableFrom >= u.seen):
		if u.newest = o.undecodable; u.told == "" {
			p.tellUnreadable(told)
		}
	case u.told != "" && n*unreadableOver < u.seen:
		u.told, u.newest = "", nil
		told.add(collectors.Notice{Rule: eventrules.Unreadable, Source: string(p.name), Since: u.since, Until: a.at, Note: "its messages can be decoded again"})
	}
}

// tellUnreadable tells of it with the reason of the newest, where that is not known yet.
func (p *point) tellUnreadable(told *notices) {
	u := &p.unreadable
	if u.newest == nil || u.newest.Error() == u.told {
		return
	}
	u.told = u.newest.Error()
	told.add(collectors.Notice{Rule: eventrules.Unreadable, Source: string(p.name), Since: u.since,
		Note: fmt.Sprintf("%d of the last %d messages on topic %s could not be decoded, the newest for this reason: %s", bits.OnesCount64(u.latest), u.seen, p.Topic, u.told)})
}

// pointSet holds the points of a session, and finds those that read a topic.
type pointSet struct {
	all       []*point // of the configuration, in its order
	instances []*point // of templates, as far as their topics have come
	names     map[string]bool
	routes    routes
}

func newPointSet() *pointSet { return &pointSet{names: map[string]bool{}} }

func (s *pointSet) addPoint(p *point) {
	s.all = append(s.all, p)
	s.names[string(p.name)] = true
	if p.Sparkplug == "" {
		s.routes.addPoint(p)
	}
}

// routes finds the points that read a topic.
type routes struct {
	exact map[string][]*point
	wild  []*point // in the order of the configuration
}

func (r *routes) addPoint(p *point) {
	if wildcard(withoutGroup(p.Topic)) {
		r.wild = append(r.wild, p)
		return
	}
	if r.exact == nil {
		r.exact = map[string][]*point{}
	}
	topic := withoutGroup(p.Topic)
	r.exact[topic] = append(r.exact[topic], p)
}

// pointsOf returns the points that read a topic; none when nobody does.
func (r *routes) pointsOf(topic string) []*point {
	found := r.exact[topic]
	for _, p := range r.wild {
		if matches(withoutGroup(p.Topic), topic) {
			found = append(found[:len(found):len(found)], p)
		}
	}
	return found
}

// tooManyTopics says that a template makes no more points.
type tooManyTopics struct{ template *point }

func (t tooManyTopics) Error() string {
	return fmt.Sprintf("%s already makes %d points; a topic that is needed can be a point of its own", t.template.name, maxInstances)
}

// instance is the template's point for a topic; nil when the configuration has it as a point of its own. The error says
// why there can be none.
func (s *pointSet) instance(p *point, topic string) (*point, error) {
	levels := strings.Split(topic, "/")
	parts, which, err := p.nameParts()
	if err != nil {
		return nil, err
	}
	var found []string
	for i, f := range strings.Split(withoutGroup(p.Topic), "/") {
		if f == "+" {
			found = append(found, levels[i])
		}
	}
	name := parts[0]
	for i, n := range which {
		if !nameable(found[n-1]) {
			return nil, fmt.Errorf("level %s of the topic cannot be part of a point's name; letters, digits, - _ and . can", excerpt(found[n-1]))
		}
		name += found[n-1] + parts[i+1]
	}
	if made, ok := p.Named(name); !ok || withoutGroup(made.Topic) != topic {
		return nil, fmt.Errorf("%s could be another topic's point as well; make it a point of its own", excerpt(name))
	}
	if grown := p.instances[name]; grown != nil {
		return grown, nil
	}
	full := strings.TrimSuffix(string(p.name), p.Name) + name
	if s.names[full] {
		return nil, nil
	}
	if len(p.instances) >= maxInstances {
		return nil, tooManyTopics{p}
	}
	grown, err := newPoint(strings.TrimSuffix(full, "/"+name), p.Point)
	if err != nil {
		return nil, err
	}
	grown.Name, grown.Topic, grown.siteZone, grown.zones, grown.zoneGuess.single = name, topic, p.siteZone, p.zones, p.zoneGuess.single
	grown.name = collectors.Point(full)
	if p.instances == nil {
		p.instances = map[string]*point{}
	}
	p.instances[name], s.names[full] = grown, true
	s.instances = append(s.instances, grown)
	return grown, nil
}

// instancesOf are the points with each template in its place for a topic. The error is what could not be named.
func (s *pointSet) instancesOf(points []*point, topic string) ([]*point, error) {
	if !slices.ContainsFunc(points, func(p *point) bool { return p.Template() }) {
		return points, nil
	}
	var out []*point
	var why error
	for _, p := range points {
		if p.Template() {
			grown, err := s.instance(p, topic)
			if err != nil {
				why = fmt.Errorf("point %s: %w", p.name, err)
			}
			p = grown
		}
		if p != nil {
			out = append(out, p)
		}
	}
	return out, why
}

// readable are all points that can have readings: those of the configuration without its templates, and what these
// have made so far.
func (s *pointSet) readable() []*point {
	var all []*point
	for _, p := range s.all {
		if !p.Template() {
			all = append(all, p)
		}
	}
	return append(all, s.instances...)
}
