package agent

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"gauger/collectors"
)

const (
	changeEvery = time.Minute // a changed value is sent at once, but not more often than this
	remembered  = 256         // readings per value that a redelivery is compared with; a broker repeats what was in flight
)

// lastValue is what was last sent of one of a well's values.
type lastValue struct {
	At     time.Time
	Value  float64
	Recent []byte `json:",omitempty"` // the last readings with a device time, eight bytes of hash each: a broker may deliver one again
	Sent   bool
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
	next := lastValue{At: r.At.Round(0), Value: r.Value, Sent: true}
	if last.Sent && next.At.Equal(last.At) && next.Value == last.Value {
		return // the same sample, read once more from a gateway that keeps it
	}
	if v.Every == 0 && r.At == r.At.Round(0) {
		h := fingerprint(r)
		if last.knows(h) {
			return
		}
		next.Recent = slices.Concat(last.Recent[max(0, len(last.Recent)-8*(remembered-1)):], h[:])
	}
	d.setValue(i, next)
	d.keep(valueState+v.key(), next)
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

// fingerprint tells a reading from another by its device's time and its value.
func fingerprint(r collectors.Reading) (sum [8]byte) {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(r.At.UnixNano()))
	binary.BigEndian.PutUint64(b[8:], math.Float64bits(r.Value))
	h := fnv.New64a()
	h.Write(b[:])
	binary.BigEndian.PutUint64(sum[:], h.Sum64())
	return sum
}

// knows says whether a reading was sent before.
func (l lastValue) knows(sum [8]byte) bool {
	for known := range slices.Chunk(l.Recent, 8) {
		if string(known) == string(sum[:]) {
			return true
		}
	}
	return false
}
