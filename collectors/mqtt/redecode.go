package mqtt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gauger/collectors"
)

// Decoder implements collectors.Decoder, with committers that never had a connection.
func (g collector) Decoder() func(collectors.Refusal) ([]collectors.Reading, error) {
	var offline []*committer
	for _, s := range g {
		offline = append(offline, s.offlineCommitter())
	}
	return func(r collectors.Refusal) ([]collectors.Reading, error) {
		c, err := committerOf(offline, r)
		if err != nil {
			return nil, err
		}
		return c.redecode(r)
	}
}

// offlineCommitter has the same points and has heard nothing. What it is made of is fixed after New.
func (s *session) offlineCommitter() *committer {
	offline := newSession(s.brokers, Device{ClientID: s.client, ListenOnly: true}, Session{MaxPacket: s.limit})
	for _, p := range s.committer.points.all {
		device := strings.TrimSuffix(string(p.name), "/"+p.Name)
		_ = offline.addDevice(Device{Name: device, Zone: p.siteZone, ListenOnly: true, Points: []Point{p.Point}}) // New has taken the same
	}
	offline.label = s.label
	for _, p := range offline.committer.points.all { // what the session knows, and not what an old message seems to say
		p.zones, p.zoneGuess.single = s.committer.zones, true
	}
	return offline.committer
}

// committerOf finds the session that a message came through. Where its devices have other names now, it is the only one
// that reads the topic.
func committerOf(all []*committer, r collectors.Refusal) (*committer, error) {
	var found []*committer
	for _, c := range all {
		ours := func(name string) bool { return slices.Contains(strings.Split(c.label, ","), name) }
		if r.Device != "" && slices.ContainsFunc(strings.Split(r.Device, ","), ours) {
			return c, nil
		}
		if n, _, _ := c.nodes.nodeOf(r.Source); n != nil || len(c.points.routes.pointsOf(r.Source)) > 0 {
			found = append(found, c)
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
func (c *committer) redecode(r collectors.Refusal) ([]collectors.Reading, error) {
	for _, header := range []int{2, 4} { // without and with a packet id; see packetConn.takeMessage
		if header+len(r.Source)+len(r.Raw) == c.limit {
			return nil, errors.New("only its beginning was kept, since it was longer than a packet may be")
		}
	}
	n, kind, device := c.nodes.nodeOf(r.Source)
	switch {
	case n != nil:
		n.assumeBorn(kind, device)
	case len(c.points.routes.pointsOf(r.Source)) == 0:
		return nil, errUnread
	}
	c.recent = newRecentMessages()
	readings, err := c.decodeMessage(arrival{Message: storedMessage{r.Source, r.Raw}, at: r.At.Round(0), waited: r.Old})
	if n != nil && err != nil && kind != "NBIRTH" && kind != "DBIRTH" {
		err = fmt.Errorf("%w (the birth that it followed is over)", err)
	}
	if err != nil {
		return nil, err
	}
	return newlyGood(readings, r.Given)
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
