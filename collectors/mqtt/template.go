package mqtt

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxInstances bounds the points that one template makes: more topics than a site has tanks are a mistake, or an attack.
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
