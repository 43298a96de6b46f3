package config

import (
	"time"

	"gauger/collectors"
	"gauger/collectors/sim"
)

// recordingEntry is a device of the kind recording as it stands in the file.
type recordingEntry struct {
	plainEntry
	Options sim.Device `yaml:",inline"`
	Named   named      `yaml:",inline"`
}

func newRecordingEntry() options {
	return &recordingEntry{Options: sim.Device{Every: 10 * time.Second}}
}

func (e *recordingEntry) name() string               { return e.Options.Name }
func (e *recordingEntry) named() *named              { return &e.Named }
func (e *recordingEntry) device() any                { return &e.Options }
func (e *recordingEntry) interval(int) time.Duration { return e.Options.Every }
func (e *recordingEntry) files() []*string           { return []*string{&e.Options.File} }
func (e *recordingEntry) complete(s siteFacts)       { e.Options.Zone = s.zone }

func (e *recordingEntry) points() []pointOptions {
	return pointOptionsOf(e.Options.Points, func(p sim.Point) pointOptions { return pointOptions{name: p.Name, unit: p.Unit} })
}

func (e *recordingEntry) without(drop func(name string) bool) options {
	kept := *e
	kept.Options.Points = without(e.Options.Points, func(p sim.Point) string { return p.Name }, drop)
	return &kept
}

func (e *recordingEntry) origin(point string) collectors.Origin {
	for _, p := range e.Options.Points {
		if p.Name == point {
			return collectors.Origin{Source: "recording " + string(collectors.PointOf(e.Options.Name, point)), Unit: collectors.Unit(p.Unit), Scale: 1}
		}
	}
	return collectors.Origin{}
}

func (e *recordingEntry) mend(r *report, at string) {
	r.keepWithin(at+".every", &e.Options.Every, leastEvery, longestInterval, leastEvery)
}

func (e *recordingEntry) check(r *report, at string, s siteFacts) {
	r.problems(at, e.Options.Check())
	r.checkPositive(at+".every", e.Options.Every)
	r.checkFile(at+".recording", e.Options.File)
	if s.remote {
		r.warnf(at+".recording", "a recording makes tickets of what is past, and the service is not on this box; use it for demonstrations alone")
	}
}
