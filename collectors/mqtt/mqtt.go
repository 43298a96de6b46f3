// Package mqtt collects readings from MQTT brokers. There is one persistent session for each broker and client id,
// however many devices and points it serves; a message is acknowledged only after what it changed is on disk, and
// what a broker sends twice counts once.
//
// A message goes from packet_conn.go (whole packets, of bounded size; message.go takes the messages out, keep_alive.go pings) through
// connection.go and queue.go to commit.go, where
// one goroutine decodes it (decode.go, for Sparkplug sp_message.go), hands it over (deliver.go), unless it came before
// (duplicates.go), and acknowledges it. A point (point.go) reads its value with payload.go: path.go (over the text, by
// jsontext.go), number.go, registers.go for the value, device_zone.go for its time; template.go finds the points of a topic (topic.go). session.go keeps the
// connection, which dial.go opens, and makes the subscriptions; broker_link.go carries its state and what the host shall be told to the
// committer. options.go and check.go are what is configured, redecode.go decodes what was kept; discover.go and suggest.go listen beside
// a running daemon.
//
// The goroutines, and what they share, stand at the type session.
//
// Decisions:
//   - A session has one broker at a time. Several are tried in turn, from the first again after a loss; each has a memory of
//     its own, since each keeps a session of its own.
//   - Whatever cannot be decoded in a group is handed over together and stored in one commit, with the time of its arrival, so
//     that it can be decoded again by a mended configuration. Its values are then of the past.
//   - Two messages are the same one only by a device's time that was understood and believed (a time that is stuck while the
//     value moves is none); without it, only DUP and the packet's identity count.
//   - A message may have waited at the broker until a silence, or three messages in a row that each took longer than the
//     broker's answer: a broker that has more sends it as soon as we have acknowledged. Without a time of its own such a
//     message is never Good.
//   - A template's point becomes one of its own where the configuration names it, so that check, silence and read treat it as
//     any other. The rest are made by messages, at most 256 of a template.
//   - status_topic and Sparkplug's STATE share the last will, since a session has only one.
//   - A message is missing half an interval after it was due (expect_every).
//   - The zone of a time belongs to its point (time_zone), never to a message: a time of hours ago is also the time of now in
//     another zone. Where nobody says it, live messages tell it, if they agree for a minute, and it is remembered; until then
//     a live one has the time of its arrival, and what waited is kept to be decoded again.
package mqtt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"gauger/collectors"
)

// collector is the collector: all sessions of one New.
type collector []*session

// New prepares the sessions that the devices need; nothing is opened before Run.
// An error means that the devices' options contradict themselves or each other; Check and CheckShared say where.
//
// Notices: comm-loss (a broker is away; its points are Bad meanwhile), session-lost (the broker forgot the session,
// and what was published in the interval may be missing), subscription-refused and subscription-weak (a topic that
// the broker does not give, or gives without repeating what gets lost), unknown-topic (messages that nobody asked
// for; they are acknowledged and dropped, and the topic is unsubscribed), topics-too-many (a template makes no more points),
// value-missing (messages come on a point's topic, and its value was in none of them), unreadable (a tenth of a point's messages
// cannot be decoded), device-time (a
// device's time cannot be one; the arrival counts), silent (a point was not heard for half as
// long again as its expect_every, until the next message). A device's time is wrong in single messages: its episode is over when that
// has not come back for ten minutes or more. Their source is the device's name, or the names of all devices of a shared session; for a
// topic the name, a blank and the topic, for a silence and a device's time the point.
func New(devices []Device, opt Session) (collectors.Collector, error) {
	sessions, err := newSessions(devices, opt)
	if err != nil {
		return nil, err
	}
	return sessions, nil
}

// newSessions makes the sessions; devices with the same broker and client id come together.
func newSessions(devices []Device, opt Session) (collector, error) {
	if err := checkAll(devices); err != nil {
		return nil, err
	}
	var sessions collector
	byKey := map[string]*session{}
	for _, d := range devices {
		brokers, err := d.Brokers.endpoints()
		if err != nil {
			return nil, fmt.Errorf("device %s: mqtt: %w", d.Name, err)
		}
		key := fmt.Sprint(brokers, d.clientID())
		s := byKey[key]
		if s == nil {
			s = newSession(brokers, d, opt)
			byKey[key] = s
			sessions = append(sessions, s)
		}
		if err := s.addDevice(d); err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

// checkAll turns what the checks find into one error.
func checkAll(devices []Device) error {
	var errs []error
	shared := CheckShared(devices)
	for i, d := range devices {
		for _, p := range append(d.Check(), shared[i]...) {
			errs = append(errs, fmt.Errorf("device %s: %s: %s", d.Name, p.Path, p.Message))
		}
	}
	return errors.Join(errs...)
}

// Run keeps every session until ctx ends. It returns nil then, after at most ten seconds while a websocket is being
// opened, else at once.
func (g collector) Run(ctx context.Context, host collectors.Host) error {
	var wg sync.WaitGroup
	for _, s := range g {
		wg.Go(func() { s.run(ctx, host) })
	}
	wg.Wait()
	return nil
}

func (g collector) Points() (all []collectors.Point) {
	for _, s := range g {
		for _, p := range s.committer.points.all {
			if !p.Template() {
				all = append(all, p.name)
			}
		}
	}
	return all
}

// Source says where the number of a point is found and how its bits become one, before scale, offset and unit: what two
// configurations say alike is the same number. It is stored: another wording would look like another gauge. Through which
// broker it comes says nothing of that.
func (d Device) Source(p Point) string {
	said := []string{d.Name, "topic " + withoutGroup(p.Topic)}
	if p.Sparkplug != "" {
		said[1] = p.Sparkplug + ", metric " + p.Metric
	}
	if p.Value != "" {
		said = append(said, "value "+p.Value)
	}
	if w, err := p.parseRegisterOptions(); err == nil && w != nil {
		said = append(said, fmt.Sprintf("%s, word %d, %s %s", w.encoding, p.Word, w.kind, w.order.Of(w.kind.Registers())))
		if w.bit >= 0 {
			said = append(said, fmt.Sprintf("bit %d", w.bit))
		}
	}
	return strings.Join(said, ", ")
}
