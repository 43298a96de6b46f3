package tank

import (
	"strings"
	"time"
)

// Kind says what an Input is about.
type Kind uint8

// The kinds of input. A Tick is the clock alone: it finishes what has waited long enough,
// for every tank, also when readings have stopped. About one a minute of site time is right.
const (
	Level             Kind = iota // inches
	TopTemperature                // degF
	BottomTemperature             // degF
	Interface                     // inches, the oil/water interface above the same reference
	Valve                         // 0 closed, else open
	Gravity                       // as measured; no unit is assumed
	BSW                           // as measured; no unit is assumed
	Tick                          // Tank and Value mean nothing
	kindCount
)

// Input is one thing that became known.
type Input struct {
	Kind  Kind
	Tank  int           // index into the tanks of NewSite; out of range is ignored
	Value float64       // see the kinds; a value that is no number is a fault, never a level
	Good  bool          // the device vouches for it
	At    time.Time     // wall clock as stamped; it may jump, come late, or come twice
	One   bool          // At and Mono are one look at the box's two clocks: where they part, the wall clock was set
	Mono  time.Duration // a clock that never steps; its base is its own for every Boot
	Boot  int64         // another boot: Mono has another base, and what was only in memory is lost
	Box   int64         // not 0: Mono goes on from one Boot to the next as long as this is the same
}

// Outcome is one thing that was decided: exactly one of them is set. A Verdict may tell of the
// same movement as an Event beside it: the one is for the service, the other for people who ask
// why there is no ticket.
type Outcome struct {
	Load       *Load
	Event      *Event
	Correction *Correction
	Verdict    *Verdict
}

// Load is one removal from one tank, finished and confirmed. Levels are as gauged; the
// oil that flowed in meanwhile is apart, in InflowBbl.
type Load struct {
	Tank           string
	Began          time.Time  // the start as it was fixed when the draw was first seen and stored: what a ticket number is made of
	Start          time.Time  // instant of the opening, by the newest clock
	End            time.Time  // instant of the closing
	Open           float64    // inches at the start
	Close          float64    // inches at the end
	GaugeBbl       float64    // table volume of Open less that of Close
	InflowBbl      float64    // barrels that flowed in from Start to End, or until a group's closing is read, estimated
	InflowErrorBbl float64    `json:",omitempty"` // twice its standard error; 0 in loads of before it was kept
	InflowUnknown  bool       // nothing at rest was seen before the load or after it: InflowBbl is 0 for want of knowledge
	RemovedBbl     float64    // GaugeBbl + InflowBbl
	Rate           float64    // barrels removed per minute of site time, over the whole load
	Sigma          float64    // inches, the sensor's noise
	Confidence     float64    // chance that GaugeBbl is right to the greater of a barrel and a hundredth; at most 0.99
	ErrorBbl       float64    // twice the standard error of GaugeBbl: in 19 of 20 loads it is off by less
	ErrorBasis     ErrorBasis `json:"-"` // what ErrorBbl was made of; not kept
	Parts          int        // 1 and the number of pauses
	Samples        int        // readings from Start to End
	Gap            time.Duration
	Review         []string // reasons why a person should look; empty when good
	Remarks        []string // what a reader should know and is no reason for doubt, as a step of the clock that was followed
	Table          string   // strap or geometry
	Group          string   // group of the tank
	GroupBbl       float64  // gauged volume of all tanks of the group over this load; 0 without a group

	OpenBbl  float64 `json:",omitempty"` // table volume of Open, barrels; 0 in loads of before it was kept
	CloseBbl float64 `json:",omitempty"`
	Trend    *Trend  `json:",omitempty"` // nil in loads of before it was kept
	Rivals   *Rivals `json:",omitempty"`
	Unseen   *Span   `json:",omitempty"` // the readings before and after, where none came inside: see Hidden

	// Level of the oil/water interface in inches at the opening and the closing; nil: it is not known.
	OpenWater, CloseWater *float64 `json:",omitempty"`

	// As measured at the opening, the Closing ones at the closing; nil: no measurement.
	TopTemperature, BottomTemperature, ClosingTop, ClosingBottom, Gravity, BSW *float64
}

// hauledBbl are the gauged barrels that one truck, or more of them, took: of all tanks of a group, which are drawn from together.
func (l Load) hauledBbl() float64 { return max(l.GaugeBbl, l.GroupBbl) }

// Event is a diagnostic: a movement that is no run, or a fault of a sensor or clock. Rule is a name of package
// eventrules. Note names the tank and the values.
type Event struct {
	Rule, Tank, Note string
	Start, End       time.Time
	Bbl              float64 // barrels that moved; 0 where the rule is not about a movement
	To               string  // of a transfer: the tank that rose most
	Slow             bool    // of a loss: over hours, at rest
}

// Correction tells of a load that was reported what became known since: something about its levels, which Note says, or its
// times by a clock that was set since.
type Correction struct {
	Tank       string
	Began      time.Time // the load's, as it was reported: it names the load
	Note       string    // about its levels, in a sentence; empty: it is about its times
	BackBbl    float64   // barrels that came back into the tank between these times, as its inflow never does
	BackFrom   time.Time
	BackTo     time.Time
	Start, End time.Time // the load's times by the newest clock
	Settled    bool      // the clock has not been set again for a while
}

// Verdict says why a fall is no ticket, or not yet one. Levels are
// inches, as gauged.
type Verdict struct {
	Tank  string    `json:"tank"`
	What  string    `json:"what"`
	Why   string    `json:"why"` // with the figures that decided
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Open  float64   `json:"open_in"`
	Close float64   `json:"close_in"`
	Bbl   float64   `json:"bbl"`            // that left the tank, what flowed in meanwhile included
	Until time.Time `json:"until,omitzero"` // of one that waits: when its confirmation ends; zero: that hangs on what comes

	Returned bool `json:"returned,omitempty"` // of a small one: its oil came back, and Bbl is what went round

	Unseen *Span `json:"unseen,omitempty"` // the readings before and after, where none came inside; nil: readings show it
}

// What a fall of the level was that made no ticket.
const (
	Metered       = "lact"     // a meter makes this tank's tickets
	TooSmall      = "small"    // less than Loads.MinLoad
	TooSlow       = "loss"     // slower than Loads.MinRate
	TooLongUnseen = "unseen"   // over a longer gap than Loads.MaxGapTicket
	WaterDrawn    = "water"    // the oil/water interface fell with the level
	Transferred   = "transfer" // other tanks of the site rose
	Recirculated  = "recirc"   // it came back
	Echo          = "echo"     // a false echo that was believed
	Undecided     = "waiting"  // it is not decided yet
)

// Trend is the level about a load, thinned, for people to look at.
type Trend struct {
	Seconds []int32 `json:"s"`      // after the load's start, by the wall clock; negative before it
	Level   []int32 `json:"in_100"` // hundredths of an inch
}

// Rivals are the other explanations of a load's fall, with the figures that speak against them.
type Rivals struct {
	MinLoad float64       `json:"min_load_bbl"`       // settings of then
	MinRate float64       `json:"min_rate"`           // barrels per minute
	Others  int           `json:"others"`             // other tanks of the site that are watched
	Rose    string        `json:"rose,omitempty"`     // the one of them that rose most meanwhile
	RoseBbl float64       `json:"rose_bbl"`           // barrels by which they all rose beyond their own inflow
	Unread  []string      `json:"unread,omitempty"`   // the others of them of which nobody knows it
	BackIn  float64       `json:"back_in"`            // inches that came back after the end, beyond the inflow
	Watched time.Duration `json:"watched_ns"`         // site time from the end to the decision
	WaterIn *float64      `json:"water_in,omitempty"` // inches by which the oil/water interface fell; nil: it is not measured
}

// Span is a stretch of time by the wall clock.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Reasons for a review that say that readings do not show all of a load.
const (
	BeganBefore   = "it began before the first reading"
	StoppedInside = "the readings stopped while the level fell"
)

// Least is the reason for which a load's volume is the least that was taken; empty: the readings are of all of it.
func (l *Load) Least() string {
	for _, why := range l.Review {
		if why == BeganBefore || why == StoppedInside {
			return why
		}
	}
	return ""
}

// Hidden is the time between the readings before and after a load inside of which none came; nil: readings show the load.
// Start, End, Rate and Parts are estimates then, and nothing may be said from them.
func (l *Load) Hidden() *Span {
	if l.Unseen != nil || l.Samples > 0 {
		return l.Unseen
	}
	s := &Span{l.Start, l.End} // a load of before the span was kept
	if l.Trend == nil {
		return s
	}
	for _, sec := range l.Trend.Seconds {
		at := l.Start.Add(time.Duration(sec) * time.Second)
		if !at.After(l.Start) {
			s.From = at
		} else if !at.Before(l.End) {
			s.To = at
			break
		}
	}
	return s
}

// JoinReasons has reasons, as of Load.Review, in one line in which one can tell where each ends: they hold commas, and semicolons end the field of a comment.
func JoinReasons(why []string) string { return strings.Join(why, " | ") }

// ErrorBasis is what Load.ErrorBbl was made of: the barrels before calibration, and the class that the factors go by: the kind of
// sensor, apart where it speaks in coarse steps, or, for a tank of a group, the equaliser, which is of more weight there.
type ErrorBasis struct {
	Bbl   float64
	Class string
}

// calibrated is the error that 19 of 20 volumes are within, in wide simulation.
func (b ErrorBasis) calibrated() float64 {
	if f, ok := errorFactors[b.Class]; ok {
		return f * b.Bbl
	}
	return b.Bbl
}
