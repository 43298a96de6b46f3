package control

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/flash"
	"gauger/agent/ledger"
	"gauger/agent/link"
	"gauger/collectors"
	"gauger/outbox"
)

// Status of the whole site at one instant, for people and programs.
type Status struct {
	Site     string                   `json:"site"`
	ID       string                   `json:"id"`
	Version  string                   `json:"version"`
	Daemon   bool                     `json:"daemon"`
	Began    time.Time                `json:"began"`
	Now      time.Time                `json:"now"`
	Zone     string                   `json:"time_zone"`
	Headline string                   `json:"headline"` // the whole state in a line
	Clock    string                   `json:"clock"`
	Tanks    []ledger.TankStatus      `json:"tanks"`
	Points   []PointReading           `json:"points"`
	Open     []ledger.Episode         `json:"open"` // what is wrong right now
	Held     []ledger.HeldTicket      `json:"held"`
	Streams  map[string]outbox.Counts `json:"streams"`
	Drains   map[string]DrainStatus   `json:"drains"`
	Last     *ledger.TicketRecord     `json:"last_ticket,omitempty"`
	Stands   string                   `json:"last_ticket_state,omitempty"` // waiting, delivered, dropped or dead; empty: its receipt is too old to be kept
	Paper    *Paper                   `json:"paper,omitempty"`
	Oldest   time.Time                `json:"oldest_waiting,omitzero"` // when the record that has waited longest was queued, of those that the link does not hold back
	Lines    []LineStatus             `json:"lines,omitempty"`
	Link     *link.Status             `json:"link,omitempty"`
	Flash    *flash.Figures           `json:"written,omitempty"`         // to disk by this run
	Recorder *ledger.RecorderStatus   `json:"recorder,omitempty"`        // absent when no readings are kept
	Unused   []ledger.UnusedReadings  `json:"unused"`                    // readings of unknown age that were not used
	Spared   []ledger.Undecoded       `json:"undecoded,omitempty"`       // by device, messages that nobody could decode and that are not stored
	Reached  time.Time                `json:"service_answered,omitzero"` // when the service last accepted a key
	Answers  []Answer                 `json:"answers"`                   // reading, sending, clock, keys
	Found    []Problem                `json:"found"`                     // what is wrong, the dearest first, equal ones as one
	Problems []string                 `json:"problems"`                  // the same as sentences
	Hints    []string                 `json:"hints"`                     // sentences: what may be wrong
	Unread   string                   `json:"left_for_review,omitempty"` // a hint of its own: the tickets of the last days that left with a doubt to which nobody has said anything
	Review   bool                     `json:"doubtful_wait"`             // a doubtful ticket waits for a person
	Page     string                   `json:"page,omitempty"`            // its address
	Shut     string                   `json:"outbox_error,omitempty"`    // why the outbox cannot be opened: nothing is known then of tickets and records

	StoreTrouble string `json:"store_trouble,omitempty"` // why nothing is stored, or soon may not be, and what to do

	clockDoubted bool                    // what is made waits, beside the outbox
	dead         map[string]*deadLetters // by stream
}

// LineStatus counts for one socket or serial port with polled devices since the program started.
type LineStatus struct {
	Line       string        `json:"line"`
	Load       float64       `json:"load"`       // share of the last minute or two in which requests had it
	Busy       float64       `json:"busy_s"`     // how long requests had it in all
	Requests   uint64        `json:"requests"`   // that had the line
	Timeouts   uint64        `json:"timeouts"`   // requests that got no answer in time
	Exceptions uint64        `json:"exceptions"` // answers that were refusals
	BadFrames  uint64        `json:"bad_frames"` // requests whose answer came damaged
	Late       uint64        `json:"late"`       // answers dropped because they belonged to an earlier request
	CrossTalk  uint64        `json:"cross_talk"` // answers dropped because another unit or function sent them
	Reconnects uint64        `json:"reconnects"` // times that the socket or port was opened again
	Mismatches uint64        `json:"mismatches"` // values that two requests did not agree on
	Down       uint64        `json:"down"`       // requests for which the line could not be opened, or went away
	Rounds     []RoundStatus `json:"rounds"`     // the last answered one of each device

	OtherMaster time.Time `json:"other_master,omitzero"` // when another master was last heard on it
}

// RoundStatus is the last round of requests to one device that was answered.
type RoundStatus struct {
	Device string    `json:"device"`
	Every  float64   `json:"every_s"`
	Took   float64   `json:"took_s"`
	At     time.Time `json:"at"`
}

// Waiting counts the records that have not left yet; messages that could not be decoded are none of them.
func (s Status) Waiting() (n uint64) {
	for name, c := range s.Streams {
		if name != ledger.Refused {
			n += c.Waiting
		}
	}
	return n
}

// ClockUnset says that the clock was not set: what is made meanwhile waits for it, and is in no stream yet.
func (s Status) ClockUnset() bool { return s.Clock == clock.Unset.String() }

// heldByLink says that the link's windows, its bytes of the day or its rate hold a stream back.
func (s Status) heldByLink(stream string) bool { return s.Link != nil && s.Link.Held[stream] != "" }

// WaitsForLinkOnly says that everything that waits does so for the link.
func (s Status) WaitsForLinkOnly() bool {
	for name, c := range s.Streams {
		if name != ledger.Refused && c.Waiting > 0 && !s.heldByLink(name) {
			return false
		}
	}
	return true
}

// overdue: with a record that has waited for so long the site counts as not sending.
const overdue = 2 * time.Minute

// Overdue says that what the link does not hold back does not leave: for a while, or since the service takes nothing of any
// such stream.
func (s Status) Overdue() bool {
	if s.Oldest.IsZero() || s.Now.Sub(s.Oldest) > overdue {
		return !s.Oldest.IsZero()
	}
	for name, c := range s.Streams {
		if d := s.Drains[name]; name != ledger.Refused && c.Waiting > uint64(d.Parked) && !s.heldByLink(name) && d.Held.IsZero() {
			return false
		}
	}
	return true
}

// Parked counts the records that wait for a person, since they were sent without a clear answer too often.
func (s Status) Parked() (n int) {
	for _, d := range s.Drains {
		n += d.Parked
	}
	return n
}

// Apart counts the ids for which nothing is taken while the service takes others.
func (s Status) Apart() (n int) {
	for _, d := range s.Drains {
		n += len(d.Isolated)
		if d.Unknown != "" && len(d.Isolated) == 0 {
			n++
		}
	}
	return n
}

// PointReading is a reading as commands print it.
type PointReading struct {
	At      time.Time        `json:"at"` // when the value was true
	Point   collectors.Point `json:"point"`
	Value   json.RawMessage  `json:"value"` // a number, a text, or null
	Unit    collectors.Unit  `json:"unit"`
	Quality string           `json:"quality"`
	Error   string           `json:"error"`
	Asked   time.Time        `json:"asked,omitzero"` // when the device was asked for it; absent where it speaks when it likes
}

// PointReadingOf turns a reading into what commands print. A value that is no number is null; a status text is a text; a
// 64-bit integer keeps all its digits.
func PointReadingOf(r collectors.Reading) PointReading {
	s := PointReading{At: r.At.Round(0), Asked: r.Asked.Round(0), Point: r.Point, Unit: r.Unit, Quality: r.Quality.String(), Value: json.RawMessage("null")}
	if r.Err != nil {
		s.Error = r.Err.Error()
	}
	switch {
	case r.Text != "" && ledger.Finite(r.Value) && digits(r.Text):
		s.Value = json.RawMessage(r.Text)
	case r.Text != "":
		s.Value = quoted(r.Text)
	case ledger.Finite(r.Value):
		s.Value = quoted(r.Value)
	}
	return s
}

// digits says that a text is a whole number as JSON writes one.
func digits(text string) bool {
	plain := strings.TrimPrefix(text, "-")
	return plain != "" && strings.Trim(plain, "0123456789") == "" && (plain == "0" || plain[0] != '0')
}

// quoted marshals a text or a finite number, which cannot fail; if it ever did, null would say so.
func quoted(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

// Status looks at everything once.
func (d *Server) Status() (Status, error) {
	if d.NoOutbox != nil {
		return d.statusWithoutOutbox(time.Now()), nil
	}
	s, _, err := d.look(time.Now())
	return s, err
}

// blankStatus is what is known of the site whatever its outbox does.
func (d *Server) blankStatus(now time.Time) Status {
	s := Status{
		Site: d.Site.Name, ID: d.Site.ID, Version: d.Version, Daemon: d.Daemon, Began: d.began(now), Now: now.Round(0), Zone: d.zone().String(),
		Clock: d.Clock.Grade(now).String(), clockDoubted: d.Clock.Doubted(now), Streams: map[string]outbox.Counts{}, Drains: map[string]DrainStatus{}, Held: []ledger.HeldTicket{},
		Points: []PointReading{}, Problems: []string{}, Review: d.Site.HoldDoubtful, Page: d.Page,
	}
	if d.Lines != nil {
		s.Lines = d.Lines()
	}
	return s
}

// Headline is the first line of a site's status.
func (d *Server) Headline() (string, error) {
	if d.NoOutbox != nil {
		return d.statusWithoutOutbox(time.Now()).Headline, nil
	}
	s, err := d.glance(time.Now())
	return s.Headline, err
}

// look is the status of a site with an outbox, and all its tickets.
func (d *Server) look(now time.Time) (Status, []ledger.TicketRecord, error) {
	s, err := d.glance(now)
	if err != nil {
		return s, nil, err
	}
	all, err := d.Ledger.Tickets()
	if err != nil {
		return s, nil, err
	}
	for i := range s.Tanks {
		if b := ledger.LastLoad(all, s.Tanks[i].ID); b != nil {
			s.Tanks[i].LoadEnd = b.End
		}
	}
	s.Paper, s.Unread = new(paperOf(all, now)), d.unread(all, now)
	for _, b := range slices.Backward(all) {
		if b.Ticket != nil && !b.Off() {
			s.Last = &b
			if e, err := d.Box.Entry(ledger.Tickets, b.Seq); err == nil { // else it is too long ago
				s.Stands = e.State.String()
			}
			break
		}
	}
	return s, all, nil
}

// glance is the status without what only the tickets tell: they are read from the disk, one by one.
func (d *Server) glance(now time.Time) (s Status, err error) {
	s = d.blankStatus(now)
	s.Streams = d.Box.Counts()
	seen := d.Ledger.Snapshot()
	s.copyFrom(seen)
	s.Held = seen.Held
	if s.Drains, err = d.drainStatus(s.Streams); err != nil {
		return s, err
	}
	if s.dead, err = deadLettersOf(d, s.Streams); err != nil {
		return s, err
	}
	s.Points = d.withUnheard(s.Points, s.Began, s.Open)
	if d.Link != nil {
		s.Link = new(d.Link.Status(now))
	}
	s.Oldest = s.oldest()
	s.Recorder = d.Ledger.RecorderStatus()
	s.Unused, s.Spared = d.Ledger.Unused(), d.Ledger.Undecoded()
	if d.Flash != nil {
		s.Flash = new(d.Flash.Figures(now))
	}
	s.Reached, s.StoreTrouble = d.reached(), d.storeTrouble()
	s.Found, s.Hints = d.problems(s), slices.Concat(d.newStore(now), d.unknownIDs(s.Tanks), d.deniedHosts())
	s.Problems, s.Answers = sentences(s.Found), d.answers(s)
	s.Headline = s.headline(d.localMinute)
	return s, nil
}

// AllHints are the hints, that about tickets first.
func (s Status) AllHints() []string {
	if s.Unread == "" {
		return s.Hints
	}
	return append([]string{s.Unread}, s.Hints...)
}

// newStore is the hint that nothing of before is in the store. Where the office was told of it, and a ticket has left from it since, it is no news.
func (d *Server) newStore(now time.Time) []string {
	_, told := d.Ledger.UntoldStore(now)
	if hint := d.Ledger.NewStoreHint(now); hint != "" && !(told && d.Box.Counts()[ledger.Tickets].Delivered > 0) {
		return []string{hint}
	}
	return nil
}

// copyFrom takes over readings, tanks and what is going on.
func (s *Status) copyFrom(seen ledger.Snapshot) {
	s.Points, s.Tanks, s.Open = []PointReading{}, seen.Tanks, seen.Episodes
	for _, r := range seen.Readings {
		s.Points = append(s.Points, PointReadingOf(r))
	}
}

// began puts the beginning of this run on the clock as it is set now: its age is told by the clock that never steps.
func (d *Server) began(now time.Time) time.Time {
	if d.Began.IsZero() {
		return d.Began
	}
	return now.Add(-now.Sub(d.Began)).Round(0)
}

// withUnheard adds the points that have said nothing since this run began: a topic with a wrong letter in it is as silent
// as a device without power.
func (d *Server) withUnheard(points []PointReading, began time.Time, open []ledger.Episode) []PointReading {
	known := map[collectors.Point]bool{}
	for _, x := range points {
		known[x.Point] = true
	}
	because := map[string]string{}
	for _, e := range open {
		if e.Rule == eventrules.ValueMissing {
			because[e.Source] = strings.TrimPrefix(e.Note, e.Source+": ")
		}
	}
	for _, c := range d.Collectors {
		speaker, ok := c.Collector.(collectors.Speaker)
		if !ok || !d.Daemon {
			continue
		}
		for _, name := range speaker.Points() {
			if !known[name] {
				points = append(points, PointReading{At: began, Point: name, Value: json.RawMessage("null"), Quality: "bad", Error: cmp.Or(because[string(name)], "no value yet")})
			}
		}
	}
	return points
}

// oldest gives the time at which the record that has waited longest was queued; zero: none waits. What waits by itself is a problem of
// its own, and no sign that the site does not send.
func (s Status) oldest() (at time.Time) {
	for name, d := range s.Drains {
		if first := d.Oldest; !first.IsZero() && !s.heldByLink(name) && d.Unknown == "" && (at.IsZero() || first.Before(at)) {
			at = first
		}
	}
	return at
}

// isolatedNamed limits the ids that are named one by one.
const isolatedNamed = 10

func (d *Server) read(_ context.Context, p PointsArgs) ([]PointReading, error) {
	var points []collectors.Point
	for _, name := range p.Points {
		points = append(points, collectors.Point(name))
	}
	out := []PointReading{}
	for _, r := range d.Ledger.Latest(points...) {
		out = append(out, PointReadingOf(r))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Point < out[j].Point }) // slices.SortFunc costs the binary 19 kB for a struct of this size
	return out, nil
}
