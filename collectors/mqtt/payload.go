package mqtt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"gauger/collectors"
)

// maxReasons bounds what is kept of why parts of one message could not be decoded.
const maxReasons = 8

// document is the payload of one message; several points may look into it, and its JSON is decoded once.
type document struct {
	payload  []byte
	isLive   bool // it is of now: it cannot have waited anywhere
	onlyCopy bool // it waited for us alone, and does not come again
	decoded  bool
	root     any
	err      error
}

// json decodes the payload as JSON. Its depth is bounded by encoding/json, its size by the packet limit.
func (d *document) json() (any, error) {
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

// outcome is the reading of one point from one message, or from one element of its list.
type outcome struct {
	point       *point
	reading     collectors.Reading
	deviceTime  bool  // At is the device's own time, understood and believed
	timeErr     error // a device time is configured, and what came cannot be one: At is the arrival
	absent      bool  // the message is in order, and says nothing about this point
	undecodable error // the message holds something that could not be decoded
}

// newOutcome is an outcome without a value yet.
func (p *point) newOutcome(arrived time.Time) outcome {
	return outcome{point: p, reading: p.badReading(arrived, nil)}
}

// decode reads this point out of a message that arrived at the given time: once, or once for each element of a list,
// the oldest first.
func (p *point) decode(doc *document, arrived time.Time) []outcome {
	if p.listPath == nil || len(doc.payload) == 0 {
		p.resolveZone(doc, []any{nil}, arrived)
		return []outcome{p.decodeElement(doc, nil, arrived)}
	}
	list, err := p.elements(doc)
	if err != nil {
		return []outcome{p.notFound(p.newOutcome(arrived), err)}
	}
	p.resolveZone(doc, list, arrived)
	all := make([]outcome, 0, min(len(list), 64))
	for _, element := range list {
		if o := p.decodeElement(doc, element, arrived); !o.absent {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		return []outcome{p.notFound(p.newOutcome(arrived), errAbsent)}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].reading.At.Before(all[j].reading.At) })
	return all
}

// elements are those of the list on the value's path. A device that has one element to tell may leave the list away.
func (p *point) elements(doc *document) ([]any, error) {
	root, err := doc.json()
	if err != nil {
		return nil, err
	}
	at, err := p.listPath.lookUp(root)
	if err != nil {
		return nil, err
	}
	if list, ok := at.([]any); ok {
		return list, nil
	}
	return []any{at}, nil
}

// notFound is the outcome of a message in which the value was not found.
func (p *point) notFound(out outcome, err error) outcome {
	out.reading.Err = fmt.Errorf("%s: %w", p.subject(), err)
	if out.absent = errors.Is(err, errAbsent); !out.absent {
		out.undecodable = out.reading.Err
	}
	return out
}

// decodeElement reads one value.
func (p *point) decodeElement(doc *document, element any, arrived time.Time) outcome {
	out := p.newOutcome(arrived)
	r := &out.reading
	raw, err := p.rawValue(doc, element)
	if err != nil {
		return p.notFound(out, err)
	}
	// A device whose clock is wrong still measures right: the level counts, at the time of its arrival.
	out.timeErr = p.setTime(doc, element, &out)
	if r.Err = p.checkUnit(doc, element, &out); r.Err == nil {
		r.Err = p.setValue(r, raw, &out)
	}
	if r.Err == nil {
		r.Quality, r.Err = p.readQuality(doc, element)
	}
	return out
}

// rawValue is the value as the device sent it: a string, a json.Number, a bool, or nil for a JSON null or an empty payload.
func (p *point) rawValue(doc *document, element any) (any, error) {
	switch {
	case len(doc.payload) == 0:
		return nil, nil
	case p.listPath != nil:
		return p.valuePath.lookUp(element)
	case p.valuePath == nil:
		return string(doc.payload), nil
	}
	root, err := doc.json()
	if err != nil {
		return nil, err
	}
	return p.valuePath.lookUp(root)
}

// text is the text at a path; empty for a null, an object or a list.
func (pl relPath) text(doc *document, element any) (string, error) {
	at, err := element, error(nil)
	if !pl.inElement {
		at, err = doc.json()
	}
	if err == nil {
		at, err = pl.path.lookUp(at)
	}
	switch v := at.(type) {
	case string:
		return v, err
	case json.Number:
		return v.String(), err
	case bool:
		return fmt.Sprint(v), err
	}
	return "", err
}

// setTime gives the reading the device's time, when one is configured and makes sense.
func (p *point) setTime(doc *document, element any, out *outcome) error {
	arrived := out.reading.At
	if p.timeAt.path == nil {
		return nil
	}
	text, err := p.timeAt.text(doc, element)
	if err == nil {
		var at time.Time
		at, err = parseTime(text, arrived, func(text string) (time.Time, error) { return p.parseZoneless(text, arrived, doc.isLive) })
		switch {
		case err == nil:
			out.reading.At, out.deviceTime = at, true
			return nil
		case errors.Is(err, errNewZone):
			return nil
		case errors.Is(err, errZone) && doc.onlyCopy:
			out.undecodable = fmt.Errorf("time %s is %s: %w", p.Time, excerpt(text), err)
		}
	}
	return fmt.Errorf("time %s: %w; the time of arrival is used", p.Time, err)
}

// checkUnit takes the unit from the message. A device that measures in another unit than was configured is Bad: a foot
// taken for an inch is the worst of mistakes.
func (p *point) checkUnit(doc *document, element any, out *outcome) error {
	if p.unitAt.path == nil {
		return nil
	}
	text, err := p.unitAt.text(doc, element)
	if err != nil {
		return fmt.Errorf("unit %s: %w", p.UnitPath, err)
	}
	unit := unitName(text)
	switch {
	case p.Unit == "":
		out.reading.Unit = collectors.Unit(unit)
	case unit != unitName(p.Unit):
		return fmt.Errorf("unit %s is %s, and %s is configured", p.UnitPath, excerpt(text), p.Unit)
	}
	return nil
}

// readQuality reads the value's quality from the message.
func (p *point) readQuality(doc *document, element any) (collectors.Quality, error) {
	if p.qualityAt.path == nil {
		return collectors.Good, nil
	}
	text, err := p.qualityAt.text(doc, element)
	if err != nil {
		return collectors.Uncertain, fmt.Errorf("quality %s: %w", p.Quality, err)
	}
	return parseQuality(text, p.GoodQuality)
}

// setValue gives the reading its value. An error makes it Bad.
func (p *point) setValue(r *collectors.Reading, raw any, out *outcome) error {
	refuse := func(err error) error {
		out.undecodable = fmt.Errorf("%s: %w", p.subject(), err)
		return out.undecodable
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
	if p.Unit == textUnit {
		if r.Text = strings.ToValidUTF8(strings.TrimSpace(text), "?"); r.Text == "" {
			return fmt.Errorf("%s is an empty text", p.subject())
		}
		return nil
	}
	if p.registers != nil {
		v, digits, err := p.registers.decodeRegisters(text)
		if err != nil {
			return refuse(err)
		}
		return p.setScaled(r, digits, v)
	}
	v, err := parseNumber(p.trimUnit(text))
	if err != nil {
		return refuse(err)
	}
	return p.setScaled(r, text, v)
}

// setScaled puts a raw number into the reading in its unit, unless it is one that means no value, and holds it against
// the range.
func (p *point) setScaled(r *collectors.Reading, text string, v float64) error {
	if slices.ContainsFunc(p.Bad, func(b float64) bool { return b == v || p.registers.isFloat32() && float32(b) == float32(v) }) {
		return fmt.Errorf("%s is %v, which means no value", p.subject(), v)
	}
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

// subject names the value in an error about it.
func (p *point) subject() string {
	switch {
	case p.Sparkplug != "":
		return "metric " + p.Metric
	case p.Value == "":
		return "payload"
	}
	return "value " + p.Value
}

// trimUnit takes the point's own unit off the end of a number, where a device writes it there: 12.5 in.
func (p *point) trimUnit(text string) string {
	trimmed := strings.TrimSpace(strings.TrimRight(text, "\x00"))
	end := strings.LastIndexAny(trimmed, "0123456789.") + 1
	if after := trimmed[end:]; end > 0 && p.Unit != "" && after != "" && unitName(after) == unitName(p.Unit) {
		return trimmed[:end]
	}
	return text
}

// ageUnknown says why the age of a value is not known, by whether the broker had retained it.
var ageUnknown = map[bool]error{
	false: errors.New("may have waited at the broker, without a time of the device: its age is not known"),
	true:  errors.New("retained by the broker, without a time of the device: its age is not known"),
}

// accept decides whether an outcome is used, and how good it is. A retained message may be any age: it counts only
// when the device says that it is newer than what we have.
func (p *point) accept(o outcome, a arrival) (collectors.Reading, bool) {
	r := o.reading
	if o.absent || a.Retained() && o.deviceTime && !r.At.After(p.newestTime) {
		return r, false
	}
	if o.deviceTime && r.At.After(p.newestTime) {
		p.newestTime = r.At
	}
	if r.Quality == collectors.Good && !o.deviceTime && (a.waited || a.Retained()) {
		r.Quality, r.AgeUnknown, r.Err = collectors.Uncertain, true, ageUnknown[a.Retained()]
	}
	return r, true
}

// oversizedOutcome makes the outcome of a message too long to be taken whole.
func (p *point) oversizedOutcome(a arrival, limit int) outcome {
	out := p.newOutcome(a.at)
	out.undecodable = fmt.Errorf("payload of %d bytes is longer than a packet may be (%d); only its beginning was kept", a.sentLen, limit)
	out.reading.Err = out.undecodable
	return out
}
