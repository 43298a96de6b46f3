package mqtt

import (
	"fmt"
	"math"
	"time"

	"gauger/collectors"
	"gauger/eventrules"
)

// standsAfter is how long a device's time may stay the same while its value moves. Two samples of one second have one
// time, and a gateway may tell a sample again for hours; but then the value is the same.
const standsAfter = time.Minute

// sampled is the latest sample of a point by its device's time, and whether that time stands still.
type sampled struct {
	at     time.Time // by the device
	came   time.Time // when this time came first, by this machine's clock
	value  float64
	text   string
	stands bool
}

// What makes no sense now and then is one episode: it is over when the device's time has been right for rightFor, and in
// rightFew messages in a row.
const (
	rightFor = 10 * time.Minute
	rightFew = 10
)

// undated is an episode in which a device's time makes no sense, in each message or now and then.
type undated struct {
	since time.Time // zero: there is none
	right time.Time // the first message since the last wrong one
	few   int       // messages since then
	wrong int       // messages of the episode
}

// dated tells when a device's time begins to make no sense, and when it has made sense again for a while.
func (s *session) dated(p *point, o outcome, a arrival) {
	u := &p.undated
	switch {
	case o.undated != nil && u.since.IsZero():
		*u = undated{since: a.at, wrong: 1}
		s.link.tell(collectors.Notice{Rule: eventrules.DeviceTime, Source: string(p.name), Since: a.at, Note: o.undated.Error()})
	case o.undated != nil:
		u.few, u.wrong = 0, u.wrong+1
	case o.timed && !u.since.IsZero():
		if u.few++; u.few == 1 {
			u.right = a.at
		}
		if u.few < rightFew || a.at.Sub(u.right) < rightFor {
			return
		}
		s.link.tell(collectors.Notice{
			Rule: eventrules.DeviceTime, Source: string(p.name), Since: u.since, Until: u.right,
			Note: fmt.Sprintf("the device's time makes sense again; %d values had the time of their arrival", u.wrong),
		})
		*u = undated{}
	}
}

// believe takes the time back from an outcome whose device clock stands: then it is no time, and makes no two messages
// the same. What may have waited proves nothing about now, and a list tells old samples again with each message.
func (p *point) believe(o *outcome, a arrival) {
	r := &o.reading
	if !o.timed || r.Past || p.each != nil {
		return
	}
	last := &p.latest
	switch {
	case r.Quality == collectors.Bad:
	case !r.At.Equal(last.at):
		*last = sampled{at: r.At, came: a.at, value: r.Value, text: r.Text}
	case math.Float64bits(r.Value) == math.Float64bits(last.value) && r.Text == last.text: // NaN where the value is words
	case !a.waited && !a.Retained() && a.at.Sub(last.came) >= standsAfter:
		last.stands = true
	default:
		last.value, last.text = r.Value, r.Text
	}
	if last.stands && r.At.Equal(last.at) {
		o.timed, r.At = false, a.at
		o.undated = fmt.Errorf("the device's clock stands at %s while its values change; the time of arrival is used", last.at.Format(time.RFC3339))
	}
}
