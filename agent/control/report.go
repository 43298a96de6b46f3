package control

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"gauger/agent/audit"
	"gauger/agent/flash"
	"gauger/agent/ledger"
	"gauger/agent/link"
)

// Report is the site as programs read it: /api/v1/site. Its names, and those of what is in it, are a contract: they may be added to.
// What is not known is absent, or null for a figure that a tank always has; lists are never null.
type Report struct {
	Site     string    `json:"site"` // name of the site
	ID       string    `json:"id"`
	Version  string    `json:"version"`   // of the program
	Began    time.Time `json:"began"`     // this run of the program
	Now      time.Time `json:"now"`       // when all this was so
	Zone     string    `json:"time_zone"` // of the site
	Headline string    `json:"headline"`  // the whole state in a line
	Clock    string    `json:"clock"`     // how far the box's clock may be believed
	Answers  []Answer  `json:"answers"`   // reading, sending, clock, keys; without keys while the store cannot be opened
	Problems []Problem `json:"problems"`
	Hints    []string  `json:"hints"`                   // what may be wrong, and is no alarm
	Store    string    `json:"store_trouble,omitempty"` // why nothing is stored, or soon may not be, and what to do

	Tanks   []TankReport            `json:"tanks"`
	Tickets []TicketReport          `json:"tickets"` // the newest fifty and the others of the last one's production day, the newest first
	Points  []PointReading          `json:"points"`
	Lines   []LineStatus            `json:"lines"`     // sockets and serial ports of polled devices
	Streams []StreamReport          `json:"streams"`   // of the outbox; none while the store cannot be opened
	Unused  []ledger.UnusedReadings `json:"unused"`    // readings of unknown age that were not used
	Spared  []ledger.Undecoded      `json:"undecoded"` // messages that nobody could decode and that are not stored

	Keys     []Key                  `json:"keys"`                      // of the service, every value of each slot; never the values themselves
	Reached  time.Time              `json:"service_answered,omitzero"` // when the service last accepted a key
	Link     *link.Status           `json:"link,omitempty"`            // what the link has carried today; absent when nobody counts
	Written  *flash.Figures         `json:"written,omitempty"`         // to disk by this run
	Recorder *ledger.RecorderStatus `json:"recorder,omitempty"`        // absent when no readings are kept
	Box      map[string]float64     `json:"box"`                       // the box's own figures by the words of host devices, which end in their units (cpu_temperature: degC); what it does not tell is absent
	Changes  []audit.Entry          `json:"changes"`                   // the newest of the audit trail, the newest first
}

// TankReport is a tank as programs read it.
type TankReport struct {
	ledger.TankFace
	Last string `json:"last_load,omitempty"` // the name of its newest ticket that is not rejected
}

// StreamReport is a stream of the outbox: what became of its records, and how their sending goes.
type StreamReport struct {
	Stream string `json:"stream"`
	Tally
	Sending *DrainStatus `json:"sending,omitempty"` // absent for messages that nobody could decode, which stay here
}

// TicketReport is a run ticket, or a load that may become one, as programs read it.
type TicketReport struct {
	Name        string               `json:"name"`                     // its number, or what it is called until that is fixed
	Number      string               `json:"number,omitempty"`         // as the service gets it
	Tank        string               `json:"tank"`                     // id
	State       string               `json:"state"`                    // where it stands; left: its receipt is not kept
	Reason      string               `json:"reason,omitempty"`         // why it was refused or dropped; of a delivered one, who has seen it at the service in place of an answer
	Unclear     int                  `json:"unclear_sends,omitempty"`  // without a clear answer, each of which may have stored it
	Rejected    string               `json:"rejected,omitempty"`       // by whom and why
	Voided      string               `json:"voided,omitempty"`         // after it had left: by whom and why, and which is booked in its place
	Queued      time.Time            `json:"queued"`                   // when it was handed to the outbox, or rejected; when it leaves by itself while it is held
	Answered    time.Time            `json:"answered,omitzero"`        // when the service answered
	Status      int                  `json:"http_status,omitempty"`    // of that answer
	Correlation string               `json:"correlation_id,omitempty"` // of that answer
	Day         string               `json:"production_day,omitempty"`
	Start       time.Time            `json:"start"`
	End         time.Time            `json:"end"`
	Bbl         *float64             `json:"bbl,omitempty"`       // by its gauges
	Error       *float64             `json:"error_bbl,omitempty"` // in 19 of 20 loads they are off by less
	Open        *float64             `json:"open_in,omitempty"`   // opening gauge
	Close       *float64             `json:"close_in,omitempty"`  // closing gauge
	Inflow      *float64             `json:"inflow_bbl,omitempty"`
	Confidence  *float64             `json:"confidence,omitempty"` // chance that bbl is right to the greater of a barrel and a hundredth, 0 to 0.99
	Review      []string             `json:"review"`               // reasons why a person should look
	Remarks     []string             `json:"remarks"`              // what a reader should know
	Volumes     *ledger.Volumes      `json:"volumes,omitempty"`    // by the tank's table, gross and net
	Person      string               `json:"person,omitempty"`     // who wrote or released it
	Hold        *ledger.HoldOrder    `json:"hold,omitempty"`       // a person's word that it must not leave yet
	Edits       []ledger.Edit        `json:"edits"`                // by people, before it left
	Trucks      []ledger.TruckTicket `json:"truck_tickets"`        // what the truck's own tickets say
	Learned     []ledger.Finding     `json:"learned"`              // after it had left
	Sent        json.RawMessage      `json:"sent,omitempty"`       // the service's runTicket as it leaves or has left; in a ticket's own answer only
}

// Report puts an overview into the words of the contract.
func (o Overview) Report() Report {
	r := Report{
		Site: o.Site, ID: o.ID, Version: o.Version, Began: o.Began, Now: o.Now, Zone: o.Zone, Headline: o.Headline, Clock: o.Clock, Answers: o.Answers, Problems: list(o.Found),
		Hints: list(o.AllHints()), Store: o.StoreTrouble, Tanks: []TankReport{}, Tickets: []TicketReport{}, Points: list(o.Points), Lines: list(o.Lines),
		Streams: []StreamReport{}, Unused: list(o.Unused), Spared: list(o.Spared), Keys: list(o.KeyList), Reached: o.Reached, Link: o.Link,
		Written: o.Flash, Recorder: o.Recorder, Box: map[string]float64{}, Changes: list(o.Changes),
	}
	maps.Copy(r.Box, o.Box)
	for _, f := range o.Faces {
		t := TankReport{TankFace: f}
		t.Level, t.Barrels, t.Levels = rounded(f.Level), rounded(f.Barrels), list(f.Levels)
		if f.Last != nil {
			t.Last = f.Last.Name()
		}
		r.Tanks = append(r.Tanks, t)
	}
	for i := range o.Recent {
		t := o.Recent[i].Report()
		t.Sent = nil
		r.Tickets = append(r.Tickets, t)
	}
	for i := range r.Problems {
		r.Problems[i].Count = max(1, r.Problems[i].Count)
	}
	for i := range r.Lines {
		r.Lines[i].Rounds = list(r.Lines[i].Rounds)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Streams)) {
		s := StreamReport{Stream: name, Tally: Tally(o.Streams[name])}
		if d, ok := o.Drains[name]; ok {
			s.Sending = &d
		}
		r.Streams = append(r.Streams, s)
	}
	return r
}

// Report puts a ticket into the words of the contract.
func (r *TicketRow) Report() TicketReport {
	t := TicketReport{
		Name: r.Name(), Number: r.Number, Tank: r.Tank, State: r.State, Reason: r.Reason, Rejected: r.Rejected, Voided: r.Voided, Queued: r.Queued,
		Answered: r.Answered, Status: r.Status, Correlation: r.Corr, Day: r.Day, Start: r.Start, End: r.End, Bbl: rounded(r.Barrels()),
		Review: []string{}, Remarks: []string{}, Volumes: r.Volumes, Person: r.Person, Hold: r.Stop, Edits: list(r.Edits),
		Trucks: list(r.Matches), Learned: list(r.Found), Sent: r.Ticket,
	}
	if r.Unclear != nil {
		t.Unclear = r.Unclear.Count
	}
	if len(r.Gauged) == 2 {
		t.Open, t.Close = rounded(&r.Gauged[0]), rounded(&r.Gauged[1])
	}
	t.Inflow = rounded(r.InflowBbl)
	if l := r.Load; l != nil {
		t.Open, t.Close, t.Confidence = rounded(&l.Open), rounded(&l.Close), &l.Confidence
		if l.ErrorBbl > 0 { // else nobody knows it
			t.Error = rounded(&l.ErrorBbl)
		}
		t.Review, t.Remarks = list(l.Review), list(l.Remarks)
		if ledger.InflowKnown(l) {
			t.Inflow = rounded(&l.InflowBbl)
		}
	}
	return t
}

// list is a list that is never null.
func list[E any](all []E) []E { return append([]E{}, all...) }

// rounded is a figure to the hundredth; what is no number is not known.
func rounded(v *float64) *float64 {
	if v == nil || !ledger.Finite(*v) {
		return nil
	}
	return new(math.Round(*v*100) / 100)
}
