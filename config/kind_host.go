package config

import (
	"time"

	"gauger/collectors/host"
)

// hostEntry is a device of the kind host as it stands in the file.
type hostEntry struct {
	plainEntry
	Options host.Device `yaml:",inline"`
	Named   named       `yaml:",inline"`
}

func newHostEntry() options { return &hostEntry{Options: host.Device{Every: time.Minute}} }

func (e *hostEntry) name() string               { return e.Options.Name }
func (e *hostEntry) named() *named              { return &e.Named }
func (e *hostEntry) device() any                { return &e.Options }
func (e *hostEntry) interval(int) time.Duration { return e.Options.Every }

func (e *hostEntry) points() []pointOptions {
	return pointOptionsOf(e.Options.Points, func(p host.Point) pointOptions { return pointOptions{name: p.Name, unit: p.Unit} })
}

func (e *hostEntry) without(drop func(name string) bool) options {
	kept := *e
	kept.Options.Points = without(e.Options.Points, func(p host.Point) string { return p.Name }, drop)
	return &kept
}

func (e *hostEntry) mend(r *report, at string) {
	const least = 100 * time.Millisecond
	r.keepWithin(at+".every", &e.Options.Every, least, longestInterval, least)
}

func (e *hostEntry) check(r *report, at string, _ siteFacts) {
	r.problems(at, e.Options.Check())
	r.checkPositive(at+".every", e.Options.Every)
}
