package tankbook

import (
	"math"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	bookEdge    = 300.0  // s about the gauge-off whose levels make the stock
	bookNear    = 1800.0 // s that the nearest readings may be apart for a stock between them
	bookSettle  = 2700.0 // s after the gauge-off before a day is closed: a run may wait for its confirmation
	bookPatient = 20 * 3600.0
	bookOthers  = 4 * 3600.0
	bookEdgeMax = 80
	bookSilent  = 3600.0 // s without a reading that the day's book says
	remarksMost = 8
)

// Rules say how the book is kept.
type Rules struct {
	Zone      *time.Location
	GaugeOff  time.Duration // local time of the gauge-off, since midnight
	LossLimit float64       // barrels a day that may be unexplained
	Metered   []bool        // by tank: a meter counts its production
}

// Book is where the books of a site's tanks stand. Like State it is a value: Next leaves the one
// that it was given as it was.
type Book struct {
	pages []*page
}

// page is the open book of one tank.
type page struct {
	rests
	seen  bool
	off   float64 // unix seconds less site seconds
	last  entry
	edge  []entry // about the gauge-off
	meter meter
	clear shift   // the time of the newest movement that was explained
	trail []count // what the meter had counted, minute by minute: for runs

	now     sheet
	due     sheet // the day before, while runs of it may be undecided
	isDue   bool
	past    [2]stills  // of the days before, the newest first; zero where one is not known
	short   [2]float64 // bbl that they were short of what is usual, for a tank with steady inflow
	left    [2]left    // what their balance left over
	usual   []float64  // production of the days before, bbl a day, of a tank whose inflow is steady
	losing  bool       // a loss was told of, and goes on
	since   float64    // and since when, unix s
	told    float64    // bbl a day of the loss that the book itself has told of; 0: none
	seepsTo int        // the tank that it goes to
	seeped  float64    // bbl that ran slowly over to another tank and are booked, while it goes on
}

// sheet is one production day of one tank that is not closed yet.
type sheet struct {
	from, to        float64 // unix s
	opened, shut    bool    // the stock at the gauge-off is known
	open, end       entry
	openRun, endRun float64 // bbl that had left in a run across the gauge-off
	still           stills
	moves           []shift
	runs            []Run
	water, given    float64
	got             []shift // that came in from other tanks
	seeps           bool    // oil runs slowly over to another tank
	other           float64 // bbl by which the level stepped down without flow
	doubt           float64 // standard error of the runs, squared
	told            float64 // bbl of losses that the detector has told of
	knows           bool    // that it has told of one
	upset           float64 // when the level stepped, unix s: its change says nothing; 0: it did not
	made            float64 // bbl a day that came in at rest, of a tank whose inflow is steady
	remarks         []string
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
	Production   *float64  `json:"production_bbl"`
	Measured     bool      `json:"measured"` // production is by a meter
	Runs         float64   `json:"runs_bbl"`
	Water        float64   `json:"water_bbl"`
	TransfersOut float64   `json:"transfers_out_bbl"`
	TransfersIn  float64   `json:"transfers_in_bbl"`
	Other        float64   `json:"other_bbl"` // small draws and what else left fast; below 0: came
	Residual     *float64  `json:"residual_bbl"`
	Error        float64   `json:"error_bbl"`      // about twice the standard error of the residual
	Sees         *float64  `json:"sees_bbl_a_day"` // the least loss that would have been told of; nil: none
	Blind        string    `json:"blind,omitempty"`
	RunList      []Run     `json:"run_list,omitempty"`
	Remarks      []string  `json:"remarks,omitempty"`
}

// Outcome is what the book has to say: a closed day, a loss, or both.
type Outcome struct {
	Day  *Day
	Loss *tank.Event
}

// Next lets the book hear what the detector made of an input: st is the state after it, out what
// it decided. A site whose speed is not 1 has no book.
func (b Book) Next(s tank.Site, rules Rules, st tank.State, in tank.Input, out []tank.Outcome) (Book, []Outcome) {
	if s.Speed() != 1 {
		return b, nil // a demonstration's days are no production days
	}
	w := &bookkeeper{site: s, rules: rules, st: st, b: b}
	from, to := in.Tank, in.Tank+1
	if in.Kind == tank.Tick {
		from, to = 0, s.Len()
	}
	for i := max(0, from); i < min(to, s.Len()); i++ {
		if c, ok := s.Latest(st, i); ok && (i >= len(b.pages) || b.pages[i] == nil || c.Seconds > b.pages[i].last.t) {
			w.stock(i, c)
		}
	}
	for _, o := range out {
		w.outcome(o)
	}
	for i := max(0, from); i < min(to, s.Len()); i++ {
		w.settle(i)
	}
	return w.b, w.said
}

// Metered takes a reading of a tank's production meter: a total in barrels that may roll over or
// be reset.
func (b Book) Metered(s tank.Site, i int, at time.Time, total float64) Book {
	if i < 0 || i >= s.Len() || !stats.Finite(total) {
		return b
	}
	w := &bookkeeper{site: s, b: b}
	p := w.own(i)
	p.meter.take(tank.UnixSeconds(at), total)
	return w.b
}

// bookkeeper is one call at work.
type bookkeeper struct {
	site  tank.Site
	rules Rules
	st    tank.State
	b     Book
	mine  bool
	said  []Outcome
}

// own is a page that may be written to.
func (w *bookkeeper) own(i int) *page {
	if !w.mine {
		pages := make([]*page, w.site.Len())
		copy(pages, w.b.pages)
		w.b.pages, w.mine = pages, true
	}
	p := &page{}
	if old := w.b.pages[i]; old != nil {
		*p = *old
	}
	w.b.pages[i] = p
	return p
}

func (w *bookkeeper) page(i int) *page {
	if i >= len(w.b.pages) {
		return nil
	}
	return w.b.pages[i]
}

// metered says that a meter counts a tank's production, and has begun to.
func (w *bookkeeper) metered(i int, p *page) bool {
	return i < len(w.rules.Metered) && w.rules.Metered[i] && p.meter.known
}

// stock takes one level.
func (w *bookkeeper) stock(i int, c tank.CleanLevel) {
	p, t := w.own(i), w.site.Tank(i)
	bbl, _ := t.Table.Extrapolated(c.In)
	e := entry{t: c.Seconds, stock: bbl, meter: p.meter.sum, level: c.In, z: bbl}
	wall := tank.UnixSeconds(c.At)
	metered := w.metered(i, p)
	if metered {
		e.z = bbl - e.meter
	}
	if !p.seen {
		p.seen, p.now = true, w.sheetAt(wall)
	}
	p.off = wall - c.Seconds
	p.gauged(e)
	if wall > p.now.to+bookEdge || wall > p.now.to && e.t-p.last.t > bookEdge || wall < p.now.from-bookEdge {
		w.turn(i, p, e)
	}
	if p.last.t > 0 && e.t-p.last.t > bookSilent {
		p.now.remark("no readings " + w.clocks(p.last.t+p.off, wall))
	}
	if m := p.take(&p.now.still, e, c.Sigma*t.Table.PerInch(c.In), metered); m != nil {
		if m := (shift{m.from + p.off, m.to + p.off, m.bbl}); !m.meets(p.clear) {
			p.now.moved(m)
		}
	}
	p.last = e
	w.seeps(i, p, wall)
	p.count(metered)
}

// gauged keeps the levels about the gauge-off.
func (p *page) gauged(e entry) {
	wall := e.t + p.off
	switch {
	case math.Abs(wall-p.now.to) <= bookEdge:
		if len(p.edge) == 0 && p.last.t > 0 {
			p.edge = []entry{p.last}
		}
		if len(p.edge) < bookEdgeMax {
			p.edge = append(p.edge[:len(p.edge):len(p.edge)], e)
		}
	case wall < p.now.to-bookEdge:
		p.edge = nil
	}
}

// count keeps what the meter has counted, for the runs.
func (p *page) count(metered bool) {
	n := len(p.trail)
	if !metered || n > 0 && p.last.t-p.trail[n-1].t < trailEvery {
		return
	}
	if n >= trailMost {
		p.trail = append(make([]count, 0, trailMost), p.trail[trailMost/4:]...)
	}
	p.trail = append(p.trail, count{p.last.t, p.last.meter})
}

// moved keeps a movement until something explains it. What came in is production where no meter says otherwise: it is
// not kept but where it came as no production does, since where there are too many the oldest are taken together.
func (s *sheet) moved(m shift) {
	switch {
	case s.upset != 0 && m.from <= s.upset+bookSettle && m.to >= s.upset-bookSettle:
		s.other -= m.bbl
		return
	case m.bbl >= 0 && (m.bbl <= restBig || m.bbl < liftRate*(m.to-m.from)/60):
		return
	}
	moves := append(s.moves[:len(s.moves):len(s.moves)], m)
	if len(moves) > movesMost {
		a, b := moves[0], moves[1]
		moves = append([]shift{{a.from, b.to, a.bbl + b.bbl}}, moves[2:]...)
	}
	s.moves = moves
}

// explained takes the movements of a time off the list.
func (s *sheet) explained(by shift) {
	var left []shift
	for _, m := range s.moves {
		if !m.meets(by) {
			left = append(left, m)
		}
	}
	s.moves = left
}

// remark says once what an accountant should know of the day.
func (s *sheet) remark(text string) {
	for _, r := range s.remarks {
		if r == text {
			return
		}
	}
	if len(s.remarks) < remarksMost {
		s.remarks = append(s.remarks[:len(s.remarks):len(s.remarks)], text)
	}
}

// clocks is a stretch of time as the site's clock shows it.
func (w *bookkeeper) clocks(from, to float64) string {
	at := func(s float64) string { return unix(s).In(w.rules.Zone).Format("01-02 15:04") }
	return at(from) + " to " + at(to)
}

func unix(s float64) time.Time { return time.Unix(int64(math.Floor(s)), 0).UTC() }
