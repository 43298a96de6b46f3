package tank

import "time"

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
	Tank          string
	Began         time.Time // the start as it was fixed when the draw was first seen and stored: what a ticket number is made of
	Start         time.Time // instant of the opening, by the newest clock
	End           time.Time // instant of the closing
	Open          float64   // inches at the start
	Close         float64   // inches at the end
	GaugeBbl      float64   // table volume of Open less that of Close
	InflowBbl     float64   // barrels that flowed in from Start to End, estimated
	InflowUnknown bool      // nothing at rest was seen before the load or after it: InflowBbl is 0 for want of knowledge
	RemovedBbl    float64   // GaugeBbl + InflowBbl
	Rate          float64   // barrels removed per minute of site time, over the whole load
	Sigma         float64   // inches, the sensor's noise
	Confidence    float64   // chance that GaugeBbl is right to the greater of a barrel and a hundredth; at most 0.99
	ErrorBbl      float64   // twice the standard error of GaugeBbl: in 19 of 20 loads it is off by less
	Parts         int       // 1 and the number of pauses
	Samples       int       // readings from Start to End
	Gap           time.Duration
	Review        []string // reasons why a person should look; empty when good
	Remarks       []string // what a reader should know and is no reason for doubt, as a step of the clock that was followed
	Table         string   // strap or geometry
	Group         string   // group of the tank
	GroupBbl      float64  // gauged volume of all tanks of the group over this load; 0 without a group

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

// Event is a diagnostic: a movement that is no run, or a fault of a sensor or clock. Rule is a name of package
// eventrules. Note names the tank and the values.
type Event struct {
	Rule, Tank, Note string
	Start, End       time.Time
	Bbl              float64 // barrels that moved; 0 where the rule is not about a movement
	To               string  // of a transfer: the tank that rose most
	Slow             bool    // of a loss: over hours, at rest
}
