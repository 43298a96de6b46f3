package mqtt

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Namespace is the first level of all topics of Sparkplug B.
const Namespace = "spBv1.0"

// node is a Sparkplug edge node as its messages have told of it, over one connection. What it said over an earlier one
// counts no more: a birth that was missed in between may have given its aliases to other metrics.
type node struct {
	group, name string
	scopes      map[string]*scope // by device; the node's own is "". Those without points are not here

	born  bool
	bdSeq int64  // ties a death to its birth; -1: not told
	seq   byte   // of the latest message
	last  uint64 // its key, to know it when it comes twice
	doubt error  // why aliases are not sure since a message was lost; nil when they are
	lost  time.Time

	ask   time.Time // when a birth is to be asked for; zero: no need
	asked int       // how often it was, since the latest birth
}

// scope is what a node, or one of its devices, has under names and aliases of its own.
type scope struct {
	what   string // GROUP/NODE[/DEVICE]
	wanted map[string]*wanted
	points []*point

	born    bool
	known   []uint64           // every alias of the birth, sorted
	byAlias map[uint64]*wanted // those that somebody reads

	since time.Time // when it ceased to be born, or the connection began
	noted int       // messages that could not be read meanwhile
	away  time.Time // beginning of the comm-loss that was announced; zero when there is none
}

// wanted is a metric that points read.
type wanted struct {
	points []*point
	born   bool     // the birth has the metric
	kind   DataType // of the birth
}

// ParsePath takes GROUP/NODE[/DEVICE] apart.
func ParsePath(text string) (group, name, device string, err error) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return "", "", "", fmt.Errorf("%s is no place in Sparkplug; write GROUP/NODE or GROUP/NODE/DEVICE", excerpt(text))
	}
	if strings.ContainsAny(text, "+#\x00") {
		return "", "", "", fmt.Errorf("%s has a + or #; name one node", excerpt(text))
	}
	return parts[0], parts[1], strings.Join(parts[2:], ""), nil
}

// SplitTopic takes a topic of Sparkplug apart; kind is empty for any other.
func SplitTopic(topic string) (group, kind, name, device string) {
	rest, ours := strings.CutPrefix(topic, Namespace+"/")
	if !ours {
		return "", "", "", ""
	}
	group, rest, _ = strings.Cut(rest, "/")
	kind, rest, _ = strings.Cut(rest, "/")
	name, device, _ = strings.Cut(rest, "/")
	return group, kind, name, device
}

// Filter is the topic filter for everything that a node says.
func Filter(group, name string) string {
	return Namespace + "/" + group + "/+/" + name + "/#"
}

// reset forgets what an earlier connection told.
func (n *node) reset(now time.Time) {
	n.born, n.bdSeq, n.doubt, n.asked = false, -1, nil, 0
	for _, s := range n.scopes {
		s.unborn(now)
	}
}

// unborn ends what the birth of a scope has defined.
func (s *scope) unborn(now time.Time) {
	s.born, s.known, s.byAlias = false, nil, nil
	s.since, s.noted = now, 0
}

// birth defines the metrics anew.
func (s *scope) birth(p *Payload) {
	s.born, s.known, s.byAlias = true, s.known[:0], map[uint64]*wanted{}
	for _, w := range s.wanted {
		w.born = false
	}
	p.Each(func(m *Metric) {
		w := s.wanted[string(m.Name)]
		if w != nil {
			w.born, w.kind = true, m.Type
		}
		if !m.Aliased {
			return
		}
		s.known = append(s.known, m.Alias)
		if w != nil {
			s.byAlias[m.Alias] = w
		}
	})
	slices.Sort(s.known)
}

// find is the metric that somebody reads, if anybody does. The error says why the birth cannot be trusted any more.
func (s *scope) find(m *Metric) (*wanted, error) {
	if len(m.Name) > 0 {
		return s.wanted[string(m.Name)], nil
	}
	if !m.Aliased {
		return nil, errors.New("has a metric with neither name nor alias")
	}
	if _, known := slices.BinarySearch(s.known, m.Alias); !known {
		return nil, fmt.Errorf("has the alias %d, which the birth of %s does not have", m.Alias, s.what)
	}
	return s.byAlias[m.Alias], nil
}

// follow holds a message's number against the one before, and says what is wrong with it.
func (n *node) follow(p *Payload) error {
	if !p.HasSeq {
		return nil
	}
	before := n.seq
	n.seq = byte(p.Seq)
	if want := before + 1; n.seq != want {
		return fmt.Errorf("message %d of %s/%s came where %d was due: one is lost", n.seq, n.group, n.name, want)
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
