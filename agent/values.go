package agent

import (
	"math"
	"time"

	"gauger/collectors"
)

// changeEvery: a changed value is sent at once, but not more often than this.
const changeEvery = time.Minute

// lastValue is what was last sent of one of a well's values.
type lastValue struct {
	At     time.Time
	Value  float64
	Recent []byte `json:",omitempty"` // of the version before: the last readings with a device time, eight bytes each
	Page   int    `json:",omitempty"` // of recent, the one that is being filled
	Sent   bool

	recent *recent // nil: nothing was remembered
}

// key names a value's state.
func (v Value) key() string { return v.stream() + "/" + v.Well + "/" + v.Code + "/" + string(v.Point) }

// value sends a reading of value i when it is due: the first one, every one where Every is 0, then each Every, and a
// changed whole number between.
func (d *draft) value(i int, r collectors.Reading) {
	if r.Quality != collectors.Good || math.IsNaN(r.Value) || math.IsInf(r.Value, 0) {
		return
	}
	v, last := d.l.site.Values[i], d.values[i]
	if !v.due(last, r) {
		return
	}
	if last.Sent && last.At.Equal(r.At) && last.Value == r.Value {
		return // the same sample, read once more from a gateway that keeps it
	}
	repeatable := v.Every == 0 && r.At == r.At.Round(0) // it has a device time: a broker may deliver it again
	sum := fingerprint(r)
	if repeatable && last.recent.knows(sum) {
		return
	}
	next := d.ownValue(i)
	next.At, next.Value, next.Sent = r.At.Round(0), r.Value, true
	if repeatable {
		next.recent.add(sum)
	}
	if d.grade() == Unset {
		d.postpone(postponed{Value: &laterValue{Index: v.key(), Number: r.Value, At: r.At.Round(0)}})
		return
	}
	d.queueValue(v, r.Value, r.At)
}

// due says whether a reading has to be sent, given the last one that was.
func (v Value) due(last lastValue, r collectors.Reading) bool {
	since := r.At.Round(0).Sub(last.At)
	switch {
	case !last.Sent, v.Every == 0, since >= v.Every, since < -v.Every:
		return true
	}
	return math.Round(r.Value) != math.Round(last.Value) && since >= min(changeEvery, v.Every)
}

// queueValue makes the record. A value that the integer rule refuses is an episode, not a wrong number.
func (d *draft) queueValue(v Value, number float64, at time.Time) {
	source := string(v.Point) + " as " + v.Code
	k := key("value-refused", source)
	body, err := d.l.site.encodeValue(v, number, at)
	_, known := d.open[k]
	switch {
	case err != nil:
		d.notice(collectors.Notice{Rule: "value-refused", Source: source, Note: err.Error(), Since: at})
		return
	case known:
		d.notice(collectors.Notice{Rule: "value-refused", Source: source, Since: at, Until: at})
	}
	d.append(v.stream(), v.Well, body)
}
