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
	drawLean        = 0.3               // share of its fall by which a draw that went on unseen may have been faster or slower
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
func (tx setupTxn) conversionOf(i int) (tank.Conversion, bool) {
	g, want := &tx.setups[i], tx.l.configured[i].levelSetting()
	if have := g.levelSetting(); have.conversionTo(want) == tank.Unchanged {
		return tank.Unchanged, true
	}
	if g.Changeover != nil && g.Changeover.To == want {
		return g.Changeover.Conversion, true
	}
	return tank.Conversion{}, false
}

// oldGaugeStillRead says that the gauge in force is still read as it was, beside the one that is to follow.
func (tx setupTxn) oldGaugeStillRead(i int) bool {
	have := tx.setups[i].levelSetting()
	return !have.sameSource(tx.l.configured[i].levelSetting()) && have.Source != "" && tx.l.site.origin(have.Point) == have.Origin
}

// convertLevel gives an input the inches of a reading by the setting in force; false: the reading is not for the detector.
func (tx setupTxn) convertLevel(i int, r collectors.Reading, x *tank.Input) bool {
	have, want, kept := tx.setups[i].levelSetting(), tx.l.configured[i].levelSetting(), tx.oldGaugeStillRead(i)
	if have == want || kept && r.Point == have.Point {
		have.toInches(r, x)
		return r.Point == have.Point
	}
	if r.Point != want.Point {
		return false
	}
	if tx.gaugeUsedBy(i) >= 0 || kept && tx.tanks.Loading(i) && !tx.detector.Over(tx.tanks, i) {
		tx.setFirstLevels(i, firstLevels{}) // what came before the load says nothing after it
		return false
	}
	want.toInches(r, x)
	t := tx.l.site.Tanks[i].Tank
	if !x.Good || !t.Possible(x.Value) {
		t.Height = have.Height
		x.Good = x.Good && !t.Possible(x.Value) // the detector counts what cannot be a level by either
		return !kept
	}
	by, known := tx.conversionOf(i)
	if !known {
		tx.collectFirstLevel(i, want, *x)
		if by, known = tx.conversionOf(i); !known {
			return false
		}
	}
	if tx.tanks.Loading(i) {
		old := by.Back(x.Value)
		t.Height = have.Height
		if ends, use := tx.loadEnds(i, want, *x, kept, t.Possible(old)); !ends {
			x.Value = old
			return use
		}
		tx.concludeLoad(i, kept, x.At)
	}
	tx.applySetups()
	return true
}

// loadEnds says that a load under way is over with this level by the setting that is to follow: the gauge before is still read
// and shows no draw any more, the new one did not fall on, or it shows what cannot have been a level by the old setting. Such
// a load was measured on by a guess that was none, and no level would ever end it. Where it goes on, use says whether the
// level is one for it.
func (tx setupTxn) loadEnds(i int, want levelSetting, x tank.Input, kept, possible bool) (loadEnds, use bool) {
	switch j := tx.setups[i].Changeover; {
	case kept || j != nil && j.LoadEnds:
		return true, false
	case possible:
		tx.setFirstLevels(i, firstLevels{})
		return false, true
	}
	return tx.firstLevelsAgree(i, want, x), false
}

// concludeLoad concludes a load under way where its setting ends.
func (tx setupTxn) concludeLoad(i int, kept bool, at time.Time) {
	if j := tx.setups[i].Changeover; j != nil && !kept && !j.LoadEnds {
		short, _ := tx.l.configured[i].changesFrom(&tx.setups[i])
		odd := discrepancy{From: at, Note: strings.Join(short, " and ") + " changed"}
		if j.Discrepancy != nil {
			odd = *j.Discrepancy
		}
		odd.To, odd.Consequence = at, odd.Consequence+"; the load that was under way ended "+at.In(tx.l.site.Zone).Format("2006-01-02 15:04")+", since the levels from then on cannot be any by the old setting"
		tx.setups = slices.Clone(tx.setups)
		tx.setups[i].Changeover = &changeover{To: j.To, Conversion: j.Conversion, Discrepancy: &odd, LoadEnds: true}
	}
	var out []tank.Outcome
	tx.tanks, out = tx.detector.Concluded(tx.tanks, i)
	tx.applyOutcomes(tank.Input{Kind: tank.Level, Tank: i}, out)
}

// collectFirstLevel takes one of the first levels by a setting that is to take effect, until there are enough of them that agree.
func (tx setupTxn) collectFirstLevel(i int, want levelSetting, x tank.Input) {
	if !tx.firstLevelsAgree(i, want, x) {
		return
	}
	tx.setups = slices.Clone(tx.setups)
	tx.setups[i].Changeover = tx.compareLevels(i, tx.firstLevels[i])
	tx.putJSON(setupsKey, tx.setups)
}

// firstLevelsAgree says that enough levels by a setting agree, this one with them.
func (tx setupTxn) firstLevelsAgree(i int, want levelSetting, x tank.Input) bool {
	site, m := tx.l.site, tx.firstLevels[i]
	o, _ := tx.detector.Outlook(tx.tanks, i, x.At)
	apart := math.Abs((x.Mono - m.end).Seconds()) * site.speed()
	if m.to != want || math.Abs(x.Value-m.now) > o.Rate*apart+o.Noise {
		m = firstLevels{to: want, at: x.At, begin: x.Mono, first: x.Value}
	}
	m.n, m.end, m.now = m.n+1, x.Mono, x.Value
	tx.setFirstLevels(i, m)
	have := tx.setups[i].levelSetting()
	return m.n >= changeoverFew && (have.sameSource(want) || m.end-m.begin >= site.scaled(changeoverEcho))
}

// setFirstLevels keeps the first levels of a tank.
func (tx setupTxn) setFirstLevels(i int, m firstLevels) {
	if tx.firstLevels[i] != m {
		tx.firstLevels = slices.Clone(tx.firstLevels)
		tx.firstLevels[i] = m
	}
}

// compareLevels says how the levels before a change of the setting read by the new one.
func (tx setupTxn) compareLevels(i int, m firstLevels) *changeover {
	have := tx.setups[i].levelSetting()
	o, _ := tx.detector.Outlook(tx.tanks, i, m.at)
	if o.At.After(m.at) { // the old gauge is read on
		o.At = m.at
	}
	if went := o.In - o.Next; m.fallsOn(o, tx.l.site.speed()) { // it has not ended meanwhile
		o.Low, o.High = o.Next-drawLean*went-o.Noise, o.Next+drawLean*went+o.Noise
	}
	made, loading := have.conversionTo(m.to), tx.tanks.Loading(i) && !tx.oldGaugeStillRead(i)
	fits := func(c tank.Conversion) bool { return m.first >= c.Of(o.Low) && m.first <= c.Of(o.High) }
	same, known := fits(tank.Unchanged), made.Ratio != 0
	switch {
	case known && fits(made) && !(loading && same):
		return &changeover{To: m.to, Conversion: made}
	case known && fits(made):
		return tx.discrepancyOf(i, m, o, made, m.first, "it cannot be told whether the gauge was changed as well")
	case known && same:
		return tx.discrepancyOf(i, m, o, tank.Unchanged, made.Of(o.Next), "the level stands as before, so no ticket is made of it: the gauge was changed as well, or oil was moved")
	case known && loading && math.Abs(m.first-o.Next) < math.Abs(m.first-made.Of(o.Next)):
		return tx.discrepancyOf(i, m, o, tank.Unchanged, o.Next, "it seems that the gauge was changed as well")
	case known:
		return tx.discrepancyOf(i, m, o, made, made.Of(o.Next), "a load that is made of it needs review")
	case same && !loading:
		return &changeover{To: m.to, Conversion: tank.Unchanged}
	case same:
		return tx.discrepancyOf(i, m, o, tank.Unchanged, m.first, "the load was measured by two gauges")
	}
	next, falls := o.Next, m.fallsOn(o, tx.l.site.speed())
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
	s := tx.discrepancyOf(i, m, o, tank.Conversion{Ratio: 1, Add: m.first - next}, next, why)
	if s.LoadEnds = loading && !falls; s.LoadEnds {
		s.Conversion.Add = m.first - o.In // nothing of it is left for the next
	}
	return s
}

// fallsOn says that a draw goes on in the first levels.
func (m firstLevels) fallsOn(o tank.Outlook, speed float64) bool {
	return o.Falls > 0 && (m.first-m.now)/max((m.end-m.begin).Seconds()*speed, 1) >= o.Falls/3
}

// discrepancyOf is a seam with what a person has to know of it: what was expected and what came, and what follows from that.
func (tx setupTxn) discrepancyOf(i int, m firstLevels, o tank.Outlook, by tank.Conversion, expected float64, why string) *changeover {
	short, _ := tx.l.configured[i].changesFrom(&tx.setups[i])
	zone := tx.l.site.Zone
	from := o.At.In(zone).Format("2006-01-02 15:04")
	to, _ := strings.CutPrefix(m.at.In(zone).Format("2006-01-02 15:04"), from[:len("2006-01-02 ")])
	said := &discrepancy{From: o.At, To: m.at.Add(m.end - m.begin), Note: fmt.Sprintf("%s changed between %s and %s", strings.Join(short, " and "), from, to)}
	if expected == m.first {
		said.Note += ": " + why
		return &changeover{To: m.to, Conversion: by, Discrepancy: said}
	}
	off := m.first - expected
	said.Unexplained = off > 0 && by != tank.Unchanged
	more := "less"
	if off > 0 {
		more = "more"
	}
	said.Note += fmt.Sprintf(": the level is %.2f in where %.2f was expected", m.first, expected)
	said.Consequence = fmt.Sprintf(", and nobody can explain the %.2f in (%.1f bbl) %s; %s", math.Abs(off), math.Abs(off)*o.PerInch, more, why)
	tx.putVerdict(tank.Verdict{Tank: tx.setups[i].ID, What: eventrules.ConfigChanged, Why: said.Note + said.Consequence, Start: o.At, End: m.at})
	return &changeover{To: m.to, Conversion: by, Discrepancy: said}
}

// markDiscrepancies marks a load that was under way when something odd happened to the setting, or that is made of it; also where
// its oil may be what came into another tank. A change that waits for the end of the load stands in its comments, and is
// a reason for a review where it says that the load is measured by what was wrong.
func (tx setupTxn) markDiscrepancies(load *tank.Load) {
	i, site := tx.l.site.index(load.Tank), tx.l.site
	if short, _ := tx.l.configured[i].changesFrom(&tx.setups[i]); short != nil {
		load.Remarks = append(slices.Clone(load.Remarks), strings.Join(short, " and ")+meanwhile)
	}
	defer tx.markOutdated(load, i, len(load.Review))
	for k := range tx.setups {
		for _, o := range tx.setups[k].discrepancies(tx.l.configured[k].levelSetting()) {
			during := load.Start.Before(o.To.Add(site.scaled(discrepancyNear))) && load.End.After(o.From)
			if !during && !tx.setups[k].loadEndedBy(o) || k != i && !(during && o.Unexplained) {
				continue
			}
			note := o.Note
			if k != i {
				note = tx.setups[k].ID + ": " + note
			}
			load.Review = append(slices.Clone(load.Review), note)
			load.Confidence = min(load.Confidence, discrepancySure)
		}
	}
}

// markOutdated marks a load that was measured by a setting that somebody has put right meanwhile, where nothing else that is
// odd about the change has: it has so many reasons then.
func (tx setupTxn) markOutdated(load *tank.Load, i, reasons int) {
	if why := tx.setups[i].levelCorrections(&tx.l.configured[i]); why != "" && len(load.Review) == reasons {
		load.Review = append(slices.Clone(load.Review), why+meanwhile)
		load.Confidence = min(load.Confidence, discrepancySure)
		load.Remarks = slices.DeleteFunc(load.Remarks, func(s string) bool { return s == why+meanwhile }) // it is a copy
	}
}

// loadEndedBy says that a load under way has ended where its setting did, by what is odd about that.
func (g *setup) loadEndedBy(o *discrepancy) bool {
	return g.Changeover != nil && g.Changeover.LoadEnds && g.Changeover.Discrepancy == o
}

// discrepancies are those of the changes that were, and of the one that waits.
func (g *setup) discrepancies(want levelSetting) (all []*discrepancy) {
	for _, p := range g.History {
		if p.Discrepancy != nil {
			all = append(all, p.Discrepancy)
		}
	}
	if g.Changeover != nil && g.Changeover.To == want && g.Changeover.Discrepancy != nil {
		all = append(all, g.Changeover.Discrepancy)
	}
	return all
}
