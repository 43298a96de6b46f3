package tankbook

import (
	"math"
	"slices"
	"time"

	"gauger/agent/tank"
)

// CloseAfter is how long after its gauge-off a day is closed, where nothing is under way.
const CloseAfter = 45 * time.Minute

const (
	gaugeOffNear    = 300.0                             // s about the gauge-off whose levels make the stock
	stockApart      = 1800.0                            // s that the nearest readings may be apart for a stock between them
	closeAfter      = float64(CloseAfter / time.Second) // s after the gauge-off before a day is closed: a run may wait for its confirmation
	closeWithRun    = 20 * 3600.0
	closeWithOthers = 4 * 3600.0
	nearMost        = 80
	silentWorth     = 3600.0 // s without a reading that the day's book says
	remarksMost     = 8
	runsMost        = 64
	gapTimes        = 3.0 // times the interval before it that a silence is a gap
	liftRate        = 0.5 // bbl/min; a slower rise may be production
)

// Rules say how the book is kept.
type Rules struct {
	Zone      *time.Location
	GaugeOff  time.Duration // local time of the gauge-off, since midnight
	LossLimit float64       // barrels a day that may be unexplained
	Metered   []bool        // by tank: a meter counts its production
}

// Book holds the open days of a site's tanks. Like tank.State it is a value: Next leaves the one
// that it was given as it was.
type Book struct {
	pages []*tankPage
}

// tankPage is the open book of one tank.
type tankPage struct {
	restFinder
	begun         bool
	clockOffset   float64 // unix seconds less site seconds
	last          stockAt
	rose          float64     // bbl of the largest rise at once of the days before, less and less; 0: no whole day was closed
	unloaded      *tank.Event // what of the day that is being closed nobody knows the origin of; not stored
	stood         bool        // a sensor that stands has spoken since; not stored, it speaks again
	nearGaugeOff  []stockAt   // about the gauge-off
	meter         meter
	lastExplained movement     // the time of the newest movement that was explained
	counts        []meterCount // what the meter had counted, minute by minute: for runs

	today            openDay
	yesterday        openDay // the day before, while runs of it may be undecided
	hasYesterday     bool
	daysBefore       [2]dayBefore // the newest first
	usualInflow      []float64    // production of the days before, bbl a day, of a tank whose inflow is steady
	lossOpen         bool         // a loss was reported, and goes on
	lossSince        float64      // and since when, unix s
	reportedLossRate float64      // bbl a day of the loss that the book itself has reported; 0: none
	lost, lostTold   float64      // bbl of it, and those that were told
	slowTransferTo   int          // the tank that it goes to
	slowTransferBbl  float64      // bbl that ran slowly over to another tank and are booked, while it goes on
}

// openDay is one production day of one tank that is not closed yet.
type openDay struct {
	from, to                   float64 // unix s
	hasOpening, hasClosing     bool    // the stock at the gauge-off is known
	opening, closing           stockAt
	openingInRun, closingInRun float64 // bbl that had left in a run across the gauge-off
	rest                       daySums
	unexplained                []movement
	runs                       []Run
	water, transferredOut      float64
	transferredIn              []movement // that came in from other tanks
	slowTransfer               bool       // oil runs slowly out of it
	other                      float64    // bbl by which the level stepped down without flow, with the parts that have a name
	parts                      []namedPart
	stepBooked                 bool    // what the level did when it stepped is among the parts
	variance                   float64 // standard error of the runs, squared
	lossBbl                    float64 // bbl of losses that the detector has reported
	lossReported               bool    // that it has reported one
	steppedAt                  float64 // when the level stepped, unix s: its change says nothing; 0: it did not
	inflowAtRest               float64 // bbl a day that came in at rest, of a tank whose inflow is steady
	remarks                    []string
}

// Run is a run as it stands in a book.
type Run struct {
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	GaugeBbl float64   `json:"gauge_bbl"`
	Inflow   float64   `json:"inflow_bbl"` // what was produced from its start to its end
	Bbl      float64   `json:"bbl"`
}

// Day is one closed production day of one tank, volumes in barrels by the tank's table.
// Stocks are nil where nobody gauged.
type Day struct {
	Tank         string    `json:"tank"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	OpeningIn    *float64  `json:"opening_in"`
	ClosingIn    *float64  `json:"closing_in"`
	Opening      *float64  `json:"opening_bbl"`
	Closing      *float64  `json:"closing_bbl"`
	OpeningInRun float64   `json:"opening_in_run_bbl,omitempty"` // of Opening: had left in a run that is of this day
	ClosingInRun float64   `json:"closing_in_run_bbl,omitempty"` // of Closing: had left in a run that is of a later one
	Production   *float64  `json:"production_bbl"`
	Measured     bool      `json:"measured"` // production is by a meter
	Runs         float64   `json:"runs_bbl"`
	Water        float64   `json:"water_bbl"`
	TransfersOut float64   `json:"transfers_out_bbl"`
	TransfersIn  float64   `json:"transfers_in_bbl"`
	Other        float64   `json:"other_bbl"`      // what else changed the stock: small draws, and the parts with a name; below 0: came
	Lact         bool      `json:"lact,omitempty"` // a meter sells the tank's oil: what of Other has no name is what it took
	Residual     *float64  `json:"residual_bbl"`
	Error        float64   `json:"error_bbl"`      // about twice the standard error of the residual
	Sees         *float64  `json:"sees_bbl_a_day"` // the least loss that would have been reported; nil: none
	Blind        string    `json:"blind,omitempty"`
	RunList      []Run     `json:"run_list,omitempty"`
	Remarks      []string  `json:"remarks,omitempty"`
	OtherParts   []Part    `json:"other_parts,omitempty"` // what of Other has a name
}

// Outcome is a closed day, and what is to be told of it: a loss, or oil that nobody knows the origin of.
type Outcome struct {
	Day  *Day
	Loss *tank.Event
}

// bookkeeper is one call of Next at work.
type bookkeeper struct {
	site     tank.Site
	rules    Rules
	st       tank.State
	b        Book
	copied   bool
	outcomes []Outcome
	hung     movement // the time for which a value hung that this call tells of
}

func (w *bookkeeper) writable(i int) *tankPage {
	if !w.copied {
		pages := make([]*tankPage, max(w.site.Len(), len(w.b.pages)))
		copy(pages, w.b.pages)
		w.b.pages, w.copied = pages, true
	}
	p := &tankPage{}
	if old := w.b.pages[i]; old != nil {
		*p = *old
	}
	w.b.pages[i] = p
	return p
}

// page is the book of a tank; nil before it was begun.
func (b Book) page(i int) *tankPage {
	if i < 0 || i >= len(b.pages) || b.pages[i] == nil || !b.pages[i].begun {
		return nil
	}
	return b.pages[i]
}

// metered says that a meter counts a tank's production, and has begun to.
func (w *bookkeeper) metered(i int, p *tankPage) bool {
	return i < len(w.rules.Metered) && w.rules.Metered[i] && p.meter.known
}

// keepCount keeps what the meter has counted, for the runs.
func (p *tankPage) keepCount(metered bool) {
	n := len(p.counts)
	if !metered || n > 0 && p.last.t-p.counts[n-1].t < trailEvery {
		return
	}
	if n >= trailMost {
		p.counts = append(make([]meterCount, 0, trailMost), p.counts[trailMost/4:]...)
	}
	p.counts = append(p.counts, meterCount{p.last.t, p.last.meter})
}

// addUnexplained keeps a movement until something explains it. What came in is production where no meter says otherwise: it is
// not kept but where it came as no production does, since the list is short.
func (s *openDay) addUnexplained(m movement) {
	switch {
	case s.steppedAt != 0 && !s.stepBooked && m.from <= s.steppedAt+closeAfter && m.to >= s.steppedAt-closeAfter:
		s.other -= m.bbl
		return
	case m.bbl >= 0 && (m.bbl <= restBig || m.bbl < liftRate*(m.to-m.from)/60):
		return
	}
	s.unexplained = withMove(s.unexplained, m)
}

// withMove is a list of its own with one more movement; where there are too many the oldest are taken together.
func withMove(list []movement, m movement) []movement {
	list = append(slices.Clone(list), m)
	if len(list) > movesMost {
		a, b := list[0], list[1]
		list = append([]movement{{a.from, b.to, a.bbl + b.bbl}}, list[2:]...)
	}
	return list
}

// newest is a list of its own with one more; of more than most the oldest go.
func newest[T any](list []T, x T, most int) []T {
	return append(slices.Clip(list[max(0, len(list)-most+1):]), x)
}

// remark says once what an accountant should know of the day.
func (s *openDay) remark(text string) {
	if len(s.remarks) < remarksMost && !slices.Contains(s.remarks, text) {
		s.remarks = append(slices.Clip(s.remarks), text)
	}
}

// clockSpan is a stretch of time as the site's clock shows it.
func (w *bookkeeper) clockSpan(from, to float64) string {
	return w.clockTime(from) + " to " + w.clockTime(to)
}

// clockTime is an instant as the site's clock shows it.
func (w *bookkeeper) clockTime(at float64) string {
	return unix(at).In(w.rules.Zone).Format("01-02 15:04")
}

func unix(s float64) time.Time { return time.Unix(int64(math.Floor(s)), 0).UTC() }

// meterAt is the meter's count at a time, by the readings about it, barrels.
func (p *tankPage) meterAt(t float64) float64 {
	k := 0
	for k < len(p.counts) && p.counts[k].t < t {
		k++
	}
	switch {
	case len(p.counts) == 0:
		return p.meter.sum
	case k == 0:
		return p.counts[0].v
	case k == len(p.counts):
		return p.counts[k-1].v
	}
	a, b := p.counts[k-1], p.counts[k]
	return a.v + (b.v-a.v)*(t-a.t)/(b.t-a.t)
}

// countAt is what the meter had counted at the newest level, unix s. A level is believed when the next one comes: over a gap the meter's
// newest count is of the other end.
func (p *tankPage) countAt(wall float64) float64 {
	before := p.newestAt()
	if p.last.t == 0 || wall <= before || p.meter.at-wall <= math.Max(unseenAfter/2, gapTimes*(wall-before)) {
		return p.meter.sum // at every level as much too late, which no difference shows
	}
	return p.last.meter + (p.meter.sum-p.last.meter)*(wall-before)/(p.meter.at-before)
}

// dayBefore is what of a day the next ones are compared with.
type dayBefore struct {
	rest  daySums // zero where it is not known
	short float64 // bbl that it was short of what is usual, for a tank with steady inflow
	left  leftOver
}

// leftOver is the residual of a day's balance, where that rests on the gauge-offs alone: beside
// a meter, and for a tank into which nothing came.
type leftOver struct {
	known         bool
	bbl, variance float64 // residual without what was told; variance of the runs
}

// days are those that are not closed.
func (p *tankPage) days() [2]*openDay { return [2]*openDay{&p.yesterday, &p.today} }

// newestAt is when the newest level was, unix s.
func (p *tankPage) newestAt() float64 { return p.last.t + p.clockOffset }

// dayOf is the open day that holds an instant.
func (p *tankPage) dayOf(at float64) *openDay {
	if p.hasYesterday && at <= p.yesterday.to {
		return &p.yesterday
	}
	return &p.today
}

// explained takes off both days what a movement explains: the movements of its time, also one that is not over yet, and what was named over
// a gap in which it lies, as far as gap says so.
func (p *tankPage) explained(by movement, gap func(namedPart) bool) {
	p.lastExplained = movement{from: by.from - gaugeOffNear, to: by.to + 3*gaugeOffNear}
	for _, s := range p.days() {
		s.unexplained = slices.DeleteFunc(slices.Clone(s.unexplained), p.lastExplained.overlaps)
		s.parts = slices.DeleteFunc(slices.Clone(s.parts), func(x namedPart) bool {
			drop := x.kind == kindUnseen && x.times == 1 && crosses(by, x.movement) && gap(x)
			if drop {
				s.other -= x.bbl
			}
			return drop
		})
	}
}

// tankIndex is a tank's place by its id; false before its book was begun.
func (w *bookkeeper) tankIndex(id string) (int, bool) {
	for i := range w.site.Len() {
		if w.site.Tank(i).ID == id {
			return i, w.b.page(i) != nil
		}
	}
	return 0, false
}
