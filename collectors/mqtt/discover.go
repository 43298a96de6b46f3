package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/mqtt/sparkplug"
)

// Bounds of what a Discover keeps.
const (
	heardTopics = 1000
	regularFrom = 5 // messages that show whether they come regularly
	leastExpect = 10 * time.Second
	heardSample = 4 << 10 // bytes of a payload
	heardBirths = 8 << 20 // bytes of all births of Sparkplug nodes, which are kept whole
)

// Heard sums up the messages on one topic during a Discover.
type Heard struct {
	Topic    string
	Messages int
	Retained bool      // the broker had kept the first one
	first    time.Time // arrival of the first message
	last     time.Time // and of the latest
	Payload  []byte    // of the latest, its beginning if it is long

	longest time.Duration // silence between two messages, and after the latest
}

// Every is the usual interval between messages; zero when too few were heard to tell.
func (h Heard) Every() time.Duration {
	if h.Messages < 3 {
		return 0
	}
	return h.last.Sub(h.first) / time.Duration(h.Messages-1)
}

// expectEvery is the expect_every of a topic whose messages come regularly: three times what is usual, so that a lost message is
// no silence, and ten times where few were heard, in round figures. Zero: nobody knows how long its silences are.
func (h Heard) expectEvery() time.Duration {
	usual, times := h.Every(), time.Duration(3)
	if usual == 0 || h.longest > 2*usual || h.Sparkplug() {
		return 0
	}
	if h.Messages < regularFrom {
		times = 10
	}
	long, round := max(times*usual, leastExpect), time.Second
	switch {
	case long > 10*time.Minute:
		round = time.Minute
	case long > time.Minute:
		round = 10 * time.Second
	}
	return (long + round/2).Truncate(round)
}

// Discover listens to everything under a filter ("#" is all but the broker's own topics) with a session that leaves
// nothing behind, until ctx ends, and returns what it heard by topic, sorted, and how many further topics there was no
// room for. Of the device only how its broker is reached counts. An error means that nobody let us in or that the
// connection broke; what was heard until then comes with it.
func Discover(ctx context.Context, d Device, filter string, opt Session) (all []Heard, more int, err error) {
	brokers, err := d.Brokers.endpoints()
	if err != nil {
		return nil, 0, fmt.Errorf("device %s: mqtt: %w", d.Name, err)
	}
	if problem := filterProblem(filter); problem != "" {
		return nil, 0, fmt.Errorf("topic filter %s: %s", excerpt(filter), problem)
	}
	opt.Clean = true
	opt.MaxPacket = cmp.Or(opt.MaxPacket, maxBirth)
	s := newSession(brokers, d, opt)
	var whys []error
	for _, broker := range brokers {
		c, err := connect(ctx, s.settings, s.queue, broker)
		if err != nil {
			whys = append(whys, err)
			continue
		}
		defer c.close()
		answers, err := c.subscribe(ctx, []string{filter})
		if err != nil {
			return nil, 0, err
		}
		if answers[filter] >= refusedFrom {
			return nil, 0, fmt.Errorf("broker %s does not permit us to hear %s; name a topic that it permits, or ask whoever keeps the broker", broker, filter)
		}
		ear := listener{heard: map[string]*Heard{}, asked: map[string]bool{}, listenOnly: d.ListenOnly}
		err = ear.listen(ctx, s, c)
		return ear.topics(time.Now()), ear.more, err
	}
	return nil, 0, errors.Join(whys...)
}

// listener collects what arrives.
type listener struct {
	heard      map[string]*Heard
	more       int
	births     int             // bytes of them
	asked      map[string]bool // Sparkplug nodes that were asked for their births
	listenOnly bool            // nobody may be asked
}

func (e *listener) listen(ctx context.Context, s *session, c *connection) error {
	for {
		select {
		case <-s.queue.ready:
			group := s.queue.take()
			for _, a := range group {
				e.hear(a, a.at)
			}
			acknowledge(group)
			if err := e.requestBirths(ctx, c, group); err != nil {
				return err
			}
		case err := <-c.lost:
			return fmt.Errorf("connection to %s: %w", c.broker, cmp.Or(c.conn.protocolError(), err))
		case <-ctx.Done():
			return nil
		}
	}
}

func (e *listener) hear(m paho.Message, at time.Time) {
	h := e.heard[m.Topic()]
	if h == nil {
		if len(e.heard) >= heardTopics {
			e.more++
			return
		}
		h = &Heard{Topic: m.Topic(), Retained: m.Retained(), first: at, last: at}
		e.heard[m.Topic()] = h
	}
	h.Messages++
	h.longest = max(h.longest, at.Sub(h.last))
	h.last = at
	payload, most := m.Payload(), heardSample
	if h.isBirth() && e.births+len(payload) <= heardBirths {
		e.births, most = e.births+len(payload)-len(h.Payload), len(payload)
	}
	h.Payload = append([]byte(nil), payload[:min(len(payload), most)]...)
}

// requestBirths has the Sparkplug nodes that were heard tell their births, each once: without them nobody knows their metrics.
func (e *listener) requestBirths(ctx context.Context, c *connection, group []arrival) error {
	for _, a := range group {
		group, kind, name, _ := sparkplug.SplitTopic(a.Topic())
		who := group + "/" + name
		if e.listenOnly || kind == "" || name == "" || kind == "NCMD" || kind == "DCMD" || e.asked[who] || len(e.asked) >= heardTopics {
			continue
		}
		e.asked[who] = true
		if err := c.publish(ctx, rebirth(group, name, time.Now())); err != nil {
			return err
		}
	}
	return nil
}

// topics are those that were heard until the end, sorted.
func (e *listener) topics(end time.Time) []Heard {
	all := make([]Heard, 0, len(e.heard))
	for _, h := range e.heard {
		h.longest = max(h.longest, end.Sub(h.last))
		all = append(all, *h)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Topic < all[j].Topic })
	return all
}

const (
	// A broker's absence is announced after this many failed attempts, but not before restartGrace: a broker that restarts
	// is no event. After announceAfter it is announced in any case.
	announceTries = 3
	restartGrace  = 5 * time.Second
	announceAfter = 30 * time.Second
	// overdueFactor is in usual intervals of a point: the next message is overdue by half as long.
	overdueFactor = 1.5
)

// episode is a subscription that is not as it was asked for.
type episode struct{ rule, subject string }

// watch looks at everything that messages do not tell: the connection, the subscriptions, silence.
func (c *committer) watch(ctx context.Context, now time.Time) {
	state, answers := c.link.state()
	c.watchLink(ctx, state, now)
	c.watchTopics(ctx, state.broker, answers, now)
	c.nodes.watchNodes(ctx, state, now)
	if state.up {
		c.watchSilence(ctx, state.since, now)
	}
	for _, p := range c.points.readable() {
		p.tellUnreadable(c.notices)
	}
	for n, more := c.notices.first(); more; n, more = c.notices.first() {
		if c.host.Notice(ctx, n) != nil {
			return // it stays first in line for the next look, a second from now
		}
		c.notices.drop()
	}
}

// watchLink opens and closes the episode of an absent broker.
func (c *committer) watchLink(ctx context.Context, state linkState, now time.Time) {
	notice := collectors.Notice{Rule: eventrules.CommLoss, Source: c.label}
	if state.up {
		if !c.commLossSince.IsZero() && now.Sub(state.since) >= steady {
			notice.Since, notice.Until = c.commLossSince, state.since
			notice.Note = fmt.Sprintf("broker %s is back", state.broker)
			c.notices.add(notice)
			c.commLossSince = time.Time{}
			silent := slices.DeleteFunc(c.points.readable(), func(p *point) bool { return !p.lostWithBroker })
			c.blame(ctx, silent, errors.New("the broker is back, and nothing has come of it since"), now)
			c.heardSinceBad = c.heardSinceBad || len(silent) > 0 // so that another absence is said again
		}
		return
	}
	begun, gone := state.troubleSince, now.Sub(state.troubleSince)
	quiet := gone
	if !state.silentSince.IsZero() && gone >= c.grace { // how long the connection was silent counts, unless it is back at once
		begun, quiet = state.silentSince, now.Sub(state.silentSince)
	}
	if quiet < announceAfter && (state.tries < announceTries || gone < c.grace) {
		return
	}
	if state.err == nil { // the first attempt is still under way
		state.err = errors.New("it has not answered yet")
	}
	if why := state.err.Error(); c.commLossSince.IsZero() || why != c.commLossWhy {
		if c.commLossSince.IsZero() {
			c.commLossSince = begun
		}
		c.commLossWhy = why
		notice.Since, notice.Note = c.commLossSince, c.away(state.err).Error()
		if state.thrownOut > 1 {
			notice.Note += fmt.Sprintf("; it lets us in and then closes the connection: is there another program with the client id %q?", c.client)
		}
		c.notices.add(notice)
	}
	if c.heardSinceBad {
		lost := c.points.readable()
		c.blame(ctx, lost, c.away(state.err), now)
		for _, p := range lost {
			p.lostWithBroker = true
		}
		c.heardSinceBad = false
	}
}

// away says that the broker is, and why; which one it is that says already where there is one alone.
func (c *committer) away(why error) error {
	if names := c.brokerNames(); !strings.Contains(why.Error(), names) {
		return fmt.Errorf("broker %s is away: %w", names, why)
	}
	return fmt.Errorf("the broker is away: %w", why)
}

// watchTopics opens and closes an episode for each topic that the broker does not give as asked.
func (c *committer) watchTopics(ctx context.Context, broker string, answers map[string]byte, now time.Time) {
	for filter, code := range answers {
		c.watchTopic(ctx, broker, episode{eventrules.SubscriptionRefused, filter}, code >= refusedFrom, now,
			fmt.Sprintf("broker %s refused the topic %s; let it permit reading to the client %q, or correct the topic", broker, filter, c.client))
		c.watchTopic(ctx, broker, episode{eventrules.SubscriptionWeak, filter}, code == 0, now,
			fmt.Sprintf("broker %s gives the topic %s only with quality of service 0: what is on the way when the link breaks is lost", broker, filter))
	}
}

// watchTopic opens or closes one episode.
func (c *committer) watchTopic(ctx context.Context, broker string, t episode, bad bool, now time.Time, note string) {
	since, open := c.episodes[t]
	if bad == open {
		return
	}
	notice := collectors.Notice{Rule: t.rule, Source: c.label + " " + t.subject, Since: now, Note: note}
	if !bad {
		notice.Since, notice.Until, notice.Note = since, now, fmt.Sprintf("broker %s gives the topic %s again", broker, t.subject)
		delete(c.episodes, t)
		c.notices.add(notice)
		return
	}
	c.episodes[t] = now
	c.notices.add(notice)
	if t.rule != eventrules.SubscriptionRefused {
		return
	}
	var deaf []*point
	for _, p := range c.points.readable() {
		if covers(t.subject, p.Topic) {
			deaf = append(deaf, p)
		}
	}
	c.blame(ctx, deaf, fmt.Errorf("broker %s refused the topic %s", broker, t.subject), now)
}

// watchSilence makes points Bad that have not been heard for too long while the broker was there, or of which it has only what is older than that.
// A device that came up together with the broker, as behind a power cut, has a moment to be heard.
func (c *committer) watchSilence(ctx context.Context, up, now time.Time) {
	for _, p := range c.points.readable() {
		if p.ExpectEvery <= 0 || !p.silentSince.IsZero() {
			continue
		}
		last := p.lastHeard
		if last.Before(up) {
			last = up
			if !p.keptFrom.IsZero() && p.keptFrom.Before(up) && now.Sub(up) >= steady {
				last = p.keptFrom
			}
		}
		quiet := now.Sub(last)
		if quiet < time.Duration(overdueFactor*float64(p.ExpectEvery)) {
			continue
		}
		p.silentSince = last
		err := fmt.Errorf("silent for %s, expected every %s", quiet.Round(time.Second), p.ExpectEvery)
		m, notice := &p.missed, collectors.Notice{Rule: eventrules.Silent, Source: string(p.name), Since: last}
		if m.messages > 0 && m.since.After(last) {
			err = fmt.Errorf("%s; its value is expected every %s", m.why, p.ExpectEvery)
			if p.misread = !m.found; p.misread { // the device speaks: one cause is told of once
				notice.Rule, notice.Since = eventrules.ValueMissing, m.since
			}
		}
		if notice.Note = fmt.Sprintf("topic %s: %v", p.Topic, err); !p.misread || !m.told {
			c.notices.add(notice)
		}
		m.told = m.told || p.misread
		c.blame(ctx, []*point{p}, err, now)
	}
}
