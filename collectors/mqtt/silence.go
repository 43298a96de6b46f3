package mqtt

import (
	"time"

	"gauger/collectors"
	"gauger/eventrules"
)

const (
	// overdueFactor is in usual intervals of a point: the next message is overdue by half as long.
	overdueFactor = 1.5
	// recoveryFactor is in usual intervals too: a silence is over once a point was heard for so long, and for recoveredFor.
	recoveryFactor = 3
)

// silenceEpisode is an episode of silences: one, or several with single messages between.
type silenceEpisode struct {
	since      time.Time // zero: there is none
	heardAgain time.Time // the first message since the last silence
}

// noteHeard notes that a point was heard, and closes the episode of its silence once it was heard for a while. What the
// broker had retained is no sign of life.
func (p *point) noteHeard(a arrival, told *notices) {
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
	told.add(collectors.Notice{Rule: eventrules.Silent, Source: string(p.name), Since: p.silence.since, Until: p.silence.heardAgain, Note: "heard again"})
	p.silence = silenceEpisode{}
}
