// Package host reads the box itself: how full its disk is, how warm it runs, whether its clock is right.
package host

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

const (
	defaultEvery      = time.Minute
	missesUntilNotice = 3 // polls in a row without a figure before anybody is told
)

// Box is a collector that reads the box on which it runs.
type Box struct {
	device Device
	source source
	points []point
}

// point is one figure and how it has been doing.
type point struct {
	name     collectors.Point
	options  Point
	figure   figure
	unit     collectors.Unit
	missed   int       // polls in a row without it
	since    time.Time // of the first of them
	reported bool      // an episode has been announced
}

// New makes the collector; the device's options must pass Check. store is the folder that disk_free_percent and
// disk_free_mib ask about when a point names no path.
func New(d Device, store string) (collectors.Collector, error) {
	return newBox(d, source{files: os.DirFS("/"), statfs: statfs, store: store})
}

// Figures are what the box tells of itself now, by the words of its points; what it does not tell is absent.
func Figures(store string) map[string]float64 {
	from, all := source{files: os.DirFS("/"), statfs: statfs, store: store}, map[string]float64{}
	for word, f := range figures {
		if v, err := f.read(from, ""); err == nil {
			all[word] = v
		}
	}
	return all
}

func newBox(d Device, from source) (*Box, error) {
	if problems := d.Check(); len(problems) > 0 {
		return nil, fmt.Errorf("device %s: %s: %s", d.Name, problems[0].Path, problems[0].Message)
	}
	if d.Every == 0 {
		d.Every = defaultEvery
	}
	b := &Box{device: d, source: from}
	for _, o := range d.Points {
		f := figures[o.Read]
		b.points = append(b.points, point{
			name: collectors.PointOf(d.Name, o.Name), options: o, figure: f, unit: collectors.Unit(o.unit()),
		})
	}
	return b, nil
}

// unit is the configured unit, or the figure's own.
func (p Point) unit() string {
	if p.Unit != "" {
		return p.Unit
	}
	return figures[p.Read].unit
}

// Run reads every point at once and then at the device's interval until ctx ends.
func (b *Box) Run(ctx context.Context, host collectors.Host) error {
	return collectors.Poll(ctx, b.device.Every, func(ctx context.Context) { b.poll(ctx, host) })
}

// poll hands over one batch. A batch that the host does not take is gone: the next poll reads anew.
func (b *Box) poll(ctx context.Context, host collectors.Host) {
	batch := b.Read()
	if host.Emit(ctx, batch) != nil {
		return
	}
	for i := range b.points {
		b.points[i].noticeMissing(ctx, host, batch[i])
	}
}

// Read asks for every point once.
func (b *Box) Read() []collectors.Reading {
	batch := make([]collectors.Reading, len(b.points))
	for i := range b.points {
		batch[i] = b.points[i].read(b.source)
	}
	return batch
}

func (p *point) read(from source) collectors.Reading {
	r := collectors.Reading{Point: p.name, Value: math.NaN(), Unit: p.unit, At: time.Now()}
	v, err := p.figure.read(from, p.options.Path)
	if err != nil {
		r.Err = err
		return r
	}
	if p.unit == "degF" {
		v = v*9/5 + 32
	}
	r.Value, r.Quality = v, collectors.Good
	if o := p.options.Range; len(o) == 2 && (v < o[0] || v > o[1]) {
		r.Quality, r.Err = collectors.Bad, fmt.Errorf("%g %s is outside %g to %g", v, p.unit, o[0], o[1])
	}
	return r
}

// noticeMissing announces that a figure stays away, and that it is back. What the host does not take is told again next time.
func (p *point) noticeMissing(ctx context.Context, host collectors.Host, r collectors.Reading) {
	n := collectors.Notice{Rule: eventrules.CommLoss, Source: string(p.name), Since: p.since}
	if !math.IsNaN(r.Value) {
		n.Until, n.Note = r.At, fmt.Sprintf("%s can be read again", p.name)
		if p.reported && host.Notice(ctx, n) != nil {
			return
		}
		p.missed, p.reported = 0, false
		return
	}
	if p.missed++; p.missed == 1 {
		p.since = r.At
	}
	if p.reported || p.missed < missesUntilNotice {
		return
	}
	n.Since, n.Note = p.since, fmt.Sprintf("%s cannot be read: %v", p.name, firstReason(r.Err))
	p.reported = host.Notice(ctx, n) == nil
}

// firstReason is the first of several errors: a note is one sentence.
func firstReason(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
		return joined.Unwrap()[0]
	}
	return err
}
