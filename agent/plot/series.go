package plot

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"time"
)

const (
	spansMost  = 4096        // pieces of one tank's level that are kept
	stepWorth  = 5.0         // s
	stepAfter  = 6           // readings that must agree on it
	stepReach  = 6 * 3600.0  // s before a step that are dated by the new clock, as a load that is under way is
	unsetStep  = 24 * 3600.0 // s; a clock that was wrong by more had never been set
	gapLeast   = 10 * 60.0   // s without a reading that are shown as a gap
	clocksFrom = 946684800.0 // 2000-01-01; a time before it comes from a clock that was not set
	stepsMost  = 256
)

// Series is the level of one tank over time. It is thinned as it comes, so that a recording of any length needs the
// same memory. The zero Series is empty.
type Series struct {
	good, bad stretches
	clock     clockOffset
	intervals [40]int   // between good readings, by powers of two seconds
	last      float64   // good reading
	steps     []float64 // where a step of the clock has torn the time apart
}

// clockOffset is the lead of the wall clock over the clock that never steps.
type clockOffset struct {
	known    bool
	boot     int64
	seconds  float64
	disagree int // readings in a row that say otherwise
	// The last step: on the boot's clock, when it was seen and from when on it dates the readings.
	steppedAt, redatedFrom float64
}

// Add takes one reading: its time on the wall clock and on the clock of the boot, which never steps, the level in inches, and
// whether it can be believed.
func (s *Series) Add(at time.Time, boot int64, mono time.Duration, inches float64, good bool) {
	wall, since := float64(at.UnixNano())/1e9, mono.Seconds()
	t := s.offsetOf(wall-since, boot, since) + since
	if !good || math.IsNaN(inches) || math.IsInf(inches, 0) {
		s.bad.add(stretch{from: t, to: t, boot: boot, mono: since})
		return
	}
	if len(s.good.list) > 0 && t > s.last {
		s.intervals[min(bits.Len64(uint64(t-s.last)), len(s.intervals)-1)]++
	}
	s.last = t
	s.good.add(stretch{from: t, to: t, lo: inches, hi: inches, boot: boot, mono: since})
}

// offsetOf is the offset by which a reading at a time of its boot is dated.
func (s *Series) offsetOf(by float64, boot int64, mono float64) float64 {
	c := &s.clock
	switch {
	case !c.known || c.boot != boot:
		*c = clockOffset{known: true, boot: boot, seconds: by, steppedAt: math.Inf(-1)}
	case math.Abs(by-c.seconds) <= stepWorth:
		c.seconds, c.disagree = by, 0
	default:
		if c.disagree++; c.disagree >= stepAfter {
			s.clockStepped(by-c.seconds, mono)
			c.seconds, c.disagree = by, 0
		}
	}
	return c.seconds
}

// clockStepped dates by the new clock what came shortly before it was set, or everything of the boot where it had not been set
// at all. A step that follows soon takes the same readings along, so that a clock that is set back and forth leaves
// them where they were.
func (s *Series) clockStepped(by, mono float64) {
	c := &s.clock
	switch {
	case math.Abs(by) > unsetStep:
		c.redatedFrom = math.Inf(-1)
	case mono-c.steppedAt > stepReach:
		c.redatedFrom = mono - stepReach
		if len(s.steps) < stepsMost {
			s.steps = append(s.steps, c.redatedFrom+c.seconds)
		}
	}
	c.steppedAt = mono
	s.good.shift(c.boot, c.redatedFrom, by)
	s.bad.shift(c.boot, c.redatedFrom, by)
	s.last += by
}

// shownGap is the least silence between two readings that is shown, s: four of the longer usual intervals.
func (s *Series) shownGap() float64 {
	all := 0
	for _, n := range s.intervals {
		all += n
	}
	sum := 0
	for i, n := range s.intervals {
		if sum += n; 100*sum >= 95*all && all > 0 {
			return math.Max(gapLeast, 4*math.Exp2(float64(i)))
		}
	}
	return gapLeast
}

// clockSteppedIn says whether a silence is only a step of the clock.
func (s *Series) clockSteppedIn(from, to float64) bool {
	return slices.ContainsFunc(s.steps, func(t float64) bool { return from <= t && t <= to })
}

// stretch is one or more readings that follow each other: seconds since 1970 and inches.
type stretch struct {
	from, to, lo, hi float64
	boot             int64
	mono             float64 // s of the boot, of the first reading
}

// stretches is a list that makes its pieces longer when they become too many.
type stretches struct {
	list  []stretch
	width float64 // s that a piece may be long
}

func (l *stretches) add(p stretch) {
	if n := len(l.list); n > 0 && l.list[n-1].join(p, l.width) {
		return
	}
	if len(l.list) == spansMost {
		l.thin()
	}
	l.list = append(l.list, p)
}

// join takes p into the piece before it, if that does not become longer than width.
func (p *stretch) join(o stretch, width float64) bool {
	from, to := math.Min(p.from, o.from), math.Max(p.to, o.to)
	if p.boot != o.boot || to-from > width {
		return false
	}
	*p = stretch{from, to, math.Min(p.lo, o.lo), math.Max(p.hi, o.hi), p.boot, math.Min(p.mono, o.mono)}
	return true
}

// thin doubles the length of the pieces until there is room. Where boots are so short that this does not help, they
// are taken together.
func (l *stretches) thin() {
	for len(l.list) > spansMost/2+spansMost/4 {
		l.width = math.Max(1, 2*l.width)
		n := 1
		for _, p := range l.list[1:] {
			last := &l.list[n-1]
			if p.to-last.from <= l.width && p.from >= last.from {
				last.boot, last.mono = p.boot, p.mono
			}
			if !last.join(p, l.width) {
				l.list[n] = p
				n++
			}
		}
		l.list = l.list[:n]
	}
}

// shift moves what was read in a boot since a time of it.
func (l *stretches) shift(boot int64, since, by float64) {
	for i := range l.list {
		if p := &l.list[i]; p.boot == boot && p.mono >= since {
			p.from, p.to = p.from+by, p.to+by
		}
	}
}

// between are the pieces of a time, in its order.
func (l *stretches) between(from, to float64) []stretch {
	var out []stretch
	for _, p := range l.list {
		if p.to >= from && p.from <= to {
			out = append(out, p)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].from < out[j].from })
	return out
}

const (
	badLook  = `stroke="#b34700" stroke-width="1.4"`
	dotsMost = 160 // columns with readings up to which each is a dot
)

// column of pixels shows the least and the greatest level of its readings.
type column struct {
	x, lo, hi float64
	from, to  float64 // seconds since 1970
}

// columnsOf thins the pieces to columns of so many pixels.
func columnsOf(pieces []stretch, v *view, grain float64) []column {
	var all []column
	for _, p := range pieces {
		x := grain * math.Floor(v.x(math.Max(p.from, v.from))/grain)
		n := len(all)
		if n == 0 || all[n-1].x != x {
			all = append(all, column{x, p.lo, p.hi, p.from, p.to})
			continue
		}
		last := &all[n-1]
		last.lo, last.hi, last.to = math.Min(last.lo, p.lo), math.Max(last.hi, p.hi), math.Max(last.to, p.to)
	}
	return all
}

// levelLine draws the level, broken where nothing was read.
func (l *panelLayout) levelLine(c *canvas) {
	if len(l.columns) == 0 {
		return
	}
	gap := l.panel.Level.shownGap()
	c.WriteString(`<path fill="none" stroke="` + ink + `" stroke-width="1.4" stroke-linejoin="round" d="`)
	var before column
	for i, n := range l.columns {
		move := "L"
		if i == 0 || n.from-before.to > gap {
			move = "M"
		}
		first, last := n.hi, n.lo
		if i > 0 && math.Abs(before.lo-n.lo) < math.Abs(before.hi-n.hi) {
			first, last = n.lo, n.hi
		}
		c.WriteString(move + px(n.x) + " " + px(l.y(first)))
		if y := px(l.y(last)); y != px(l.y(first)) {
			c.WriteString("V" + y)
		} else if move == "M" {
			c.WriteString("h0.5")
		}
		before = n
	}
	c.WriteString(`"/>` + "\n")
	if len(l.columns) <= dotsMost {
		for _, n := range l.columns {
			c.circle(n.x, l.y(n.lo), 1.8, "")
		}
	}
}

// shadeGaps shade the times without a reading.
func (l *panelLayout) shadeGaps(c *canvas, v *view, used *legend) {
	if l.panel.Level == nil {
		return
	}
	gap, last := l.panel.Level.shownGap(), v.from
	shade := func(from, to float64) {
		if to-from <= gap || l.panel.Level.clockSteppedIn(from-1, to+1) {
			return
		}
		used.gap = true
		x := v.x(from)
		c.rect(box{x, l.plot.y, math.Max(v.x(to)-x, 1), l.plot.h}, `fill="url(#gap)"`, "no readings")
	}
	for _, p := range l.pieces {
		shade(last, p.from)
		last = math.Max(last, p.to)
	}
	shade(last, v.to)
}

func (l *panelLayout) badTicks(c *canvas, v *view, used *legend) {
	if len(l.bad) == 0 {
		return
	}
	used.bad = true
	c.WriteString(`<path fill="none" ` + badLook + ` d="`)
	before := math.Inf(-1)
	y := l.plot.y + l.plot.h
	for _, p := range l.bad {
		to := v.x(math.Min(p.to, v.to))
		for x := l.columnWidth * math.Floor(v.x(math.Max(p.from, v.from))/l.columnWidth); x <= to; x += l.columnWidth {
			if x > before {
				c.WriteString("M" + px(x+0.5) + " " + px(y+2) + "V" + px(y+badHeight))
				before = x
			}
		}
	}
	c.WriteString(`"/>` + "\n")
}

// levelCrosses says whether the level runs through a box.
func (l *panelLayout) levelCrosses(b box) bool {
	gap := math.Inf(1)
	if l.panel.Level != nil {
		gap = l.panel.Level.shownGap()
	}
	for i, n := range l.columns {
		hi, lo, x := n.hi, n.lo, n.x
		if i > 0 && n.from-l.columns[i-1].to <= gap { // the line that comes from the column before
			m := l.columns[i-1]
			hi, lo, x = math.Max(hi, m.lo), math.Min(lo, m.hi), m.x
		}
		if (box{x, l.y(hi), n.x - x + 1, l.y(lo) - l.y(hi) + 1}).meets(b) {
			return true
		}
	}
	return false
}
