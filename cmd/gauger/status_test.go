package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox"
)

// TestAHintIsNoAlarm: it stands below the tanks, without the mark of a problem.
func TestAHintIsNoAlarm(t *testing.T) {
	var out strings.Builder
	p := statusPage{s: control.Status{Daemon: true, Problems: []string{"the clock is not set"}, Hints: []string{"look here"}, Tanks: []ledger.TankStatus{{ID: "TK-1"}}}, t: newTable(&out), zone: time.UTC}
	p.write()
	if err := p.t.Flush(); err != nil {
		t.Fatal(err)
	}
	_, below, _ := strings.Cut(out.String(), "\nTK-1")
	if !strings.Contains(out.String(), "\n  ! the clock is not set\n") || !strings.Contains(below, "\n\nhint: look here\n") {
		t.Errorf("the page is\n%s", out.String())
	}
}

// TestAPointThatNobodyWatchesSaysHowOldItIs: a point without expect_every stays good for ever, so its age is told.
func TestAPointThatNobodyWatchesSaysHowOldItIs(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	old := control.PointReading{Point: "radio/level", Quality: "good", At: now.Add(-4*time.Minute - 48*time.Second)}
	newer := control.PointReading{Point: "radio/rate", Quality: "good", At: now.Add(-time.Minute)}
	polled := control.PointReading{Point: "plc/level", Quality: "good", At: now.Add(-time.Hour)}
	for _, c := range []struct {
		watch  string
		points []control.PointReading
		want   string
	}{
		{"", []control.PointReading{polled, newer, old}, "NOT WATCHED  radio/level  the last message of it is 4m48s old, the oldest of 2 points without expect_every or a stale event: when one falls silent, nobody is told\n"},
		{"", []control.PointReading{polled, old}, "NOT WATCHED  radio/level  the last message of it is 4m48s old, the oldest of 1 point without expect_every or a stale event: when one falls silent, nobody is told\n"},
		{", expect_every: 10s", []control.PointReading{polled, old}, ""},
		{"stale", []control.PointReading{polled, old}, ""},
	} {
		rule := ""
		if c.watch == "stale" {
			c.watch, rule = "", "events: [{rule: Silent, point: radio/level, stale: 10m}]\n"
		}
		text := strings.NewReplacer("SERVICE", "127.0.0.1:1", "PLC", "127.0.0.1:2", "BROKER", "127.0.0.1:3",
			"    points:\n      - {name: level, topic", "    points:\n      - {name: rate, topic: field/rate"+c.watch+"}\n      - {name: level"+c.watch+", topic").Replace(siteYAML)
		cfg, err := config.Parse("gauger.yaml", []byte(text+rule), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		p := statusPage{s: control.Status{Daemon: true, Now: now, Points: c.points}, h: site{cfg}, t: newTable(&out), zone: cfg.Zone}
		p.write()
		if err := p.t.Flush(); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(out.String(), "NOT WATCHED"); c.want == "" && got != "" || !strings.Contains(out.String(), c.want) {
			t.Errorf("with %q the page is\n%s\nwant %q", c.watch, out.String(), c.want)
		}
	}
}

// The one screen says once that a device is away, and points with the same reason in one row.
func TestEqualBadPointsAreOneRow(t *testing.T) {
	bad := func(name, why string) control.PointReading {
		return control.PointReading{Point: collectors.Point(name), Quality: "bad", Error: why}
	}
	for short, want := range map[bool]string{
		true:  "NOT GOOD  plc/a and 1 more  bad  exception 4\n          plc/c             bad  out of range\n",
		false: "NOT GOOD  plc/a    bad  exception 4\n          plc/b    bad  exception 4\n          plc/c    bad  out of range\n          radio/x  bad  away\n",
	} {
		var out strings.Builder
		p := statusPage{short: short, t: newTable(&out), zone: time.UTC, s: control.Status{
			Daemon: true, Open: []ledger.Episode{{Source: "radio"}},
			Points: []control.PointReading{bad("plc/a", "exception 4"), bad("plc/b", "exception 4"), bad("plc/c", "out of range"), bad("radio/x", "away")},
		}}
		p.badPoints()
		if err := p.t.Flush(); err != nil || !strings.HasSuffix(out.String(), want) {
			t.Errorf("short %t: %s, %v, want\n%s", short, out.String(), err, want)
		}
	}
}

// Of many tanks the one screen has the first, and before them those that nobody sees; a tank that is not seen has no doing.
func TestTheScreenHasTheTanksThatNobodySees(t *testing.T) {
	p := statusPage{zone: time.UTC, short: true, s: control.Status{Daemon: true}}
	for i := range 30 {
		p.s.Tanks = append(p.s.Tanks, ledger.TankStatus{ID: fmt.Sprintf("TK-%02d", i), Quality: map[bool]string{true: "bad", false: "good"}[i == 20], Phase: "idle"})
	}
	var out strings.Builder
	p.t = newTable(&out)
	p.tanks()
	if err := p.t.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 12 || !regexp.MustCompile(`^TK-20 +no level +- +bad +not seen$`).MatchString(lines[1]) || !strings.HasSuffix(lines[2], "no load") || lines[11] != "and 20 more: `gauger tanks list`" {
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
}

// The live status fills the terminal and no more, whatever size that has, and says when it was asked.
func TestTheLiveStatusFitsTheTerminal(t *testing.T) {
	c := &call{getenv: func(string) string { return "" }}
	p := &statusPage{zone: time.UTC, short: true, live: true, s: control.Status{Daemon: true, Site: "a site with a name that is rather long", Headline: "all is well: reading all 6 points; everything is sent"}}
	for i := range 30 {
		p.s.Tanks = append(p.s.Tanks, ledger.TankStatus{ID: fmt.Sprintf("TK-%04d", i), Quality: "good", Phase: "idle"})
	}
	for range 2 {
		p.s.Problems = append(p.s.Problems, strings.Repeat("a long problem that wants a person ", 12))
	}
	at := time.Date(2026, 3, 2, 9, 4, 5, 0, time.UTC)
	if drawn := topScreen(c, p, nil, at, unix.Winsize{Col: 80, Row: 24}); !strings.Contains(drawn, "TK-0009") || !strings.Contains(drawn, "a long problem") {
		t.Errorf("the levels, and that there are problems, are not on the screen:\n%s", drawn)
	}
	for _, size := range []unix.Winsize{{Col: 80, Row: 24}, {Col: 80, Row: 40}, {Col: 30, Row: 5}, {Col: 20, Row: 1}, {}} {
		for _, said := range []error{nil, errors.New("the gauger was called and has not answered for 4s: it is stopped or hangs")} {
			drawn := regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`).ReplaceAllString(topScreen(c, p, said, at, size), "")
			lines := strings.Split(drawn, "\n")
			if len(lines) > max(int(size.Row), 2) || !strings.Contains(lines[len(lines)-1], "09:04:05, q ends") {
				t.Errorf("%v: %d lines, the last: %s", size, len(lines), lines[len(lines)-1])
			}
			for _, line := range lines[:len(lines)-1] {
				if n := utf8.RuneCountInString(line); n > max(int(size.Col), 20) {
					t.Errorf("%v: %d columns: %s", size, n, line)
				}
			}
		}
	}
}

// The status says how the page is reached from where somebody may stand.
func TestTheWayToThePage(t *testing.T) {
	for page, want := range map[string][2]string{
		"http://127.0.0.1:8480/": {"; elsewhere: ssh -L 8480:127.0.0.1:8480 BOX, then http://127.0.0.1:8480/ there", ""},
		"http://localhost:8480/": {"; elsewhere: ssh -L 8480:localhost:8480 BOX, then http://127.0.0.1:8480/ there", ""},
		"http://10.20.0.2:8480/": {"", "; where a firewall runs here it must let TCP port 8480 in (`ufw allow 8480/tcp`)"},
		"http://pad-7:8480/":     {"", "; where a firewall runs here it must let TCP port 8480 in (`ufw allow 8480/tcp`)"},
	} {
		if got := wayToPage(page, false); got != page+want[0] {
			t.Errorf("%q: %s", page, got)
		}
		if got := wayToPage(page, true); got != page+want[0]+want[1] {
			t.Errorf("%q, all: %s", page, got)
		}
	}
}

// The states have colours on a terminal, and nobody's text gets one.
func TestOnlyTheStatesAreColoured(t *testing.T) {
	const page = "2 problems: reading 1 of 2 points\nsite\n  reading\tNOT OK\tnot ok\n  clock\tunsure\tset\n  keys\tok\tboth work\n  ! ok\n\nTANK\tQUALITY\n! \tNOT OK\n"
	const want = "\x1b[1;31m2 problems: reading 1 of 2 points\x1b[0m\nsite\n  reading  \x1b[1;31mNOT OK\x1b[0m  not ok\n  clock    \x1b[33munsure\x1b[0m  set\n" +
		"  keys     \x1b[32mok\x1b[0m      both work\n  \x1b[1;31m!\x1b[0m ok\n\nTANK  QUALITY\n!     NOT OK\n"
	for env, want := range map[string]string{"": want, "NO_COLOR": regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(want, "")} {
		p := table{width: 80}
		p.printf(page)
		got := painted(&p, &call{getenv: func(name string) string {
			if name == env {
				return "1"
			}
			return ""
		}})
		if got != want {
			t.Errorf("with %q: %q\nwant %q", env, got, want)
		}
	}
}

// Of a tank whose level has gone nobody says that it falls: only until when it was seen, and what it did then.
func TestATankThatIsNotSeenDoesNothing(t *testing.T) {
	at := func(t time.Time) string { return t.Format("15:04") }
	good := time.Date(2026, 3, 2, 15, 51, 0, 0, time.UTC)
	for want, s := range map[string]ledger.TankStatus{
		"not seen since 15:51; then: the level falls": {Phase: "drawing", Quality: "bad", GoodAt: good},
		"not seen since 15:51":                        {Phase: "idle", Quality: "bad", GoodAt: good},
		"the level falls":                             {Phase: "drawing", Quality: "good", Level: new(100.0), GoodAt: good},
		"not watched yet":                             {Phase: "waiting", Quality: "bad"},
	} {
		if got := doing(s, at); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The table of the outbox stands in 80 columns, a line a stream, on a terminal and elsewhere; what is said at length of a stream makes it no wider.
func TestTheOutboxFitsEightyColumns(t *testing.T) {
	s := control.Status{Daemon: true, Streams: map[string]outbox.Counts{ledger.Tickets: {Accepted: 1234, Delivered: 1200, Waiting: 34}, ledger.Refused: {Accepted: 123456, Dropped: 123456}},
		Drains: map[string]control.DrainStatus{ledger.Tickets: {Why: strings.Repeat("the service cannot be reached, ", 5), Parked: 2}}}
	for _, width := range []int{0, 80} {
		var out strings.Builder
		p := statusPage{s: s, t: &table{out: &out, width: width}, zone: time.UTC}
		p.outbox()
		if err := p.t.Flush(); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(out.String())
		lines := strings.Split(text, "\n")
		for i, want := range []string{"OUTBOX +ACCEPTED +DELIVERED +WAIT +REFUSED +GAVE WAY +DROPPED +LOST", "unreadable messages +123456 +0 +0 +0 +0 +123456 +0", "tickets +1234 +1200 +34 +0 +0 +0 +0"} {
			if !regexp.MustCompile("^"+want+" *$").MatchString(lines[i]) || len(strings.TrimSpace(lines[i])) > 80 {
				t.Errorf("in %d columns no line %q in\n%s", width, want, text)
			}
		}
		if !strings.Contains(text, "tickets wait: the service cannot be reached,") || !strings.Contains(text, "2 records of tickets: sent without") {
			t.Errorf("in %d columns why they wait is not said:\n%s", width, text)
		}
	}
}
