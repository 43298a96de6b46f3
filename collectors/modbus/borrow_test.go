package modbus

import (
	"context"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
)

// TestALineIsSharedWithWhoeverAsks reads and scans a line while its collector polls it, on every transport.
func TestALineIsSharedWithWhoeverAsks(t *testing.T) {
	for name, start := range transports {
		t.Run(name, func(t *testing.T) {
			slave := numberedSlave()
			slave.Turnaround = 0
			d := Device{Name: "d", URL: start(t, slave), Unit: new(2), Every: time.Millisecond, Timeout: 2 * time.Second, Points: []Point{holding("p", 9)}}
			lines := &Lines{}
			defer closeLines(t, lines)
			all, err := New(lines, []Device{d})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			host := &collectorstest.Host{}
			ended := make(chan error, 1)
			go func() { ended <- all[0].Run(ctx, host) }()
			patience, done := context.WithTimeout(t.Context(), patience)
			defer done()
			for range 20 {
				before := len(host.Batches())
				if found, err := Scan(t.Context(), openLine(t, lines, d.URL), Search{Units: []int{1, 3}, Timeout: 2 * time.Second}, nil); err != nil || !found[0].Answers || !found[1].Answers {
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
				if r := batch[0]; r.Quality != collectors.Good || r.Value != float64(word(2, Holding, 9)) {
					t.Errorf("%+v", r)
				}
			}
			if opened := openLine(t, lines, d.URL).Stats().Opened; opened != 1 {
				t.Errorf("opened %d times, want once for both", opened)
			}
		})
	}
}
