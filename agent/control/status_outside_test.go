package control

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/collectors"
)

// A level that cannot be one, since its unit or scale is wrong, is no good level, and a person is told.
func TestALevelOutsideTheTankIsNotGood(t *testing.T) {
	for value, want := range map[float64]string{
		5739: "outside the tank: 5739 in of 240", 258: "outside the tank: 258 in of 240", -40: "outside the tank: -40 in of 240",
		246: "", 240: "", -0.5: "", 0: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			b := ledgertest.New(t, nil)
			b.Emit("level", value)
			server := (&Server{Ledger: b.Ledger, Box: b.Box, Site: b.Site, Clock: b.Clock, Daemon: true, Began: time.Now()}).Open()
			s, err := server.Status()
			if err != nil {
				t.Fatal(err)
			}
			quality := "good"
			if want != "" {
				quality = "bad"
			}
			k, p := s.Tanks[0], s.Points[0]
			if k.Quality != quality || k.Error != want || (k.Level != nil) != (want == "") || p.Quality != quality || p.Error != want {
				t.Errorf("level %g: the tank is %s (%s), its point %s (%s), want %s (%s)", value, k.Quality, k.Error, p.Quality, p.Error, quality, want)
			}
			told := slices.ContainsFunc(s.Problems, func(line string) bool { return strings.Contains(line, "TK-1: "+want) })
			if told != (want != "") {
				t.Errorf("level %g: problems %q", value, s.Problems)
			}
		})
	}
}

// A figure that no oil has is not good either, whatever its device says, and its point says why.
func TestAFigureThatCannotBeIsNotGood(t *testing.T) {
	for value, want := range map[float64]string{-1407.8: "-1407.8 is no top temperature; want degrees Fahrenheit", 68.5: "", 302: "", 303: "303 is no top temperature"} {
		synctest.Test(t, func(t *testing.T) {
			b := ledgertest.New(t, func(s *ledger.Site) { s.Tanks[0].Top.Point, s.Tanks[0].Interface = "plc/top", "plc/water" })
			b.Emit("level", 100)
			b.Emit("water", 20)
			b.Emit("top", value, func(r *collectors.Reading) { r.Unit = "degF" })
			server := (&Server{Ledger: b.Ledger, Box: b.Box, Site: b.Site, Clock: b.Clock, Daemon: true, Began: time.Now()}).Open()
			s, err := server.Status()
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range s.Points {
				if says := p.Point == "plc/top" && want != ""; (p.Quality == "good") == says || says && !strings.Contains(p.Error, want) {
					t.Errorf("top %g: %s is %s (%s)", value, p.Point, p.Quality, p.Error)
				}
			}
			if bad := s.Answers[0].State == Bad; bad != (want != "") {
				t.Errorf("top %g: reading is %+v", value, s.Answers[0])
			}
		})
	}
}

// An outbox that is smaller than configured is no site where all is well: it holds less of an outage.
func TestASmallerOutboxIsAProblem(t *testing.T) {
	const want = "the outbox has 4.0 MiB of the 64.0 MiB of store.max_bytes, since the disk had no more: records give way the sooner when nothing leaves: " +
		"make room on the disk and restart, or lower store.max_bytes"
	if got := sentences(smallOutbox(4<<20, 64<<20)); len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
	if got := smallOutbox(64<<20, 64<<20); got != nil {
		t.Errorf("%q of a whole one", sentences(got))
	}
}
