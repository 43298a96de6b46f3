package main

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/config"
)

// paper is a ticket as the list has it.
func paper(change func(*ticketRow)) *ticketRow {
	start := time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC)
	l := tank.Load{
		Tank: "TK-1", Start: start, End: start.Add(34 * time.Minute), Open: 171.25, Close: 49.5, GaugeBbl: 203.32, RemovedBbl: 205.1, InflowBbl: 1.78, InflowErrorBbl: 0.61,
		Rate: 5.98, Sigma: 0.05, Confidence: 0.93, ErrorBbl: 0.42, Parts: 2, Samples: 212, Table: "strap",
		Rivals: &tank.Rivals{MinLoad: 25, MinRate: 0.5, Others: 2, Rose: "TK-2", RoseBbl: 0.9, BackIn: 0.7, Watched: 45 * time.Minute, WaterIn: new(0.1)},
	}
	r := &ticketRow{control.TicketRow{State: "delivered", Status: 200, TicketRecord: ledger.TicketRecord{
		Number: "A-TEST-TK-1-20260302T1500Z", Tank: "TK-1", Load: &l, Start: l.Start, End: l.End, Day: "2026-03-02",
		Volumes: &ledger.Volumes{OpenBbl: 285.99, CloseBbl: 82.67, GrossBbl: new(200.91), NetBbl: new(200.11), OpenCTL: new(0.98876), CloseCTL: new(0.9903)},
	}}}
	if change != nil {
		change(r)
	}
	return r
}

// A spreadsheet that opens the file must not run what a free text says.
func TestTheCSVIsSafeInASpreadsheet(t *testing.T) {
	cfg := &config.Config{}
	cfg.Zone = time.FixedZone("CST", -6*3600)
	cfg.Tanks = []config.Tank{{ID: "TK-1", Purchaser: "=HYPERLINK(\"x\"), \"Acme\"\nCrude"}}
	row := paper(func(r *ticketRow) {
		r.Matches = []ledger.TruckTicket{{Hauler: "+1", Bbl: 100, Basis: ledger.AsNet}, {Hauler: "@2", Bbl: 99, Basis: ledger.AsNet}}
		r.Hauled = r.TicketRecord.TruckTotals()
		r.Load.Review = []string{"-no reading"}
	})
	var out bytes.Buffer
	if err := writeTicketsCSV(&call{out: &out}, site{cfg}, []ticketRow{*row}); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(all) != 2 {
		t.Fatalf("%d lines (%v)", len(all), err)
	}
	got := map[string]string{}
	for i, name := range all[0] {
		got[name] = all[1][i]
	}
	for name, want := range map[string]string{
		"production_day": "2026-03-02", "purchaser": "'=HYPERLINK(\"x\"), \"Acme\"\nCrude", "hauler": "'+1 + @2", "hauler_bbl": "199.00", "difference_bbl": "-1.11",
		"review": "needs review: -no reading | truck's +1+@2 199.00 bbl net, gauge 200.11, -1.11", "open_ft_in_q": "14-03-1", "close_ft_in_q": "04-01-2", "open_in": "171.25", "gross_bbl": "200.91", "net_bbl": "200.11",
		"open_ctl": "0.98876", "close_ctl": "0.99030", "start": "2026-03-02T09:00:00-06:00", "error_bbl": "0.42", "bsw_percent": "", "open_degf": "",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

func TestATicketIsExplainedByItsFigures(t *testing.T) {
	text := strings.Join(paper(nil).sentences(site{}), "\n")
	for _, want := range []string{
		"fell from 14 ft 3 1/4 in to 4 ft 1 1/2 in.", "The difference is 203.3 bbl, give or take 0.4.",
		"Meanwhile about 1.8 bbl (give or take 0.6) flowed in, so 205.1 bbl left the tank.", "in 2 parts with pauses between them",
		"less than the 25 bbl that count as a load here, and this took 205.1", "this fell at 6.0 bbl a minute, and below 0.5",
		"of the 2 others that gauger watches here TK-2 rose most, and together they took 0.9 bbl", "watched for 45 minutes after the end, and of 121.8 in only 0.7 in came back",
		"the water under the oil fell by 0.1 in, the level by 121.8 in", "at 93 in 100; it never claims more than 99.", "The ticket is delivered (status 200).",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %q in\n%s", want, text)
		}
	}
}

// Of a load of which almost half was not seen nobody knows that it had no pause, and a reader is told of it however short it was.
func TestALoadWithABlankInItIsNotToldAsSeen(t *testing.T) {
	blank := paper(func(r *ticketRow) {
		r.Load.Parts, r.Load.End, r.Load.Gap = 1, r.Load.Start.Add(4*time.Minute), 108*time.Second
	})
	text := strings.Join(blank.sentences(site{}), "\n")
	for _, want := range []string{"without a pause that a reading shows, seen in 212 readings", "No reading came for 2 minutes of its 4 minutes: what the level did in that time is not known."} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %q in\n%s", want, text)
		}
	}
	blank.Load.Gap = 10 * time.Second
	if text := strings.Join(blank.sentences(site{}), "\n"); !strings.Contains(text, "without a pause, seen") || strings.Contains(text, "No reading came") {
		t.Errorf("a short one:\n%s", text)
	}
}

// Where most of it came back no word of explain says that it did not, nor that nobody has to look; what was learned later stands in every
// place. A value that hung for longer than the load took is told as that.
func TestALoadThatCameBackIsNotDenied(t *testing.T) {
	back := paper(func(r *ticketRow) {
		r.Load.Rivals.BackIn, r.Load.Remarks, r.Load.Gap = 109.4, []string{"one truck or two"}, 3*time.Hour
		r.Found = []ledger.Finding{{Note: "the oil may never have left the site", At: r.Load.End.Add(time.Hour)}}
	})
	text := strings.Join(back.sentences(site{}), "\n")
	for _, want := range []string{"A recirculation: most likely, in the 45 minutes that gauger watched after the end 109.4 of 121.8 in came back.",
		"Learned later, on 2026-03-02 16:34: the oil may never have left the site.", "Nothing shows the level for 3.0 hours about its end or its beginning"} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "recirculation: no") || strings.Contains(text, "calls for a person") || strings.Contains(text, "of its 34 minutes") {
		t.Errorf("it is denied:\n%s", text)
	}
	learned := 0
	for _, line := range back.evidence(site{}) {
		if line[0] == "learned later" && strings.Contains(line[1], "never have left") {
			learned++
		}
	}
	if learned != 1 {
		t.Errorf("show tells it %d times: %q", learned, back.evidence(site{}))
	}
}

// Of a load that was seen from the middle, or not to its end, the figures are the least that was taken.
func TestALoadThatWasNotSeenWholeIsTheLeast(t *testing.T) {
	for _, why := range []string{tank.BeganBefore, tank.StoppedInside} {
		r := paper(func(r *ticketRow) { r.Load.Review = []string{"data gap 12 min", why} })
		text := strings.Join(r.sentences(site{}), "\n")
		for _, want := range []string{"the load was at least that: " + why, "so at least 205.1 bbl left the tank"} {
			if !strings.Contains(text, want) {
				t.Errorf("not said: %q in\n%s", want, text)
			}
		}
		if gauge := r.evidence(site{})[slices.IndexFunc(r.evidence(site{}), func(l [2]string) bool { return l[0] == "by gauge" })][1]; !strings.HasPrefix(gauge, "at least 203.3") {
			t.Errorf("by gauge %s", gauge)
		}
	}
}

// Nothing is claimed that was not computed, however good or bare a load is.
func TestNothingIsClaimedThatWasNotComputed(t *testing.T) {
	for name, change := range map[string]func(*ticketRow){
		"perfect": func(r *ticketRow) {
			r.Load.Confidence, r.Load.ErrorBbl, r.Load.InflowBbl, r.Load.Rivals = 1, 0.01, 0.001, &tank.Rivals{MinLoad: 25, MinRate: 0.5, Others: 1}
		},
		"bare":    func(r *ticketRow) { r.Load.ErrorBbl, r.Load.Rivals, r.Volumes, r.Load.InflowBbl = 0, nil, nil, 0 },
		"unknown": func(r *ticketRow) { r.Load.InflowUnknown, r.Load.InflowBbl = true, 0 },
	} {
		r := paper(change)
		text := strings.Join(r.sentences(site{}), "\n")
		for _, line := range r.evidence(site{}) {
			text += "\n" + line[0] + " " + line[1]
		}
		for _, never := range []string{"100 %", "1.00", "give or take 0.0", " 0.0 bbl", "-0.0", "NaN", "<nil>", "%!"} {
			if strings.Contains(text, never) {
				t.Errorf("%s: %q in\n%s", name, never, text)
			}
		}
		line, at := r.csvLine(site{}), strings.Split(csvColumns, ",")
		for _, column := range map[string][]string{"bare": {"error_bbl"}, "unknown": {"inflow_bbl"}}[name] {
			if got := line[slices.Index(at, column)]; got != "" {
				t.Errorf("%s: %s as %s, which nobody knows", name, got, column)
			}
		}
	}
}

func TestATimeIsAnsweredByWhatIsKnown(t *testing.T) {
	at := time.Date(2026, 3, 2, 14, 10, 0, 0, time.UTC)
	verdict := func(what, why string, bbl float64) tank.Verdict {
		return tank.Verdict{Tank: "TK-1", What: what, Why: why, Bbl: bbl, Start: at.Add(-5 * time.Minute), End: at, Open: 171.25, Close: 166.25, Until: at.Add(45 * time.Minute)}
	}
	levels := func(from, to time.Duration, v, rise float64) (all []tank.Moment) {
		for d := from; d <= to; d += 10 * time.Minute {
			all = append(all, tank.Moment{At: at.Add(d), In: v + rise*d.Minutes()})
		}
		return all
	}
	known := ledger.Explanation{Tank: "TK-1", At: at, Now: at.Add(3 * time.Hour), MinLoad: 25, MinRate: 0.5}
	for want, change := range map[string]func(*ledger.Explanation){
		"8.2 bbl of the 25 that min_load wants": func(w *ledger.Explanation) {
			w.Verdicts = []tank.Verdict{verdict(tank.TooSmall, "8.2 bbl of the 25 that min_load wants", 8.2)}
		},
		"it was moved: meanwhile other tanks": func(w *ledger.Explanation) {
			w.Verdicts = []tank.Verdict{verdict(tank.Transferred, "meanwhile other tanks", 60)}
		},
		"makes no ticket: the tank was inhibited": func(w *ledger.Explanation) {
			w.Verdicts = []tank.Verdict{verdict("inhibited", "the tank was inhibited", 180)}
		},
		"the sensor's value was stuck: value stood": func(w *ledger.Explanation) { w.Verdicts = []tank.Verdict{verdict("stuck", "value stood", 0)} },
		"It is not decided yet": func(w *ledger.Explanation) {
			w.Waiting = []tank.Verdict{verdict(tank.Undecided, "the level has to stay down for 45m0s", 180)}
		},
		"a load here has 25 bbl or more": func(w *ledger.Explanation) { w.Waiting = []tank.Verdict{verdict(tank.Undecided, "x", 5)} },
		"a meter makes the tickets of this tank": func(w *ledger.Explanation) {
			w.Lact, w.Waiting = true, []tank.Verdict{verdict(tank.Undecided, "x", 180)}
		},
		"there is a ticket": func(w *ledger.Explanation) {
			w.Tickets = []ledger.TicketRecord{{Number: "A-1", Tank: "TK-1", Start: at, End: at}}
		},
		"Ticket A-1 is near, from 13:10 to 13:40": func(w *ledger.Explanation) {
			w.Tickets = []ledger.TicketRecord{{Number: "A-1", Tank: "TK-1", Start: at.Add(-time.Hour), End: at.Add(-30 * time.Minute)}}
		},
		"it stood":          func(w *ledger.Explanation) { w.Levels = levels(-time.Hour, time.Hour, 120, 0.001) },
		"it rose by 6.0 in": func(w *ledger.Explanation) { w.Levels = levels(-time.Hour, time.Hour, 120, 0.1) },
		"No reading came from 13:40 to 14:40; the level was 10 ft 0 in before and 5 ft 0 in after": func(w *ledger.Explanation) {
			w.Levels = append(levels(-time.Hour, -30*time.Minute, 120, 0), levels(30*time.Minute, time.Hour, 60, 0)...)
		},
		"No reading has come since 13:40": func(w *ledger.Explanation) { w.Levels = levels(-time.Hour, -30*time.Minute, 120, 0) },
		"at 14:10 on March 2, 2026 gauger cannot say.\nThe readings that are kept begin at 2026-03-02 15:10": func(w *ledger.Explanation) { w.Oldest = at.Add(time.Hour) },
		"gauger cannot say.\nNo reading of the level is kept":                                                func(*ledger.Explanation) {},
		"came within the hour before or after":                                                               func(w *ledger.Explanation) { w.Oldest = at.Add(-9 * time.Hour) },
		"has not come yet":                                                                                   func(w *ledger.Explanation) { w.Now = at.Add(-time.Hour) },
	} {
		w := known
		change(&w)
		cfg := &config.Config{}
		cfg.Zone = time.UTC
		text := strings.Join((&timeAnswer{Explanation: &w, h: site{cfg}}).sentences(), "\n")
		if !strings.Contains(text, want) || strings.Contains(text, "%!") {
			t.Errorf("not said: %q in\n%s", want, text)
		}
	}
}

func TestATimeOfDayIsTheLastOne(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 8, 12, 0, 0, 0, zone) // the clocks were set forward at two
	for text, want := range map[string]string{
		"09:30": "2026-03-08T09:30:00-05:00", "14:10": "2026-03-07T14:10:00-06:00", "09:30:15": "2026-03-08T09:30:15-05:00", "2026-03-02 14:10": "2026-03-02T14:10:00-06:00", "2h": "2026-03-08T10:00:00-05:00",
	} {
		got, err := clockTime(text, zone, now)
		if err != nil || got.In(zone).Format(time.RFC3339) != want {
			t.Errorf("%q is %v (%v), want %s", text, got, err, want)
		}
	}
	if _, err := clockTime("TK-1", zone, now); err == nil {
		t.Error("a tank passed for a time")
	}
}

// Who asks of a time of day that has not come yet is told which day was taken; a day that he writes himself is no news to him.
func TestTheDayThatWasTakenIsSaid(t *testing.T) {
	now := time.Date(2026, 11, 27, 13, 44, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"14:10": "14:10 has not come yet today, it is 13:44: this is about yesterday, November 26.", "13:40": "", "2026-11-26 14:10": "", "20h": "",
	} {
		at, err := clockTime(text, time.UTC, now)
		if got := dayTaken(text, at, time.UTC, now); got != want || err != nil {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// The list, the sentences and the picture show one minute for one time.
func TestATimeStandsInOneWayEverywhere(t *testing.T) {
	start := time.Date(2026, 3, 2, 13, 31, 42, 0, time.UTC)
	end := start.Add(16 * time.Minute) // 13:47:42
	if got := spokenPeriod(start, end, time.UTC); got != "On March 2 from 13:31 to 13:47" {
		t.Errorf("said: %s", got)
	}
	if got := (&timeAnswer{}).clock(end); got != end.In(time.Local).Format("15:04") {
		t.Errorf("told of a time: %s", got)
	}
	if got := (&chart{start: start, zone: time.UTC}).clockText(end.Sub(start).Seconds()); got != "13:47" {
		t.Errorf("drawn: %s", got)
	}
}

// A ticket that has left is not the end: who finds it wrong is told both ways on.
func TestATicketThatHasLeftSaysHowToPutItRight(t *testing.T) {
	r := paper(func(r *ticketRow) { r.Load.Review = []string{"a gap"} })
	text := strings.Join(r.sentences(site{}), "\n")
	for _, want := range []string{"`gauger tickets add --replaces A-TEST-TK-1-20260302T1500Z --why TEXT`", "`gauger tickets reject A-TEST-TK-1-20260302T1500Z --left --why TEXT`"} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %q in\n%s", want, text)
		}
	}
}

// Barrels by a diameter are off by up to a percent beside the gauges' error, wherever that is named.
func TestBarrelsByTheDiameterAreGoodToAPercent(t *testing.T) {
	r := paper(func(r *ticketRow) { r.Load.Table, r.Load.GaugeBbl, r.Load.ErrorBbl = "geometry", 164.52, 0.2 })
	const want = "give or take 0.2, and up to 1 % (1.6 bbl) until it has a strapping table"
	if text := strings.Join(r.sentences(site{}), "\n"); !strings.Contains(text, "The difference is 164.5 bbl, "+want+".") {
		t.Error(text)
	}
	if !slices.Contains(r.evidence(site{}), [2]string{"by gauge", "164.52 bbl, " + want + ", by the tank's diameter"}) {
		t.Error(r.evidence(site{}))
	}
}

// A truck's meter is held against what has left the tank, so that the error of the inflow counts too; gauges are not.
func TestAMetersBarrelsAreHeldAgainstBothErrors(t *testing.T) {
	for _, x := range []struct {
		metered, within bool
		bbl             float64
		basis, want     string
	}{
		{true, true, 204.5, ledger.AsObserved, "0.60 bbl (0.29 %) less, within gauger's own error of 0.7 (the inflow's is in it)"},
		{true, false, 204.3, ledger.AsObserved, "beyond gauger's own error of 0.7 (the inflow's is in it)"},
		{true, true, 202, ledger.AsGross, "within gauger's own error of 0.7 (the inflow's is in it)"},
		{false, false, 202.72, ledger.AsObserved, "0.60 bbl (0.30 %) less, beyond gauger's own error of 0.4,"},
	} {
		r := paper(func(r *ticketRow) {
			r.Matches = []ledger.TruckTicket{{Hauler: "1", Bbl: x.bbl, Basis: x.basis, Metered: x.metered}}
		})
		h := r.TruckTotals()
		if got := differenceOf(h, &r.TicketRecord); !strings.Contains(got, x.want) || h.Within == nil || *h.Within != x.within {
			t.Errorf("%+v: %v %s", x, *h.Within, got)
		}
	}
}

// Without gravity there is nothing to compare gross barrels with: what lacks is said, and which keys mend it.
func TestNoVolumeOnABasisSaysWhy(t *testing.T) {
	r := paper(func(r *ticketRow) {
		r.Volumes.GrossBbl, r.Volumes.NetBbl, r.Volumes.Missing = nil, nil, []string{"temperature", "gravity"}
		r.Matches = []ledger.TruckTicket{{Hauler: "1", Bbl: 200, Basis: ledger.AsGross}}
	})
	const want = "gauger has no gross barrels of it (no temperature, gravity), so no difference; match the observed ones, and for the next tickets write " +
		"specific_gravity and top_temperature of TK-1 into the configuration"
	if got := differenceOf(r.TruckTotals(), &r.TicketRecord); got != want {
		t.Error(got)
	}
}

// Papers of one ticket say the same before and after it left, and whatever the configuration says since.
func TestAPaperSaysWhatWasEditedAndGauged(t *testing.T) {
	cfg := &config.Config{}
	cfg.Tanks = []config.Tank{{ID: "TK-1", Purchaser: "Acme"}}
	cfg.Service.Wire.LevelUnit = "ft"
	held := paper(func(r *ticketRow) { r.Edits = []ledger.Edit{{Field: "purchaser", New: "Beta"}} })
	if got := held.purchaser(site{cfg}); got != "Beta" {
		t.Errorf("the purchaser of a held ticket is %s, was edited to Beta", got)
	}
	found := paper(func(r *ticketRow) {
		r.Found, r.Load.Review = []ledger.Finding{{Note: "it came back"}}, []string{"a gap"}
	})
	if got := found.remark(); got != "needs review: a gap | learned later: it came back" {
		t.Errorf("of a ticket that was corrected the list says %q", got)
	}
	void := paper(func(r *ticketRow) { r.Voided = "ann: no oil" })
	if got := newComparedTicket(site{cfg}, void).Remark; got != "void, by ann: no oil" {
		t.Errorf("of a void ticket a comparison says %q", got)
	}
	written := paper(func(r *ticketRow) {
		r.Load, r.Gauged = nil, []float64{171.25, 49.5}
		r.Ticket = []byte(`{"openingLevel":{"level":171.25},"closingLevel":{"level":49.5}}`)
	})
	f := written.figures(site{cfg})
	if *f.open != 171.25 || *f.closing != 49.5 {
		t.Errorf("gauges %v and %v, want 171.25 and 49.50 in", *f.open, *f.closing)
	}
	if f.bbl == nil || *f.bbl != 285.99-82.67 {
		t.Errorf("%s bbl, want 203.32", figureText(f.bbl, 2))
	}
}

// A load in the time of a clock that was not set leaves when that is set, not in 1970.
func TestATicketThatWaitsForTheClockSaysSo(t *testing.T) {
	row := paper(func(r *ticketRow) { r.State, r.Load.Start = "held", time.Date(1970, 1, 1, 3, 0, 0, 0, time.UTC) })
	if got := row.stateText(site{&config.Config{}}); got != "held until the clock is set, which will date it" {
		t.Errorf("it stands as %q", got)
	}
}

// A fall of which no reading shows a wide part may be a jump, however many readings the rest has. Where the readings are few and even, each step is.
func TestALeapInsideALoadIsNotDenied(t *testing.T) {
	for want, x := range map[string]tank.Trend{
		"not excluded, no reading shows the level on its way from 7 ft 4 in to 2 ft 3 1/2 in; 17 readings": {Seconds: []int32{-1, 1, 2, 4, 6, 8, 9, 11, 13, 14, 16, 55}, Level: []int32{12987, 12640, 12289, 11589, 10884, 10188, 9838, 9136, 8435, 8087, 8800, 2750}},
		"no, 17 readings came": {Seconds: []int32{-30, -1, 10, 20, 30, 43}, Level: []int32{1000, 12987, 10000, 7500, 5000, 2750}}, // and not the fall before it
	} {
		r := paper(func(r *ticketRow) {
			r.Load.Open, r.Load.Close, r.Load.Samples, r.Load.Trend, r.Load.End = 129.93, 27.5, 17, &x, r.Load.Start.Add(43*time.Second)
		})
		if got := strings.Join(r.sentences(site{}), "\n"); !strings.Contains(got, "A jump of the sensor: "+want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}
