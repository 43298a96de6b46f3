package cloudtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Ticket is a run ticket as it was stored, and the exact bytes that it came in.
type Ticket struct {
	TicketNumber      string
	TankExternalID    string
	OpeningLevel      float64
	ClosingLevel      float64
	SealOn            string
	SealOff           string
	TopTemperature    *float64
	BottomTemperature *float64
	SpecificGravity   *float64
	BSW               *float64
	Comments          string
	Start             string
	End               string
	Purchaser         string
	Raw               []byte
	At                time.Time // when it arrived
}

func (s *Service) saveTickets(c *Call, _ []string) (any, error) {
	list, err := elements(c.Body, "run tickets")
	if err != nil {
		return nil, err
	}
	var got []Ticket
	for i, raw := range list {
		t, err := readTicket(raw, fmt.Sprintf("run ticket %d", i))
		if err != nil {
			return nil, err
		}
		t.At = c.At
		got = append(got, t)
	}
	for _, t := range got {
		if s.Conflict && slices.ContainsFunc(s.tickets, func(o Ticket) bool { return o.TicketNumber == t.TicketNumber }) {
			return nil, refuse(http.StatusConflict, "ticket %s exists", t.TicketNumber)
		}
	}
	s.tickets = append(s.tickets, got...)
	return map[string]int{"saved": len(got)}, nil
}

func readTicket(raw json.RawMessage, what string) (Ticket, error) {
	fields, err := members(raw, what,
		[]string{"ticketNumber", "tank", "openingLevel", "closingLevel", "sealOn", "sealOff", "comments", "start", "end", "purchaser"},
		[]string{"topTemperature", "bottomTemperature", "specificGravity", "bsw"})
	if err != nil {
		return Ticket{}, err
	}
	r := reader{what: what, fields: fields}
	t := Ticket{
		TicketNumber: r.filled("ticketNumber"), SealOn: r.text("sealOn"), SealOff: r.text("sealOff"),
		TopTemperature: r.number("topTemperature"), BottomTemperature: r.number("bottomTemperature"),
		SpecificGravity: r.number("specificGravity"), BSW: r.number("bsw"), Comments: r.text("comments"),
		Start: r.filled("start"), End: r.filled("end"), Purchaser: r.text("purchaser"), Raw: slices.Clone(raw),
	}
	t.TankExternalID = r.inner("tank", "externalID").filled("externalID")
	t.OpeningLevel = r.level("openingLevel")
	t.ClosingLevel = r.level("closingLevel")
	return t, r.err
}

// inner reads an object of one required member; its complaints are the outer reader's.
func (r *reader) inner(name, member string) *innerReader {
	what := r.what + "." + name
	fields, err := members(r.fields[name], what, []string{member}, nil)
	return &innerReader{reader{what: what, fields: fields, err: err}, r}
}

type innerReader struct {
	reader
	outer *reader
}

func (r *innerReader) filled(name string) string {
	s := ""
	if r.err == nil {
		s = r.reader.filled(name)
	}
	r.pass()
	return s
}

func (r *reader) level(name string) float64 {
	in := r.inner(name, "level")
	var v *float64
	if in.err == nil {
		v = in.number("level")
	}
	in.pass()
	if v == nil {
		return 0
	}
	return *v
}

func (r *innerReader) pass() {
	if r.outer.err == nil {
		r.outer.err = r.err
	}
}

// Tickets gives every ticket in the order of arrival, repeats too.
func (s *Service) Tickets() []Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.tickets)
	for i := range out {
		out[i].Raw = slices.Clone(out[i].Raw)
	}
	return out
}

// Duplicates gives, once each, the ticket numbers that were stored more than once.
func (s *Service) Duplicates() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]int{}
	var twice []string
	for _, t := range s.tickets {
		if seen[t.TicketNumber]++; seen[t.TicketNumber] == 2 {
			twice = append(twice, t.TicketNumber)
		}
	}
	return twice
}
