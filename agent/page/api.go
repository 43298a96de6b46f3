package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// serveData adds what programs ask for.
func (s *site) serveData(mux *http.ServeMux) {
	answer := func(path string, of func(made) any) {
		mux.HandleFunc("GET /api/v1/"+path, func(w http.ResponseWriter, r *http.Request) {
			m, err := s.look(r.Context())
			if err != nil {
				fail(w, err)
				return
			}
			writeJSON(w, http.StatusOK, of(m))
		})
	}
	answer("site", func(m made) any { return m.of })
	answer("tanks", func(m made) any { return list(m.of.Faces) })
	answer("tickets", func(m made) any { return list(m.of.Recent) })
	answer("problems", func(m made) any { return list(m.of.Found) })
	mux.HandleFunc("GET /api/v1/tickets/{name}", func(w http.ResponseWriter, r *http.Request) {
		if row, ok := s.found(w, r); ok {
			writeJSON(w, http.StatusOK, row)
		}
	})
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
		if since := s.askedAt.Load(); since != nil && time.Since(*since) >= stuckAfter {
			err = fmt.Errorf("a part of the program hangs: the site was asked for what it does %s ago and has not answered", time.Since(*since).Round(time.Second))
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// list is a list that is never null.
func list[E any](all []E) []E { return append([]E{}, all...) }

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
	Why   []string `json:"why"`
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
