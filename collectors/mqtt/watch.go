package mqtt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gauger/collectors"
	"gauger/eventrules"
)

const (
	// A broker's absence is announced after this many failed attempts, but not before grace: a broker that restarts
	// is no event. After patience it is announced in any case.
	announceTries = 3
	restartGrace  = 5 * time.Second
	announceAfter = 30 * time.Second
	// overdueFactor is how many times its usual interval a point may be silent: the next message is overdue by half as long.
	overdueFactor = 1.5
	// recoveryFactor is for how many times its usual interval, and for rightFor at least, it is heard before its silence is over.
	recoveryFactor = 3
)

// episode is a subscription that is not as it was asked for.
type episode struct{ rule, subject string }

// watch looks at everything that messages do not tell: the connection, the subscriptions, silence.
func (s *session) watch(ctx context.Context, now time.Time) {
	state, answers := s.link.state()
	s.watchLink(ctx, state, now)
	s.watchTopics(ctx, state.broker, answers, now)
	s.watchNodes(ctx, state, now)
	if state.up {
		s.watchSilence(ctx, state.since, now)
	}
	for n, more := s.link.firstNotice(); more; n, more = s.link.firstNotice() {
		if s.host.Notice(ctx, n) != nil {
			return // it stays first in line for the next look, a second from now
		}
		s.link.dropNotice()
	}
}

// watchLink opens and closes the episode of an absent broker.
func (s *session) watchLink(ctx context.Context, state linkState, now time.Time) {
	notice := collectors.Notice{Rule: eventrules.CommLoss, Source: s.label}
	if state.up {
		if !s.commLossSince.IsZero() && now.Sub(state.since) >= steady {
			notice.Since, notice.Until = s.commLossSince, state.since
			notice.Note = fmt.Sprintf("broker %s is back", state.broker)
			s.link.addNotice(notice)
			s.commLossSince = time.Time{}
		}
		return
	}
	begun, gone := state.troubleSince, now.Sub(state.troubleSince)
	quiet := gone
	if !state.silentSince.IsZero() && gone >= s.grace { // how long the connection was silent counts, unless it is back at once
		begun, quiet = state.silentSince, now.Sub(state.silentSince)
	}
	if quiet < announceAfter && (state.tries < announceTries || gone < s.grace) {
		return
	}
	if state.err == nil { // the first attempt is still under way
		state.err = errors.New("it has not answered yet")
	}
	if s.commLossSince.IsZero() {
		s.commLossSince = begun
		notice.Since, notice.Note = s.commLossSince, fmt.Sprintf("broker %s is away: %v", s.brokerNames(), state.err)
		if state.connectedBefore && now.Sub(state.since) < gone {
			notice.Note += fmt.Sprintf("; it lets us in and then closes the connection: is there another program with the client id %q?", s.client)
		}
		s.link.addNotice(notice)
	}
	if s.heardSinceBad {
		s.deliverBad(ctx, s.readablePoints(), fmt.Errorf("broker %s is away: %w", s.brokerNames(), state.err), now)
		s.heardSinceBad = false
	}
}

// watchTopics opens and closes an episode for each topic that the broker does not give as asked.
func (s *session) watchTopics(ctx context.Context, broker string, answers map[string]byte, now time.Time) {
	for filter, code := range answers {
		s.watchTopic(ctx, broker, episode{eventrules.SubscriptionRefused, filter}, code >= refusedFrom, now,
			fmt.Sprintf("broker %s refused the topic %s; let it permit reading to the client %q, or correct the topic", broker, filter, s.client))
		s.watchTopic(ctx, broker, episode{eventrules.SubscriptionWeak, filter}, code == 0, now,
			fmt.Sprintf("broker %s gives the topic %s only with quality of service 0: what is on the way when the link breaks is lost", broker, filter))
	}
}

// watchTopic opens or closes one episode.
func (s *session) watchTopic(ctx context.Context, broker string, t episode, bad bool, now time.Time, note string) {
	since, open := s.episodes[t]
	if bad == open {
		return
	}
	notice := collectors.Notice{Rule: t.rule, Source: s.label + " " + t.subject, Since: now, Note: note}
	if !bad {
		notice.Since, notice.Until, notice.Note = since, now, fmt.Sprintf("broker %s gives the topic %s again", broker, t.subject)
		delete(s.episodes, t)
		s.link.addNotice(notice)
		return
	}
	s.episodes[t] = now
	s.link.addNotice(notice)
	if t.rule != eventrules.SubscriptionRefused {
		return
	}
	var deaf []*point
	for _, p := range s.readablePoints() {
		if covers(t.subject, p.Topic) {
			deaf = append(deaf, p)
		}
	}
	s.deliverBad(ctx, deaf, fmt.Errorf("broker %s refused the topic %s", broker, t.subject), now)
}

// watchSilence makes points Bad that have not been heard for too long while the broker was there.
func (s *session) watchSilence(ctx context.Context, up, now time.Time) {
	for _, p := range s.readablePoints() {
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
		if p.silence.since.IsZero() {
			p.silence.since = last
			s.link.addNotice(collectors.Notice{Rule: eventrules.Silent, Source: string(p.name), Since: last, Note: fmt.Sprintf("topic %s: %v", p.Topic, err)})
		}
		s.deliverBad(ctx, []*point{p}, err, now)
	}
}

// silenceEpisode is an episode of silences: one, or several with single messages between.
type silenceEpisode struct {
	since      time.Time // zero: there is none
	heardAgain time.Time // the first message since the last silence
}

// noteHeard notes that a point was heard, and closes the episode of its silence once it was heard for a while. What the
// broker had retained is no sign of life.
func (s *session) noteHeard(p *point, a arrival) {
	if a.Retained() {
		return
	}
	p.lastHeard = a.at
	if !p.silentSince.IsZero() {
		p.silentSince, p.silence.heardAgain = time.Time{}, a.at
	}
	if p.silence.since.IsZero() || a.at.Sub(p.silence.heardAgain) < max(recoveredFor, recoveryFactor*p.ExpectEvery) {
		return
	}
	s.link.addNotice(collectors.Notice{Rule: eventrules.Silent, Source: string(p.name), Since: p.silence.since, Until: p.silence.heardAgain, Note: "heard again"})
	p.silence = silenceEpisode{}
}

// deliverBad hands over a Bad reading of each point. An error is the end of ctx, which the committer sees next.
func (s *session) deliverBad(ctx context.Context, points []*point, why error, now time.Time) {
	_ = s.deliver(ctx, nil, badReadings(points, now, why))
}
