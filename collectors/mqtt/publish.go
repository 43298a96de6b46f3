package mqtt

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// rebirthEvery and rebirthLeast bound how often a node is asked for its birth: what it answers is long, and comes
	// over a metered link.
	rebirthEvery  = time.Minute
	rebirthSeldom = 16 * time.Minute
	// maxPublications is how many messages may wait to be published; what is left out is asked for again.
	maxPublications = 64
)

// publication is a message to be published. The goroutine that keeps the connection does it: the library's own stands still
// when a handler waits for a broker's answer.
type publication struct {
	topic   string
	payload []byte
	qos     byte
	retain  bool
}

// enqueue has a message published, if there is room; it is worth nothing on another connection.
func (s *session) enqueue(o publication) {
	select {
	case s.publications <- o:
	default:
	}
}

// publish sends one message, and waits until the network, or for more than quality 0 the broker, has taken it.
func (c *connection) publish(ctx context.Context, o publication) error {
	if err := c.await(ctx, c.client.Publish(o.topic, o.qos, o.retain, o.payload)); err != nil {
		return fmt.Errorf("publish on %s at %s: %w", o.topic, c.broker, err)
	}
	return nil
}

// patience is the wait before a node is asked again: longer each time, with jitter.
func (n *node) patience() time.Duration {
	wait := min(rebirthEvery<<min(n.asked, 8), rebirthSeldom)
	return wait + rand.N(wait/4)
}

// rebirth is the request to a node to tell its births again.
func rebirth(n *node, now time.Time) publication {
	const name = "Node Control/Rebirth"
	ms := binary.AppendUvarint(nil, uint64(now.UnixMilli()))
	metric := append([]byte{metricName<<3 | wireBytes, byte(len(name))}, name...)
	metric = append(append(metric, metricTime<<3|wireVarint), ms...)
	metric = append(metric, metricType<<3|wireVarint, byte(typeBoolean), valueBool<<3|wireVarint, 1)
	payload := append([]byte{payloadTime<<3 | wireVarint}, ms...)
	payload = append(append(payload, payloadMetrics<<3|wireBytes, byte(len(metric))), metric...)
	return publication{topic: Namespace + "/" + n.group + "/NCMD/" + n.name, payload: payload}
}
