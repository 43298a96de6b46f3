package page

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.server.Err(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
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
	why := m.of.Unready()
	status := http.StatusOK
	if len(why) > 0 {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, readiness{len(why) == 0, why})
}
