package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/tank"
)

// Volumes is a ticket's way from its gauges to barrels at 60 degrees Fahrenheit (API MPMS 11.1 for the factors, the
// chain of a tank's run ticket for the rest). A figure that nobody measured or configured is nil, and Missing says so.
type Volumes struct {
	OpenBbl       float64  `json:"open_bbl"` // by the tank's table
	CloseBbl      float64  `json:"close_bbl"`
	OpenWaterBbl  float64  `json:"open_water_bbl,omitempty"` // free water under the oil
	CloseWaterBbl float64  `json:"close_water_bbl,omitempty"`
	OpenDegF      *float64 `json:"open_degf,omitempty"`
	CloseDegF     *float64 `json:"close_degf,omitempty"`
	Gravity       *float64 `json:"specific_gravity,omitempty"` // 60/60
	API60         *float64 `json:"api60,omitempty"`
	BSW           *float64 `json:"bsw_percent,omitempty"`
	OpenCTL       *float64 `json:"open_ctl,omitempty"`
	CloseCTL      *float64 `json:"close_ctl,omitempty"`
	GrossBbl      *float64 `json:"gross_bbl,omitempty"` // gross standard volume, GSV
	NetBbl        *float64 `json:"net_bbl,omitempty"`   // net standard volume, NSV
	Notes         []string `json:"notes,omitempty"`     // what is a constant, and what stands for what
	Missing       []string `json:"missing,omitempty"`   // what gross or net want and nobody measured
}

// volumes computes what a ticket's figures allow.
func (s *Site) volumes(t *Tank, load *tank.Load, r *cloud.RunTicket) *Volumes {
	v := &Volumes{OpenBbl: hundredths(load.OpenBbl), CloseBbl: hundredths(load.CloseBbl), BSW: r.BSW}
	if v.OpenBbl == 0 && v.CloseBbl == 0 {
		v.OpenBbl, v.CloseBbl = tableBarrels(t.Table, load.Open), tableBarrels(t.Table, load.Close)
	}
	if load.OpenWater != nil && load.CloseWater != nil { // free water under the oil, where an interface is measured
		v.OpenWaterBbl, v.CloseWaterBbl = tableBarrels(t.Table, min(*load.OpenWater, load.Open)), tableBarrels(t.Table, min(*load.CloseWater, load.Close))
	}
	v.temperatures(t, load, r)
	v.standardGravity(r.SpecificGravity, s.Wire.Gravity == "observed")
	for _, c := range []struct {
		source        Source
		measured, has *float64
		name          string
	}{
		{t.Top, load.TopTemperature, r.TopTemperature, "top temperature"}, {t.Bottom, load.BottomTemperature, r.BottomTemperature, "bottom temperature"},
		{t.Gravity, load.Gravity, r.SpecificGravity, "gravity"}, {t.BSW, load.BSW, r.BSW, "BS&W"},
	} {
		if k := c.source.Constant; k != nil && c.measured == nil && c.has != nil && *c.has == *k {
			v.Notes = append(v.Notes, fmt.Sprintf("%s is the configured constant %g, not measured", c.name, *k))
		}
	}
	v.standardVolumes()
	return v
}

// tableBarrels is a table's volume at a level, to the hundredth that is printed; a level outside the table has none.
func tableBarrels(t tank.Table, in float64) float64 {
	v, err := t.Barrels(in)
	if err != nil {
		return 0
	}
	return hundredths(v)
}

// asSent makes of what the detector saw the figures of a ticket: the levels are those that the service gets, the barrels what the table
// has for them, to the hundredth, and each sum is that of what is printed. Whoever has the ticket and the table comes to the same.
func (s *Site) asSent(t *Tank, l *tank.Load) {
	for _, side := range []struct{ in, bbl *float64 }{{&l.Open, &l.OpenBbl}, {&l.Close, &l.CloseBbl}} {
		was, _ := t.Table.Extrapolated(*side.in)
		*side.in = s.Wire.LevelSent(*side.in)
		by, _ := t.Table.Extrapolated(*side.in)
		if math.Abs(was-*side.bbl) > 1e-6 { // gauged with another table
			by += *side.bbl - was
		}
		*side.bbl = hundredths(by)
	}
	l.GaugeBbl, l.InflowBbl = hundredths(l.OpenBbl-l.CloseBbl), hundredths(l.InflowBbl)
	l.RemovedBbl = hundredths(l.GaugeBbl + l.InflowBbl)
}

// temperatures are the means of what is known at each side. Without one at the closing the opening's stands for it.
func (v *Volumes) temperatures(t *Tank, load *tank.Load, r *cloud.RunTicket) {
	v.OpenDegF, v.CloseDegF = r.TopTemperature, r.BottomTemperature
	if !t.OpeningClosing {
		v.OpenDegF = mean(r.TopTemperature, r.BottomTemperature)
		v.CloseDegF = mean(closingTemperature(load.ClosingTop, load.TopTemperature, r.TopTemperature), closingTemperature(load.ClosingBottom, load.BottomTemperature, r.BottomTemperature))
	}
	switch {
	case v.OpenDegF == nil:
		v.CloseDegF = nil
		v.Missing = append(v.Missing, "temperature")
	case v.CloseDegF == nil:
		v.CloseDegF = v.OpenDegF
		v.Notes = append(v.Notes, "no temperature at the closing: the opening's stands for both")
	}
}

// closingTemperature is a temperature at the closing: as measured; a constant and a person's hold for both sides.
func closingTemperature(closing, opening, stated *float64) *float64 {
	edited := opening != nil && stated != nil && *stated != *opening
	if !edited && (closing != nil || opening != nil) {
		return closing
	}
	return stated
}

// standardGravity is the gravity at 60 degF; one that was observed in the tank is brought there first.
func (v *Volumes) standardGravity(sg *float64, observed bool) {
	if sg == nil || *sg <= 0 {
		v.Missing = append(v.Missing, "gravity")
		return
	}
	api, note := tank.SpecificAPI(*sg), ""
	if observed {
		if v.OpenDegF == nil {
			v.Missing = append(v.Missing, "gravity at 60 degF (it was observed in the tank)")
			return
		}
		api = tank.GravityAt60(api, *v.OpenDegF)
		note = fmt.Sprintf("gravity %.4f was observed at %.1f degF and brought to 60", *sg, *v.OpenDegF)
	}
	at60 := tank.SpecificGravity(api)
	if !Finite(api) || !Finite(at60) {
		v.Missing = append(v.Missing, fmt.Sprintf("gravity (with %g, none at 60 degF can be computed)", *sg))
		return
	}
	v.API60, v.Gravity = &api, &at60
	if note != "" {
		v.Notes = append(v.Notes, note)
	}
}

// standardVolumes is the last step: factors, gross and net.
func (v *Volumes) standardVolumes() {
	if v.OpenDegF == nil || v.API60 == nil {
		return
	}
	within := func(x, least, most float64) bool { return x >= least && x <= most }
	if !within(*v.API60, leastAPI, mostAPI) || !within(*v.OpenDegF, leastDegF, mostDegF) || !within(*v.CloseDegF, leastDegF, mostDegF) {
		v.Missing = append(v.Missing, fmt.Sprintf("gravity and temperature that API 11.1 covers (it has %.1f API at %.1f and %.1f degF)", *v.API60, *v.OpenDegF, *v.CloseDegF))
		return
	}
	v.OpenCTL, v.CloseCTL = new(tank.CTL(*v.API60, *v.OpenDegF)), new(tank.CTL(*v.API60, *v.CloseDegF))
	open := tank.Observed{Barrels: v.OpenBbl, FreeWater: v.OpenWaterBbl, DegF: *v.OpenDegF}
	closing := tank.Observed{Barrels: v.CloseBbl, FreeWater: v.CloseWaterBbl, DegF: *v.CloseDegF}
	v.GrossBbl = new(tank.Gross(open, closing, *v.API60))
	if v.BSW == nil {
		v.Missing = append(v.Missing, "BS&W")
		return
	}
	if net := tank.Net(*v.GrossBbl, *v.BSW); Finite(net) {
		v.NetBbl = &net
	} else {
		v.Missing = append(v.Missing, fmt.Sprintf("BS&W (%g percent is none)", *v.BSW))
	}
}

// inherit gives a ticket that is written in the place of another what that one has beside its gauges and the person leaves out: it was
// measured once, and nobody can measure it again. What is the configuration's in both stays that. The gauges are those that will be sent.
func (s *Site) inherit(w *ManualTicket, known []TicketRecord) {
	w.Open, w.Close = s.Wire.LevelSent(w.Open), s.Wire.LevelSent(w.Close)
	i := slices.IndexFunc(known, func(b TicketRecord) bool { return b.Number != "" && strings.EqualFold(b.Number, w.Replaces) })
	t := s.tank(w.Tank)
	if i < 0 || t == nil || known[i].Tank != w.Tank {
		return
	}
	w.remeasured = remeasured(t, &known[i])
	if k := originOf(known, i); k >= 0 {
		w.seen = known[k].Load
	}
	old, constant := s.figuresOf(t, &known[i]), t.stated(&tank.Load{})
	for _, f := range []struct{ of, old, constant **float64 }{
		{&w.TopTemperature, &old.TopTemperature, &constant.TopTemperature}, {&w.BottomTemperature, &old.BottomTemperature, &constant.BottomTemperature},
		{&w.SpecificGravity, &old.SpecificGravity, &constant.SpecificGravity}, {&w.BSW, &old.BSW, &constant.BSW},
	} {
		if same := *f.old != nil && *f.constant != nil && **f.old == **f.constant; *f.of == nil && !same {
			*f.of = *f.old
		}
	}
	w.SealOff, w.SealOn, w.Purchaser = cmp.Or(w.SealOff, old.SealOff), cmp.Or(w.SealOn, old.SealOn), cmp.Or(w.Purchaser, old.Purchaser)
	w.Comments = cmp.Or(w.Comments, old.Comments)
}

// remeasured says that a ticket's gauges make other barrels by the tank's table that is at work now than the ticket has; empty: they do
// not, or nobody knows. The table of then is not kept.
func remeasured(t *Tank, b *TicketRecord) string {
	g, v := b.gauges(), b.Volumes
	if g == nil || v == nil {
		return ""
	}
	is, was := tableBarrels(t.Table, g[0])-tableBarrels(t.Table, g[1]), v.OpenBbl-v.CloseBbl
	if math.Abs(is-was) < otherTable {
		return ""
	}
	return fmt.Sprintf("by the table at work now, by which the gauges of %s make %.1f bbl; by the table of then they made %.1f", b.Number, is, was)
}

// otherTable is how many barrels tell another table from the rounding of gauges.
const otherTable = 0.1

// Retyped is a ticket that has left, of those known, as a person would write it: of the one that is booked in its place only what is wrong
// has to be typed. Times or gauges that its record has not stay zero, and gauged says that it has gauges. Where no ticket that counts has the
// number, ok is false.
func (s *Site) Retyped(number string, known []TicketRecord) (w ManualTicket, gauged, ok bool) {
	i := slices.IndexFunc(known, func(b TicketRecord) bool { return b.Left() && !b.Off() && strings.EqualFold(b.Number, number) })
	if i < 0 {
		return w, false, false
	}
	b := &known[i]
	w = ManualTicket{Tank: b.Tank, Replaces: b.Number}
	if b.Start.Before(b.End) {
		w.Start, w.End = b.Start, b.End
	}
	if b.Load != nil && b.Load.Hidden() != nil { // as they were sent
		w.Start, w.End = roundedWithin(b.Load.Hidden(), b.Start, b.End)
	}
	if gauges := b.gauges(); gauges != nil {
		w.Open, w.Close, gauged = gauges[0], gauges[1], true
	}
	s.inherit(&w, known)
	return w, gauged, true
}

// Differences says what a ticket has from the one in whose place it is written, retyped as old, and what is another; and where the table is,
// which barrels come from that.
func (s *Site) Differences(old, w ManualTicket, known []TicketRecord) (same []string, changed []Edit, table string) {
	s.inherit(&w, known)
	names, before, after := []string{"tank", "start", "end", "opening gauge", "closing gauge"}, s.said(&old), s.said(&w)
	for _, f := range editFields {
		names = append(names, f.name)
	}
	for i, name := range names {
		if e := (Edit{Field: name, Old: before[i], New: after[i]}); e.Old != e.New {
			changed = append(changed, e)
		} else if e.New != "" {
			same = append(same, strings.ReplaceAll(name, "_", " ")+" "+e.New)
		}
	}
	return same, changed, w.remeasured
}

// said is what a person's ticket has, in the order of Differences; empty: it has it not.
func (s *Site) said(w *ManualTicket) []string {
	all := []string{w.Tank, "", "", "", ""}
	for i, t := range [...]time.Time{w.Start, w.End} {
		if !t.IsZero() {
			all[1+i] = t.In(s.Zone).Format(time.DateTime)
		}
	}
	for i, in := range [...]float64{w.Open, w.Close} {
		if w.Open+w.Close != 0 { // else it has none
			all[3+i] = fmt.Sprintf("%s (%.2f in)", tank.Length(in).Gauge(), in)
		}
	}
	r := cloud.RunTicket{TopTemperature: w.TopTemperature, BottomTemperature: w.BottomTemperature, SpecificGravity: w.SpecificGravity, BSW: w.BSW,
		SealOff: w.SealOff, SealOn: w.SealOn, Purchaser: w.Purchaser}
	for _, f := range editFields {
		all = append(all, f.of(&r, w.Comments))
	}
	return all
}

// leastGaps is how many times between two tickets of a tank tell how fast it fills; fasterBy times as fast as in the fastest of them it does
// not: a well that is turned into the tank hardly doubles what comes.
const (
	leastGaps = 4
	fasterBy  = 3
)

// fillsTooFast is what speaks against the gauges of a ticket beside those of the tickets before and after it: the tank would have filled far
// faster than between any two others.
func fillsTooFast(t *Tank, w *ManualTicket, known []TicketRecord) (doubts []string) {
	own := &TicketRecord{Start: w.Start, End: w.End, Gauged: []float64{w.Open, w.Close}}
	all := []*TicketRecord{own}
	for i := range known {
		if b := &known[i]; b.Tank == w.Tank && !b.Off() && b.gauges() != nil && !(b.Number != "" && strings.EqualFold(b.Number, w.Replaces)) {
			all = append(all, b)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Start.Before(all[j].Start) })
	others, fastest := 0, 0.0 // barrels an hour
	for _, mine := range []bool{false, true} {
		for i := range all[1:] {
			a, b := all[i], all[i+1]
			hours := b.Start.Sub(a.End).Hours()
			from, err1 := t.Table.Barrels(a.gauges()[1])
			to, err2 := t.Table.Barrels(b.gauges()[0])
			rise, pace := to-from, (to-from)/max(hours, 1) // people write times to some minutes
			switch {
			case hours <= 0 || err1 != nil || err2 != nil || mine != (a == own || b == own):
			case !mine:
				others, fastest = others+1, max(fastest, pace)
			case others >= leastGaps && rise > t.Loads.MinLoad && pace > fasterBy*fastest:
				doubts = append(doubts, fmt.Sprintf("from the closing of %s to the opening of %s %.0f bbl came in %.1f h; between others of %s at most %.1f an hour",
					cmp.Or(a.Name(), "this one"), cmp.Or(b.Name(), "this one"), rise, hours, w.Tank, fastest))
			}
		}
	}
	return doubts
}

// figuresOf is what a ticket has beside its gauges. The version before kept of a person's only the volumes that follow from it.
func (s *Site) figuresOf(t *Tank, b *TicketRecord) (g Given) {
	switch v := b.Volumes; {
	case b.Given != nil:
		g = *b.Given
	case b.Load != nil:
		r := t.stated(b.Load)
		applyEdits(r, b.Edits)
		written, _ := ownComments("", b.Edits)
		g = Given{r.TopTemperature, r.BottomTemperature, r.SpecificGravity, r.BSW, r.SealOff, r.SealOn, r.Purchaser, written}
	case v != nil:
		if g.TopTemperature, g.BSW = v.OpenDegF, v.BSW; t.OpeningClosing {
			g.BottomTemperature = v.CloseDegF
		}
		if s.Wire.Gravity != "observed" {
			g.SpecificGravity = v.Gravity
		}
	}
	var sent struct{ Purchaser string }
	if g.Purchaser == "" && json.Unmarshal(b.Ticket, &sent) == nil {
		g.Purchaser = sent.Purchaser
	}
	return g
}

// Labels are its purchaser and its seals as they were sent, or as they will be: buyer is the tank's purchaser, w says what seals are
// where nobody has given any.
func (b *TicketRecord) Labels(w cloud.Wire, buyer string) (purchaser, sealOff, sealOn string) {
	var sent struct{ Purchaser, SealOff, SealOn string }
	if b.Left() {
		_ = json.Unmarshal(b.Ticket, &sent) // one that was rebuilt has no bytes
	} else {
		r := cloud.RunTicket{Start: b.Start, End: b.End}
		applyEdits(&r, b.Edits)
		sent.Purchaser = r.Purchaser
		if b.Rejected == "" {
			sent.SealOn, sent.SealOff = w.Seals(r)
		}
	}
	return cmp.Or(sent.Purchaser, buyer), sent.SealOff, sent.SealOn
}

// complete adds to a ticket what follows from the rest: the production day of its closing, and the volumes of one
// that has not left yet or was booked before they were kept.
func (s *Site) complete(b *TicketRecord) {
	if b.End.IsZero() && b.Load != nil {
		b.Start, b.End = b.Load.Start, b.Load.End
	}
	if b.Day == "" { // one that is booked keeps the day that its comments name
		b.Day = s.productionDay(b.End)
	}
	t := s.tank(b.Tank)
	if b.Volumes == nil && b.Load != nil && t != nil {
		r := t.stated(b.Load)
		applyEdits(r, b.Edits)
		b.Volumes = s.volumes(t, b.Load, r)
	}
}
