package page

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
)

// TestADaysBarrelsAreThoseOfAllItsTickets: the oldest day that is shown is whole, though its tickets are more than are shown.
func TestADaysBarrelsAreThoseOfAllItsTickets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		const days, each = 3, 30
		begin := time.Now().Truncate(24 * time.Hour).Add(-days*24*time.Hour + 8*time.Hour) // the production day begins at 7
		for i := range days * each {
			at := begin.Add(time.Duration(i/each)*24*time.Hour + time.Duration(i%each)*30*time.Minute)
			_, _, err := r.Add(ledger.ManualTicket{Tank: "TK-1", Start: at, End: at.Add(20 * time.Minute), Open: 100, Close: 60}, "ann")
			r.Must(err)
		}
		o, err := r.server.Overview()
		r.Must(err)
		v := newView(o, r.Site, false)
		if len(o.Recent) != 2*each || len(v.Days) != 2 {
			t.Fatalf("%d tickets of %d days", len(o.Recent), len(v.Days))
		}
		for _, d := range v.Days {
			if len(d.Tickets) != each || !strings.HasSuffix(d.Total, ", 30 loads") {
				t.Errorf("%s: %d tickets, %s", d.Day, len(d.Tickets), d.Total)
			}
		}
	})
}

// TestTheBoxAndItsLines: what the box tells, and of each line what went wrong in words.
func TestTheBoxAndItsLines(t *testing.T) {
	r := newRig(t, nil)
	r.server.Figures = func() map[string]float64 {
		return map[string]float64{"disk_free_mib": 81920, "disk_free_percent": 62.4, "memory_available_mib": 312.4, "cpu_temperature": 61.2, "uptime_s": 7 * 86400}
	}
	r.server.Lines = func() []control.LineStatus {
		return []control.LineStatus{
			{Line: "rtu:///dev/ttyUSB0", Load: 0.31, Requests: 812, Timeouts: 3, BadFrames: 2, Reconnects: 1, Rounds: []control.RoundStatus{{At: time.Now().Add(-3 * time.Minute)}}},
			{Line: "tcp://10.20.0.5:502", Requests: 40},
		}
	}
	code, page := r.get("/")
	for _, want := range []string{"80.0 GiB free, 62 %", "312 MiB available", "61 °C, 142 °F", "for 7 days", "errors: 3 not answered, 2 damaged of 812", "31 %", "3 min ago", "errors: none of 40", "none yet", "No change is on record here."} {
		if code != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "over the last minute") {
		t.Error("it says a load that the box does not tell")
	}
}

// TestATicketThatNeedsAPersonIsNotGreen: delivered or not, while its reasons stand, or while the truck's ticket is apart from the gauge.
func TestATicketThatNeedsAPersonIsNotGreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.Haul(4 * time.Hour)
		o, err := r.server.Overview()
		r.Must(err)
		doubtful := &o.Recent[0]
		doubtful.State = "delivered"
		look := func() ticketView { return newView(o, r.Site, false).Days[0].Tickets[0] }
		if got := look(); got.Mood != control.Well {
			t.Fatalf("a sound one: %+v", got)
		}
		doubtful.Load.Remarks = []string{"one truck or two"}
		if got := look(); got.Mood != control.Well || !strings.HasSuffix(got.Text, "one truck or two") {
			t.Errorf("one with a remark: %+v", got)
		}
		doubtful.Found = []ledger.Finding{{Note: "it came back"}}
		if got := look(); got.Mood != control.Bad || !strings.Contains(got.Text, "needs review: learned later: it came back") {
			t.Errorf("one of which something was learned: %+v", got)
		}
		doubtful.Found, doubtful.Load.Review = nil, []string{"data gap 42 min"}
		if got := look(); got.Mood != control.Bad || !strings.Contains(got.Text, "needs review: data gap 42 min") {
			t.Errorf("a doubtful one: %+v", got)
		}
		o.Unread = "1 ticket has left and needs review"
		if v := newView(o, r.Site, false); v.Unread != o.Unread || v.Mood != newView(control.Overview{Status: control.Status{Answers: o.Answers}}, r.Site, false).Mood {
			t.Errorf("%q, %s", v.Unread, v.Mood)
		}
		match := func(bbl float64) ticketView {
			doubtful.Matches = []ledger.TruckTicket{{Hauler: "88", Bbl: bbl, Basis: ledger.AsObserved}}
			doubtful.Hauled = doubtful.TruckTotals()
			return look()
		}
		if got := match(doubtful.Load.GaugeBbl); got.Mood != control.Well || !strings.Contains(got.Text, "truck's 88 ") {
			t.Errorf("borne out by the truck: %+v", got)
		}
		if got := match(doubtful.Load.GaugeBbl - 9); got.Mood != control.Bad || !strings.Contains(got.Text, "-9.00") {
			t.Errorf("apart from the truck: %+v", got)
		}
		_, _, err = r.Match(ledger.MatchArgs{Number: doubtful.Number, Hauler: "88", Bbl: 150, Basis: ledger.AsObserved}, "ann")
		r.Must(err)
		if _, page := r.get("/"); !strings.Contains(page, "of 1 ticket in 7 days 1 with the truck&#39;s, 1 apart") {
			t.Errorf("the page\n%s", page)
		}
	})
}

// A void ticket's own page says so first, and is not green because the service has it; nor is that of one that a person should look at.
func TestTheTicketPageOfAVoidOneSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.Haul(4 * time.Hour)
		r.Deliver()
		all, err := r.Tickets()
		r.Must(err)
		number := all[0].Number
		if _, page := r.get("/tickets/" + number); !strings.Contains(page, `<p class="headline well">`) || !strings.Contains(page, "Acme") || !strings.Contains(page, "Seal off") || !strings.Contains(page, ", delivered</span>") {
			t.Fatalf("a sound one:\n%s", page)
		}
		_, _, err = r.Match(ledger.MatchArgs{Number: number, Hauler: "88", Bbl: 90, Basis: ledger.AsObserved}, "ann")
		r.Must(err)
		if _, page := r.get("/tickets/" + number); strings.Contains(page, `<p class="headline well">`) || !strings.Contains(page, ", delivered, needs a look</span>") {
			t.Errorf("apart from the truck's:\n%s", page)
		}
		r.Must(r.Void(number, "ann", "no oil was run"))
		_, page := r.get("/tickets/" + number)
		if strings.Contains(page, `<p class="headline well">`) || !strings.Contains(page, ", void</span>") || !strings.Contains(page, "void; its record is delivered") ||
			strings.Index(page, "no oil was run") > strings.Index(page, "its record is delivered") {
			t.Errorf("a void one:\n%s", page)
		}
	})
}

// What waits for the service has not left, and is not said to have.
func TestATicketThatWaitsIsNotSaidToHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.Haul(4 * time.Hour)
		all, err := r.Tickets()
		r.Must(err)
		_, _, err = r.Match(ledger.MatchArgs{Number: all[0].Number, Hauler: "88", Bbl: 90, Basis: ledger.AsObserved}, "ann")
		r.Must(err)
		for _, want := range []string{"needs review: " + all[0].Number + " (not sent yet, truck's 88 ", "needs review: " + all[0].Number + " (truck's 88 "} {
			o, err := r.server.Overview()
			r.Must(err)
			if !strings.Contains(o.Unread, want) || strings.Contains(o.Unread, "left") {
				t.Errorf("%s: %s", want, o.Unread)
			}
			r.Deliver()
		}
	})
}

// The page says of what flowed in the same as the commands: no hundredths of what nobody could see, and how far off it may be.
func TestThePageSaysWhatFlowedInAsTheCommandsDo(t *testing.T) {
	for want, l := range map[string]tank.Load{
		"none that could be seen": {Samples: 99, GaugeBbl: 200, RemovedBbl: 200.01, InflowBbl: 0.01}, "1.8 bbl (give or take 0.6)": {InflowBbl: 1.78, InflowErrorBbl: 0.61},
		"not known": {InflowUnknown: true},
	} {
		var p ticketPage
		p.facts(&control.TicketRow{TicketRecord: ledger.TicketRecord{Load: &l}}, words{}, &ledger.Site{})
		if !slices.Contains(p.Facts, factView{"Flowed in meanwhile", want}) {
			t.Errorf("%s: %q", want, p.Facts)
		}
	}
}
