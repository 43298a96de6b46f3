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
	failures = 3
	grace    = 5 * time.Second
	patience = 30 * time.Second
	// silences is how many times its usual interval a point may be silent: the next message is overdue by half as long.
	silences = 1.5
	// hushes is for how many times its usual interval, and for rightFor at least, it is heard before its silence is over.
	hushes = 3
)

// trouble is a subscription that is not as it was asked for.
type trouble struct{ rule, filter string }

// watch looks at everything that messages do not tell: the connection, the subscriptions, silence.
func (s *session) watch(ctx context.Context, now time.Time) {
	state, answers := s.link.state()
	s.watchLink(ctx, state, now)
	s.watchTopics(ctx, state.broker, answers, now)
	s.watchNodes(ctx, state, now)
	if state.up {
		s.watchSilence(ctx, state.since, now)
	}
	for n, more := s.link.next(); more; n, more = s.link.next() {
		if s.host.Notice(ctx, n) != nil {
			return // it stays first in line for the next look, a second from now
		}
		s.link.told()
	}
}

// watchLink opens and closes the episode of an absent broker.
func (s *session) watchLink(ctx context.Context, state linkState, now time.Time) {
	notice := collectors.Notice{Rule: eventrules.CommLoss, Source: s.label}
	if state.up {
		if !s.away.IsZero() && now.Sub(state.since) >= steady {
			notice.Since, notice.Until = s.away, state.since
			notice.Note = fmt.Sprintf("broker %s is back", state.broker)
			s.link.tell(notice)
			s.away = time.Time{}
		}
		return
	}
	begun, gone := state.trouble, now.Sub(state.trouble)
	quiet := gone
	if !state.silent.IsZero() && gone >= s.grace { // how long the connection was silent counts, unless it is back at once
		begun, quiet = state.silent, now.Sub(state.silent)
	}
	if quiet < patience && (state.tries < failures || gone < s.grace) {
		return
	}
	if state.why == nil { // the first attempt is still under way
		state.why = errors.New("it has not answered yet")
	}
	if s.away.IsZero() {
		s.away = begun
		notice.Since, notice.Note = s.away, fmt.Sprintf("broker %s is away: %v", s.names(), state.why)
		if state.before && now.Sub(state.since) < gone {
			notice.Note += fmt.Sprintf("; it lets us in and then closes the connection: is there another program with the client id %q?", s.client)
		}
		s.link.tell(notice)
	}
	if s.heard {
		s.spoil(ctx, s.speaking(), fmt.Errorf("broker %s is away: %w", s.names(), state.why), now)
		s.heard = false
	}
}

// watchTopics opens and closes an episode for each topic that the broker does not give as asked.
func (s *session) watchTopics(ctx context.Context, broker string, answers map[string]byte, now time.Time) {
	for filter, code := range answers {
		s.watchTopic(ctx, broker, trouble{eventrules.SubscriptionRefused, filter}, code >= refusedFrom, now,
			fmt.Sprintf("broker %s refused the topic %s; let it permit reading to the client %q, or correct the topic", broker, filter, s.client))
		s.watchTopic(ctx, broker, trouble{eventrules.SubscriptionWeak, filter}, code == 0, now,
			fmt.Sprintf("broker %s gives the topic %s only with quality of service 0: what is on the way when the link breaks is lost", broker, filter))
	}
}

// watchTopic opens or closes one episode.
func (s *session) watchTopic(ctx context.Context, broker string, t trouble, bad bool, now time.Time, note string) {
	since, open := s.troubles[t]
	if bad == open {
		return
	}
	notice := collectors.Notice{Rule: t.rule, Source: s.label + " " + t.filter, Since: now, Note: note}
	if !bad {
		notice.Since, notice.Until, notice.Note = since, now, fmt.Sprintf("broker %s gives the topic %s again", broker, t.filter)
		delete(s.troubles, t)
		s.link.tell(notice)
		return
	}
	s.troubles[t] = now
	s.link.tell(notice)
	if t.rule != eventrules.SubscriptionRefused {
		return
	}
	var deaf []*point
	for _, p := range s.speaking() {
		if covers(t.filter, p.Topic) {
			deaf = append(deaf, p)
		}
	}
	s.spoil(ctx, deaf, fmt.Errorf("broker %s refused the topic %s", broker, t.filter), now)
}

// watchSilence makes points Bad that have not been heard for too long while the broker was there.
func (s *session) watchSilence(ctx context.Context, up, now time.Time) {
	for _, p := range s.speaking() {
		if p.ExpectEvery <= 0 || !p.silent.IsZero() {
			continue
		}
		last := p.heard
		if last.Before(up) {
			last = up
		}
		quiet := now.Sub(last)
		if quiet < time.Duration(silences*float64(p.ExpectEvery)) {
			continue
		}
		p.silent = last
		err := fmt.Errorf("silent for %s, expected every %s", quiet.Round(time.Second), p.ExpectEvery)
		if p.hush.since.IsZero() {
			p.hush.since = last
			s.link.tell(collectors.Notice{Rule: eventrules.Silent, Source: string(p.name), Since: last, Note: fmt.Sprintf("topic %s: %v", p.Topic, err)})
		}
		s.spoil(ctx, []*point{p}, err, now)
	}
}

// hush is an episode of silences: one, or several with single messages between.
type hush struct {
	since time.Time // zero: there is none
	heard time.Time // the first message since the last silence
}

// alive notes that a point was heard, and closes the episode of its silence once it was heard for a while. What the
// broker had retained is no sign of life.
func (s *session) alive(p *point, a arrival) {
	if a.Retained() {
		return
	}
	p.heard = a.at
	if !p.silent.IsZero() {
		p.silent, p.hush.heard = time.Time{}, a.at
	}
	if p.hush.since.IsZero() || a.at.Sub(p.hush.heard) < max(rightFor, hushes*p.ExpectEvery) {
		return
	}
	s.link.tell(collectors.Notice{Rule: eventrules.Silent, Source: string(p.name), Since: p.hush.since, Until: p.hush.heard, Note: "heard again"})
	p.hush = hush{}
}

// spoil hands over a Bad reading of each point. An error is the end of ctx, which the committer sees next.
func (s *session) spoil(ctx context.Context, points []*point, why error, now time.Time) {
	_ = s.deliver(ctx, nil, allBad(points, now, why))
}
