// Package host reads the box itself: how full its disk is, how warm it runs, whether its clock is right.
package host

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
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
	name    collectors.Point
	options Point
	figure  figure
	unit    collectors.Unit
	missed  int       // polls in a row without it
	since   time.Time // of the first of them
	told    string    // the reason of the episode that was announced; empty: none was
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
	d.Every = cmp.Or(d.Every, defaultEvery)
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
		if p.told != "" && host.Notice(ctx, n) != nil {
			return
		}
		p.missed, p.told = 0, ""
		return
	}
	if p.missed++; p.missed == 1 {
		p.since = r.At
	}
	n.Since, n.Note = p.since, fmt.Sprintf("%s cannot be read: %v", p.name, firstReason(r.Err))
	if p.missed >= missesUntilNotice && n.Note != p.told && host.Notice(ctx, n) == nil {
		p.told = n.Note
	}
}

// firstReason is the first of several errors: a note is one sentence.
func firstReason(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
		return joined.Unwrap()[0]
	}
	return err
}

// Device is the box itself as a source of readings.
type Device struct {
	Name   string        `yaml:"name" doc:"name of the device; points are named NAME/POINT"`
	Host   string        `yaml:"host" doc:"the word self"`
	Every  time.Duration `yaml:"every" doc:"poll interval. Default 60s"`
	Points []Point       `yaml:"points" doc:"what to watch"`
}

// Point is one figure of the box.
type Point struct {
	Name  string    `yaml:"name" doc:"name of the point within its device"`
	Read  string    `yaml:"read" doc:"disk_free_percent disk_free_mib memory_available_mib cpu_temperature load_1m uptime_s clock_synchronized"`
	Path  string    `yaml:"path" doc:"for disk_free_*: a folder on the file system; default the store. For cpu_temperature: a thermal zone file"`
	Unit  string    `yaml:"unit" doc:"engineering unit; default follows the figure"`
	Range []float64 `yaml:"range" doc:"[low, high]: a value outside is Bad"`
}

// Check returns what is wrong with the options; nothing when they can be used.
func (d Device) Check() []collectors.Problem {
	var found []collectors.Problem
	add := func(path, format string, args ...any) {
		found = append(found, collectors.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if d.Name == "" {
		add("name", "missing; points are named NAME/POINT")
	}
	if d.Host != "self" {
		add("host", "%q; the only host is self, the box on which gauger runs", d.Host)
	}
	if d.Every < 0 {
		add("every", "%s is negative; give an interval like 60s, or leave it away", d.Every)
	}
	if len(d.Points) == 0 {
		add("points", "missing; list what to watch, like {name: disk-free, read: disk_free_percent}")
	}
	seen := map[string]int{}
	for i, p := range d.Points {
		for _, problem := range p.check() {
			add(fmt.Sprintf("points[%d].%s", i, problem.Path), "%s", problem.Message)
		}
		if first, twice := seen[p.Name]; twice && p.Name != "" {
			add(fmt.Sprintf("points[%d].name", i), "%q is already points[%d]; each point needs a name of its own", p.Name, first)
		}
		seen[p.Name] = i
	}
	return found
}

func (p Point) check() []collectors.Problem {
	var found []collectors.Problem
	add := func(path, format string, args ...any) {
		found = append(found, collectors.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case p.Name == "":
		add("name", "missing; give the part after the slash, like disk-free")
	case strings.ContainsAny(p.Name, "/,\" \t\r\n"):
		add("name", "%q has a slash, comma, quote or blank; use letters, digits, - and _", p.Name)
	}
	f, known := figures[p.Read]
	if !known {
		add("read", "%q; choose one of %s", p.Read, strings.Join(figureWords, ", "))
		return found
	}
	if units := slices.DeleteFunc([]string{f.unit, f.more}, func(u string) bool { return u == "" }); p.Unit != "" && !slices.Contains(units, p.Unit) {
		add("unit", "%s is told in %s, not %s", p.Read, cmp.Or(strings.Join(units, " or "), "a plain number"), p.Unit)
	}
	if p.Path != "" && !takesPath(p.Read) {
		add("path", "%s needs no path; leave it away", p.Read)
	}
	if p.Path != "" && p.Path[0] != '/' {
		add("path", "%s is not absolute; begin with a slash", p.Path)
	}
	if len(p.Range) != 0 && (len(p.Range) != 2 || !(p.Range[0] < p.Range[1])) {
		add("range", "%v; give two numbers, the low one first", p.Range)
	}
	return found
}

func takesPath(read string) bool {
	return strings.HasPrefix(read, "disk_free_") || read == "cpu_temperature"
}
