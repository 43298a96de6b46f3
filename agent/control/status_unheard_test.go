package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/collectors"
)

// quiet is a collector whose devices speak when they like.
type quiet struct{ mended }

func (quiet) Points() []collectors.Point { return []collectors.Point{"plc/level", "radio/misspelled"} }

// TestAPointThatNeverSpokeIsNotGood: where nothing has ever come the status says so, and does not leave the point out.
func TestAPointThatNeverSpokeIsNotGood(t *testing.T) {
	b := ledgertest.New(t, nil)
	b.Emit("level", 180)
	server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Daemon: true, Collectors: []collectors.Named{{Name: "mqtt", Collector: quiet{}}}}).Open()
	for daemon, want := range map[bool]string{true: "plc/level good, radio/misspelled bad no value yet, ", false: "plc/level good, "} {
		server.Daemon = daemon
		s, err := server.Status()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range s.Points {
			got += fmt.Sprintf("%s %s", p.Point, p.Quality)
			if p.Error != "" {
				got += " " + p.Error
			}
			got += ", "
		}
		if got != want {
			t.Errorf("daemon %t: %s, want %s", daemon, got, want)
		}
	}
}

// A level that is not good for longer than a moment, and of which nothing else is told, is a problem that says why and what to do: a unit
// that is another than configured, a value beyond its range, a point that never spoke. What an event tells of is told once.
func TestALevelThatIsNotUsedIsAProblem(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	d := &Server{}
	d.Site.Zone = time.UTC
	s := Status{Daemon: true, Now: now, Began: now.Add(-time.Hour)}
	add := func(id, point, why string, goodAt time.Time) {
		s.Tanks = append(s.Tanks, ledger.TankStatus{ID: id, Quality: "bad", GoodAt: goodAt, Every: 10, Point: collectors.Point(point), Doubt: why})
	}
	ago := func(m int) time.Time { return now.Add(-time.Duration(m) * time.Minute) }
	const unit = `unit unit is "cm", and unit: in is configured`
	add("TK-1", "radio/m1", unit, ago(30))
	add("TK-2", "radio/m2", unit, ago(20))
	add("TK-3", "misspelled/x", "no value yet", time.Time{})
	add("TK-4", "lost/l", "no answer within 1s", ago(30))
	add("TK-5", "silent/l", "silent for 30m", ago(30))
	add("TK-6", "plc/l", "no answer within 1s", ago(1))
	s.Open = []ledger.Episode{{Rule: eventrules.CommLoss, Source: "other,lost", Note: "away"}, {Rule: eventrules.Silent, Source: "silent/l"}, {Rule: eventrules.DeviceTime, Source: "radio/m1"}}
	const do = ": mend it, or correct the point or the device in the configuration; until then the level is not used, and no load is seen"
	want := []string{
		"TK-2, TK-1: no good level since 2026-03-02 08:30, radio/m1 is bad (" + unit + ")" + do,
		"TK-3: no good level since 2026-03-02 08:00, misspelled/x is bad (no value yet)" + do,
	}
	if got := sentences(d.tankProblems(s)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if s.Daemon = false; len(d.tankProblems(s)) > 0 {
		t.Error("it is told of a gauger that does not run")
	}
}

// The reason is that of the level's newest reading, as it came.
func TestTheReasonOfAnUnusedLevelIsThatOfItsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Daemon: true, Began: time.Now()}).Open()
		ledgertest.Pass(5 * time.Minute)
		level := b.Site.Tanks[0].Level
		for _, want := range []string{"no value yet", "unit is cm"} {
			s, err := server.Status()
			b.Must(err)
			if all := strings.Join(s.Problems, "\n"); !strings.Contains(all, "TK-1: no good level since ") || !strings.Contains(all, fmt.Sprintf(", %s is bad (%s): mend it", level, want)) {
				t.Errorf("not %q: %s", want, all)
			}
			b.Must(b.Host("plc").Emit(t.Context(), []collectors.Reading{{Point: level, At: time.Now(), Err: errors.New("unit is cm")}}))
		}
		b.Emit("level", 180)
		if s, err := server.Status(); err != nil || strings.Contains(strings.Join(s.Problems, "\n"), "no good level") {
			t.Errorf("it is good again: %q, %v", s.Problems, err)
		}
	})
}
