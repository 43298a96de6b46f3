package mqtt

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// What is retained on the status topic.
const (
	online  = "online"
	offline = "offline"
)

// presence is how a session says whether it is there: the broker tells by the last will when it is not.
type presence struct {
	topic string // empty: not at all
	form  form
}

// form is how the state is written.
type form uint8

const (
	plainWord    form = iota // online, offline
	sparkplugOld             // ONLINE, OFFLINE: a primary host of Sparkplug 2
	sparkplugNow             // JSON with the time of the connection: one of Sparkplug 3
)

// presenceOf is what a device's options ask for. A session that leaves nothing behind says nothing, nor does one that
// only listens.
func presenceOf(d Device, clean bool) presence {
	old := strings.HasPrefix(d.SparkplugHost, "STATE/")
	switch {
	case clean || d.ListenOnly:
		return presence{}
	case d.SparkplugHost == "":
		return presence{d.Status, plainWord}
	case old:
		return presence{d.SparkplugHost, sparkplugOld}
	}
	return presence{sparkplugSpace + "/STATE/" + d.SparkplugHost, sparkplugNow}
}

// says is the message that we are there, or not. Its time is that of the connection, the same for both.
func (p presence) says(here bool, since time.Time) order {
	word := offline
	if here {
		word = online
	}
	switch p.form {
	case sparkplugOld:
		word = strings.ToUpper(word)
	case sparkplugNow:
		word = fmt.Sprintf(`{"online":%t,"timestamp":%d}`, here, since.UnixMilli())
	}
	return order{topic: p.topic, payload: []byte(word), qos: 1, retain: true}
}

// absent says whether a message of this topic tells that we are not there.
func (p presence) absent(payload []byte) bool {
	if p.form == sparkplugOld {
		return string(payload) != "ONLINE"
	}
	var state struct{ Online bool }
	return json.Unmarshal(payload, &state) != nil || !state.Online
}

// watched is the topic to which we listen ourselves; empty: none. Sparkplug wants a host to put right what is said of it.
func (p presence) watched() string {
	if p.form == plainWord {
		return ""
	}
	return p.topic
}

// present says whether we are there. Of an orderly end the broker would not tell by itself.
func (c *connection) present(ctx context.Context, here bool) error {
	if c.session.presence.topic == "" {
		return nil
	}
	return c.publish(ctx, c.session.presence.says(here, c.begun))
}

// corrected answers a false word about ourselves: the will of a connection that is gone may come after the present one
// has said that we are here.
func (s *session) corrected(a arrival) {
	here := s.presence.says(true, a.via.begun)
	switch {
	case bytes.Equal(a.Payload(), here.payload):
		s.echo = a.via // what comes before our own word on this connection is older than it
	case s.echo == a.via && s.presence.absent(a.Payload()):
		s.say(here)
	}
}
