package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/collectors"
)

// Two levels are compared only by one setting. When the configuration has another one than a tank's levels were read by,
// the first levels by the new one are looked at before it takes effect: they say whether the number that is read stayed
// and what is made of it was put right, whether the gauge was changed with the configuration, or whether neither
// explains what they show. For a load that is under way they say how the new levels read by the setting with which it
// began.

const (
	changeoverFew   = 3                 // levels that agree
	changeoverEcho  = 100 * time.Second // site time; a gauge that nobody knows may begin with a false echo
	discrepancyNear = time.Minute       // site time; a load that begins so soon after it may have begun before
	drawLean        = 0.3               // share of its fall by which a draw that went on unseen may have been faster
	discrepancySure = 0.5               // the most that one believes of a load across it

	meanwhile = " changed meanwhile, measured by the old"
)

// firstLevels is the first levels by a setting that is to take effect, inches.
type firstLevels struct {
	to         levelSetting
	n          int
	at         time.Time     // of the first
	begin, end time.Duration // on a clock that never steps
	first, now float64
}

// conversionOf turns a level by the setup in force into one by the configured setup, once that is known.
func (s *setups) conversionOf(i int) (tank.Conversion, bool) {
	g, want := &s.inForce[i], s.configured[i].levelSetting()
	if have := g.levelSetting(); have.conversionTo(want) == tank.Unchanged {
		return tank.Unchanged, true
	}
	if g.Changeover != nil && g.Changeover.To == want {
		return g.Changeover.Conversion, true
	}
	return tank.Conversion{}, false
}

// oldGaugeStillRead says that the gauge in force is still read as it was, beside the one that is to follow.
func (s *setups) oldGaugeStillRead(i int) bool {
	have := s.inForce[i].levelSetting()
	return !have.sameSource(s.configured[i].levelSetting()) && have.Source != "" && s.site.origin(have.Point) == have.Origin
}

// levelUse says what is to be done with a level.
type levelUse struct {
	use     bool          // it is for the detector
	apply   bool          // but first a load under way is concluded, and the setups that wait take effect
	verdict *tank.Verdict // on a change of the setting that nobody can explain
}

// convertLevel gives an input the inches of a reading by the setting in force.
func (s *setups) convertLevel(tanks tank.State, i int, r collectors.Reading, x *tank.Input) (out levelUse) {
	have, want, kept := s.inForce[i].levelSetting(), s.configured[i].levelSetting(), s.oldGaugeStillRead(i)
	if have == want || kept && r.Point == have.Point {
		have.toInches(r, x)
		return levelUse{use: r.Point == have.Point}
	}
	if r.Point != want.Point {
		return levelUse{}
	}
	if s.gaugeUsedBy(i, tanks) >= 0 || kept && tanks.Loading(i) && !s.detector.Over(tanks, i) {
		s.setFirstLevels(i, firstLevels{}) // what came before the load says nothing after it
		return levelUse{}
	}
	want.toInches(r, x)
	t := s.site.Tanks[i].Tank
	if !x.Good || !t.Possible(x.Value) {
		t.Height = have.Height
		x.Good = x.Good && !t.Possible(x.Value) // the detector counts what cannot be a level by either
		return levelUse{use: !kept}
	}
	by, known := s.conversionOf(i)
	if !known {
		out.verdict = s.collectFirstLevel(tanks, i, want, *x)
		if by, known = s.conversionOf(i); !known {
			return out
		}
	}
	if tanks.Loading(i) {
		old := by.Back(x.Value)
		t.Height = have.Height
		var ends bool
		if ends, out.use = s.loadEnds(tanks, i, want, *x, kept, t.Possible(old)); !ends {
			x.Value = old
			return out
		}
		s.endLoad(i, kept, x.At)
	}
	out.use, out.apply = true, true
	return out
}

// loadEnds says that a load under way is over with this level by the setting that is to follow: the gauge before is still read
// and shows no draw any more, the new one did not fall on, or it shows what cannot have been a level by the old setting. Such
// a load was measured on by a guess that was none, and no level would ever end it. Where it goes on, use says whether the
// level is one for it.
func (s *setups) loadEnds(tanks tank.State, i int, want levelSetting, x tank.Input, kept, possible bool) (loadEnds, use bool) {
	switch j := s.inForce[i].Changeover; {
	case kept || j != nil && j.LoadEnds:
		return true, false
	case possible:
		s.setFirstLevels(i, firstLevels{})
		return false, true
	}
	return s.firstLevelsAgree(tanks, i, want, x), false
}

// endLoad lets the setting of a load under way end.
func (s *setups) endLoad(i int, kept bool, at time.Time) {
	if j := s.inForce[i].Changeover; j != nil && !kept && !j.LoadEnds {
		short, _ := s.configured[i].changesFrom(&s.inForce[i])
		odd := discrepancy{From: at, Note: strings.Join(short, " and ") + " changed"}
		if j.Discrepancy != nil {
			odd = *j.Discrepancy
		}
		odd.To, odd.Consequence = at, odd.Consequence+"; the load that was under way ended "+s.site.localMinute(at)+", since the levels from then on cannot be any by the old setting"
		s.inForce = slices.Clone(s.inForce)
		s.inForce[i].Changeover = &changeover{To: j.To, Conversion: j.Conversion, Discrepancy: &odd, LoadEnds: true}
	}
}

// collectFirstLevel takes one of the first levels by a setting that is to take effect, until there are enough of them that agree. The
// verdict is on what nobody can explain.
func (s *setups) collectFirstLevel(tanks tank.State, i int, want levelSetting, x tank.Input) *tank.Verdict {
	if !s.firstLevelsAgree(tanks, i, want, x) {
		return nil
	}
	m := s.firstLevels[i]
	change := s.compareLevels(tanks, i, m)
	s.inForce, s.changed = slices.Clone(s.inForce), true
	s.inForce[i].Changeover = change
	if d := change.Discrepancy; d != nil && d.Consequence != "" {
		return &tank.Verdict{Tank: s.inForce[i].ID, What: eventrules.ConfigChanged, Why: d.Note + d.Consequence, Start: d.From, End: m.at}
	}
	return nil
}

// firstLevelsAgree says that enough levels by a setting agree, this one with them.
func (s *setups) firstLevelsAgree(tanks tank.State, i int, want levelSetting, x tank.Input) bool {
	m := s.firstLevels[i]
	o, _ := s.detector.Outlook(tanks, i, x.At)
	apart := math.Abs((x.Mono - m.end).Seconds()) * s.site.speed()
	if m.to != want || math.Abs(x.Value-m.now) > o.Rate*apart+o.Noise {
		m = firstLevels{to: want, at: x.At, begin: x.Mono, first: x.Value}
	}
	m.n, m.end, m.now = m.n+1, x.Mono, x.Value
	s.setFirstLevels(i, m)
	have := s.inForce[i].levelSetting()
	return m.n >= changeoverFew && (have.sameSource(want) || m.end-m.begin >= s.site.scaled(changeoverEcho))
}

// setFirstLevels keeps the first levels of a tank.
func (s *setups) setFirstLevels(i int, m firstLevels) {
	if s.firstLevels[i] != m {
		s.firstLevels = slices.Clone(s.firstLevels)
		s.firstLevels[i] = m
	}
}

// compareLevels says how the levels before a change of the setting read by the new one.
func (s *setups) compareLevels(tanks tank.State, i int, m firstLevels) *changeover {
	have := s.inForce[i].levelSetting()
	o, _ := s.detector.Outlook(tanks, i, m.at)
	if o.At.After(m.at) { // the old gauge is read on
		o.At = m.at
	}
	if went := o.In - o.Next; m.fallsOn(o, s.site.speed()) { // it has not ended meanwhile, though the pump may have stood
		o.Low = o.Next - drawLean*went - o.Noise
	}
	made, loading := have.conversionTo(m.to), tanks.Loading(i) && !s.oldGaugeStillRead(i)
	fits := func(c tank.Conversion) bool { return m.first >= c.Of(o.Low) && m.first <= c.Of(o.High) }
	same, known := fits(tank.Unchanged), made.Ratio != 0
	switch {
	case known && fits(made) && !(loading && same):
		return &changeover{To: m.to, Conversion: made}
	case known && fits(made):
		return s.discrepancyOf(i, m, o, made, m.first, "it cannot be told whether the gauge was changed as well")
	case known && same:
		return s.discrepancyOf(i, m, o, tank.Unchanged, made.Of(o.Next), "the level stands as before, so no ticket is made of it: the gauge was changed as well, or oil was moved")
	case known && loading && math.Abs(m.first-o.Next) < math.Abs(m.first-made.Of(o.Next)):
		return s.discrepancyOf(i, m, o, tank.Unchanged, o.Next, "it seems that the gauge was changed as well")
	case known:
		return s.discrepancyOf(i, m, o, made, made.Of(o.Next), "a load that is made of it needs review")
	case same && !loading:
		return &changeover{To: m.to, Conversion: tank.Unchanged}
	case same:
		return s.discrepancyOf(i, m, o, tank.Unchanged, m.first, "the load was measured by two gauges")
	}
	next, falls := o.Next, m.fallsOn(o, s.site.speed())
	if o.Falls > 0 && !falls {
		next = (o.Low + o.High) / 2 // the draw has ended at some time between
	}
	why := "no ticket is made of it; if a truck loaded meanwhile, `gauger tickets add` writes its ticket"
	switch {
	case loading && falls:
		why = "the load is measured on as if it had gone on meanwhile as it did before"
	case loading:
		why = "the load that was under way ends with the last level before it; if the truck loaded on, `gauger tickets add` writes its ticket"
	}
	change := s.discrepancyOf(i, m, o, tank.Conversion{Ratio: 1, Add: m.first - next}, next, why)
	if change.LoadEnds = loading && !falls; change.LoadEnds {
		change.Conversion.Add = m.first - o.In // nothing of it is left for the next
	}
	return change
}

// fallsOn says that a draw goes on in the first levels.
func (m firstLevels) fallsOn(o tank.Outlook, speed float64) bool {
	return o.Falls > 0 && (m.first-m.now)/max((m.end-m.begin).Seconds()*speed, 1) >= o.Falls/3
}

// discrepancyOf is a seam with what a person has to know of it: what was expected and what came, and what follows from that.
func (s *setups) discrepancyOf(i int, m firstLevels, o tank.Outlook, by tank.Conversion, expected float64, why string) *changeover {
	short, _ := s.configured[i].changesFrom(&s.inForce[i])
	from := s.site.localMinute(o.At)
	to := strings.TrimPrefix(s.site.localMinute(m.at), from[:len("2006-01-02 ")])
	said := &discrepancy{From: o.At, To: m.at.Add(m.end - m.begin), Note: fmt.Sprintf("%s changed between %s and %s", strings.Join(short, " and "), from, to)}
	if expected == m.first {
		said.Note += ": " + why
		return &changeover{To: m.to, Conversion: by, Discrepancy: said}
	}
	off := m.first - expected
	said.Unexplained, said.Bbl = off > 0 && by != tank.Unchanged, math.Abs(off)*o.PerInch
	said.Note += fmt.Sprintf(": the level is %.2f in where %.2f was expected", m.first, expected)
	said.Consequence = fmt.Sprintf(", and nobody can explain the %.2f in (%.1f bbl) %s; %s", math.Abs(off), said.Bbl, either(off > 0, "more", "less"), why)
	return &changeover{To: m.to, Conversion: by, Discrepancy: said}
}

// markDiscrepancies marks a load that was under way when something odd happened to the setting, or that is made of it; also where
// its oil may be what came into another tank. A change that waits for the end of the load stands in its comments, and is
// a reason for a review where it says that the load is measured by what was wrong.
func (s *setups) markDiscrepancies(load *tank.Load) {
	i := s.site.index(load.Tank)
	if short, _ := s.configured[i].changesFrom(&s.inForce[i]); short != nil {
		load.Remarks = append(slices.Clone(load.Remarks), strings.Join(short, " and ")+meanwhile)
	}
	defer s.markOutdated(load, i, len(load.Review))
	for k := range s.inForce {
		for _, o := range s.inForce[k].discrepancies() {
			during := load.Start.Before(o.To.Add(s.site.scaled(discrepancyNear))) && load.End.After(o.From)
			if !during && !s.inForce[k].loadEndedBy(o) || k != i && !(during && o.Unexplained) {
				continue
			}
			doubt(load, either(k == i, "", s.inForce[k].ID+": ")+o.Note)
			load.ErrorBbl = math.Hypot(load.ErrorBbl, o.Bbl)
		}
	}
}

// doubt asks for a review of a load of which nobody is sure any more.
func doubt(load *tank.Load, why string) {
	askForReview(load, why)
	load.Confidence = min(load.Confidence, discrepancySure)
}

// markOutdated marks a load that was measured by a setting that somebody has put right meanwhile, where nothing else that is
// odd about the change has: it has so many reasons then.
func (s *setups) markOutdated(load *tank.Load, i, reasons int) {
	if why := s.inForce[i].levelCorrections(&s.configured[i]); why != "" && len(load.Review) == reasons {
		doubt(load, why+meanwhile)
		load.Remarks = slices.DeleteFunc(load.Remarks, func(remark string) bool { return remark == why+meanwhile }) // it is a copy
	}
}

// loadEndedBy says that a load under way has ended where its setting did, by what is odd about that.
func (g *setup) loadEndedBy(o *discrepancy) bool {
	return g.Changeover != nil && g.Changeover.LoadEnds && g.Changeover.Discrepancy == o
}

// discrepancies are those of the changes that were, and of the one that waits, or was taken back when a load had been measured by it.
func (g *setup) discrepancies() (all []*discrepancy) {
	for _, p := range g.History {
		if p.Discrepancy != nil {
			all = append(all, p.Discrepancy)
		}
	}
	if g.Changeover != nil && g.Changeover.Discrepancy != nil {
		all = append(all, g.Changeover.Discrepancy)
	}
	return all
}
