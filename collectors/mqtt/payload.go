package mqtt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"gauger/collectors"
)

// words is the unit of a point whose values are words.
const words = "text"

// document is the payload of one message; several points may look into it, and its JSON is decoded once.
type document struct {
	payload []byte
	decoded bool
	root    any
	err     error
}

// tree decodes the payload as JSON. Its depth is bounded by encoding/json, its size by the packet limit.
func (d *document) tree() (any, error) {
	if d.decoded {
		return d.root, d.err
	}
	d.decoded = true
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimRight(d.payload, "\x00")))
	dec.UseNumber() // a 64-bit integer keeps every digit
	if err := dec.Decode(&d.root); err != nil {
		d.err = fmt.Errorf("decode %s as JSON: %w", excerpt(string(d.payload)), err)
		return nil, d.err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		d.root, d.err = nil, fmt.Errorf("decode %s as JSON: something follows the first value", excerpt(string(d.payload)))
	}
	return d.root, d.err
}

// point is a configured point, ready for use, with what the session remembers of it.
type point struct {
	Point
	name  collectors.Point
	value path
	when  path
	scale float64

	newest time.Time // latest device time that was used
	heard  time.Time // last arrival of a message, by this machine's clock
	silent time.Time // beginning of a silence that was announced; zero when there is none

	undated time.Time // since when the device's time makes no sense; zero when it does
}

// newPoint prepares a point of a device. Its options have been checked; what was not is refused here.
func newPoint(device string, opts Point) (*point, error) {
	p := &point{Point: opts, name: collectors.PointOf(device, opts.Name), scale: 1}
	if opts.Scale != nil {
		p.scale = *opts.Scale
	}
	var err error
	if opts.Value != "" {
		if p.value, err = parsePath(opts.Value); err != nil {
			return nil, fmt.Errorf("value %q of %s: %w", opts.Value, p.name, err)
		}
	}
	if opts.Time != "" {
		if p.when, err = parsePath(opts.Time); err != nil {
			return nil, fmt.Errorf("time %q of %s: %w", opts.Time, p.name, err)
		}
	}
	return p, nil
}

// outcome is what one message means for one point.
type outcome struct {
	reading collectors.Reading
	timed   bool  // At is the device's own time
	undated error // a device time is configured, and what came cannot be one: At is the arrival
	absent  bool  // the message is in order, and says nothing about this point
	refuse  error // the message holds something that could not be decoded
}

// decode reads this point out of a message that arrived at the given time.
func (p *point) decode(doc *document, arrived time.Time) outcome {
	out := outcome{reading: collectors.Reading{Point: p.name, Value: math.NaN(), Unit: collectors.Unit(p.Unit), At: arrived}}
	r := &out.reading
	raw, err := p.raw(doc)
	if err != nil {
		r.Err = fmt.Errorf("%s: %w", p.subject(), err)
		if out.absent = errors.Is(err, errAbsent); !out.absent {
			out.refuse = r.Err
		}
		return out
	}
	// A device whose clock is wrong still measures right: the level counts, at the time of its arrival.
	out.undated = p.stamp(doc, &out)
	if r.Err = p.fill(r, raw, &out); r.Err == nil {
		r.Quality = collectors.Good
	}
	return out
}

// raw is the value as the device sent it: a string, a json.Number, a bool, or nil for a JSON null or an empty payload.
func (p *point) raw(doc *document) (any, error) {
	if len(doc.payload) == 0 {
		return nil, nil
	}
	if p.value == nil {
		return string(doc.payload), nil
	}
	root, err := doc.tree()
	if err != nil {
		return nil, err
	}
	return p.value.find(root)
}

// stamp gives the reading the device's time, when one is configured and makes sense.
func (p *point) stamp(doc *document, out *outcome) error {
	if p.when == nil {
		return nil
	}
	root, err := doc.tree()
	if err != nil {
		return fmt.Errorf("time %s: %w", p.Time, err)
	}
	v, err := p.when.find(root)
	if err != nil {
		return fmt.Errorf("time %s: %w; the time of arrival is used", p.Time, err)
	}
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	}
	at, err := instant(text, out.reading.At)
	if err != nil {
		return fmt.Errorf("time %s: %w; the time of arrival is used", p.Time, err)
	}
	out.reading.At, out.timed = at, true
	return nil
}

// fill gives the reading its value. An error makes it Bad.
func (p *point) fill(r *collectors.Reading, raw any, out *outcome) error {
	refuse := func(err error) error {
		out.refuse = fmt.Errorf("%s: %w", p.subject(), err)
		return out.refuse
	}
	var text string
	switch raw := raw.(type) {
	case nil:
		return fmt.Errorf("%s is null or empty: the device has no value", p.subject())
	case bool:
		text = fmt.Sprint(raw)
	case json.Number:
		text = raw.String()
	case string:
		text = raw
	default:
		return refuse(errors.New("is an object or a list, not a value; lead the path further in"))
	}
	if p.Unit == words {
		if r.Text = strings.ToValidUTF8(strings.TrimSpace(text), "?"); r.Text == "" {
			return fmt.Errorf("%s is an empty text", p.subject())
		}
		return nil
	}
	v, err := number(text)
	if err != nil {
		return refuse(err)
	}
	if slices.Contains(p.Bad, v) {
		return fmt.Errorf("%s is %v, which means no value", p.subject(), v)
	}
	return p.scaled(r, text, v)
}

// scaled puts a raw number into the reading in its unit, and holds it against the range.
func (p *point) scaled(r *collectors.Reading, text string, v float64) error {
	if p.scale == 1 && p.Offset == 0 {
		r.Text = exactDigits(text, v)
	}
	v = v*p.scale + p.Offset
	if math.IsInf(v, 0) {
		return fmt.Errorf("%s is too large after scale and offset", p.subject())
	}
	r.Value = v
	if len(p.Range) == 2 && (v < p.Range[0] || v > p.Range[1]) {
		return fmt.Errorf("%s is %v, outside its range %v to %v %s", p.subject(), v, p.Range[0], p.Range[1], p.Unit)
	}
	return nil
}

// subject is what an error about the value is about.
func (p *point) subject() string {
	if p.value == nil {
		return "payload"
	}
	return "value " + p.Value
}
