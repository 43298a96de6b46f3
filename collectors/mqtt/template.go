package mqtt

import (
	"fmt"
	"strconv"
	"strings"

	"gauger/collectors"
)

const (
	// maxInstances is how many points one template makes: more topics than a site has tanks are a mistake, or an attack.
	maxInstances = 256
	// maxNameLevel is the longest topic level that becomes part of a point's name, in bytes.
	maxNameLevel = 64
)

// Template says that the point stands for many: {1} in its name is what the first + of its topic is, in each message.
func (p Point) Template() bool { return strings.Contains(p.Name, "{") }

// Named is the point that the template makes under a name; false when it makes none of that name.
func (p Point) Named(name string) (Point, bool) {
	parts, which, err := p.nameParts()
	if err != nil || len(which) == 0 {
		return Point{}, false
	}
	levels := make([]string, strings.Count(p.Topic, "+")+1)
	rest, ok := strings.CutPrefix(name, parts[0])
	for i, n := range which {
		var end int
		if next := parts[i+1]; i == len(which)-1 {
			ok, end = ok && strings.HasSuffix(rest, next), len(rest)-len(next)
		} else {
			end = strings.Index(rest, next)
		}
		if !ok || end <= 0 || !nameable(rest[:end]) || levels[n] != "" && levels[n] != rest[:end] {
			return Point{}, false
		}
		levels[n], rest = rest[:end], rest[end+len(parts[i+1]):]
	}
	p.Name = name
	at := 0
	topic := strings.Split(p.Topic, "/")
	for i, level := range topic {
		if level == "+" {
			at++
			topic[i] = levels[at]
		}
	}
	p.Topic = strings.Join(topic, "/")
	return p, true
}

// nameParts takes the name apart: the words round the braces, and the number in each of them.
func (p Point) nameParts() (parts []string, which []int, err error) {
	plus := strings.Count(p.Topic, "+")
	rest := p.Name
	for {
		before, after, open := strings.Cut(rest, "{")
		parts = append(parts, before)
		if !open {
			return parts, which, nil
		}
		digits, after, closed := strings.Cut(after, "}")
		n, err := strconv.Atoi(digits)
		if !closed || err != nil || n < 1 || n > plus {
			return nil, nil, fmt.Errorf("has {%s} in it; what can stand there is {1} and so on, one for each + of the topic, which has %d", digits, plus)
		}
		if len(which) > 0 && before == "" {
			return nil, nil, fmt.Errorf("has {%d} beside another; put a - between them, so that they can be told apart", n)
		}
		which, rest = append(which, n), after
	}
}

// checkTemplate looks at a name with braces.
func (p Point) checkTemplate(add func(field, message string)) {
	_, which, err := p.nameParts()
	if err != nil {
		add("name", err.Error())
		return
	}
	named := map[int]bool{}
	for _, n := range which {
		named[n] = true
	}
	for n := range strings.Count(p.Topic, "+") {
		if !named[n+1] {
			add("name", fmt.Sprintf("has no {%d}: topics that differ in that level alone would be one point", n+1))
			return
		}
	}
	if strings.HasSuffix(p.Topic, "#") {
		add("topic", "ends with #, under which many topics would be one point; name each level, with + where it varies")
	}
}

// nameable says that a topic level may be part of a point's name.
func nameable(level string) bool {
	return level != "" && len(level) <= maxNameLevel && strings.IndexFunc(level, func(c rune) bool {
		return c != '-' && c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) < 0
}

// instance is the template's point for a topic; nil when the configuration has it as a point of its own. The error says
// why there can be none.
func (s *session) instance(p *point, topic string) (*point, error) {
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
	if s.pointNames[full] {
		return nil, nil
	}
	if len(p.instances) >= maxInstances {
		return nil, fmt.Errorf("%s already makes %d points; a topic that is needed can be a point of its own", p.name, maxInstances)
	}
	grown, err := newPoint(strings.TrimSuffix(full, "/"+name), p.Point)
	if err != nil {
		return nil, err
	}
	grown.Name, grown.Topic, grown.zone, grown.zones, grown.zoneGuess.single = name, topic, p.zone, p.zones, p.zoneGuess.single
	grown.name = collectors.Point(full)
	if p.instances == nil {
		p.instances = map[string]*point{}
	}
	p.instances[name], s.pointNames[full] = grown, true
	s.instances = append(s.instances, grown)
	return grown, nil
}

// instancesOf are the points with each template in its place for a topic. The error is what could not be named.
func (s *session) instancesOf(points []*point, topic string) ([]*point, error) {
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

// readablePoints are all points that can have readings: those of the configuration without its templates, and what these
// have made so far.
func (s *session) readablePoints() []*point {
	var all []*point
	for _, p := range s.points {
		if !p.Template() {
			all = append(all, p)
		}
	}
	return append(all, s.instances...)
}
