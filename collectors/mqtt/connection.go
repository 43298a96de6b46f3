package mqtt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"gauger/collectors/mqtt/sparkplug"
)

const (
	// answerTimeout bounds the broker's answer to a subscription.
	answerTimeout = 20 * time.Second
	// backlogGap is the silence after which what a broker had kept for us is taken to be through, and backlogLimit
	// the longest time that it may take. A stream that never pauses so long is live when unasked messages in a row came
	// although the broker could have sent them before: it had nothing more. margin is added to the time of its answer.
	backlogGap   = time.Second
	backlogLimit = 30 * time.Second
	liveMessages = 3
	answerMargin = 2 * time.Millisecond
	// disconnectTimeout bounds an orderly disconnection.
	disconnectTimeout = 500 * time.Millisecond
	// topicsPerPacket bounds the topics of one subscription packet.
	topicsPerPacket = 64
)

// connackReasons says what to do about a broker's answer to a connection, by its code (MQTT 3.1.1, table 3.1).
var connackReasons = map[byte]string{
	1: "it does not speak MQTT 3.1.1",
	2: "it does not accept the client id; choose another client_id",
	3: "it is not available now",
	4: "bad user name or password; check username and password",
	5: "not authorized; check username, password and the broker's list of permissions for this client_id",
}

// connection is one network connection with its client. The client never reconnects by itself: its waits have no
// jitter and cannot be interrupted.
type connection struct {
	settings   *settings
	queue      *queue
	broker     *url.URL
	client     paho.Client
	conn       *packetConn // nil until the network connection is open
	dialErr    error
	lost       chan error
	begunAt    time.Time
	releaseCtx func() bool // ends the tie between ctx and the network connection

	// Only receive, which is called for one message at a time, uses these.
	unaskedInRow int  // messages in a row that came with nothing open, and later than an answer takes
	backlogOver  bool // what the broker had kept is through
}

// connect opens a connection and waits for the broker's answer.
func connect(ctx context.Context, s *settings, q *queue, broker *url.URL) (*connection, error) {
	c := &connection{settings: s, queue: q, broker: broker, lost: make(chan error, 1), begunAt: time.Now()}
	o := paho.NewClientOptions().AddBroker(broker.String()).SetClientID(s.client).SetCleanSession(s.clean)
	o.SetProtocolVersion(4).SetAutoReconnect(false).SetConnectRetry(false)
	o.SetKeepAlive(0).SetWriteTimeout(writeTimeout).SetConnectTimeout(dialTimeout) // packetConn keeps it alive, and takes the messages
	o.SetConnectionLostHandler(func(_ paho.Client, err error) { c.lost <- err })
	o.SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) { return c.openNetwork(ctx) })
	if s.presence.topic != "" {
		will := s.presence.message(false, c.begunAt)
		o.SetBinaryWill(will.topic, will.payload, will.qos, will.retain)
	}
	o.SetUsername(s.credentials.username)
	if s.credentials.password != nil {
		secret, err := s.credentials.password()
		if err != nil {
			return nil, fmt.Errorf("read the password for %s: %w", broker, err)
		}
		o.SetPassword(secret)
	}
	c.client = paho.NewClient(o)
	token := c.client.Connect().(*paho.ConnectToken)
	<-token.Done() // open heeds ctx, and the answer has a deadline
	if c.releaseCtx != nil {
		c.releaseCtx()
	}
	if token.Error() != nil || ctx.Err() != nil {
		return nil, c.connectError(ctx, token)
	}
	return c, nil
}

// openNetwork makes the network connection, and ties it to ctx until the broker has answered.
func (c *connection) openNetwork(ctx context.Context) (net.Conn, error) {
	conn, err := c.settings.dialBroker(ctx, c.broker)
	if err != nil {
		c.dialErr = err
		return nil, err
	}
	c.conn = newPacketConn(conn, c.settings.limit, c.receive)
	c.conn.begunAt = c.begunAt
	c.releaseCtx = context.AfterFunc(ctx, func() { _ = c.conn.Close() }) // the error of an interrupted attempt says nothing
	return c.conn, nil
}

// connectError says why no connection came about, in words of use to the person at the site.
func (c *connection) connectError(ctx context.Context, token *paho.ConnectToken) error {
	var odd error
	if c.conn != nil {
		if odd = c.conn.protocolError(); odd == nil && ctx.Err() != nil {
			odd = errors.New("no answer; perhaps this is no MQTT broker, or one that wants TLS (mqtts://)")
		}
		c.close()
	}
	if reason := connackReasons[token.ReturnCode()]; reason != "" {
		return fmt.Errorf("connect to %s as %q: the broker refused: %s", c.broker, c.settings.client, reason)
	}
	err := cmp.Or(odd, c.dialErr, token.Error(), context.Canceled) // without an error, it was ctx that ended
	if c.conn != nil && encrypted(c.broker) && c.settings.credentials.files.Cert == "" {
		// With TLS 1.3 a broker that misses our certificate says so after the handshake, or just hangs up.
		return fmt.Errorf("connect to %s: %w; perhaps it wants a client certificate: set cert_file and key_file", c.broker, err)
	}
	return fmt.Errorf("connect to %s: %w", c.broker, err)
}

// close ends the connection, orderly if that is still possible.
func (c *connection) close() {
	c.client.Disconnect(uint(disconnectTimeout.Milliseconds()))
	_ = c.conn.Close() // mostly closed already; nothing depends on how it ends
}

// receive puts a message into the queue, and waits for room: so the network pushes back on the broker.
func (c *connection) receive(m *message, at time.Time, sentLen int) error {
	waited := c.fromBacklog(at) || m.Duplicate()
	if !c.queue.put(arrival{Message: m, conn: c.conn, at: at, waited: waited, sentLen: sentLen}, c.conn.closed) {
		return net.ErrClosed // it is not acknowledged, and so comes again
	}
	return nil
}

// fromBacklog tells whether a message that arrives now may have waited at the broker while we were away. The protocol
// does not say; but such messages come first, and a broker that has more sends it as soon as we have acknowledged: a
// silence after that, or several messages of which each took longer than an answer, are the end of them.
func (c *connection) fromBacklog(now time.Time) bool {
	g := c.conn
	free := g.countReceived()
	if c.backlogOver {
		return false
	}
	quiet := now.Sub(free)
	switch {
	case free.IsZero(), quiet < 2*g.roundTrip+answerMargin:
		c.unaskedInRow, quiet = 0, 0
	default:
		c.unaskedInRow++
	}
	c.backlogOver = !g.sessionPresent || c.unaskedInRow >= liveMessages || quiet >= backlogGap || now.Sub(g.connackAt) >= backlogLimit
	return !c.backlogOver
}

// subscribe asks for topics and returns the broker's answer to each: 0 or 1, the quality of service, or 128, refused.
func (c *connection) subscribe(ctx context.Context, filters []string) (map[string]byte, error) {
	answers := make(map[string]byte, len(filters))
	for len(filters) > 0 {
		n := min(len(filters), topicsPerPacket)
		asked := make(map[string]byte, n)
		for _, f := range filters[:n] {
			asked[f] = 1
			answers[f] = 128 // unless the broker says otherwise
		}
		c.conn.topicsAsked.Store(int32(n))
		token := c.client.SubscribeMultiple(asked, nil).(*paho.SubscribeToken)
		if err := c.await(ctx, token); err != nil {
			return nil, fmt.Errorf("subscribe to %d topics at %s: %w", n, c.broker, err)
		}
		for f, code := range token.Result() {
			answers[f] = code
		}
		filters = filters[n:]
	}
	return answers, nil
}

// unsubscribe ends subscriptions that were made by an earlier configuration.
func (c *connection) unsubscribe(ctx context.Context, filters []string) error {
	if err := c.await(ctx, c.client.Unsubscribe(filters...)); err != nil {
		return fmt.Errorf("unsubscribe %d old topics at %s: %w", len(filters), c.broker, err)
	}
	return nil
}

// await waits for the broker's answer, or the end of the connection: the library leaves whoever waits then waiting.
func (c *connection) await(ctx context.Context, token paho.Token) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerTimeout, fmt.Errorf("no answer within %s", answerTimeout))
	defer cancel()
	select {
	case <-token.Done():
		return token.Error()
	case err := <-c.lost:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// publish sends one message, and waits until the network, or for more than quality 0 the broker, has taken it.
func (c *connection) publish(ctx context.Context, o publication) error {
	if err := c.await(ctx, c.client.Publish(o.topic, o.qos, o.retain, o.payload)); err != nil {
		return fmt.Errorf("publish on %s at %s: %w", o.topic, c.broker, err)
	}
	return nil
}

// publishPresence says whether we are there. Of an orderly end the broker would not tell by itself.
func (c *connection) publishPresence(ctx context.Context, here bool) error {
	if c.settings.presence.topic == "" {
		return nil
	}
	return c.publish(ctx, c.settings.presence.message(here, c.begunAt))
}

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
