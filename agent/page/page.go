// Package page is the site on a web page, for a phone in the sun and a laptop on a tailgate: the answer first, then what is wrong,
// the tanks, the tickets, the devices and the outbox. It only shows, unless somebody has a token.
//
// page.go: the addresses, and the page as it was last made. view.go: what the template is given; words.go: figures, times and ages, and the box with its
// lines; ticket.go: one ticket with its picture; api.go: the same as JSON, and whether the site is well;
// people.go: who has shown a token; acts.go: what they can do, form by form.
// openapi.json describes what api.go answers: made from the types by a test, which holds the answers against it.
//
// # Decisions
//
// What is shown comes from control.Overview, as `gauger status` comes from the Status in it: nothing is judged twice. The page is made here, with
// html/template, and reads without a script; the script asks for the main part again and puts in what has changed, so that
// there is one way from a figure to its words. It is made once in two seconds however many look, and not at all while nobody does.
// Style and script are files of their own and no attribute holds style, as a strict content policy wants it.
//
// An act is a link, a form, a page that says what it will do, and a yes: plain forms, each good once, so that a second click does
// nothing twice. It is a request of control's table, as a command's is. What is shown is the same for everybody: the links lead
// those to the door who have not shown a token. Visits are in memory, few, and end after hours and with the program.
package page

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"gauger/agent/control"
)

//go:embed page.html ticket.html form.html style.css script.js icon.svg openapi.json
var files embed.FS

const (
	madeFor    = 2 * time.Second // that a page serves whoever asks
	turnWithin = 3 * time.Second // that somebody waits until the site can be asked; it is asked for a few ms
)

// site is a site on its page.
type site struct {
	server    *control.Server
	people    *people                   // nil: the page only shows
	templates func() *template.Template // read when the first page is asked for: most sites are looked at seldom

	turn    chan struct{}             // whoever holds it asks the site
	askedAt atomic.Pointer[time.Time] // since when; nil: nobody holds it
	made    made
}

// made is the page as it was last made.
type made struct {
	at   time.Time
	of   control.Overview
	main []byte
}

// New is the handler of the page and of /api/v1, /healthz and /readyz. Who has one of the tokens, by name, may do something there.
func New(server *control.Server, tokens map[string]string) http.Handler {
	s := &site{server: server, people: newPeople(server.Site.ID, tokens), turn: make(chan struct{}, 1), templates: sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "*.html")) })}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.page)
	mux.HandleFunc("GET /main", s.main)
	mux.HandleFunc("GET /tickets/{name}", s.ticket)
	mux.HandleFunc("GET /tickets/{name}/level.svg", s.picture)
	for _, name := range []string{"style.css", "script.js", "icon.svg"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, files, name)
		})
	}
	s.serveData(mux)
	if s.people != nil {
		s.people.serve(s, mux)
	}
	return mux
}

// errBusy is for whoever has waited too long.
var errBusy = errors.New("the page is asked for more often than it can be made; try again in a moment")

// errStuck says that whoever asks the site gets no answer.
var errStuck = errors.New("the disk or a part of the program hangs")

// stuck says that the site was asked so long ago and has not answered; nil: it has.
func (s *site) stuck(after time.Duration) error {
	since := s.askedAt.Load()
	if since == nil || time.Since(*since) < after {
		return nil
	}
	return fmt.Errorf("%w: the site was asked for what it does %s ago and has not answered", errStuck, time.Since(*since).Round(time.Second))
}

// take waits for the turn to ask the site; give it back.
func (s *site) take(ctx context.Context) error {
	wait := time.NewTimer(turnWithin)
	defer wait.Stop()
	select {
	case s.turn <- struct{}{}:
		s.askedAt.Store(new(time.Now()))
		return nil
	case <-wait.C:
		if err := s.stuck(turnWithin); err != nil {
			return err
		}
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *site) give() {
	s.askedAt.Store(nil)
	<-s.turn
}

func fail(w http.ResponseWriter, err error) { http.Error(w, err.Error(), statusOf(w, err)) }

// statusOf is the status that goes with an error; who comes at a bad time is told when to come again.
func statusOf(w http.ResponseWriter, err error) int {
	switch {
	case errors.Is(err, control.ErrNoTicket):
		return http.StatusNotFound
	case errors.Is(err, errBusy), errors.Is(err, errStuck), errors.Is(err, control.ErrNoOutbox), errors.Is(err, context.Canceled):
		w.Header().Set("Retry-After", "1")
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// look is the page, at most two seconds old.
func (s *site) look(ctx context.Context) (made, error) {
	if err := s.take(ctx); err != nil {
		return made{}, err
	}
	defer s.give()
	if age := time.Since(s.made.at); age >= 0 && age < madeFor {
		return s.made, nil
	}
	o, err := s.server.Overview()
	if err != nil {
		return made{}, err
	}
	var b bytes.Buffer
	if err := s.templates().ExecuteTemplate(&b, "main", newView(o, s.server.Site, s.people != nil)); err != nil {
		return made{}, fmt.Errorf("make the page: %w", err)
	}
	s.made = made{time.Now(), o, b.Bytes()}
	return s.made, nil
}

func (s *site) clock(m made) string {
	return m.of.Now.In(words{zone: s.server.Site.Zone}.in()).Format("15:04:05 MST")
}

func (s *site) page(w http.ResponseWriter, r *http.Request) {
	m, err := s.look(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	s.write(w, http.StatusOK, "page.html", frame{s.visitor(r), m.of.Site, m.of.ID, m.of.Version, m.of.Site, s.clock(m), template.HTML(m.main)})
}

// main is the part that changes; Gauger-Time says of when it is.
func (s *site) main(w http.ResponseWriter, r *http.Request) {
	m, err := s.look(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Gauger-Time", s.clock(m))
	_, _ = w.Write(m.main) // a client that has gone away is nobody's loss
}

func (s *site) write(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := s.templates().ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "make the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a client that has gone away is nobody's loss
}
