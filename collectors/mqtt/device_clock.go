package mqtt

import (
	"fmt"
	"math"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

// stuckAfter bounds the time for which a device's clock may stay the same while its value moves. Two samples of one second have one
// time, and a gateway may tell a sample again for hours; but then the value is the same.
const stuckAfter = time.Minute

// deviceSample is the latest sample of a point by its device's time, and whether that time is stuck.
type deviceSample struct {
	at      time.Time // by the device
	arrived time.Time // when this time came first, by this machine's clock
	value   float64
	text    string
	stuck   bool
}

// What makes no sense now and then is one episode: it is over when the device's time has been right for recoveredFor, and in
// recoveredMessages in a row.
const (
	recoveredFor      = 10 * time.Minute
	recoveredMessages = 10
)

// clockFault is an episode in which a device's time makes no sense, in each message or now and then.
type clockFault struct {
	since      time.Time // zero: there is none
	goodSince  time.Time // the first message since the last wrong one
	goodCount  int       // messages since then
	wrongCount int       // messages of the episode
}

// trackClock tells when a device's time begins to make no sense, and when it has made sense again for a while.
func (p *point) trackClock(o *outcome, a arrival, told *notices) {
	u := &p.clockFault
	switch {
	case o.timeErr != nil && u.since.IsZero():
		*u = clockFault{since: a.at, wrongCount: 1}
		told.add(collectors.Notice{Rule: eventrules.DeviceTime, Source: string(p.name), Since: a.at, Note: o.timeErr.Error()})
	case o.timeErr != nil:
		u.goodCount, u.wrongCount = 0, u.wrongCount+1
	case o.deviceTime && !u.since.IsZero():
		if u.goodCount++; u.goodCount == 1 {
			u.goodSince = a.at
		}
		if u.goodCount < recoveredMessages || a.at.Sub(u.goodSince) < recoveredFor {
			return
		}
		told.add(collectors.Notice{
			Rule: eventrules.DeviceTime, Source: string(p.name), Since: u.since, Until: u.goodSince,
			Note: fmt.Sprintf("the device's time makes sense again; %d values had the time of their arrival", u.wrongCount),
		})
		*u = clockFault{}
	}
}

// rejectStuckTime takes the time back from an outcome whose device clock is stuck: then it is no time, and makes no two messages
// the same. What may have waited proves nothing about now, and a list tells old samples again with each message.
func (p *point) rejectStuckTime(o *outcome, a arrival) {
	r := &o.reading
	if !o.deviceTime || r.Past || p.listPath != nil {
		return
	}
	last := &p.lastSample
	switch {
	case r.Quality == collectors.Bad:
	case !r.At.Equal(last.at):
		*last = deviceSample{at: r.At, arrived: a.at, value: r.Value, text: r.Text}
	case math.Float64bits(r.Value) == math.Float64bits(last.value) && r.Text == last.text: // NaN where the value is words
	case !a.waited && !a.Retained() && a.at.Sub(last.arrived) >= stuckAfter:
		last.stuck = true
	default:
		last.value, last.text = r.Value, r.Text
	}
	if last.stuck && r.At.Equal(last.at) {
		o.deviceTime, r.At = false, a.at
		o.timeErr = fmt.Errorf("the device's clock stands at %s while its values change; the time of arrival is used", last.at.Format(time.RFC3339))
	}
}
