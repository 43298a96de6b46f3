package control

import (
	"fmt"
	"testing"

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
