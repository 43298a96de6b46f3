package mqtt

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gauger/collectors/mqtt/sparkplug"
)

const (
	// maxPublications bounds the messages that wait to be published; what is left out is asked for again.
	maxPublications = 64
	// maxUnsubscribes bounds the unknown topics that wait to be unsubscribed; further ones are left for the next connection.
	maxUnsubscribes = 16
)

// publication is a message to be published.
type publication struct {
	topic   string
	payload []byte
	qos     byte
	retain  bool
}

// requests go from the committer to the goroutine that keeps the connection: the library's own stands still when a
// handler waits for a broker's answer. They are worth nothing on another connection.
type requests struct {
	publications chan publication
	unsubscribes chan string // topics that nobody reads and that come nevertheless
}

func newRequests() *requests {
	return &requests{make(chan publication, maxPublications), make(chan string, maxUnsubscribes)}
}

// queuePublication has a message published, if there is room.
func (r *requests) queuePublication(p publication) {
	select {
	case r.publications <- p:
	default:
	}
}

// queueUnsubscribe has a topic unsubscribed; false when there is no room.
func (r *requests) queueUnsubscribe(topic string) bool {
	select {
	case r.unsubscribes <- topic:
		return true
	default:
		return false
	}
}

// What is retained on the status topic.
const (
	online  = "online"
	offline = "offline"
)

// presence publishes whether a session is connected; the broker does so by the last will when it is not any more.
type presence struct {
	topic string // empty: not at all
	form  presenceForm
}

// presenceForm is the way in which the state is written.
type presenceForm uint8

const (
	plainForm      presenceForm = iota // online, offline
	sparkplug2Form                     // ONLINE, OFFLINE: a primary host of Sparkplug 2
	sparkplug3Form                     // JSON with the time of the connection: one of Sparkplug 3
)

// newPresence makes the presence that a device's options ask for. A session that leaves nothing behind says nothing, nor does one that
// only listens.
func newPresence(d Device, clean bool) presence {
	old := strings.HasPrefix(d.SparkplugHost, "STATE/")
	switch {
	case clean || d.ListenOnly:
		return presence{}
	case d.SparkplugHost == "":
		return presence{d.Status, plainForm}
	case old:
		return presence{d.SparkplugHost, sparkplug2Form}
	}
	return presence{sparkplug.Namespace + "/STATE/" + d.SparkplugHost, sparkplug3Form}
}

// message is the message that we are there, or not. Its time is that of the connection, the same for both.
func (p presence) message(here bool, since time.Time) publication {
	word := offline
	if here {
		word = online
	}
	switch p.form {
	case sparkplug2Form:
		word = strings.ToUpper(word)
	case sparkplug3Form:
		word = fmt.Sprintf(`{"online":%t,"timestamp":%d}`, here, since.UnixMilli())
	}
	return publication{topic: p.topic, payload: []byte(word), qos: 1, retain: true}
}

// saysOffline says whether a message of this topic tells that we are not there.
func (p presence) saysOffline(payload []byte) bool {
	if p.form == sparkplug2Form {
		return string(payload) != "ONLINE"
	}
	var state struct{ Online bool }
	return json.Unmarshal(payload, &state) != nil || !state.Online
}

// echoTopic is the topic to which we listen ourselves; empty: none. Sparkplug wants a host to put right what is said of it.
func (p presence) echoTopic() string {
	if p.form == plainForm {
		return ""
	}
	return p.topic
}
