package modbus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
	"gauger/collectors/modbus/survey"
)

// TestALineIsSharedWithWhoeverAsks reads and scans a line while its collector polls it, on every transport.
func TestALineIsSharedWithWhoeverAsks(t *testing.T) {
	for name, start := range linetest.Transports {
		t.Run(name, func(t *testing.T) {
			slave := linetest.NumberedSlave()
			slave.Turnaround = 0
			d := Device{Name: "d", URL: start(t, slave), Unit: new(2), Every: time.Millisecond, Timeout: 2 * time.Second, Points: []Point{holding("p", 9)}}
			lines := &line.Lines{}
			defer linetest.Close(t, lines)
			all, err := New(lines, []Device{d})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			host := &collectorstest.Host{}
			ended := make(chan error, 1)
			go func() { ended <- all[0].Run(ctx, host) }()
			patience, done := context.WithTimeout(t.Context(), linetest.Patience)
			defer done()
			for range 20 {
				before := len(host.Batches())
				if found, err := survey.Scan(t.Context(), linetest.Open(t, lines, d.URL), survey.Search{Units: []int{1, 3}, Timeout: 2 * time.Second}, nil); err != nil || !found[0].Answers || !found[1].Answers {
					t.Errorf("%+v, %v", found, err)
				}
				if !host.Await(patience, func() bool { return len(host.Batches()) > before }) {
					t.Fatal("the collector does not get its turn")
				}
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			for _, batch := range host.Batches() {
				if r := batch[0]; r.Quality != collectors.Good || r.Value != float64(linetest.Word(2, line.Holding, 9)) {
					t.Errorf("%+v", r)
				}
			}
			if opened := linetest.Open(t, lines, d.URL).Stats().Opened; opened != 1 {
				t.Errorf("opened %d times, want once for both", opened)
			}
		})
	}
}

// TestGuestsKeepAwayFromWhatADeviceForbids: whoever touches the forbidden register makes the unit silent for good.
func TestGuestsKeepAwayFromWhatADeviceForbids(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{From: 103, To: 103, Silent: true})
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		d := Device{Name: "d", URL: "tcp://site", Forbidden: []Forbidden{{Holding: new(103)}}, Points: []Point{holding("a", 100)}}
		if _, err := newDevice(lines, d); err != nil {
			t.Fatal(err)
		}
		found, err := survey.Probe(t.Context(), linetest.Open(t, lines, d.URL), survey.Question{Unit: 1, Address: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found.Registers {
			if there := r.Address != 103; there != (r.Err == nil) || !there && !errors.Is(r.Err, line.ErrForbidden) {
				t.Errorf("holding %d: %v", r.Address, r.Err)
			}
		}
	})
}
