package config

import (
	"io"
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"

	"gauger/collectors"
	"gauger/collectors/host"
	"gauger/collectors/sim"
)

// kind is a row of the table of device kinds.
type kind struct {
	key   string         // makes an entry of the devices one of this kind
	entry func() options // an entry before its keys are read

	// What follows is nil where a kind has no use for it.
	underlay    func(d *decoder, n *yaml.Node, path string)  // lays something under an entry before it is decoded
	agree       func(r *report, s siteFacts, all []deviceAt) // checks what devices of the kind must agree on
	addToSchema func(properties schemaObject)                // completes the schema of an entry
}

// kinds is the table of device kinds, in the order in which people read of them. A collector of a new protocol is a room
// below collectors, a row here with a file kind_NAME.go, and a line in cmd/gauger/device_kinds.go, where it is started.
var kinds = []kind{
	{key: "modbus", entry: newModbusEntry, underlay: (*decoder).layTemplate, agree: agreeOnLines, addToSchema: describeTemplate},
	{key: "mqtt", entry: func() options { return &mqttEntry{} }, agree: agreeOnSessions},
	{key: "recording", entry: func() options { return &recordingEntry{Options: sim.Device{Every: 10 * time.Second}} }},
	{key: "host", entry: func() options { return &hostEntry{Options: host.Device{Every: time.Minute}} }},
}

// kindOf is the row of a key; nil when there is none.
func kindOf(key string) *kind {
	for i := range kinds {
		if kinds[i].key == key {
			return &kinds[i]
		}
	}
	return nil
}

func (k kind) entryType() reflect.Type { return reflect.TypeOf(k.entry()).Elem() }

// kindKeys are the keys that decide what an entry is.
func kindKeys() []string {
	keys := make([]string, len(kinds))
	for i, k := range kinds {
		keys[i] = k.key
	}
	return keys
}

// options are one device as its kind understands it: a pointer to the struct of the kind's entry in the file.
type options interface {
	name() string
	named() *named
	device() any // a pointer to the options that the collector takes

	points() []pointOptions
	interval(point int) time.Duration            // between readings of a point; 0 when the device speaks when it likes
	without(drop func(name string) bool) options // a copy without some of its points

	mend(r *report, at string)               // puts values that can be lived with in the place of others
	check(r *report, at string, s siteFacts) // tells of what is wrong with it alone

	// plainEntry has these for kinds that have no use for them.
	complete(s siteFacts)                  // fills in what follows from the site
	origin(point string) collectors.Origin // zero: there is no such point, or nothing is known of it
	files() []*string                      // names of files in it
	mapFiles(resolve func(string) string)  // the same of names within other texts
	instance(name string) (options, bool)  // a copy in which one point of a template is a point of its own
	feeds(point int, m moveWithin)         // a point is the level of a tank, or leaves as a well's value
	unwatched(point int) (key string)      // the key that is missing, without which nobody notices that a point falls silent; empty: somebody does
	reached() (by []string)                // what it shares with others that are reached by it too
	hashUnwritten(sum io.Writer)           // adds what of how it is read no key shows
	dropDone()                             // takes away keys that have done their work once it is decoded
}

// plainEntry is embedded by the entries of kinds.
type plainEntry struct{}

func (plainEntry) complete(siteFacts)              {}
func (plainEntry) origin(string) collectors.Origin { return collectors.Origin{} }
func (plainEntry) files() []*string                { return nil }
func (plainEntry) mapFiles(func(string) string)    {}
func (plainEntry) instance(string) (options, bool) { return nil, false }
func (plainEntry) feeds(int, moveWithin)           {}
func (plainEntry) dropDone()                       {}
func (plainEntry) unwatched(int) string            { return "" }
func (plainEntry) reached() []string               { return nil }
func (plainEntry) hashUnwritten(io.Writer)         {}

// named is common to the entries of every kind.
type named struct {
	Object     string `yaml:"object" doc:"GUID of the device in the service: its diagnostics name it. Default: the site's"`
	ObjectType string `yaml:"object_type" doc:"type of that object. Default: the site's"`
}

// pointOptions are common to the points of every kind.
type pointOptions struct {
	name, unit string
	template   bool // it stands for many, which are known from the messages alone
}

// siteFacts are the facts of a site that its devices depend on.
type siteFacts struct {
	id      string
	shard   Shard
	zone    *time.Location
	remote  bool // the service is not on the box itself
	masters bool // who may read what is shared is named
}

// deviceAt is a device with its place among the devices of the file.
type deviceAt struct {
	index   int
	options options
}

// moveWithin is the most that a level or a value moves within a time, in the point's unit.
type moveWithin func(within time.Duration) float64

// What a device can keep up with.
const (
	leastEvery   = 10 * time.Millisecond
	leastTimeout = 10 * time.Millisecond
	mostTimeout  = 10 * time.Minute
	usualTimeout = time.Second
)

// pointOptionsOf are the common options of a device's points.
func pointOptionsOf[P any](points []P, of func(P) pointOptions) []pointOptions {
	all := make([]pointOptions, len(points))
	for i, p := range points {
		all[i] = of(p)
	}
	return all
}

// without is a copy of points less those with a name at which drop holds.
func without[P any](points []P, name func(P) string, drop func(name string) bool) []P {
	kept := make([]P, 0, len(points))
	for _, p := range points {
		if !drop(name(p)) {
			kept = append(kept, p)
		}
	}
	return kept[:len(kept):len(kept)]
}

// problems tells of what a kind's own check has found.
func (r *report) problems(at string, found []collectors.Problem) {
	for _, p := range found {
		where := at
		if p.Path != "" {
			where = join(at, p.Path)
		}
		r.problemf(where, "%s", p.Message)
	}
}

// hostEntry is a device of the kind host as it stands in the file.
type hostEntry struct {
	plainEntry
	Options host.Device `yaml:",inline"`
	Named   named       `yaml:",inline"`
}

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

// recordingEntry is a device of the kind recording as it stands in the file.
type recordingEntry struct {
	plainEntry
	Options sim.Device `yaml:",inline"`
	Named   named      `yaml:",inline"`
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
