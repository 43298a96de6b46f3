package mqtt

import (
	"fmt"
	"slices"
	"strings"

	"gauger/collectors/mqtt/sparkplug"
)

// maxTopic is the longest topic that the protocol can carry, in bytes.
const maxTopic = 65535

// sharePrefix begins the filter of a shared subscription: of those who subscribe for one group, each gets a part of the
// messages.
const sharePrefix = "$share/"

func withoutGroup(filter string) string {
	rest, shared := strings.CutPrefix(filter, sharePrefix)
	if group, topics, ok := strings.Cut(rest, "/"); shared && ok && group != "" && topics != "" && !wildcard(group) {
		return topics
	}
	return filter
}

func wildcard(filter string) bool { return strings.ContainsAny(filter, "+#") }

// matches tells whether a topic falls under a filter (MQTT 3.1.1, section 4.7). A wildcard in front does not
// match topics that begin with $: those are the broker's own.
func matches(filter, topic string) bool {
	if strings.HasPrefix(topic, "$") && !strings.HasPrefix(filter, "$") {
		return false
	}
	for {
		f, restF, moreF := strings.Cut(filter, "/")
		if f == "#" {
			return true
		}
		t, restT, moreT := strings.Cut(topic, "/")
		if f != "+" && f != t {
			return false
		}
		switch {
		case moreF && !moreT:
			return restF == "#" // a/# also means a
		case !moreF:
			return !moreT
		}
		filter, topic = restF, restT
	}
}

// covers tells whether every topic under the narrow filter also falls under the wide one.
func covers(wide, narrow string) bool {
	if strings.HasPrefix(narrow, "$") != strings.HasPrefix(wide, "$") {
		return false
	}
	w, n := strings.Split(wide, "/"), strings.Split(narrow, "/")
	for i, level := range w {
		if level == "#" {
			return len(n) >= i
		}
		if i >= len(n) || n[i] == "#" {
			return false
		}
		if level != "+" && level != n[i] {
			return false
		}
	}
	return len(w) == len(n)
}

// minimalFilters is the shortest list of filters that covers all that are given. A broker may send one copy of a message
// for each subscription that matches it, so no filter may lie within another.
func minimalFilters(filters []string) []string {
	var kept []string
	for i, f := range filters {
		inside := false
		for j, other := range filters {
			twin := covers(f, other)
			if i != j && covers(other, f) && (!twin || j < i) {
				inside = true
				break
			}
		}
		if !inside {
			kept = append(kept, f)
		}
	}
	slices.Sort(kept)
	return kept
}

// filterProblem says what is wrong with a topic filter; nothing when a broker would take it.
func filterProblem(filter string) string {
	switch {
	case filter == "":
		return "missing; name a topic, like field/tk2, or a filter, like field/+/level"
	case len(filter) > maxTopic:
		return "longer than 65535 bytes, which no broker takes"
	case strings.ContainsRune(filter, 0):
		return "has a NUL character, which no broker takes"
	case strings.HasPrefix(withoutGroup(filter), sparkplug.Namespace+"/"):
		return "is Sparkplug B, which is no text; write sparkplug: GROUP/NODE or GROUP/NODE/DEVICE, and metric: NAME, instead"
	case strings.HasPrefix(filter, "$queue/"):
		return "$queue/ is one broker's own way; write a shared subscription as $share/GROUP/" + strings.TrimPrefix(filter, "$queue/")
	case strings.HasPrefix(filter, sharePrefix) && withoutGroup(filter) == filter:
		return "a shared subscription is written $share/GROUP/FILTER, the group without + and #"
	}
	levels := strings.Split(withoutGroup(filter), "/")
	for i, level := range levels {
		if strings.Contains(level, "#") && (level != "#" || i != len(levels)-1) {
			return "# stands for all levels below and must be the last level by itself, like field/#"
		}
		if strings.Contains(level, "+") && level != "+" {
			return "+ stands for one whole level and must be alone between slashes, like field/+/level"
		}
	}
	return ""
}

// nodePath takes GROUP/NODE[/DEVICE] apart.
func nodePath(text string) (group, node, device string, err error) {
	if group, node, device, err = sparkplug.ParsePath(text); err != nil {
		err = fmt.Errorf("%s %w", excerpt(text), err)
	}
	return group, node, device, err
}
