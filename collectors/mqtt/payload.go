package mqtt

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"gauger/collectors"
)

// maxReasons bounds what is kept of why parts of one message could not be decoded.
const maxReasons = 8

// document is the payload of one message; several points may look into it, and its JSON is checked once.
type document struct {
	payload  []byte
	isLive   bool // it is of now: it cannot have waited anywhere
	onlyCopy bool // it waited for us alone, and does not come again
	checked  bool
	root     jsonText
	err      error
	items    []jsonText // room for the elements of a list
}

func (d *document) json() (jsonText, error) {
	if !d.checked {
		d.checked = true
		d.root, d.err = checkJSON(d.payload)
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

// decode reads this point out of a message that arrived at the given time, and appends what came of it: one outcome, or one for
// each element of a list, the oldest first.
func (p *point) decode(to []outcome, doc *document, arrived time.Time) []outcome {
	if p.listPath == nil || len(doc.payload) == 0 {
		p.resolveZone(doc, make([]jsonText, 1), arrived)
		return append(to, p.decodeElement(doc, nil, arrived))
	}
	list, err := p.elements(doc)
	if err != nil {
		return append(to, p.notFound(p.newOutcome(arrived), err))
	}
	p.resolveZone(doc, list, arrived)
	before := len(to)
	for _, element := range list {
		if o := p.decodeElement(doc, element, arrived); !o.absent {
			to = append(to, o)
		}
	}
	all := to[before:]
	if len(all) == 0 {
		return append(to, p.notFound(p.newOutcome(arrived), errAbsent))
	}
	if len(all) > 1 {
		sort.SliceStable(all, func(i, j int) bool { return all[i].reading.At.Before(all[j].reading.At) })
	}
	return to
}

// elements are those of the list on the value's path. A device that has one element to tell may leave the list away.
func (p *point) elements(doc *document) ([]jsonText, error) {
	root, err := doc.json()
	if err != nil {
		return nil, err
	}
	at, err := p.listPath.lookUp(root)
	if err != nil {
		return nil, err
	}
	if doc.items = doc.items[:0]; at.isList() {
		doc.items = at.items(doc.items)
	} else {
		doc.items = append(doc.items, at)
	}
	return doc.items, nil
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
func (p *point) decodeElement(doc *document, element jsonText, arrived time.Time) outcome {
	out := p.newOutcome(arrived)
	r := &out.reading
	found, err := p.find(doc, element)
	if err != nil {
		return p.notFound(out, err)
	}
	// A device whose clock is wrong still measures right: the level counts, at the time of its arrival.
	out.timeErr = p.setTime(doc, element, &out)
	if r.Err = p.checkUnit(doc, element, &out); r.Err == nil {
		r.Err = p.setFound(r, doc, found, &out)
	}
	if r.Err == nil {
		r.Quality, r.Err = p.readQuality(doc, element)
	}
	return out
}

// find is the value in the message's JSON; nothing where the payload is empty, or the value itself.
func (p *point) find(doc *document, element jsonText) (jsonText, error) {
	switch {
	case len(doc.payload) == 0 || p.valuePath == nil:
		return nil, nil
	case p.listPath != nil:
		return p.valuePath.lookUp(element)
	}
	root, err := doc.json()
	if err != nil {
		return nil, err
	}
	return p.valuePath.lookUp(root)
}

// text is the text at a path; empty for a null, an object or a list.
func (pl relPath) text(doc *document, element jsonText) ([]byte, error) {
	at, err := element, error(nil)
	if !pl.inElement {
		at, err = doc.json()
	}
	if err == nil {
		at, err = pl.path.lookUp(at)
	}
	if err != nil {
		return nil, err
	}
	text, _ := at.scalar()
	return text, nil
}

// setTime gives the reading the device's time, when one is configured and makes sense.
func (p *point) setTime(doc *document, element jsonText, out *outcome) error {
	arrived := out.reading.At
	if p.timeAt.path == nil {
		return nil
	}
	text, err := p.timeAt.text(doc, element)
	if err == nil {
		var at time.Time
		at, err = parseTime(string(text), arrived, zoneless{p, doc.isLive})
		switch {
		case err == nil:
			out.reading.At, out.deviceTime = at, true
			return nil
		case errors.Is(err, errNewZone):
			return nil
		case errors.Is(err, errZone) && doc.onlyCopy:
			out.undecodable = fmt.Errorf("time %s is %s: %w", p.Time, excerpt(string(text)), err)
		}
	}
	return fmt.Errorf("time %s: %w; the time of arrival is used", p.Time, err)
}

// checkUnit takes the unit from the message. A device that measures in another unit than was configured is Bad: a foot
// taken for an inch is the worst of mistakes.
func (p *point) checkUnit(doc *document, element jsonText, out *outcome) error {
	if p.unitAt.path == nil {
		return nil
	}
	text, err := p.unitAt.text(doc, element)
	if err != nil {
		return fmt.Errorf("unit %s: %w", p.UnitPath, err)
	}
	unit := unitName(string(text))
	switch {
	case p.Unit == "":
		out.reading.Unit = collectors.Unit(strings.Clone(unit))
	case unit != unitName(p.Unit):
		return fmt.Errorf("unit %s is %s, and unit: %s is configured", p.UnitPath, excerpt(string(text)), p.Unit)
	}
	return nil
}

// readQuality reads the value's quality from the message.
func (p *point) readQuality(doc *document, element jsonText) (collectors.Quality, error) {
	if p.qualityAt.path == nil {
		return collectors.Good, nil
	}
	text, err := p.qualityAt.text(doc, element)
	if err != nil {
		return collectors.Uncertain, fmt.Errorf("quality %s: %w", p.Quality, err)
	}
	return parseQuality(string(text), p.GoodQuality)
}

// setFound gives the reading the value that was found in a message. An error makes it Bad.
func (p *point) setFound(r *collectors.Reading, doc *document, found jsonText, out *outcome) error {
	text, scalar := found.scalar()
	switch {
	case len(doc.payload) > 0 && p.valuePath == nil:
		text = doc.payload
	case found.isNull():
		return p.noValue()
	case !scalar:
		return p.refuse(out, errors.New("is an object or a list, not a value; lead the path further in"))
	}
	return p.setValue(r, string(text), out)
}

// noValue says that the device has sent none.
func (p *point) noValue() error {
	return fmt.Errorf("%s is null or empty: the device has no value", p.subject())
}

// refuse says why a value could not be decoded, so that its message is kept.
func (p *point) refuse(out *outcome, err error) error {
	out.undecodable = fmt.Errorf("%s: %w", p.subject(), err)
	return out.undecodable
}

// setValue gives the reading a value as the device writes it, and keeps nothing of the text. An error makes it Bad.
func (p *point) setValue(r *collectors.Reading, text string, out *outcome) error {
	if p.Unit == textUnit {
		if r.Text = strings.Clone(strings.ToValidUTF8(strings.TrimSpace(text), "?")); r.Text == "" {
			return fmt.Errorf("%s is an empty text", p.subject())
		}
		return nil
	}
	if p.registers != nil {
		v, digits, err := p.registers.decodeRegisters(text)
		if err != nil {
			return p.refuse(out, err)
		}
		return p.setScaled(r, digits, v)
	}
	v, err := parseNumber(p.trimUnit(text))
	if err == nil && !strings.ContainsAny(text, "0123456789") && slices.Contains([]string{"in", "ft", "m", "cm", "mm"}, unitName(p.Unit)) {
		err = fmt.Errorf("is %s, a switch and no length; lead value: to the number, or take unit: %s away", excerpt(text), p.Unit)
	}
	if err != nil {
		return p.refuse(out, err)
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
func (p *point) accept(o *outcome, a arrival) bool {
	r := &o.reading
	if o.absent || a.Retained() && o.deviceTime && !r.At.After(p.newestTime) {
		return false
	}
	if o.deviceTime && r.At.After(p.newestTime) {
		p.newestTime = r.At
	}
	if r.Quality == collectors.Good && !o.deviceTime && (a.waited || a.Retained()) {
		r.Quality, r.AgeUnknown, r.Err = collectors.Uncertain, true, ageUnknown[a.Retained()]
	}
	p.lostWithBroker = false
	return true
}

// oversizedOutcome makes the outcome of a message too long to be taken whole.
func (p *point) oversizedOutcome(a arrival, limit int) outcome {
	out := p.newOutcome(a.at)
	out.undecodable = fmt.Errorf("payload of %d bytes is longer than a packet may be (%d); only its beginning was kept", a.sentLen, limit)
	out.reading.Err = out.undecodable
	return out
}
