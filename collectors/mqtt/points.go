package mqtt

import (
	"fmt"
	"slices"
	"strings"

	"gauger/collectors"
)

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
