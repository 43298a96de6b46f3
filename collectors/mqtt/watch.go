package mqtt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

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
	if c.commLossSince.IsZero() {
		c.commLossSince = begun
		notice.Since, notice.Note = c.commLossSince, c.away(state.err).Error()
		if state.connectedBefore && now.Sub(state.since) < gone {
			notice.Note += fmt.Sprintf("; it lets us in and then closes the connection: is there another program with the client id %q?", c.client)
		}
		c.notices.add(notice)
	}
	if c.heardSinceBad {
		c.delivery.deliverBad(ctx, c.points.readable(), c.away(state.err), now)
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
	c.delivery.deliverBad(ctx, deaf, fmt.Errorf("broker %s refused the topic %s", broker, t.subject), now)
}

// watchSilence makes points Bad that have not been heard for too long while the broker was there.
func (c *committer) watchSilence(ctx context.Context, up, now time.Time) {
	for _, p := range c.points.readable() {
		if p.ExpectEvery <= 0 || !p.silentSince.IsZero() {
			continue
		}
		last := p.lastHeard
		if last.Before(up) {
			last = up
		}
		quiet := now.Sub(last)
		if quiet < time.Duration(overdueFactor*float64(p.ExpectEvery)) {
			continue
		}
		p.silentSince = last
		err := fmt.Errorf("silent for %s, expected every %s", quiet.Round(time.Second), p.ExpectEvery)
		if p.missed.messages > 0 && p.missed.since.After(last) {
			err = fmt.Errorf("%s; its value is expected every %s", p.missed.why, p.ExpectEvery)
		}
		if p.silence.since.IsZero() {
			p.silence.since = last
			c.notices.add(collectors.Notice{Rule: eventrules.Silent, Source: string(p.name), Since: last, Note: fmt.Sprintf("topic %s: %v", p.Topic, err)})
		}
		c.delivery.deliverBad(ctx, []*point{p}, err, now)
	}
}
