package mqtt

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gauger/collectors/mqtt/sparkplug"
)

// Bounds of what is suggested for one topic.
const (
	suggestedFields = 64
	suggestedItems  = 8 // of a list

	suggestedMetrics = 1000 // of a birth
)

// Suggestion is a value that a message holds and the point that would read it.
type Suggestion struct {
	Point  Point
	Sample string // as it came
}

// Suggest looks into a message and returns the points that would read its numbers, in the order of their paths. A time
// that stands beside a value, or above it, is taken with it. None means that the message holds no number.
func (h Heard) Suggest() []Suggestion {
	if h.isBirth() {
		return h.suggestMetrics()
	}
	name := pointName(h.Topic)
	doc := &document{payload: h.Payload}
	root, _ := doc.json() // what is no JSON may still be a number
	if !root.isObject() && !root.isList() {
		if _, err := parseNumber(string(h.Payload)); err != nil {
			return nil
		}
		return []Suggestion{{Point{Name: name, Topic: h.Topic, ExpectEvery: h.expectEvery()}, strings.TrimSpace(string(h.Payload))}}
	}
	w := &jsonWalk{heard: h}
	w.visit(nil, root, "")
	for i := range w.found {
		f := &w.found[i]
		f.Point.Topic, f.Point.ExpectEvery = h.Topic, h.expectEvery()
		f.Point.Name = name + "-" + pointName(f.Point.Value)
		if len(w.found) == 1 {
			f.Point.Name = name
		}
	}
	return w.found
}

// isBirth says that the message is that of a Sparkplug node or device.
func (h Heard) isBirth() bool {
	_, kind, name, _ := sparkplug.SplitTopic(h.Topic)
	return name != "" && (kind == "NBIRTH" || kind == "DBIRTH")
}

// Sparkplug says that the message is one of Sparkplug B. Which metrics there are stands in the births alone.
func (h Heard) Sparkplug() bool { return strings.HasPrefix(h.Topic, sparkplug.Namespace+"/") }

// suggestMetrics are the points that a birth holds: every metric that is a number.
func (h Heard) suggestMetrics() (found []Suggestion) {
	p, err := sparkplug.Parse(h.Payload)
	if err != nil {
		return nil
	}
	group, _, name, device := sparkplug.SplitTopic(h.Topic)
	where := strings.TrimSuffix(group+"/"+name+"/"+device, "/")
	p.Each(func(m *sparkplug.Metric) {
		metric := string(m.Name)
		if metric == "" || metric == "bdSeq" || strings.HasPrefix(metric, "Node Control/") || len(found) >= suggestedMetrics {
			return
		}
		raw, err := m.Value(m.Type)
		if _, no := parseNumber(metricText(raw)); err != nil || no != nil && raw != nil {
			return
		}
		found = append(found, Suggestion{Point{Name: pointName(metric), Sparkplug: where, Metric: metric}, metricText(raw)})
	})
	return found
}

// jsonWalk goes through a JSON document.
type jsonWalk struct {
	heard Heard
	found []Suggestion
}

// visit looks at one place; when is the path of the nearest time so far.
func (w *jsonWalk) visit(at path, v jsonText, when string) {
	member := func(key string) jsonText {
		found, _ := v.member(key)
		return found
	}
	switch {
	case v.isObject():
		keys := v.keys()
		clock := slices.IndexFunc(keys, func(k string) bool { return w.isTime(k, member(k)) })
		if clock >= 0 {
			when = formatPath(append(slices.Clip(at), step{key: keys[clock]}))
		}
		before := len(w.found)
		for i, k := range keys {
			if i != clock {
				w.visit(append(slices.Clip(at), step{key: k}), member(k), when)
			}
		}
		for _, k := range keys { // the unit of the one value beside it
			text, _ := member(k).scalar()
			if unit := unitName(string(text)); len(w.found) == before+1 && strings.Contains(" in ft m percent degF degC mm cm ", " "+unit+" ") {
				w.found[before].Point.Unit, w.found[before].Point.UnitPath = unit, formatPath(append(slices.Clip(at), step{key: k}))
			}
		}
	case v.isList():
		items := v.items(nil)
		for i, item := range items[:min(len(items), suggestedItems)] {
			w.visit(append(slices.Clip(at), step{index: i, array: true}), item, when)
		}
	default:
		w.addLeaf(at, v, when)
	}
}

// addLeaf keeps a value that a point can read.
func (w *jsonWalk) addLeaf(at path, v jsonText, when string) {
	text, _ := v.scalar()
	sample := string(text)
	if _, err := parseNumber(sample); err != nil || len(at) == 0 || len(w.found) >= suggestedFields {
		return
	}
	w.found = append(w.found, Suggestion{Point{Value: formatPath(at), Time: when}, sample})
}

// timeKeys are the keys under which a number may be a time; a text that is a time may have any.
var timeKeys = []string{"ts", "t", "time", "timestamp", "date", "datetime", "utc", "when", "epoch"}

// isTime tells whether a member of an object is the time of the others.
func (w *jsonWalk) isTime(key string, v jsonText) bool {
	text, _ := v.scalar()
	if _, err := parseTime(string(text), w.heard.last, zoneless{}); err != nil {
		return false
	}
	if v[0] == '"' {
		return true
	}
	key = strings.ToLower(key)
	return slices.Contains(timeKeys, key) || strings.HasSuffix(key, "time") || strings.HasSuffix(key, "timestamp") || strings.HasSuffix(key, "_ts")
}

// metricText is the value of a metric as text; what has none is empty.
func metricText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

func formatPath(p path) string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.all:
			b.WriteString("[*]")
		case s.array:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case s.key == "" || strings.ContainsAny(s.key, `.[]"$`) || strings.IndexFunc(s.key, func(r rune) bool { return r < ' ' || r > '~' }) >= 0:
			b.WriteString("[" + strconv.Quote(s.key) + "]")
		case b.Len() == 0:
			b.WriteString(s.key)
		default:
			b.WriteString("." + s.key)
		}
	}
	return b.String()
}

// pointName makes a point's name of a topic or a path: its last three parts in letters, digits and dashes.
func pointName(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
	words = words[max(0, len(words)-3):]
	if len(words) == 0 {
		return "value"
	}
	return strings.ToLower(strings.Join(words, "-"))
}
