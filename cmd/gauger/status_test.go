package main

import (
	"strings"
	"testing"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox"
)

// TestPointsThatATemplateMakesHideNoneThatIsSilent: what is read beyond the configuration's own points does not make up
// for one that is not.
func TestPointsThatATemplateMakesHideNoneThatIsSilent(t *testing.T) {
	text := strings.NewReplacer("SERVICE", "127.0.0.1:1", "PLC", "127.0.0.1:2", "BROKER", "127.0.0.1:3",
		"    points:\n      - {name: level, topic", "    points:\n      - {name: \"{1}-rate\", topic: field/+/rate}\n      - {name: level, topic").Replace(siteYAML)
	cfg, err := config.Parse("gauger.yaml", []byte(text), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := statusPage{h: site{cfg}}
	read := func(points ...string) string {
		for _, name := range points {
			p.s.Points = append(p.s.Points, control.PointReading{Point: collectors.Point(name), Quality: "good"})
		}
		return p.reading()
	}
	if got := read("plc/level", "plc/top", "plc/target", "plc/word", "radio/w1-rate", "radio/w2-rate"); got != "reading 6 of 7 points" {
		t.Errorf("without radio/level: %s", got)
	}
	if got := read("radio/level"); got != "reading all 7 points" {
		t.Errorf("with all: %s", got)
	}
}

// TestAnUnsetClockIsNotEverythingSent: what waits for the clock is in no stream yet.
func TestAnUnsetClockIsNotEverythingSent(t *testing.T) {
	p := statusPage{s: control.Status{Daemon: true, Clock: "unset"}}
	if got := p.sending(); got != "NOT SENDING: what is made waits until the clock is set" {
		t.Errorf("with nothing in the streams: %s", got)
	}
	p.s.Streams = map[string]outbox.Counts{ledger.Tickets: {Waiting: 2}}
	if got := p.sending(); got != "sending, 2 records on the way" { // these have their times
		t.Errorf("with two tickets: %s", got)
	}
	p.s.Clock = "set"
	p.s.Streams = nil
	if got := p.sending(); got != "nothing waits, and the service was never reached" {
		t.Errorf("with a service that never answered: %s", got)
	}
	p.s.Reached = time.Now()
	if got := p.sending(); got != "everything is sent" {
		t.Errorf("with the clock set: %s", got)
	}
}

// TestAHintIsNoAlarm: it stands below what is wrong, without the mark of a problem.
func TestAHintIsNoAlarm(t *testing.T) {
	var out strings.Builder
	p := statusPage{s: control.Status{Daemon: true, Problems: []string{"the clock is not set"}, Hints: []string{"look here"}}, t: newTable(&out)}
	if err := p.print(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\n  ! the clock is not set\n  hint: look here\n") {
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
		p := statusPage{s: control.Status{Daemon: true, Now: now, Points: c.points}, h: site{cfg}, t: newTable(&out)}
		if err := p.print(); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(out.String(), "NOT WATCHED"); c.want == "" && got != "" || !strings.Contains(out.String(), c.want) {
			t.Errorf("with %q the page is\n%s\nwant %q", c.watch, out.String(), c.want)
		}
	}
}
