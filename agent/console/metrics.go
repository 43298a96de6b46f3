package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gauger/agent/control"
)

// Page is what http.listen serves: /metrics for Prometheus, and a page. It only shows; nothing can be changed through it. Few
// metrics are written at a time, and while some go out over a slow line the next are written.
func Page(server *control.Server, page http.Handler, listen string, hosts ...string) http.Handler {
	mux, work := http.NewServeMux(), make(chan struct{}, pagesAtWork)
	mux.Handle("/", page)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		s, status, err := written(r.Context(), work, server, metrics)
		if err != nil {
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), status)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, s)
	})
	return guard(pageNames(listen, hosts), mux)
}

// written waits for its turn and writes the status down; the HTTP status goes with an error.
func written(ctx context.Context, work chan struct{}, server *control.Server, write func(control.Status) string) (string, int, error) {
	turn := time.NewTimer(pageTurn)
	defer turn.Stop()
	select {
	case work <- struct{}{}:
		defer func() { <-work }()
	case <-turn.C:
		return "", http.StatusServiceUnavailable, errors.New("the metrics are asked for more often than they can be written; try again in a moment")
	case <-ctx.Done():
		return "", http.StatusServiceUnavailable, ctx.Err()
	}
	s, err := server.Status()
	if err != nil {
		return "", http.StatusInternalServerError, err
	}
	return write(s), 0, nil
}

// bit is how Prometheus has a yes.
func bit(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// metrics writes the status in Prometheus' text format.
func metrics(s control.Status) string {
	var b strings.Builder
	family := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	family("gauger_info", "gauge", "What runs where.")
	fmt.Fprintf(&b, "gauger_info{site=%q,version=%q,clock=%q} 1\n", s.ID, s.Version, s.Clock)
	family("gauger_outbox_open", "gauge", "0 while the outbox cannot be opened and nothing is stored.")
	fmt.Fprintf(&b, "gauger_outbox_open %d\n", bit(s.Shut == ""))
	family("gauger_records", "gauge", "Records of the outbox by stream and by what became of them.")
	names := make([]string, 0, len(s.Streams))
	for name := range s.Streams {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := s.Streams[name]
		for _, p := range []struct {
			what string
			n    uint64
		}{{"accepted", c.Accepted}, {"delivered", c.Delivered}, {"waiting", c.Waiting}, {"dead", c.Dead}, {"evicted", c.Evicted}, {"dropped", c.Dropped}, {"lost", c.Lost}} {
			fmt.Fprintf(&b, "gauger_records{stream=%q,state=%q} %d\n", name, p.what, p.n)
		}
	}
	family("gauger_records_lost_unknown", "gauge", "1 when more records of the stream may be lost than are counted: damage took the counts as well.")
	for _, name := range names {
		fmt.Fprintf(&b, "gauger_records_lost_unknown{stream=%q} %d\n", name, bit(s.Streams[name].LostUnknown))
	}
	if len(s.Unused) > 0 {
		family("gauger_readings_unused_total", "counter", "Readings without a device time that may have waited at the broker, and were not used.")
	}
	for _, u := range s.Unused {
		fmt.Fprintf(&b, "gauger_readings_unused_total{point=%q} %d\n", string(u.Point), u.Count)
	}
	family("gauger_stream_held", "gauge", "1 while the service takes nothing of the stream.")
	for _, name := range names {
		if d, sent := s.Drains[name]; sent {
			fmt.Fprintf(&b, "gauger_stream_held{stream=%q} %d\n", name, bit(!d.Held.IsZero()))
		}
	}
	family("gauger_tank_level_inches", "gauge", "Newest good level of each tank.")
	for _, t := range s.Tanks {
		if t.Level != nil {
			fmt.Fprintf(&b, "gauger_tank_level_inches{tank=%q} %g\n", t.ID, *t.Level)
		}
	}
	family("gauger_point_good", "gauge", "1 when the newest reading of the point is good.")
	for _, p := range s.Points {
		good := 0
		if p.Quality == "good" {
			good = 1
		}
		fmt.Fprintf(&b, "gauger_point_good{point=%q} %d\n", string(p.Point), good)
	}
	writeLines(&b, s.Lines)
	if l := s.Link; l != nil {
		family("gauger_link_bytes", "gauge", "Bytes that crossed the link in the local day, both ways.")
		fmt.Fprintf(&b, "gauger_link_bytes %d\n", l.Bytes)
		if l.MaxBytes > 0 {
			family("gauger_link_max_bytes", "gauge", "Bytes that may cross the link in a local day.")
			fmt.Fprintf(&b, "gauger_link_max_bytes %d\n", l.MaxBytes)
		}
		family("gauger_link_held", "gauge", "1 when nothing of the stream leaves now because of link's settings.")
		for _, name := range names {
			if l.Held[name] != "" {
				fmt.Fprintf(&b, "gauger_link_held{stream=%q} 1\n", name)
			}
		}
	}
	writeFlash(&b, s)
	if r := s.Recorder; r != nil {
		family("gauger_recorder_bytes", "gauge", "Disk space that the recorded readings have.")
		fmt.Fprintf(&b, "gauger_recorder_bytes %d\n", r.Bytes)
		family("gauger_recorder_readings_total", "counter", "Readings since the start, by what became of them.")
		fmt.Fprintf(&b, "gauger_recorder_readings_total{state=\"taken\"} %d\ngauger_recorder_readings_total{state=\"lost\"} %d\n", r.Rows, r.Lost)
	}
	family("gauger_problems", "gauge", "How many things a person should look at.")
	fmt.Fprintf(&b, "gauger_problems %d\n", len(s.Problems))
	return b.String()
}
