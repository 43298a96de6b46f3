// Package collectors holds the words of the gathering side: what a reading is, how good it is, which point it
// belongs to, and what a collector may ask of the agent that hosts it. It imports nothing of ours, so that a
// collector can be built and tested knowing only this page; poll.go has the beat of those that ask, and how a part
// shows that it does not hang (pulse_fault.go and pulse_faultless.go: a program that hangs, for the test of the watchdog), tls.go the files
// of a secured connection.
//
// Decisions:
//   - A batch is lent. A host keeps nothing of the slice that it is given, so that a poll fills one which an earlier poll has
//     used; what must stay (the newest reading of each point) the agent keeps in a shape of its own.
//   - Past readings are not seen by tanks, event rules, the recorder and the newest readings; values that are sent every time
//     get them under their own time.
package collectors

import (
	"context"
	"strings"
	"time"
)

// Quality says how far a reading may be trusted. The zero value is Bad, so that a forgotten field never passes for good.
type Quality uint8

// Bad readings never become money; Uncertain ones are shown and counted, but make no ticket; Good ones do.
const (
	Bad Quality = iota
	Uncertain
	Good
)

// String is the lower-case word that people and programs see.
func (q Quality) String() string {
	switch q {
	case Good:
		return "good"
	case Uncertain:
		return "uncertain"
	}
	return "bad"
}

// Point names one measured thing at the site: the device's name, a slash, the point's name ("battery-plc/tk1-level").
type Point string

// PointOf joins a device's name and a point's.
func PointOf(device, point string) Point { return Point(device + "/" + point) }

// Unit is the engineering unit of a value as configured: in, ft, m, percent, degF, degC, bbl, psi and so on.
type Unit string

// barrelsPer unit of a volume; mbbl is a thousand of them.
var barrelsPer = map[string]float64{"": 1, "bbl": 1, "gal": 1. / 42, "m3": 6.28981077, "l": 0.00628981077, "ft3": 1728. / 9702, "mbbl": 1000}

// Barrels turns a volume in the unit into barrels of 42 US gallons; false: it is no unit of a volume.
func (u Unit) Barrels(v float64) (float64, bool) {
	per, ok := barrelsPer[strings.ToLower(string(u))]
	return v * per, ok
}

// Fahrenheit turns a temperature in the unit into degrees Fahrenheit; false: it is no unit of a temperature.
func (u Unit) Fahrenheit(v float64) (float64, bool) {
	switch strings.ToLower(string(u)) {
	case "degf", "f", "fahrenheit":
		return v, true
	case "degc", "c", "celsius":
		return v*9/5 + 32, true
	case "k", "kelvin":
		return (v-273.15)*9/5 + 32, true
	}
	return 0, false
}

// Origin says how a point's value comes about: a number that is read somewhere, times Scale, and Add more, in Unit. The ledger
// stores it; the zero Origin says that nothing is known.
type Origin struct {
	Place      string  `json:",omitempty"` // address or port of the device, where it has one
	Source     string  `json:",omitempty"` // where the number is read there and how its bits become one; empty: not known
	Unit       Unit    `json:",omitempty"`
	Scale, Add float64 `json:",omitempty"`
}

// Reading is one value of one point at one instant.
type Reading struct {
	Point Point
	// Value is the number in Unit after scale and offset; NaN when there is none.
	Value float64
	// Text is a value that is no number: a status text, or every digit of a 64-bit integer beyond 2^53.
	Text    string
	Unit    Unit
	Quality Quality
	// Past marks a value that a device kept and tells afterwards: it says how things were at At, and nothing about now.
	Past bool
	// AgeUnknown marks a value of which nothing tells when it was true: it has no time of its own and may have waited on
	// its way for any length of time. It is never Good, and the agent counts it where it would have been used.
	AgeUnknown bool
	// Asked is the time at which the device was asked for it; zero where it speaks when it likes, or was not asked.
	Asked time.Time
	// At is the time at which the value was true at its source: its answer's arrival, unless the device knows better. From time.Now
	// it carries the monotonic clock, and then durations survive a step of the wall clock; a device's own time carries
	// none.
	At time.Time
	// Boot and Mono are set by a recording only: the boot count of the recorded box (from 1) and its monotonic
	// clock since then. Where Boot is 0 the agent takes its own.
	Boot int64
	Mono time.Duration
	// Err says why the reading is not Good; nil for a Good one.
	Err error
}

// Collector turns one or more field devices into readings.
type Collector interface {
	// Run polls or listens until ctx ends, and returns nil then. It is called once, from a goroutine of its own.
	// A device that is away, refuses or talks nonsense is not an error of Run: it is Bad readings and a Notice.
	// An error means that this collector can never work (its options contradict each other).
	Run(ctx context.Context, host Host) error
}

// Named is a collector and the name under which it remembers things.
type Named struct {
	Name      string
	Collector Collector
}

// Refusal is something that came from a device and could not be decoded.
type Refusal struct {
	Device string // whose it is; where that is not known the names of all devices of a shared session, with commas between; empty: the collector's
	Source string // a topic, a register, a line
	Raw    []byte // as it came
	Err    error  // why
	At     time.Time
	Old    bool    // it may be older than At, so that only a time of its own counts
	Given  []Point // what could be decoded in it all the same, and was handed over
}

// Decoder is a collector that can decode again what was refused, with the options that it has now.
type Decoder interface {
	// Decoder returns a function for one goroutine, which has nothing to do with what the collector itself does
	// meanwhile: it gives the readings of a refusal but those of the points that were given. The error says why there are
	// none, or not all.
	Decoder() func(Refusal) ([]Reading, error)
}

// Speaker is a collector of devices that speak when they like: of some points there may never be a reading.
type Speaker interface {
	// Points are those that the configuration names, in its order.
	Points() []Point
}

// Host is the agent's side toward a collector. All methods may be called from any goroutine.
type Host interface {
	// Emit hands over one batch: all points of one poll, or all messages that arrived while the last commit ran.
	// nil means that whatever this batch changed is on disk, and a device may be told so; only values of readings that were Asked
	// for, which no device waits to be told of, may follow within a bound that the site has set. After an error nothing
	// of the batch counts: a poll simply comes again, a message stays unacknowledged. The host keeps nothing of the
	// slice: the collector may fill it again after Emit has returned.
	Emit(ctx context.Context, batch []Reading) error
	// Keeps says whether something that could not be decoded is to go to Refuse. Otherwise one like it is kept, or its device has
	// sent more of it than there is room for: it has been counted, and a device may be told that it arrived.
	Keeps(r Refusal) bool
	// Refuse keeps what could not be decoded. nil: all of it is on disk. Each call costs some pages of flash, so that a collector gathers
	// for a moment.
	Refuse(ctx context.Context, batch []Refusal) error
	// Notice tells of something that happened to a session, a line or a unit.
	Notice(ctx context.Context, n Notice) error
	// Recall and Remember are a little memory over restarts (subscribed topics, split blocks, a position).
	// Recall returns nil when nothing was remembered; Remember(nil) forgets.
	Recall(name string) ([]byte, error)
	Remember(name string, v []byte) error
	// Hurry says whether one of the points is the level of a tank that is being hauled: a draw has begun and is not
	// decided yet. It is cheap; a collector may ask it after every poll.
	Hurry(points []Point) bool
}

// ReplayPosition is the name under which the agent keeps, in the same transaction as the tanks' state, the Boot and
// Mono of the last batch of a recording that this state holds ("BOOT NANOSECONDS", decimal). A recording asks for it
// with Recall at its start and goes on after it.
const ReplayPosition = "replay-position"

// Notice is one thing worth an event: a session lost, a subscription refused, a unit that does not answer.
type Notice struct {
	Rule   string    // a name of package eventrules
	Source string    // what it is about: a device, a point, a broker. Rule and Source together name an episode
	Note   string    // a sentence for a person
	Since  time.Time // onset
	Until  time.Time // end; zero while it lasts. An episode is announced open, then closed; equal to Since for an instant
}

// Problem is one mistake in a device's options, as the Check functions of the device kinds return it.
type Problem struct {
	// Path is the place within the device, in the configuration's own keys: "points[2].holding"; empty for the device itself.
	Path string
	// Message says what is wrong and what would be right.
	Message string
}

// WithoutUser hides what may be a user and password in an address: everything before the last @.
func WithoutUser(address string) string {
	if i := strings.LastIndex(address, "@"); i >= 0 {
		return "..." + address[i:]
	}
	return address
}
