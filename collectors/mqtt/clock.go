package mqtt

import (
	"fmt"
	"math"
	"time"

	"gauger/collectors"
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
