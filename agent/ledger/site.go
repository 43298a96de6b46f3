package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/eventrules"
	"gauger/agent/flash"
	"gauger/agent/tank"
	"gauger/collectors"
)

// Streams of the outbox, one for each operation that writes, and one for what could not be decoded.
const (
	Tickets   = "tickets"
	Events    = "events"
	TagValues = "tagvalues"
	Targets   = "targets"
	Memos     = "memos"
	Refused   = "refused"
)

// Site is the configuration in the ledger's terms: the tanks and the points of their figures, the rules of the events, the
// values of the wells, and how tickets leave. The command builds it from the configuration.
type Site struct {
	Name, ID           string
	Object, ObjectType string // what gauger's own diagnostics name
	Zone               *time.Location
	ProductionDay      time.Duration // since local midnight
	Tanks              []Tank
	Rules              []Rule
	Values             []Value
	Linger             time.Duration // polled values wait so long for others to share a commit with; 0: they do not
	Hold               time.Duration // total time after the end of a load before its ticket leaves
	LossLimit          float64       // barrels a day that may be unexplained in the tank book
	HoldDoubtful       bool          // a doubtful ticket waits for a person
	Wire               cloud.Wire
	Config             uint32       // hash of the configuration, kept with each record
	Refusals           flash.Limits // what is stored of one device's messages that cannot be decoded

	OriginOf func(collectors.Point) collectors.Origin // how a point's value comes about; nil: nobody knows
}

// Source is a point, a constant, or nothing.
type Source struct {
	Point    collectors.Point
	Constant *float64
}

// Tank joins a tank's settings to the points that feed it.
type Tank struct {
	tank.Tank
	Water                     bool // of water: a load of it is no run
	Level, Valve, Interface   collectors.Point
	Production                collectors.Point // a totaliser of what comes into the tank; empty: none
	Top, Bottom, Gravity, BSW Source
	Offset                    tank.Length // from commissioning: added to the level
	Purchaser, Comments       string
	Object, ObjectType        string // what this tank's diagnostics name
}

// Value is a well's value that goes to the service: a tag value, or a production target.
type Value struct {
	Well   string
	Code   string
	Point  collectors.Point
	Every  time.Duration // 0: every good reading
	Target bool
}

// stream of the value's records.
func (v Value) stream() string {
	return either(v.Target, Targets, TagValues)
}

// speed of the site's time, as a multiple of the wall clock's (demonstrations only).
func (s *Site) speed() float64 {
	if len(s.Tanks) == 0 || s.Tanks[0].Loads.Speed <= 0 {
		return 1
	}
	return s.Tanks[0].Loads.Speed
}

// scaled turns a duration of the site's time into one of the wall clock's.
func (s *Site) scaled(d time.Duration) time.Duration { return time.Duration(float64(d) / s.speed()) }

// DeviceIDs are those of the service's devices to which the site's events go.
func (s *Site) DeviceIDs() (ids []string) {
	add := func(object, kind string) {
		if object != "" && strings.EqualFold(kind, "Device") && !slices.Contains(ids, object) {
			ids = append(ids, object)
		}
	}
	add(s.Object, s.ObjectType)
	for _, t := range s.Tanks {
		add(t.Object, t.ObjectType)
	}
	for _, r := range s.Rules {
		add(r.Object, r.ObjectType)
	}
	return ids
}

// productionDay is the local date of the production day that holds t.
func (s *Site) productionDay(t time.Time) string {
	local := t.In(s.Zone)
	y, m, d := local.Date()
	h, min, sec := local.Clock()
	clock := time.Duration(h)*time.Hour + time.Duration(min)*time.Minute + time.Duration(sec)*time.Second
	if clock < s.ProductionDay {
		y, m, d = time.Date(y, m, d-1, 12, 0, 0, 0, s.Zone).Date()
	}
	return time.Date(y, m, d, 12, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// Steady: after so long without a step the clock is assumed right.
func (s *Site) Steady() time.Duration { return s.scaled(clock.SteadyAfter) }

// TickEvery is the interval at which the ledger wants to hear the clock.
func (s *Site) TickEvery() time.Duration { return max(s.scaled(tickEvery), tickLimit) }

// Operations says which operation of the service takes which stream.
var Operations = map[string]cloud.Operation{
	Tickets: cloud.SaveRunTickets, Events: cloud.SaveDiagnosticEvents, TagValues: cloud.SaveObjectTagValues,
	Targets: cloud.SaveProductionTargets, Memos: cloud.AddDeviceMemo,
}

// The ledger hears the clock so often in the site's time, and never more often than the limit in real time.
const (
	tickEvery = 5 * time.Second
	tickLimit = 100 * time.Millisecond
)

// Rule is one configured diagnostic event: a condition on a point.
type Rule struct {
	Name               string
	Object, ObjectType string
	Point              collectors.Point
	Above, Below       *float64
	Equals             *float64
	Bit                *int
	Stale              time.Duration
	Bad                bool
	Clear              *float64      // where the condition ends; default: where it begins
	For                time.Duration // how long it must last to count
	Urgent             bool          // sent when it opens and again when it closes; otherwise once, when it closes
	Note               string        // {value}, {unit}, {point} are filled in
}

// tank finds a tank by its id; nil when there is none.
func (s *Site) tank(id string) *Tank {
	i := s.index(id)
	if i < 0 {
		return nil
	}
	return &s.Tanks[i]
}

// waterHauled is what the detector decided with each load of a tank of water as water that was drawn.
func (s *setups) waterHauled(out []tank.Outcome) (all []tank.Outcome) {
	for _, o := range out {
		l := o.Load
		if l == nil || !s.inForce[s.site.index(l.Tank)].Judged.Water {
			all = append(all, o)
			continue
		}
		why := fmt.Sprintf("%.1f bbl of water hauled, %.2f to %.2f in", l.RemovedBbl, l.Open, l.Close)
		note := "tank " + l.Tank + ": " + why + behind("; look at it: ", tank.JoinReasons(l.Review))
		all = append(all, tank.Outcome{Event: &tank.Event{Rule: eventrules.WaterDraw, Tank: l.Tank, Start: l.Start, End: l.End, Bbl: l.RemovedBbl, Note: note}},
			tank.Outcome{Verdict: &tank.Verdict{Tank: l.Tank, What: tank.WaterDrawn, Why: why, Start: l.Start, End: l.End, Open: l.Open, Close: l.Close, Bbl: l.RemovedBbl}})
	}
	return all
}

// errNoTank says that a tank is not configured, and which are.
func (s *Site) errNoTank(id string) error {
	var ids []string
	for i := range s.Tanks {
		ids = append(ids, s.Tanks[i].ID)
	}
	return fmt.Errorf("no tank %q is configured; the tanks are %s", id, strings.Join(ids, ", "))
}

// index is a tank's place in the configuration; -1 when it has none.
func (s *Site) index(id string) int {
	return slices.IndexFunc(s.Tanks, func(t Tank) bool { return t.ID == id })
}

// routes lead from one point to everything that its readings count for.
type routes struct {
	inputs []detectorInput
	rules  []int
	values []int
	meters []int // tanks whose production it counts
}

// detectorInput is a point's place in the detector.
type detectorInput struct {
	tank int
	kind tank.Kind
}

// routes turns the site's settings round: from each point to what it feeds.
func (s *Site) routes() map[collectors.Point]*routes {
	m := map[collectors.Point]*routes{}
	at := func(p collectors.Point) *routes {
		if m[p] == nil {
			m[p] = &routes{}
		}
		return m[p]
	}
	for i, t := range s.Tanks {
		for _, in := range []struct {
			point collectors.Point
			kind  tank.Kind
		}{
			{t.Level, tank.Level}, {t.Valve, tank.Valve}, {t.Interface, tank.Interface}, {t.Top.Point, tank.TopTemperature},
			{t.Bottom.Point, tank.BottomTemperature}, {t.Gravity.Point, tank.Gravity}, {t.BSW.Point, tank.BSW},
		} {
			if in.point != "" {
				f := at(in.point)
				f.inputs = append(f.inputs, detectorInput{i, in.kind})
			}
		}
		if t.Production != "" {
			at(t.Production).meters = append(at(t.Production).meters, i)
		}
	}
	for i, r := range s.Rules {
		at(r.Point).rules = append(at(r.Point).rules, i)
	}
	for i, v := range s.Values {
		at(v.Point).values = append(at(v.Point).values, i)
	}
	return m
}
