package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/tank"
)

// chainTank is the tank of the worked example: 1.67 bbl an inch, 41.2 API at 60 degF, 0.4 % of sediment and water.
func chainTank(t *testing.T) (*Site, *Tank, *tank.Load) {
	t.Helper()
	table, err := tank.NewTable([][2]float64{{0, 0}, {240, 240 * 1.67}})
	if err != nil {
		t.Fatal(err)
	}
	load := &tank.Load{
		Open: 171.25, Close: 49.5, OpenBbl: 171.25 * 1.67, CloseBbl: 49.5 * 1.67, TopTemperature: new(82.0), ClosingTop: new(79.0),
		Gravity: new(tank.SpecificGravity(41.2)), BSW: new(0.4),
	}
	return &Site{Wire: cloud.DefaultWire()}, &Tank{Tank: tank.Tank{ID: "TK-1", Height: 240, Table: table}}, load
}

func has(p *float64, want float64) bool { return p != nil && math.Abs(*p-want) < 1e-9 }

func TestATicketsVolumesAreThoseOfTheWorkedExample(t *testing.T) {
	site, tk, load := chainTank(t)
	v := site.volumes(tk, load, tk.stated(load))
	for _, f := range []struct {
		name string
		got  *float64
		want float64
	}{{"open CTL", v.OpenCTL, 0.98876}, {"close CTL", v.CloseCTL, 0.99030}, {"gross", v.GrossBbl, 200.91}, {"net", v.NetBbl, 200.11}} {
		if !has(f.got, f.want) {
			t.Errorf("%s is not %g: %v", f.name, f.want, orElse(f.got, math.NaN()))
		}
	}
	if len(v.Missing)+len(v.Notes) > 0 {
		t.Errorf("missing %q, notes %q", v.Missing, v.Notes)
	}
	// What was kept before barrels were comes from the table of today.
	load.OpenBbl, load.CloseBbl = 0, 0
	if again := site.volumes(tk, load, tk.stated(load)); !has(again.GrossBbl, 200.91) {
		t.Errorf("gross of a load without barrels: %v", again.GrossBbl)
	}
	// Two thermometers count half each.
	load.BottomTemperature, load.ClosingBottom, load.TopTemperature, load.ClosingTop = new(80.0), new(78.0), new(84.0), new(80.0)
	if both := site.volumes(tk, load, tk.stated(load)); !has(both.OpenDegF, 82) || !has(both.CloseDegF, 79) || !has(both.GrossBbl, 200.91) {
		t.Errorf("volumes by two thermometers: %+v", both)
	}
}

func TestFreeWaterIsNoOil(t *testing.T) {
	site, tk, load := chainTank(t)
	load.OpenWater, load.CloseWater = new(6.0), new(6.0)
	v := site.volumes(tk, load, tk.stated(load))
	// 10.02 bbl of water on both sides: (285.99-10.02)*0.98876 - (82.67-10.02)*0.99030, of the barrels that are printed.
	if math.Abs(v.OpenWaterBbl-10.02) > 1e-9 || !has(v.GrossBbl, 200.92) {
		t.Errorf("water %v bbl, gross %v, want 10.02 and 200.92", v.OpenWaterBbl, *v.GrossBbl)
	}
}

func TestWhatNobodyMeasuredIsNotInvented(t *testing.T) {
	site, tk, whole := chainTank(t)
	for want, change := range map[string]func(*tank.Load){
		"temperature": func(l *tank.Load) { l.TopTemperature = nil },
		"gravity":     func(l *tank.Load) { l.Gravity = nil },
		"BS&W":        func(l *tank.Load) { l.BSW = nil },
		"API 11.1":    func(l *tank.Load) { l.Gravity = new(0.2) },
	} {
		load := *whole
		change(&load)
		v := site.volumes(tk, &load, tk.stated(&load))
		if !strings.Contains(strings.Join(v.Missing, ";"), want) || v.NetBbl != nil || want != "BS&W" && v.GrossBbl != nil {
			t.Errorf("without %s: %+v", want, v)
		}
	}
	load := whole
	load.ClosingTop = nil
	if v := site.volumes(tk, load, tk.stated(load)); !has(v.CloseDegF, 82) || len(v.Notes) != 1 || !strings.Contains(v.Notes[0], "the opening's stands for both") {
		t.Errorf("without a closing temperature: %+v", v)
	}
}

func TestConstantsAreSaidToBeSome(t *testing.T) {
	site, tk, load := chainTank(t)
	load.TopTemperature, load.ClosingTop, load.Gravity = nil, nil, nil
	tk.Top, tk.Gravity = Source{Constant: new(68.0)}, Source{Constant: new(0.83)}
	v := site.volumes(tk, load, tk.stated(load))
	if notes := strings.Join(v.Notes, "; "); !has(v.OpenDegF, 68) || !has(v.CloseDegF, 68) || !strings.Contains(notes, "top temperature is the configured constant 68") ||
		!strings.Contains(notes, "gravity is the configured constant 0.83") || strings.Contains(notes, "BS&W") {
		t.Errorf("volumes %+v", v)
	}
	// A gravity that was observed in the tank is brought to 60 degF: 40.0 API at 75 degF is 38.72.
	site.Wire.Gravity = "observed"
	load.TopTemperature, load.Gravity = new(75.0), new(tank.SpecificGravity(40))
	if v := site.volumes(tk, load, tk.stated(load)); v.API60 == nil || math.Abs(*v.API60-38.72) > 0.005 {
		t.Errorf("40.0 API observed at 75 degF: %+v", v)
	}
}

// With opening_closing the ticket's two temperatures are those of the opening and of the closing.
func TestTheTwoTemperaturesMayBeThoseOfTheTwoGauges(t *testing.T) {
	site, tk, load := chainTank(t)
	tk.OpeningClosing = true
	r := tk.stated(load)
	if !has(r.TopTemperature, 82) || !has(r.BottomTemperature, 79) {
		t.Errorf("stated %v and %v, want 82 and 79", r.TopTemperature, r.BottomTemperature)
	}
	if v := site.volumes(tk, load, r); !has(v.GrossBbl, 200.91) {
		t.Errorf("gross %v, want 200.91", v.GrossBbl)
	}
}

// Who corrects a thermometer at the opening corrects it at the closing too: it is the same one.
func TestAnEditedTemperatureHoldsForBothSides(t *testing.T) {
	site, tk, load := chainTank(t)
	r := tk.stated(load)
	applyEdits(r, []Edit{{Field: "top_temperature", New: "72"}})
	if v := site.volumes(tk, load, r); !has(v.OpenDegF, 72) || !has(v.CloseDegF, 72) {
		t.Errorf("temperatures %v and %v, want 72 on both sides", *v.OpenDegF, *v.CloseDegF)
	}
}

// A month that is closed stays as it was booked, whatever the configuration says since; a person's ticket is
// a run of the book.
func TestABookedTicketKeepsItsDayAndGauges(t *testing.T) {
	b := newBench(t, func(s *Site) { s.ProductionDay = 7 * time.Hour })
	b.leaking(52)
	at := time.Date(2026, 3, 3, 7, 30, 0, 0, time.UTC)
	number, _, err := b.Add(ManualTicket{Tank: "TK-1", Open: 150, Close: 100, Start: at.Add(-time.Hour), End: at, Anyway: "another truck"}, "ann")
	b.must(err)
	rows, err := b.BookDays(BookPeriod{From: "2026-03-03", To: "2026-03-03"})
	b.must(err)
	if len(rows) != 1 || len(rows[0].Tickets) != 2 || rows[0].Tickets[1].Number != number || rows[0].Tickets[1].Written != "ann" {
		t.Errorf("the book has %+v, want the run and the ticket that ann wrote", rows)
	}
	b.reconfigured(func(s *Site) { s.ProductionDay, s.Wire.LevelUnit = 9*time.Hour, "ft" })
	all, err := b.Tickets()
	b.must(err)
	if len(all) != 2 {
		t.Fatalf("%d tickets, want 2", len(all))
	}
	for _, x := range all {
		if x.Day != "2026-03-03" {
			t.Errorf("%s is of %s now", x.Number, x.Day)
		}
		if x.Load == nil && !slices.Equal(x.Gauged, []float64{150, 100}) {
			t.Errorf("%s has the gauges %v", x.Number, x.Gauged)
		}
	}
}

// What a person leaves out of a ticket is the tank's constant, as in a ticket of a load: a day with both kinds has its gross and net.
// The ticket says who measured what, and that a person wrote it.
func TestATicketByHandHasTheTanksConstants(t *testing.T) {
	site, tk, load := chainTank(t)
	tk.Top, tk.Bottom, tk.Gravity, tk.BSW = Source{Constant: new(82.0)}, Source{Constant: new(82.0)}, Source{Constant: load.Gravity}, Source{Constant: load.BSW}
	w := &ManualTicket{Tank: "TK-1", Open: load.Open, Close: load.Close}
	for _, c := range []struct {
		what             string
		top, bottom      *float64
		openingClosing   bool
		open, closing    float64
		comments, absent string
	}{
		{"nothing typed", nil, nil, false, 82, 82, "constant=top_temperature+bottom_temperature+specific_gravity+bsw", ""},
		{"typed, in the tank", new(90.0), new(80.0), false, 85, 85, "constant=specific_gravity+bsw", "temperature"},
		{"typed, at the gauges", new(90.0), new(80.0), true, 90, 80, "constant=specific_gravity+bsw", "temperature"},
		{"no temperature, at the gauges", nil, nil, true, 82, 82, "specific_gravity+bsw", ""},
	} {
		w.TopTemperature, w.BottomTemperature, tk.OpeningClosing = c.top, c.bottom, c.openingClosing
		r := w.runTicket(tk)
		v := site.volumes(tk, w.load(tk), &r)
		if !has(v.OpenDegF, c.open) || !has(v.CloseDegF, c.closing) || v.GrossBbl == nil || v.NetBbl == nil {
			t.Errorf("%s: %+v", c.what, v)
		}
		if !strings.HasPrefix(r.Comments, "entered by hand; ") || !strings.Contains(r.Comments, c.comments) || c.absent != "" && strings.Contains(r.Comments, c.absent) {
			t.Errorf("%s: the comments are %q", c.what, r.Comments)
		}
	}
}

// Whoever has a ticket and the tank's table comes to its barrels to the cent: of the levels as they are sent, also in another unit, and each
// sum of the figures that are printed. A service that takes no more than inches does not make the barrels worse.
func TestATicketsFiguresAreReckonedOfWhatItSays(t *testing.T) {
	site, tk, _ := chainTank(t)
	for unit, level := range map[string]func(float64) float64{
		"in": func(in float64) float64 { return hundredths(in) },
		"ft": func(in float64) float64 { return math.Round(in/12*1e3) / 1e3 * 12 },
		"cm": func(in float64) float64 { return math.Round(in*2.54*100) / 100 / 2.54 },
	} {
		site.Wire.LevelUnit = unit
		for i := range 200 {
			l := &tank.Load{Open: 171.2512 + 0.0137*float64(i), Close: 49.4971 - 0.0071*float64(i), InflowBbl: 2.3451 + float64(i)/1000}
			l.OpenBbl, _ = tk.Table.Barrels(l.Open)
			l.CloseBbl, _ = tk.Table.Barrels(l.Close)
			seen := l.OpenBbl - l.CloseBbl
			site.asSent(tk, l)
			open, closing := tableBarrels(tk.Table, level(l.Open)), tableBarrels(tk.Table, level(l.Close))
			if l.OpenBbl != open || l.CloseBbl != closing || l.GaugeBbl != hundredths(open-closing) || l.RemovedBbl != hundredths(l.GaugeBbl+l.InflowBbl) || math.Abs(l.GaugeBbl-seen) > 0.04 {
				t.Fatalf("in %s: %+v", unit, l)
			}
		}
	}
	site.Wire.LevelUnit, site.Wire.LevelDecimals = "in", new(0)
	l := &tank.Load{Open: 171.4, Close: 49.4, OpenBbl: 171.4 * 1.67, CloseBbl: 49.4 * 1.67}
	if site.asSent(tk, l); l.GaugeBbl != 203.74 {
		t.Errorf("beside whole inches: %+v", l)
	}
	v := site.volumes(tk, &tank.Load{Open: 171.25, Close: 49.5, OpenBbl: 285.9875, CloseBbl: 82.665}, &cloud.RunTicket{TopTemperature: new(82.0), SpecificGravity: new(0.82), BSW: new(0.4)})
	if gross := hundredths(v.OpenBbl**v.OpenCTL - v.CloseBbl**v.CloseCTL); *v.GrossBbl != gross || *v.NetBbl != hundredths(gross*(1-0.004)) || v.OpenBbl != 285.99 {
		t.Errorf("gross %.4f and net %.4f of %+v", *v.GrossBbl, *v.NetBbl, v)
	}
}

// A ticket that is written in the place of another has what was measured for that one, whatever else of it was wrong: without a word the
// temperature at the closing and the free water too, so that gross and net stay. What the person gives counts.
func TestAReplacementHasWhatWasMeasured(t *testing.T) {
	site, tk, load := chainTank(t)
	load.OpenWater, load.CloseWater = new(6.0), new(6.0)
	tk.Purchaser, site.Tanks = "Acme", []Tank{*tk}
	r := tk.stated(load)
	first := TicketRecord{Number: "A-1", Tank: "TK-1", Load: load, Volumes: site.volumes(tk, load, r), ReplacedBy: "M-1", Ticket: []byte(`{"purchaser":"Plains"}`),
		Edits: []Edit{{Field: "seal_off", New: "4711"}}}
	write := func(w ManualTicket, known ...TicketRecord) TicketRecord {
		w.Tank, w.Open, w.Close = "TK-1", load.Open, load.Close
		linkReplaced(known)
		site.inherit(&w, known)
		ticket := w.runTicket(tk)
		return TicketRecord{Number: "M-1", Tank: "TK-1", Volumes: site.volumes(tk, w.load(tk), &ticket),
			Given: &Given{w.TopTemperature, w.BottomTemperature, w.SpecificGravity, w.BSW, w.SealOff, w.SealOn, w.Purchaser, w.Comments}}
	}
	same := func(what string, b TicketRecord) {
		if !has(b.Volumes.GrossBbl, *first.Volumes.GrossBbl) || !has(b.Volumes.NetBbl, *first.Volumes.NetBbl) || b.Given.Purchaser != "Plains" || b.Given.SealOff != "4711" {
			t.Errorf("%s: %+v, %+v; want gross %v", what, b.Given, b.Volumes, *first.Volumes.GrossBbl)
		}
	}
	second := write(ManualTicket{Replaces: "a-1"}, first)
	same("in its place", second)
	second.ReplacedBy = "M-2"
	same("in the place of that", write(ManualTicket{Replaces: "M-1"}, first, second))
	if got := write(ManualTicket{Replaces: "A-1", BSW: new(1.0), Purchaser: "Acme"}, first); *got.Volumes.BSW != 1 || got.Given.Purchaser != "Acme" || !has(got.Volumes.GrossBbl, *first.Volumes.GrossBbl) {
		t.Errorf("what the person gives: %+v", got.Volumes)
	}
	second.Given, second.Ticket = nil, first.Ticket // as the version before kept it
	if got := write(ManualTicket{Replaces: "M-1"}, first, second); got.Volumes.NetBbl == nil || !has(got.Volumes.OpenDegF, 82) || got.Given.Purchaser != "Plains" {
		t.Errorf("of the version before: %+v", got.Volumes)
	}
	if got := write(ManualTicket{Replaces: "A-1"}, TicketRecord{Number: "A-1", Tank: "TK-2", Load: load}); got.Volumes.GrossBbl != nil {
		t.Errorf("of another tank: %+v", got.Volumes)
	}
}

// A ticket that is written again has all of the one in whose place it is booked but what is given, and never a gauge that nobody kept.
func TestOnlyWhatIsWrongIsTyped(t *testing.T) {
	site, tk, load := chainTank(t)
	site.Tanks, site.Zone = []Tank{*tk}, time.UTC
	at := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	kept := TicketRecord{Number: "A-1", Tank: "TK-1", Seq: 1, Start: at, End: at.Add(time.Hour), Load: load, Edits: []Edit{{Field: "comments", New: "by tape"}}, Ticket: []byte(`{"purchaser":"Plains"}`)}
	known := []TicketRecord{kept, {Number: "A-2", Tank: "TK-1", Seq: 2, Start: at, End: at, Rebuilt: "from its receipt"}, {Number: "A-3", Tank: "TK-1", Seq: 3, Voided: "by ann"}}
	old, gauged, ok := site.Retyped("a-1", known)
	if !ok || !gauged || old.Replaces != "A-1" || old.Open != site.Wire.LevelSent(load.Open) || old.Comments != "by tape" || old.Purchaser != "Plains" {
		t.Fatalf("%+v, %t, %t", old, gauged, ok)
	}
	w := old
	if same, changed, table := site.Differences(old, w, known); changed != nil || len(same) < 7 || table != "" {
		t.Errorf("nothing is another: %q, %v", same, changed)
	}
	w.Close++
	if _, changed, _ := site.Differences(old, w, known); len(changed) != 1 || changed[0].Field != "closing gauge" {
		t.Errorf("one gauge is another: %v", changed)
	}
	if lost, gauged, ok := site.Retyped("A-2", known); !ok || gauged || !lost.Start.IsZero() || lost.Open+lost.Close != 0 {
		t.Errorf("of a ticket without gauges and times: %+v", lost)
	}
	if _, _, ok := site.Retyped("A-3", known); ok {
		t.Error("a void ticket has no other in its place")
	}
}

// A ticket in the place of another is measured by the table that is at work now; where that one was by another table, it says so.
func TestAnotherTableIsSaidOfATicketInThePlaceOfOne(t *testing.T) {
	site, tk, load := chainTank(t)
	site.Tanks, site.Zone = []Tank{*tk}, time.UTC
	known := []TicketRecord{{Number: "A-1", Tank: "TK-1", Seq: 1, Load: load, Volumes: site.volumes(tk, load, tk.stated(load))}}
	was := known[0].Volumes.OpenBbl - known[0].Volumes.CloseBbl
	w, _, _ := site.Retyped("A-1", known)
	if _, _, table := site.Differences(w, w, known); table != "" || strings.Contains(w.runTicket(tk).Comments, "table") {
		t.Errorf("by the same table: %q, %q", table, w.runTicket(tk).Comments)
	}
	now := &site.Tanks[0]
	now.Table = tank.Cylinder(200, now.Height)
	is := tableBarrels(now.Table, w.Open) - tableBarrels(now.Table, w.Close)
	want := fmt.Sprintf("by which the gauges of A-1 make %.1f bbl; by the table of then they made %.1f", is, was)
	w, _, _ = site.Retyped("A-1", known)
	_, changed, table := site.Differences(w, w, known)
	if changed != nil || !strings.Contains(table, want) || !strings.Contains(w.runTicket(now).Comments, want) {
		t.Errorf("%q, %q, %q; want %q in both", changed, table, w.runTicket(now).Comments, want)
	}
}
