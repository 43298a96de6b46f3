package sparkplug

import (
	"encoding/binary"
	"math/rand/v2"
	"time"
)

const (
	// rebirthEvery and rebirthSeldom bound how often a node is asked for its birth: its answer is long, and comes
	// over a metered link.
	rebirthEvery  = time.Minute
	rebirthSeldom = 16 * time.Minute
	// startupSpread bounds the time over which the nodes of a new connection are asked, a second for each of them.
	startupSpread = 30
)

// Rebirth is the command to a node to publish its births again.
func Rebirth(group, node string, now time.Time) (topic string, payload []byte) {
	const name = "Node Control/Rebirth"
	ms := binary.AppendUvarint(nil, uint64(now.UnixMilli()))
	metric := append([]byte{metricName<<3 | wireBytes, byte(len(name))}, name...)
	metric = append(append(metric, metricTime<<3|wireVarint), ms...)
	metric = append(metric, metricType<<3|wireVarint, byte(typeBoolean), valueBool<<3|wireVarint, 1)
	payload = append([]byte{payloadTime<<3 | wireVarint}, ms...)
	payload = append(append(payload, payloadMetrics<<3|wireBytes, byte(len(metric))), metric...)
	return Namespace + "/" + group + "/NCMD/" + node, payload
}

// Connect begins a new connection, over which so many nodes are heard: each is to be asked for its birth, not all at once.
func (n *Node) Connect(now time.Time, nodes int) {
	n.reset(now)
	n.rebirthAt = now.Add(rand.N(time.Second * time.Duration(min(nodes, startupSpread))))
}

// wantRebirth has the node asked for its birth, if that is not under way.
func (n *Node) wantRebirth(now time.Time) {
	if n.rebirthAt.IsZero() {
		n.rebirthAt = now.Add(rand.N(time.Second))
	}
}

// RebirthDue says whether the node is to be asked for its birth now. If so it is next due after a wait that grows with
// each, with jitter.
func (n *Node) RebirthDue(now time.Time) bool {
	if n.rebirthAt.IsZero() || now.Before(n.rebirthAt) {
		return false
	}
	wait := min(rebirthEvery<<min(n.rebirths, 8), rebirthSeldom)
	n.rebirthAt = now.Add(wait + rand.N(wait/4))
	n.rebirths++
	return true
}
