package mqtt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/collectors"
)

// newRefusal is what is kept of a message that could not be decoded whole.
func (s *session) newRefusal(a arrival, readings []collectors.Reading, why error) collectors.Refusal {
	r := collectors.Refusal{Device: s.label, Source: a.Topic(), Raw: a.Payload(), Err: why, At: a.at, Old: a.waited || a.Retained()}
	bad := map[collectors.Point]bool{}
	for _, x := range readings {
		bad[x.Point] = bad[x.Point] || x.Quality == collectors.Bad
	}
	for _, x := range readings {
		if x.Quality == collectors.Good && !bad[x.Point] && !slices.Contains(r.Given, x.Point) {
			r.Given = append(r.Given, x.Point)
		}
	}
	return r
}

// Decoder implements collectors.Decoder, with sessions that never had a connection.
func (g collector) Decoder() func(collectors.Refusal) ([]collectors.Reading, error) {
	var bare []*session
	for _, s := range g {
		bare = append(bare, s.offlineCopy())
	}
	return func(r collectors.Refusal) ([]collectors.Reading, error) {
		s, err := sessionOf(bare, r)
		if err != nil {
			return nil, err
		}
		return s.redecode(r)
	}
}

// offlineCopy is a session with the same points that has heard nothing. What it is made of is fixed after New.
func (s *session) offlineCopy() *session {
	b := newSession(s.brokers, Device{ClientID: s.client, ListenOnly: true}, Session{MaxPacket: s.limit})
	for _, p := range s.points {
		device := strings.TrimSuffix(string(p.name), "/"+p.Name)
		_ = b.addDevice(Device{Name: device, Zone: p.zone, ListenOnly: true, Points: []Point{p.Point}}) // New has taken the same
	}
	b.label = s.label
	for _, p := range b.points { // what the session knows, and not what an old message seems to say
		p.zones, p.zoneGuess.single = s.zones, true
	}
	return b
}

// sessionOf is the session that a message came through. Where its devices have other names now, it is the only one that
// reads the topic.
func sessionOf(all []*session, r collectors.Refusal) (*session, error) {
	var found []*session
	for _, s := range all {
		ours := func(name string) bool { return slices.Contains(strings.Split(s.label, ","), name) }
		if r.Device != "" && slices.ContainsFunc(strings.Split(r.Device, ","), ours) {
			return s, nil
		}
		if n, _, _ := s.nodes.find(r.Source); n != nil || len(s.routes.find(r.Source)) > 0 {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return nil, errUnread
	case 1:
		return found[0], nil
	}
	return nil, errors.New("several brokers have devices with a point for this topic, and which of them it came from is not known")
}

// errUnread says that the configuration has no point for a message.
var errUnread = errors.New("no point reads this topic")

// redecode decodes one message that was kept.
func (s *session) redecode(r collectors.Refusal) ([]collectors.Reading, error) {
	for _, header := range []int{2, 4} { // without and with a packet id; see guard.shorten
		if header+len(r.Source)+len(r.Raw) == s.limit {
			return nil, errors.New("only its beginning was kept, since it was longer than a packet may be")
		}
	}
	n, kind, device := s.nodes.find(r.Source)
	switch {
	case n != nil:
		s.assumeBorn(n, kind, device)
	case len(s.routes.find(r.Source)) == 0:
		return nil, errUnread
	}
	s.recent = newRecentMessages()
	readings, err := s.decodeMessage(arrival{Message: storedMessage{r.Source, r.Raw}, at: r.At.Round(0), waited: r.Old})
	if n != nil && err != nil && kind != "NBIRTH" && kind != "DBIRTH" {
		err = fmt.Errorf("%w (the birth that it followed is over)", err)
	}
	if err != nil {
		return nil, err
	}
	return newlyGood(readings, r.Given)
}

// assumeBorn makes a node seem born, so that metrics that come with their names can be read: which birth it was is not known.
func (s *session) assumeBorn(n *node, kind, device string) {
	n.reset(time.Time{})
	n.last = 0
	n.born = kind != "NBIRTH"
	if sc := n.scopes[device]; sc != nil {
		sc.born = true
	}
}

// newlyGood are the good ones of the readings, of points that were not given before. None of them is an error.
func newlyGood(readings []collectors.Reading, given []collectors.Point) (good []collectors.Reading, err error) {
	err = errors.New("it holds nothing that a point reads")
	for _, r := range readings {
		switch {
		case slices.Contains(given, r.Point):
		case r.Quality == collectors.Good:
			r.Past = true
			good = append(good, r)
		default:
			err = fmt.Errorf("point %s: %w", r.Point, r.Err)
		}
	}
	if len(good) > 0 {
		return good, nil
	}
	return nil, err
}

// storedMessage is a message that came long ago.
type storedMessage struct {
	topic   string
	payload []byte
}

func (storedMessage) Duplicate() bool   { return false }
func (storedMessage) Qos() byte         { return 0 }
func (storedMessage) Retained() bool    { return false }
func (storedMessage) MessageID() uint16 { return 0 }
func (storedMessage) Ack()              {}
func (k storedMessage) Topic() string   { return k.topic }
func (k storedMessage) Payload() []byte { return k.payload }
