package modbus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/share"
)

// device is one unit with its points, and what has been learnt about it.
type device struct {
	name              string
	line              *line.Line
	unit              byte
	every             time.Duration
	everyWhileLoading time.Duration // the interval while one of its tanks is being hauled; 0: every
	timeout           time.Duration
	retries           int                   // of a request whose answer came damaged
	letOthersPass     func(context.Context) // lets more urgent units go before the next request; nil: there are none

	points         []point
	blocks         []block
	rereadPlaces   []place    // what is asked for twice
	limits         planLimits // of the configuration; the holes in it are forbidden
	holes          []hole
	holesChanged   bool                      // the holes changed since they were remembered
	suspectedHoles map[hole]int              // holes that were seen, but not often enough to believe
	unanswered     map[line.Span]int         // requests that go unanswered while the unit answers others
	parked         map[line.Span]parkedPlace // places that are refused even when asked for alone
	spoiltNext     spoiltNext
	lastDuration   time.Duration // that the last round which was answered had the line
	health         health
	cache          *share.Cache  // for other masters; nil: none
	decoding       chan struct{} // the turns to decode answers, of all lines together; nil: there is no end of them
}

// newDevice makes a device of checked options.
func newDevice(lines *line.Lines, d Device) (*device, error) {
	line, err := lines.Open(d.URL)
	if err != nil {
		return nil, fmt.Errorf("device %s: %w", d.Name, err)
	}
	points, err := compile(d)
	if err != nil {
		return nil, err
	}
	made := deviceWithoutLine(d, points, line.Endpoint())
	made.line = line
	line.Forbid(made.unit, made.limits.holes)
	made.share(d.Share)
	made.replan()
	return made, nil
}

// share keeps the answers for other masters at an address; empty: there are none. An answer is fresh for two rounds and
// a time-out: one that is late in one round is there in the next.
func (d *device) share(address string) {
	if address == "" {
		return
	}
	var spans []line.Span
	for _, p := range placesOf(d.points, func(*point) bool { return true }) {
		spans = append(spans, p.Span)
	}
	d.cache = share.NewCache(address, d.unit, 2*d.every+d.timeout, spans)
}

// deviceWithoutLine is enough to plan with.
func deviceWithoutLine(d Device, points []point, at line.Endpoint) *device {
	retries := defaultRetries
	if d.Retries != nil {
		retries = *d.Retries
	}
	return &device{
		name: d.Name, unit: byte(d.unitID()), points: points,
		every: cmp.Or(d.Every, defaultEvery), everyWhileLoading: d.EveryWhileLoading, timeout: cmp.Or(d.Timeout, line.DefaultTimeout), retries: retries,
		limits: d.planLimits(at), rereadPlaces: placesOf(points, func(p *point) bool { return p.reread }),
	}
}

func (d *device) replan() {
	t := d.limits
	t.holes = slices.Concat(t.holes, d.holes)
	d.blocks = plan(d.points, func(*point) bool { return true }, t)
	d.planAgesFirst()
}

func (d *device) blockPlaces(b block) []place {
	return placesOf(d.points, func(p *point) bool {
		return slices.ContainsFunc(b.points, func(i uint16) bool { return &d.points[i] == p })
	})
}

// requestFor asks the unit for s.
func (d *device) requestFor(s line.Span) line.Request {
	return line.Request{Unit: d.unit, Table: s.Table, Address: uint16(s.From), Quantity: uint16(s.Count)}
}
