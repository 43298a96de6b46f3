package mqtt

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gauger/collectors"
)

// point is a configured point, ready for use, with what the session remembers of it.
type point struct {
	Point
	name  collectors.Point
	value path
	each  path // leads to a list, of which every element is a message of its own; nil: there is none
	when  place
	zone  *time.Location // the site's
	zones *zones         // what is known of times that do not say theirs
	guess guess          // of this point's
	grade place          // of the quality
	unit  place
	words *packed // how bytes are meant; nil: the value is text
	scale float64

	grown map[string]*point // of a template, by the topic levels in the name

	newest time.Time // latest device time that was used
	heard  time.Time // last arrival of a message, by this machine's clock
	silent time.Time // beginning of the silence for which it is Bad; zero when there is none
	hush   hush      // the silences that were announced

	latest  sampled // by the device's time
	undated undated // of the device's time
}

// place is where something stands beside the value: in the element of a list, or in the message as a whole.
type place struct {
	path   path // nil: nowhere
	inside bool
}

// newPoint prepares a point of a device. Its options have been checked; what was not is refused here.
func newPoint(device string, opts Point) (*point, error) {
	p := &point{Point: opts, name: collectors.PointOf(device, opts.Name), scale: 1, zone: time.Local, zones: &zones{}}
	if opts.Scale != nil {
		p.scale = *opts.Scale
	}
	if opts.Sparkplug != "" {
		group, node, _, err := plugPath(opts.Sparkplug)
		if err != nil {
			return nil, fmt.Errorf("sparkplug of %s: %w", p.name, err)
		}
		p.Topic = plugFilter(group, node)
	}
	if opts.Value != "" {
		whole, err := parsePath(opts.Value)
		if err != nil {
			return nil, fmt.Errorf("value %q of %s: %w", opts.Value, p.name, err)
		}
		if p.each, p.value, err = whole.split(); err != nil {
			return nil, fmt.Errorf("value %q of %s: %w", opts.Value, p.name, err)
		}
	}
	for _, other := range []struct {
		key, text string
		place     *place
	}{{"time", opts.Time, &p.when}, {"quality", opts.Quality, &p.grade}, {"unit_path", opts.UnitPath, &p.unit}} {
		var err error
		if *other.place, err = p.beside(other.text); err != nil {
			return nil, fmt.Errorf("%s %q of %s: %w", other.key, other.text, p.name, err)
		}
	}
	var err error
	if p.words, err = opts.packed(); err != nil {
		return nil, fmt.Errorf("point %s: %w", p.name, err)
	}
	return p, nil
}

// beside reads the path of something that belongs to the value. Where that stands in a list, a path that begins in
// the same way leads into the same element.
func (p *point) beside(text string) (place, error) {
	if text == "" {
		return place{}, nil
	}
	whole, err := parsePath(text)
	if err != nil {
		return place{}, err
	}
	list, rest, err := whole.split()
	switch {
	case err != nil:
		return place{}, err
	case list == nil:
		return place{path: rest}, nil
	case p.each == nil || !slices.Equal(list, p.each):
		return place{}, fmt.Errorf("leads into another list than the value %q", p.Value)
	}
	return place{rest, true}, nil
}

// bad is a reading without a value, and why.
func (p *point) bad(at time.Time, why error) collectors.Reading {
	return collectors.Reading{Point: p.name, Value: math.NaN(), Unit: collectors.Unit(p.Unit), At: at, Err: why}
}

// allBad is such a reading of each point.
func allBad(points []*point, at time.Time, why error) []collectors.Reading {
	bad := make([]collectors.Reading, len(points))
	for i, p := range points {
		bad[i] = p.bad(at, why)
	}
	return bad
}
