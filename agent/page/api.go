package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"gauger/agent/control"
)

// serveData adds what programs ask for. openapi.json describes it, and a test holds it to that.
func (s *site) serveData(mux *http.ServeMux) {
	answer := func(path string, of func(*http.Request) (any, error)) {
		mux.HandleFunc("GET /api/v1/"+path, func(w http.ResponseWriter, r *http.Request) {
			v, err := of(r)
			if err != nil {
				status := statusOf(w, err)
				writeJSON(w, status, failure{err.Error()})
				return
			}
			writeJSON(w, http.StatusOK, v)
		})
	}
	part := func(path string, of func(control.Report) any) {
		answer(path, func(r *http.Request) (any, error) {
			m, err := s.look(r.Context())
			if err != nil {
				return nil, err
			}
			return of(m.of.Report()), nil
		})
	}
	part("site", func(r control.Report) any { return r })
	part("tanks", func(r control.Report) any { return r.Tanks })
	part("tickets", func(r control.Report) any { return r.Tickets })
	part("problems", func(r control.Report) any { return r.Problems })
	answer("tickets/{name}", func(r *http.Request) (any, error) {
		row, err := s.find(r)
		return row.Report(), err
	})
	mux.HandleFunc("GET /api/v1/openapi.json", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "openapi.json") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /healthz", s.health)
}

// stuckAfter: who has asked the site for so long waits for a part that hangs.
const stuckAfter = 30 * time.Second

// health fails where a restart would help. It asks the site, so that a part that hangs is found where nobody else asks; a slow one is
// no reason to restart.
func (s *site) health(w http.ResponseWriter, r *http.Request) {
	err := s.server.Err()
	if err == nil {
		asked, slow := make(chan struct{}), time.NewTimer(turnWithin)
		defer slow.Stop()
		go func() {
			defer close(asked)
			_, _ = s.look(context.WithoutCancel(r.Context())) // what it says is for whoever looks at the site
		}()
		select {
		case <-asked:
		case <-slow.C:
		}
		err = s.stuck(stuckAfter)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// failure is what programs get instead of an answer.
type failure struct {
	Error string `json:"error"` // what went wrong
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "write down the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a client that has gone away is nobody's loss
}

// readiness says whether a person is needed, and why.
type readiness struct {
	Ready bool     `json:"ready"`
	Why   []string `json:"why"` // a sentence for each reason; none when it is ready
}

func (s *site) ready(w http.ResponseWriter, r *http.Request) {
	m, err := s.look(r.Context())
	if err != nil {
		writeJSON(w, http.StatusServiceUnavailable, readiness{Why: []string{err.Error()}})
		return
	}
	why := s.server.Unready(m.of)
	status := http.StatusOK
	if len(why) > 0 {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, readiness{len(why) == 0, why})
}
