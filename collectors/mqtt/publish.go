package mqtt

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

// requests are what the committer asks of the goroutine that keeps the connection: the library's own stands still when a
// handler waits for a broker's answer. They are worth nothing on another connection.
type requests struct {
	publications chan publication
	unsubscribes chan string // topics that nobody reads and that come nevertheless
}

func newRequests() *requests {
	return &requests{make(chan publication, maxPublications), make(chan string, maxUnsubscribes)}
}

// publish has a message published, if there is room.
func (r *requests) publish(p publication) {
	select {
	case r.publications <- p:
	default:
	}
}

// unsubscribe has a topic unsubscribed; false when there is no room.
func (r *requests) unsubscribe(topic string) bool {
	select {
	case r.unsubscribes <- topic:
		return true
	default:
		return false
	}
}
