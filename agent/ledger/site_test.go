package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gauger/agent/clock"
	"gauger/agent/tank"
)

func TestNumberFollowsTheFieldsAlphabetAndLength(t *testing.T) {
	start := time.Date(2026, 3, 2, 7, 14, 59, 0, time.FixedZone("", -6*3600))
	if got, want := Number("A", "COOPER12-7", "TK-1001", start), "A-COOPER12-7-TK-1001-20260302T1314Z"; got != want {
		t.Errorf("number %q, want %q", got, want)
	}
	for _, id := range []string{"tk 1001", "a tank whose name is far too long for a number", "TK-ÄÖÜ", "TANK-NUMBER-1001-NORTH"} {
		a, b := Number("A", "COOPER12-7", id, start), Number("A", "COOPER12-7", id+"x", start)
		if len(a) > numberMax || strings.Trim(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
			t.Errorf("number of %q is %q: not at most %d of A-Z 0-9 -", id, a, numberMax)
		}
		if a == b {
			t.Errorf("tanks %q and %q share the number %q", id, id+"x", a)
		}
	}
}

func TestACollisionGetsASuffixThatStillFits(t *testing.T) {
	number := strings.Repeat("N", numberMax)
	used := map[string]bool{number: true, strings.Repeat("N", numberMax-2) + "-2": true}
	got := firstFree(number, numberMax, func(n string) bool { return used[n] })
	if want := strings.Repeat("N", numberMax-2) + "-3"; got != want {
		t.Errorf("unused number %q, want %q", got, want)
	}
	if got := firstFree("A-1", numberMax, func(string) bool { return false }); got != "A-1" {
		t.Errorf("a free number became %q", got)
	}
}

func TestProductionDayTurnsAtTheGaugeOffAlsoWhenClocksChange(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	s := Site{Zone: chicago, ProductionDay: 7 * time.Hour}
	for at, want := range map[string]string{
		"2026-03-02T06:59:59-06:00": "2026-03-01", "2026-03-02T07:00:00-06:00": "2026-03-02",
		"2026-03-08T06:59:59-05:00": "2026-03-07", "2026-03-08T07:00:00-05:00": "2026-03-08", // the day has 23 hours
		"2026-11-01T06:59:59-06:00": "2026-10-31", "2026-11-01T07:00:00-06:00": "2026-11-01", // 25 hours
		"2026-01-01T00:30:00-06:00": "2025-12-31",
	} {
		in, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.productionDay(in); got != want {
			t.Errorf("production day of %s is %s, want %s", at, got, want)
		}
	}
}

func TestCommentsKeepTheirOrderAndTheirLimit(t *testing.T) {
	zone := time.FixedZone("", -6*3600)
	site := Site{Zone: zone, ProductionDay: 7 * time.Hour}
	sg := 0.83
	tk := Tank{Comments: "North battery", Gravity: Source{Constant: &sg}}
	load := tank.Load{
		Tank: "TK-1", Open: 171.25, Close: 49.5, GaugeBbl: 203.32, RemovedBbl: 205.1, InflowBbl: 1.78, InflowErrorBbl: 0.61, Rate: 5.91, Confidence: 0.5, ErrorBbl: 0.42,
		Parts: 1, Samples: 212, Table: "strap", Review: []string{"data gap 42 min"}, End: time.Date(2026, 3, 2, 18, 0, 0, 0, time.UTC),
	}
	got := site.comments(tk, HeldTicket{Load: load}, clock.Assumed, 500)
	want := "North battery; auto observation, not a custody ticket; conf=0.50; open=14-03-1; close=04-01-2; gauge_bbl=203.3; " +
		"err_bbl=0.4; inflow_bbl=1.8; inflow_err_bbl=0.6; removed_bbl=205.1; rate=5.9; parts=1; table=strap; n=212; day=2026-03-02; constant=specific_gravity; " +
		"clock=assumed; needs review: data gap 42 min"
	if got != want {
		t.Errorf("comments\n got %s\nwant %s", got, want)
	}
	unknown := load
	unknown.InflowUnknown = true
	if got := site.comments(tk, HeldTicket{Load: unknown}, clock.Trusted, 500); strings.Contains(got, "inflow_bbl") {
		t.Errorf("an inflow that nobody saw is given: %s", got)
	}
	unseen := load
	unseen.Samples, unseen.Unseen = 0, &tank.Span{From: load.End.Add(-20 * time.Minute), To: load.End}
	if got := site.comments(tk, HeldTicket{Load: unseen}, clock.Trusted, 500); strings.Contains(got, "rate=") || strings.Contains(got, "parts=") || !strings.Contains(got, "unseen between 11:40:00 and 12:00:00; ") {
		t.Errorf("a pace that nobody saw is given: %s", got)
	}
	for limit := 1; limit < 300; limit++ {
		short := site.comments(tk, HeldTicket{Load: load}, clock.Trusted, limit)
		if n := len([]rune(short)); n > limit {
			t.Fatalf("comments of %d characters, limit %d", n, limit)
		}
		if limit > 40 && !strings.Contains(short, "needs review") {
			t.Fatalf("limit %d cut the review away: %s", limit, short)
		}
	}
}

// Many reasons to look at a ticket leave its barrels and their error where they are.
func TestCommentsKeepTheBarrelsBesideManyReasons(t *testing.T) {
	load := tank.Load{Tank: "TK-1", GaugeBbl: 203.32, RemovedBbl: 205.1, ErrorBbl: 0.42, Table: "strap"}
	for k := range 9 {
		load.Review = append(load.Review, fmt.Sprintf("its last %d bbl, after 20 min, left slower than the pump drew: foam, or a hose that ran on", k))
	}
	got := (&Site{Zone: time.UTC}).comments(Tank{}, HeldTicket{Load: load}, clock.Trusted, 500)
	for _, want := range []string{"gauge_bbl=203.3; err_bbl=0.4; inflow_bbl=0.0; removed_bbl=205.1; ", "needs review: its last 0 bbl", " and 6 more"} {
		if !strings.Contains(got, want) || len(got) > 500 {
			t.Errorf("%d characters, want %q in %q", len(got), want, got)
		}
	}
}

// Three reasons of a hundred characters and more leave them there too.
func TestCommentsKeepTheBarrelsBesideLongReasons(t *testing.T) {
	load := tank.Load{Tank: "TK-1", Open: 121.25, Close: 96, GaugeBbl: 42.6, RemovedBbl: 44.1, ErrorBbl: 36.3, InflowBbl: 1.5, InflowErrorBbl: 2, Table: "strap"}
	for _, c := range "abc" {
		load.Review = append(load.Review, strings.Repeat(string(c), 130))
	}
	got := (&Site{Zone: time.UTC}).comments(Tank{}, HeldTicket{Load: load}, clock.Trusted, 500)
	if !strings.Contains(got, "removed_bbl=44.1; ") || !strings.Contains(got, load.Review[1]+" and 1 more") || len(got) > 500 {
		t.Errorf("%d characters: %q", len(got), got)
	}
}

// However long the words of a configuration and however strange their letters, the reason to look at a ticket stays.
func TestCommentsKeepTheReviewBesideLongWords(t *testing.T) {
	site := Site{Zone: time.UTC, ProductionDay: 7 * time.Hour}
	load := tank.Load{Tank: "TK-1", Table: "strap", Group: strings.Repeat("Gruppe-", 30), GroupBbl: 3, Remarks: []string{strings.Repeat("ж", 90)},
		Review: []string{"data gap 42 min at an edge", "volume uncertain by 3.2 bbl"}}
	for _, words := range []string{"", strings.Repeat("Käufer-Öl ", 60), strings.Repeat("\U0001F6E2", 600)} {
		for _, limit := range []int{500, 250, 120, 80} {
			got := site.comments(Tank{Comments: words}, HeldTicket{Load: load}, clock.Trusted, limit)
			if n := len([]rune(got)); n > limit || !strings.HasSuffix(got, "needs review: data gap 42 min at an edge | volume uncertain by 3.2 bbl") {
				t.Errorf("limit %d, %d characters: %s", limit, n, got)
			}
			if !utf8.ValidString(got) {
				t.Errorf("limit %d cut a letter in two", limit)
			}
		}
	}
}

// TestTimesThatNobodySawAreNotSentToTheSecond: the service gets what can be known of them, within the readings that bound them.
func TestTimesThatNobodySawAreNotSentToTheSecond(t *testing.T) {
	at := func(clock string) time.Time {
		at, err := time.Parse("15:04:05", clock)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct{ last, next, start, end, from, to string }{
		{"09:00:10", "09:30:10", "09:07:37", "09:22:41", "09:07:00", "09:22:00"},
		{"09:00:10", "10:00:10", "09:17:37", "09:42:41", "09:15:00", "09:40:00"},
		{"07:00:10", "12:00:10", "09:17:37", "09:42:41", "09:15:00", "09:30:00"},
		{"09:00:10", "12:00:10", "09:04:37", "09:42:41", "09:04:37", "09:30:00"}, // 09:00:00 was seen
		{"09:00:10", "12:00:10", "09:16:37", "09:28:41", "09:15:00", "09:28:41"}, // it has a length
	} {
		from, to := roundedWithin(&tank.Span{From: at(c.last), To: at(c.next)}, at(c.start), at(c.end))
		if !from.Equal(at(c.from)) || !to.Equal(at(c.to)) {
			t.Errorf("%+v: %s to %s", c, from.Format(time.TimeOnly), to.Format(time.TimeOnly))
		}
	}
}
