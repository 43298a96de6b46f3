package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"gauger/collectors/sim"
)

// control is the endpoint through which a test changes the world and asks what is true.
type control struct {
	world  *world
	addr   string
	tasks  chan func() // run by the goroutine that owns the world
	server *http.Server
	ended  chan error
}

// newControl listens; the owner of the world must run what comes on tasks.
func newControl(w *world, listen string) (*control, error) {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen for the control endpoint: %w", err)
	}
	c := &control{world: w, addr: l.Addr().String(), tasks: make(chan func()), ended: make(chan error, 1)}
	c.server = &http.Server{Handler: c.routes(), ReadHeaderTimeout: 5 * time.Second}
	go func() { c.ended <- c.server.Serve(l) }()
	return c, nil
}

// close stops listening and waits for the server's end.
func (c *control) close() error {
	err := c.server.Close()
	if served := <-c.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("stop the control endpoint: %w", err)
	}
	return nil
}

func (c *control) routes() http.Handler {
	mux := http.NewServeMux()
	post := func(path string, do func(*http.Request) error) {
		mux.HandleFunc("POST "+path, func(rw http.ResponseWriter, r *http.Request) { c.do(rw, r, do) })
	}
	post("/service/cut", func(*http.Request) error { return c.world.service.cut() })
	post("/service/restore", func(*http.Request) error { return c.world.service.restore() })
	post("/keys/primary/refuse", func(*http.Request) error { c.world.service.refusePrimary(true); return nil })
	post("/keys/primary/accept", func(*http.Request) error { c.world.service.refusePrimary(false); return nil })
	post("/load", c.load)
	post("/battery", func(r *http.Request) error { return formNumber(r, "volts", &c.world.site.battery) })
	post("/target", func(r *http.Request) error { return formNumber(r, "bbl", &c.world.site.target) })
	mux.HandleFunc("GET /truth", c.handleTruth)
	return mux
}

// do has the world's owner run something and answers with how it went.
func (c *control) do(rw http.ResponseWriter, r *http.Request, do func(*http.Request) error) {
	done := make(chan error, 1)
	if err := c.runOnSite(r.Context(), func() { done <- do(r) }); err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	if err := <-done; err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	rw.WriteHeader(http.StatusNoContent)
}

// runOnSite gives a task to the world's owner.
func (c *control) runOnSite(ctx context.Context, task func()) error {
	select {
	case c.tasks <- task:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func formNumber(r *http.Request, name string, into *float64) error {
	v, err := strconv.ParseFloat(r.FormValue(name), 64)
	if err != nil {
		return fmt.Errorf("%s=%q: give a number", name, r.FormValue(name))
	}
	*into = v
	return nil
}

// load sends a truck: tank, barrels, rate in barrels a minute, and pause in minutes at half of the barrels.
func (c *control) load(r *http.Request) error {
	t := c.world.site.tank(r.FormValue("tank"))
	if t == nil {
		return fmt.Errorf("tank=%q: there is no such tank", r.FormValue("tank"))
	}
	d := sim.Draw{Barrels: 180, Rate: 6}
	pause := 0.0
	for name, into := range map[string]*float64{"barrels": &d.Barrels, "rate": &d.Rate, "pause": &pause} {
		if !r.Form.Has(name) {
			continue
		}
		if err := formNumber(r, name, into); err != nil {
			return err
		}
	}
	if pause > 0 {
		d.Pauses = []sim.Pause{{After: d.Barrels / 2, For: time.Duration(pause * float64(time.Minute))}}
	}
	if _, ok := t.Begin(d); !ok {
		return fmt.Errorf("%s: a truck is connected already, or the load has no volume or no rate", t.ID)
	}
	return nil
}

// The truth as JSON. Levels are inches, volumes barrels.
type (
	tankTruth struct {
		ID      string      `json:"id"`
		Level   float64     `json:"level"`
		Drawing bool        `json:"drawing"`
		Loads   []loadTruth `json:"loads"`
	}
	loadTruth struct {
		Start   time.Time `json:"start"`
		End     time.Time `json:"end"`
		Opening float64   `json:"opening"`
		Closing float64   `json:"closing"`
		Removed float64   `json:"removed"`
		Inflow  float64   `json:"inflow"`
		Pauses  int       `json:"pauses"`
	}
)

func (c *control) handleTruth(rw http.ResponseWriter, r *http.Request) {
	done := make(chan []tankTruth, 1)
	if err := c.runOnSite(r.Context(), func() { done <- c.world.site.tankTruths() }); err != nil {
		http.Error(rw, err.Error(), http.StatusServiceUnavailable)
		return
	}
	b, err := json.Marshal(<-done)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.Write(append(b, '\n'))
}

func (s *site) tankTruths() []tankTruth {
	var out []tankTruth
	for _, t := range s.tanks {
		x := tankTruth{ID: t.ID, Level: t.Level(), Drawing: t.Drawing(), Loads: []loadTruth{}}
		for _, l := range t.Loads() {
			x.Loads = append(x.Loads, loadTruth{s.wall(l.Start), s.wall(l.End), l.Opening, l.Closing, l.Removed, l.Inflow, l.Pauses})
		}
		out = append(out, x)
	}
	return out
}
