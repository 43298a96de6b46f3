package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"gauger/agent/cloud/cloudtest"
)

// cutLimit for requests that are under way when the link is cut.
const cutLimit = 2 * time.Second

// service is the reference service behind a link that can be cut.
type service struct {
	store  *cloudtest.Service
	addr   string
	server *http.Server // nil while the link is down
	ended  chan error   // what became of server
}

func newService(listen string) (*service, error) {
	s := &service{store: &cloudtest.Service{PrimaryKey: primaryKey, SecondaryKey: secondaryKey}, addr: listen}
	return s, s.restore()
}

// restore listens, again at the same address after a cut.
func (s *service) restore() error {
	if s.server != nil {
		return nil
	}
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("listen for the service: %w", err)
	}
	server := &http.Server{Handler: s.store, ReadHeaderTimeout: 5 * time.Second}
	s.addr, s.server, s.ended = l.Addr().String(), server, make(chan error, 1)
	go func(ended chan<- error) { ended <- server.Serve(l) }(s.ended)
	return nil
}

// cut takes the link down between two requests: nothing listens any more.
func (s *service) cut() error {
	if s.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), cutLimit)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	if served := <-s.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.server = nil
	if err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	return nil
}

func (s *service) close() error { return s.cut() }

// storedSoFar reads the service's store. A ticket that came twice in the same bytes is one ticket, sent twice; in other
// bytes it is another one.
func (s *service) storedSoFar() received {
	var r received
	known := map[string]int{}
	for _, t := range s.store.Tickets() {
		if i, ok := known[string(t.Raw)]; ok {
			r.tickets[i].sent++
			continue
		}
		known[string(t.Raw)] = len(r.tickets)
		r.tickets = append(r.tickets, ticket{
			number: t.TicketNumber, tank: t.TankExternalID, opening: t.OpeningLevel, closing: t.ClosingLevel,
			start: moment(t.Start), end: moment(t.End), comments: t.Comments, sent: 1,
		})
	}
	for _, e := range s.store.Events() {
		r.events = append(r.events, event{rule: e.RuleName, note: e.Note, start: e.Start, end: e.End})
	}
	r.tagValues, r.targets = values(s.store.TagValues()), values(s.store.Targets())
	return r
}

// moment reads a ticket's time; a text that is none is the year 1, which belongs to no load.
func moment(text string) time.Time {
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	if err != nil {
		return time.Time{}
	}
	return at
}

// values are the well's oil targets among what was stored.
func values(all []cloudtest.Value) []value {
	var out []value
	for _, v := range all {
		if v.ObjectID == wellID && v.Code == targetCode {
			out = append(out, value{float64(v.Value), v.Time})
		}
	}
	return out
}
