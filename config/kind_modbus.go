package config

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus"
)

// modbusEntry is a device of the kind modbus as it stands in the file.
type modbusEntry struct {
	plainEntry
	Options  modbus.Device `yaml:",inline"`
	Template template      `yaml:",inline"`
	Named    named         `yaml:",inline"`
}

func newModbusEntry() options {
	return &modbusEntry{Options: modbus.Device{Unit: new(1), Every: 10 * time.Second, Timeout: time.Second}}
}

func (e *modbusEntry) name() string               { return e.Options.Name }
func (e *modbusEntry) named() *named              { return &e.Named }
func (e *modbusEntry) device() any                { return &e.Options }
func (e *modbusEntry) interval(int) time.Duration { return e.Options.Every }
func (e *modbusEntry) dropDone()                  { e.Template = template{} }

func (e *modbusEntry) mapFiles(resolve func(string) string) { e.Options.MapFiles(resolve) }

func (e *modbusEntry) points() []pointOptions {
	return pointOptionsOf(e.Options.Points, func(p modbus.Point) pointOptions { return pointOptions{name: p.Name, unit: p.Unit} })
}

// without keeps the points too that others rest on.
func (e *modbusEntry) without(drop func(name string) bool) options {
	restedOn := func(name string) bool {
		return slices.ContainsFunc(e.Options.Points, func(p modbus.Point) bool {
			return !drop(p.Name) && slices.ContainsFunc(p.Companions(), func(c modbus.Companion) bool { return c.Point == name })
		})
	}
	kept := *e
	kept.Options.Points = without(e.Options.Points, func(p modbus.Point) string { return p.Name }, func(name string) bool { return drop(name) && !restedOn(name) })
	return &kept
}

func (e *modbusEntry) origin(point string) collectors.Origin {
	for _, p := range e.Options.Points {
		if p.Name == point {
			o := collectors.Origin{Unit: collectors.Unit(p.Unit), Scale: *cmp.Or(p.Scale, new(1.0)), Add: p.Offset}
			o.Place, o.Source = e.Options.Source(p)
			return o
		}
	}
	return collectors.Origin{}
}

// feeds has the level of a tank, or what is posted of a well, on a serial line read twice, unless the file says otherwise: a frame there
// carries nothing that ties an answer to its request. Two levels may differ by what a load can move between them, and by noise.
func (e *modbusEntry) feeds(point int, m moveWithin) {
	p := &e.Options.Points[point]
	if p.Verify == "" && e.Options.SerialLine() {
		p.Verify = "twice"
	}
	p.Agree = m(e.Options.Timeout)
}

func (e *modbusEntry) reached() (by []string) {
	by = []string{e.Options.Place()}
	if e.Options.Share != "" {
		by = append(by, e.Options.Share)
	}
	return by
}

func (e *modbusEntry) hashUnwritten(sum io.Writer) {
	for _, p := range e.Options.Points {
		fmt.Fprint(sum, p.Verify, p.Agree, " ")
	}
}

func (e *modbusEntry) mend(r *report, at string) {
	if u, err := url.Parse(e.Options.URL); err == nil && u.User != nil {
		r.strictf(at+".modbus", "has a user or password in it, which Modbus does not know and everybody who reads the file sees; remove what stands before the @. Until then gauger works without it")
		u.User = nil
		e.Options.URL = u.String()
	}
	r.keepWithin(at+".every", &e.Options.Every, leastEvery, longestInterval, leastEvery)
	r.keepWithin(at+".every_while_loading", &e.Options.EveryWhileLoading, leastEvery, longestInterval, 0)
	r.keepWithin(at+".timeout", &e.Options.Timeout, leastTimeout, mostTimeout, usualTimeout)
}

func (e *modbusEntry) check(r *report, at string, site siteFacts) {
	e.checkCompanions(r, at)
	r.problems(at, e.Options.Check())
	r.checkPositive(at+".every", e.Options.Every)
	r.checkPositive(at+".timeout", e.Options.Timeout)
	for _, w := range e.Options.Warnings(site.masters) {
		r.warnf(join(at, w.Path), "%s", w.Message)
	}
	d := e.Options
	d.MapFiles(func(file string) string {
		r.checkFile(at+".modbus", file)
		return file
	})
	// A written zero is refused where leaving the key out means the usual.
	for key, zero := range map[string]bool{
		"every_while_loading": d.EveryWhileLoading == 0, "turnaround": d.Turnaround == 0, "max_registers": d.MaxRegisters == 0, "max_bits": d.MaxBits == 0,
	} {
		if zero && r.given(at+"."+key) {
			r.problemf(at+"."+key, "zero; write more, or leave it out for the usual")
		}
	}
}

// checkCompanions finds names that are no point of their device, to offer the one that was meant.
func (e *modbusEntry) checkCompanions(r *report, at string) {
	var names []string
	for _, p := range e.Options.Points {
		names = append(names, p.Name)
	}
	for i, p := range e.Options.Points {
		for _, ref := range p.Companions() {
			if ref.Point != "" && !slices.Contains(names, ref.Point) {
				r.problemf(fmt.Sprintf("%s.points[%d].%s", at, i, ref.Key), "%s is no point of this device; %s", quote(ref.Point), suggest(ref.Point, names))
			}
		}
	}
}

// agreeOnLines checks what devices that share an endpoint must agree on.
func agreeOnLines(r *report, _ siteFacts, all []deviceAt) {
	devices := make([]modbus.Device, len(all))
	for i, d := range all {
		devices[i] = d.options.(*modbusEntry).Options
		devices[i].Name = fmt.Sprintf("devices[%d] (%s)", d.index, devices[i].Name)
	}
	for _, found := range modbus.Conflicts(devices) {
		r.problemf(fmt.Sprintf("devices[%d].%s", all[found.Device].index, found.Path), "%s", found.Message)
	}
}

// describeTemplate adds the names of the register maps to the schema.
func describeTemplate(properties schemaObject) {
	properties["template"].(schemaObject)["enum"] = modbus.Templates()
}
