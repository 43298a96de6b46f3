// Package sparkplug reads what Sparkplug B edge nodes publish over MQTT, and remembers what each node's births have
// defined. It is pure: messages and times come in, and no connection, point or reading is known here.
//
// An alias lives for one connection. A birth missed between two connections may have given it to another metric, so nothing
// is remembered and each connection asks for births; after a lost message values by alias are uncertain until the next birth.
package sparkplug

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Node is an edge node as its messages over one connection have told of it. Those over an earlier one count no more: a
// birth that was missed in between may have given its aliases to other metrics.
type Node struct {
	Group, Name string
	births      map[string]*Birth // by device; the node's own is "". Those that nobody reads are not here

	// Uncertain says why aliases are not sure since a message was lost, at UncertainSince; nil when they are.
	Uncertain      error
	UncertainSince time.Time

	born  bool
	bdSeq int64 // ties a death to its birth; -1: not told
	seq   byte  // of the latest message

	rebirthAt time.Time // when a birth is to be asked for; zero: no need
	rebirths  int       // how often it was, since the latest birth
}

// NewNode is a node that has published nothing yet.
func NewNode(group, name string) *Node {
	return &Node{Group: group, Name: name, bdSeq: -1, births: map[string]*Birth{}}
}

// Birth defines the metrics of a node, or of one of its devices, with the aliases under which they come afterwards.
type Birth struct {
	Path    string                 // GROUP/NODE[/DEVICE]
	metrics map[string]*Definition // those that somebody reads, by name

	Born  bool
	Since time.Time // when it ceased to be born, or the connection began
	Early int       // messages that could not be read meanwhile

	aliases []uint64               // every alias of the birth, sorted
	byAlias map[uint64]*Definition // those that somebody reads
}

// Definition is a metric that somebody reads, as the birth has defined it.
type Definition struct {
	Name string
	Born bool // the birth has the metric
	Type DataType
}

// BirthOf returns the birth of a device, or with "" of the node itself, and makes it when there is none yet.
func (n *Node) BirthOf(device string) *Birth {
	b := n.births[device]
	if b == nil {
		b = &Birth{Path: JoinPath(n.Group, n.Name, device), metrics: map[string]*Definition{}}
		n.births[device] = b
	}
	return b
}

// DefinitionOf returns the definition of a metric that is read, and makes it when there is none yet.
func (b *Birth) DefinitionOf(name string) *Definition {
	d := b.metrics[name]
	if d == nil {
		d = &Definition{Name: name}
		b.metrics[name] = d
	}
	return d
}

// reset forgets what an earlier connection told.
func (n *Node) reset(now time.Time) {
	n.born, n.bdSeq, n.Uncertain, n.rebirths = false, -1, nil, 0
	for _, b := range n.births {
		b.End(now)
	}
}

// Begin takes the node's own birth (NBIRTH): all that was published before is over.
func (n *Node) Begin(p *Payload, now time.Time) {
	n.reset(now)
	n.born, n.bdSeq, n.seq, n.rebirthAt = true, bdSeqOf(p), byte(p.seq), time.Time{}
}

// Died takes the node's death (NDEATH). It is false for that of an earlier life, which says nothing about this one.
func (n *Node) Died(p *Payload) bool {
	if of := bdSeqOf(p); n.born && of >= 0 && n.bdSeq >= 0 && of != n.bdSeq {
		return false
	}
	if n.born {
		n.rebirthAt = time.Time{} // it is born anew when it returns
	}
	n.born, n.Uncertain = false, nil
	return true
}

// AssumeBorn makes a node, and one of its devices, seem born, so that metrics that come with their names can be read: for
// a message that was kept, of which nobody knows which birth it followed.
func (n *Node) AssumeBorn(kind, device string) {
	n.reset(time.Time{})
	n.born = kind != "NBIRTH"
	if b := n.births[device]; b != nil {
		b.Born = true
	}
}

// Repeats says that a message has the number of the one before it.
func (n *Node) Repeats(p *Payload) bool { return p.hasSeq && byte(p.seq) == n.seq }

// Follow holds a message's number against that of the one before. It is false when the node has published no birth yet,
// without which the message means nothing.
func (n *Node) Follow(p *Payload, now time.Time) bool {
	gap := n.gap(p)
	if n.born && gap != nil {
		n.Doubt(gap, now)
	}
	return n.born
}

func (n *Node) gap(p *Payload) error {
	if !p.hasSeq {
		return nil
	}
	before := n.seq
	n.seq = byte(p.seq)
	if want := before + 1; n.seq != want {
		return fmt.Errorf("message %d of %s/%s came where %d was due: one is lost", n.seq, n.Group, n.Name, want)
	}
	return nil
}

// Doubt marks a node of which a message is lost: perhaps the one that gave an alias to another metric.
func (n *Node) Doubt(why error, now time.Time) {
	if n.born && n.Uncertain == nil {
		n.Uncertain, n.UncertainSince = why, now
	}
	n.wantRebirth(now)
}

// CameEarly counts a message that came before the birth that it follows, and has the node asked for it. The birth is nil
// when nobody reads it.
func (n *Node) CameEarly(b *Birth, now time.Time) {
	n.wantRebirth(now)
	if b != nil {
		b.Early++
	}
}

// End ends what the birth has defined.
func (b *Birth) End(now time.Time) {
	b.Born, b.aliases, b.byAlias = false, nil, nil
	b.Since, b.Early = now, 0
}

// Define takes the metrics of a new birth (NBIRTH, DBIRTH).
func (b *Birth) Define(p *Payload) {
	b.Born, b.aliases, b.byAlias = true, b.aliases[:0], map[uint64]*Definition{}
	for _, d := range b.metrics {
		d.Born = false
	}
	p.Each(func(m *Metric) {
		d := b.metrics[string(m.Name)]
		if d != nil {
			d.Born, d.Type = true, m.Type
		}
		if !m.aliased {
			return
		}
		b.aliases = append(b.aliases, m.alias)
		if d != nil {
			b.byAlias[m.alias] = d
		}
	})
	slices.Sort(b.aliases)
}

// Find is the metric that somebody reads, if anybody does. The error says why the birth cannot be trusted any more.
func (b *Birth) Find(m *Metric) (*Definition, error) {
	if len(m.Name) > 0 {
		return b.metrics[string(m.Name)], nil
	}
	switch {
	case m.aliased:
	case m.err != nil:
		return nil, fmt.Errorf("has a metric of which neither name nor alias can be read: %w", m.err)
	default:
		return nil, errors.New("has a metric with neither name nor alias")
	}
	if _, known := slices.BinarySearch(b.aliases, m.alias); !known {
		return nil, fmt.Errorf("has the alias %d, which the birth of %s does not have", m.alias, b.Path)
	}
	return b.byAlias[m.alias], nil
}

// Agrees says whether a value is of the type that the metric was born with.
func (d *Definition) Agrees(m *Metric) error {
	if m.Type != 0 && d.Type != 0 && m.Type != d.Type {
		return fmt.Errorf("is %s, and its birth said %s", m.Type, d.Type)
	}
	return nil
}

// bdSeqOf is the birth that a node's birth or death belongs to; -1 where it does not say.
func bdSeqOf(p *Payload) int64 {
	of := int64(-1)
	p.Each(func(m *Metric) {
		if string(m.Name) == "bdSeq" && (m.field.id == valueLong || m.field.id == valueInt) {
			of = int64(m.field.bits & math.MaxInt64)
		}
	})
	return of
}

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
