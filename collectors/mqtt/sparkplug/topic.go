package sparkplug

import (
	"errors"
	"slices"
	"strings"
)

// Namespace is the first level of all topics of Sparkplug B.
const Namespace = "spBv1.0"

// ParsePath takes GROUP/NODE[/DEVICE] apart.
func ParsePath(text string) (group, node, device string, err error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return "", "", "", errors.New("is no place in Sparkplug; write GROUP/NODE or GROUP/NODE/DEVICE")
	}
	if strings.ContainsAny(text, "+#\x00") {
		return "", "", "", errors.New("has a + or #; name one node")
	}
	return parts[0], parts[1], strings.Join(parts[2:], ""), nil
}

// JoinPath is GROUP/NODE[/DEVICE].
func JoinPath(group, node, device string) string {
	return strings.TrimSuffix(group+"/"+node+"/"+device, "/")
}

// SplitTopic takes a topic of Sparkplug apart; kind is empty for any other.
func SplitTopic(topic string) (group, kind, node, device string) {
	rest, ours := strings.CutPrefix(topic, Namespace+"/")
	if !ours {
		return "", "", "", ""
	}
	group, rest, _ = strings.Cut(rest, "/")
	kind, rest, _ = strings.Cut(rest, "/")
	node, device, _ = strings.Cut(rest, "/")
	return group, kind, node, device
}

// Filter is the topic filter for everything that a node and its devices publish.
func Filter(group, node string) string {
	return Namespace + "/" + group + "/+/" + node + "/#"
}
