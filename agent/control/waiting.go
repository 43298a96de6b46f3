package control

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"gauger/agent/ledger"
	"gauger/outbox"
)

// DrainStatus of one stream: the drain's activity, the last refusal and the next attempt.
type DrainStatus struct {
	Activity string     `json:"activity"`            // idle, gathering, pacing, sending, waiting, paused; empty: nobody sends it
	Held     time.Time  `json:"held_since,omitzero"` // since when nothing of it was taken; absent: all is well
	Next     time.Time  `json:"next_attempt,omitzero"`
	Answer   string     `json:"last_answer,omitempty"` // that did not take its records, while there is trouble
	Status   int        `json:"status,omitempty"`      // of that answer
	Corr     string     `json:"correlation_id,omitempty"`
	Answered time.Time  `json:"answered,omitzero"`
	Parked   int        `json:"parked,omitempty"`      // records that wait because they may have been stored
	Isolated []Isolated `json:"apart,omitempty"`       // what waits by itself, since it alone is not taken
	Batch    int        `json:"batch_limit,omitempty"` // where answers "too large" have lowered it
	Why      string     `json:"why,omitempty"`         // why what waits has not left, in a sentence
	Oldest   time.Time  `json:"oldest,omitzero"`       // when the record that has waited longest was queued, what waits by itself apart
	Taken    time.Time  `json:"last_taken,omitzero"`   // when the service last took some of it in this run
	unclear  int        // of those that wait, how many were sent without a clear answer; 0 where that is not what they wait for
	Unknown  string     `json:"unknown_id,omitempty"` // the sentence, where the service does not know the first record's id, while it answers others
}

// StreamName for people, who take refused for the records that the service refused.
func StreamName(name string) string {
	if name == ledger.Refused {
		return "unreadable messages"
	}
	return name
}

// Isolated is one device, well or record of which the service takes nothing, while it takes the others.
type Isolated struct {
	Address string    `json:"address,omitempty"`
	Seq     uint64    `json:"seq,omitempty"` // where it is a record without an address
	Since   time.Time `json:"since"`
	Next    time.Time `json:"next_attempt"`
	Answer  string    `json:"last_answer"`
	Status  int       `json:"status,omitempty"`
	Why     string    `json:"why"` // in a sentence
}

// addressed names, by stream, the things whose ids its addresses are, and the list to compare them with.
var addressed = map[string][2]string{
	ledger.Memos: {"device", "`gauger devices query`"}, ledger.TagValues: {"well", "wells.id"}, ledger.Targets: {"well", "wells.id"},
}

// isolated says what of a stream waits by itself.
func (d *Server) isolated(stream string, all []outbox.Isolated) (out []Isolated) {
	for _, a := range all {
		x := Isolated{Address: a.Address, Seq: a.Seq, Since: a.Since.Round(0), Next: a.Next.Round(0), Answer: answerText(a.Answer), Status: a.Answer.Status}
		what, check := fmt.Sprintf("record %d", a.Seq), fmt.Sprintf("look at its ids with `gauger outbox show %s/%d`", stream, a.Seq)
		if a.Address != "" {
			what, check = addressed[stream][0]+" "+a.Address, "compare this id with "+addressed[stream][1]
		}
		x.Why = fmt.Sprintf("the service takes nothing for %s since %s (%s), while it takes others of %s: %s; it waits by itself and is tried again at %s",
			what, d.localTime(a.Since), x.Answer, stream, check, d.localTime(a.Next))
		out = append(out, x)
	}
	return out
}

func (d *Server) zone() *time.Location { return cmp.Or(d.Site.Zone, time.UTC) }

// localTime is a time as people at the site write it; without the date where that is today's.
func (d *Server) localTime(t time.Time) string {
	t, now := t.In(d.zone()), time.Now().In(d.zone())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// localMinute is localTime without the seconds, for what has lasted.
func (d *Server) localMinute(t time.Time) string {
	return strings.TrimSuffix(d.localTime(t), t.Format(":05"))
}

// drainStatus says of each stream that has an operation how far its sending is.
func (d *Server) drainStatus(streams map[string]outbox.Counts) (_ map[string]DrainStatus, err error) {
	all := map[string]DrainStatus{}
	for stream := range ledger.Operations {
		s := d.Box.DrainStatus(stream)
		out := DrainStatus{Activity: string(s.Activity), Held: s.Troubled.Round(0), Next: s.Next.Round(0), Taken: s.Taken.Round(0), Parked: s.Parked, Batch: s.Limit,
			Isolated: d.isolated(stream, s.Isolated)}
		if !s.Troubled.IsZero() {
			out.Answer, out.Status, out.Corr, out.Answered = answerText(s.Answer), s.Answer.Status, s.Answer.CorrelationID, s.Answered.Round(0)
		}
		if c := streams[stream]; c.Waiting > 0 {
			if out.Oldest, err = d.Box.Oldest(stream); err != nil {
				return nil, fmt.Errorf("look for the oldest record of %s: %w", stream, err)
			}
			out.Unknown = d.unknownID(stream, s)
			out.Why = cmp.Or(out.Unknown, d.whyWaiting(stream, s))
			if more := int(c.Waiting) - s.Parked - s.Unclear; unclearTrouble(s) && s.Unclear > 0 {
				if out.unclear = s.Unclear; more > 0 {
					out.Why += fmt.Sprintf("; %d more wait behind", more)
				}
			}
			if n := s.Unclear; n > 0 && !s.Troubled.IsZero() && !unclearTrouble(s) {
				out.Why += fmt.Sprintf("; the service may have %d of them, sent without a clear answer before", n)
			}
			if c.Waiting == uint64(s.Parked) {
				out.Why, out.Unknown = ParkedWhy, ""
			}
		}
		all[stream] = out
	}
	return all, nil
}

// unclearTrouble says that nothing of a stream is taken since an answer was not clear.
func unclearTrouble(s outbox.DrainStatus) bool {
	return !s.Troubled.IsZero() && s.Answer.Class == outbox.Ambiguous
}

// unknownID says that the service does not know the id that a stream's first record is for: it does not answer as it should at
// that address, and has answered others in this run. A web page in the place of its answer is another's, and speaks of no id. Empty: nothing speaks for that.
func (d *Server) unknownID(stream string, s outbox.DrainStatus) string {
	of, ok := addressed[stream]
	if !ok || s.Answer.Class != outbox.Path || s.Answer.Tell || s.Troubled.IsZero() || !d.reached().After(d.began(time.Now())) {
		return ""
	}
	if s.Answer.Status/100 == 3 {
		return ""
	}
	for other := range ledger.Operations { // what has no id in its request is not taken either: it is not the id
		if o := d.Box.DrainStatus(other); addressed[other][0] == "" && !o.Troubled.IsZero() && o.Answer.Class == outbox.Path {
			return ""
		}
	}
	first, err := d.Box.Entries(stream, outbox.Waiting, 0, 1)
	if err != nil || len(first) == 0 || first[0].Record.Address == "" {
		return ""
	}
	return fmt.Sprintf("the service answers, but not for %s %s since %s (%s): compare the id with %s, then service.segments; `gauger outbox drop %s/%d --why TEXT` gives up a mistyped one; the next attempt is at %s",
		of[0], first[0].Record.Address, d.localTime(s.Troubled), answerText(s.Answer), of[1], stream, first[0].Record.Seq, d.localTime(s.Next))
}

func answerText(r outbox.Answer) string {
	if r.Status != 0 && r.Message == "" {
		return fmt.Sprintf("status %d", r.Status)
	}
	return strings.NewReplacer("dial tcp ", "", ": connect: ", ": ").Replace(cmp.Or(r.Message, r.Class.String()))
}

// ParkedWhy says why a parked record waits, and what to do.
const ParkedWhy = "sent without a clear answer too often, so that the service may have it: look there, then `gauger outbox confirm` what it has " +
	"and `outbox retry` what it has not; it is sent again after a day"

// alreadyThere says what to do about a record that is refused since the service has one of its number: it may be the same, sent again, and
// is not to be given up.
func alreadyThere(record string) string {
	return fmt.Sprintf("the service has one of this number already: look at that one there; if it is the same, `gauger outbox confirm %s --why TEXT`; if not, have its number corrected there, then `gauger outbox retry %[1]s`", record)
}

// waitsBehind begins what is said of a record that has no send without a clear answer, since it is another's turn.
const waitsBehind = "waits behind "

// whyWaiting says why what is in a stream has not left.
func (d *Server) whyWaiting(stream string, s outbox.DrainStatus) string {
	next := func(what string) string {
		return fmt.Sprintf("%s since %s (%s); the next attempt is at %s", what, d.localTime(cmp.Or(s.Since, s.Troubled)), answerText(s.Answer), d.localTime(s.Next))
	}
	switch {
	case d.Box.Err() != nil:
		return "the outbox is out of service: " + d.Box.Err().Error()
	case stream == ledger.Refused:
		return "it could not be decoded and is kept for a person; it is never sent"
	case !d.Daemon:
		return "gauger is not running; it leaves when it runs again"
	}
	if d.Client != nil {
		if err := d.Client.Ready(); err != nil {
			return err.Error()
		}
	}
	switch s.Activity {
	case outbox.Gathering:
		return "it waits a moment for others, to leave with them"
	case outbox.Pacing:
		return d.linkReason(stream)
	case outbox.Paused:
		if s.Refused != 0 {
			record := fmt.Sprintf("%s/%d", stream, s.Refused)
			does := alreadyThere(record)
			if s.Answer.Status != http.StatusConflict {
				does = "what the service lacks, such as a tank's external id, is made there; `gauger outbox show " + record + "` has what is sent, `gauger outbox drop " + record + " --why TEXT` gives it up"
			}
			return next("the service refuses "+record) + "; " + does
		}
		return next("the service refuses everything of "+stream) + ", with one record; nothing is given up"
	case outbox.BackOff:
		switch s.Answer.Class {
		case outbox.Key:
			if s.Answer.Status == http.StatusForbidden {
				return next("no key is allowed to do this, or its quota is used up") + "; ask the service"
			}
			if s.Answer.Tell { // it takes them for something else
				return next("the keys work, and may not do this") + "; a new key does not help: ask whoever runs the service whether the subscription has " + ledger.Operations[stream].String()
			}
			return next("no key is accepted") + "; see `gauger keys show`"
		case outbox.Path:
			if s.Answer.Tell { // its words say what to look at
				return next("no answer came that counts as taken")
			}
			hint := "; see service.url and service.segments"
			if of, ok := addressed[stream]; ok {
				hint += ", and whether it knows the " + of[0] + "'s id"
			}
			return next("the service does not answer as it should at this address") + hint
		case outbox.Ambiguous:
			if s.Unclear == 0 {
				return "not sent yet; the next attempt is at " + d.localTime(s.Next)
			}
			return next("sent without a clear answer")
		}
		if s.Answer.Status == 0 {
			return next("the service cannot be reached") + unreachedHint(s.Answer.Message)
		}
		return next("the service does not take " + StreamName(stream))
	case outbox.Sending, outbox.Idle:
		switch {
		case s.Activity == outbox.Idle && s.Unclear > 0 && !s.Again.IsZero():
			return "sent without a clear answer, so that the service may have it; it waits by itself, and is sent again at " + d.localTime(s.Again)
		case s.Activity == outbox.Idle && len(s.Isolated) == 1:
			return d.isolated(stream, s.Isolated)[0].Why
		case s.Activity == outbox.Idle && len(s.Isolated) > 1:
			return fmt.Sprintf("%d ids wait by themselves, since the service takes nothing for them, while it takes others", len(s.Isolated))
		case s.Troubled.IsZero():
			return "its turn is now" + d.awaited(s)
		}
		return fmt.Sprintf("nothing was taken since %s (%s); it is being tried now", d.localTime(s.Troubled), answerText(s.Answer)) + d.awaited(s)
	}
	return "nobody sends this stream"
}

// awaited says how long the answer to the request that is out is awaited, once that lasts.
func (d *Server) awaited(s outbox.DrainStatus) string {
	if s.Activity != outbox.Sending || d.Client == nil || time.Since(s.Asked) < 5*time.Second {
		return ""
	}
	return fmt.Sprintf(", sent at %s and without an answer so far, which is awaited until %s", d.localTime(s.Asked),
		d.localTime(s.Asked.Add(d.Client.Patience(s.Asking, s.Late))))
}

// Awaited says that another configuration takes over only when the answers came to what is being sent; empty: nothing is out.
func (d *Server) Awaited() string {
	for stream := range ledger.Operations {
		if d.Box.DrainStatus(stream).Activity == outbox.Sending {
			return "the service's answer to what was just sent is awaited first (`gauger status` says how long); what is at work stays so until then"
		}
	}
	return ""
}

// heard is when the service last answered, and with what where it took nothing: a refusal is an answer too.
func (s Status) heard() (at time.Time, with string) {
	at = s.Reached
	for _, d := range s.Drains {
		if d.Status != 0 && d.Answered.After(at) {
			at, with = d.Answered, fmt.Sprintf(" with %d", d.Status)
		}
	}
	return at, with
}

// saysNothingOfKeys is the newest answer where it says neither that the keys are refused nor that one is taken; empty: it does, or none came.
func (s Status) saysNothingOfKeys() string {
	var last DrainStatus
	for _, d := range s.Drains {
		if d.Answered.After(last.Answered) {
			last = d
		}
	}
	if last.Status == http.StatusUnauthorized || last.Status == http.StatusForbidden {
		return ""
	}
	return last.Answer
}

// unreachedHint says what to look at when no answer came, by what stood in its way.
func unreachedHint(why string) string {
	if strings.Contains(why, "certificate") { // it was reached: something answered
		return "; look at service.ca_file, at the name in service.url, at this box's clock, and for a proxy or a login page in between"
	}
	return "; look at modem, cable and service.url"
}

// linkReason says what of the link holds a stream back.
func (d *Server) linkReason(stream string) string {
	if d.Link != nil {
		if why := d.Link.Status(time.Now()).Held[stream]; why != "" {
			return why
		}
	}
	return "link.rate lets one request after the other leave"
}

// withReason is a record as commands show it, with why it waits.
func (d *Server) withReason(e outbox.Entry) Entry {
	out := entryOf(e)
	switch {
	case e.State != outbox.Waiting:
	case !e.Parked.IsZero() && e.Parked.After(time.Now()):
		out.Waits = fmt.Sprintf("sent %d times without a clear answer, so that the service may have it: look there. If it has it, `gauger outbox confirm %s/%d --why TEXT`, "+
			"if not, `gauger outbox retry %[2]s/%[3]d`; it is sent again at %[4]s", e.Record.Attempt, e.Stream, e.Record.Seq, e.Parked.In(d.Site.Zone).Format("2006-01-02 15:04"))
	default:
		s := d.Box.DrainStatus(e.Stream)
		if unclearTrouble(s) && e.Unclear.Seen != "" { // the last answer may have been another's
			s.Answer.Message, s.Since = e.Unclear.Seen, e.Unclear.Last
		}
		if out.Waits = cmp.Or(d.unknownID(e.Stream, s), d.whyWaiting(e.Stream, s)); d.Daemon && d.Box.Err() == nil {
			for _, a := range d.isolated(e.Stream, s.Isolated) {
				if a.Address == e.Record.Address && (a.Address != "" || a.Seq == e.Record.Seq) {
					out.Waits = a.Why
				}
			}
			if !e.Again.IsZero() {
				out.Waits = fmt.Sprintf("sent %d times without a clear answer (%s), so that the service may have it; it waits by itself, and is sent again at %s",
					e.Unclear.Count, e.Unclear.Seen, d.localTime(e.Again))
			}
			if s.FirstSeq != 0 && unclearTrouble(s) && e.Unclear.Count+e.Record.Attempt == 0 {
				own := "" // of what is not journaled nobody knows
				if e.NeverSent {
					own = ", not sent yet"
				} else if e.Stream == ledger.Tickets {
					own = ", answered so far, and not taken"
				}
				out.Waits = fmt.Sprintf(waitsBehind+"%s/%d%s", e.Stream, s.FirstSeq, own)
			}
		}
		if n := e.Record.Attempt; n > 0 && !(d.Daemon && (unclearTrouble(s) || !e.Again.IsZero())) {
			out.Waits += fmt.Sprintf("; it was sent %s without a clear answer before, so that the service may have it", ledger.Plural(n, "time"))
		}
	}
	return out
}

// view is one record as commands show it; whole: with the request that takes it to the service, or took it there, as far
// as its bytes are still here. Of a delivered ticket the book has them.
func (d *Server) view(e outbox.Entry, whole bool) (Entry, error) {
	out := d.withReason(e)
	if e.State == outbox.Waiting || e.State == outbox.Dead {
		out.Says = d.says(out)
	}
	if !whole {
		return out, nil
	}
	if out.Body == nil && e.Stream == ledger.Tickets && e.State == outbox.Delivered {
		b, err := d.Ledger.Ticket(e.Label)
		if err != nil {
			return out, err
		}
		out.Body, out.Looked = b.Ticket, b.Looked
	}
	op, sends := ledger.Operations[e.Stream]
	if !sends || out.Body == nil {
		return out, nil
	}
	method, url, body, err := d.Client.Preview(op, out.Address, out.Body)
	if err == nil {
		out.Request = &ServiceRequest{Method: method, URL: url, Body: body}
	}
	return out, nil // what cannot be sent is shown all the same
}

// reached is when the service last accepted a key, as far as anybody knows; zero: never.
func (d *Server) reached() (at time.Time) {
	if d.Client == nil {
		return at
	}
	for _, k := range d.Client.Keys().Status() {
		if k.Accepted.After(at) {
			at = k.Accepted
		}
	}
	return at.Round(0)
}
