package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
)

// formPage is a page with one form, for words and figures, or for a yes.
type formPage struct {
	Title, Site, Action, Button, Back, Wrong string

	Says   []string // what the form is about, and at last what it will do
	Hidden []hidden
	Fields []field
}

type hidden struct{ Name, Value string }

// field is one line of a form.
type field struct {
	Name, Label, Hint, Kind, Auto, Value string
	Must                                 bool
	Choices                              []choice
}

type choice struct {
	Value, Text string
	Chosen      bool
}

func (s *site) writeForm(w http.ResponseWriter, status int, p formPage) {
	p.Site = s.server.Site.Name
	s.write(w, status, "form.html", p)
}

// act is one thing that a person with a token can do on the page: a request of the table that the commands use.
type act struct {
	title, button, request string
	fields                 []field
	// about says what it is done to, and which page shows that.
	about func(s *site, on string) (says []string, back string, err error)
	// plan makes the request's arguments of the form, and says what will be done.
	plan func(s *site, on string, form url.Values) (args any, says string, err error)
}

var spans = []choice{{"30m", "half an hour", false}, {"1h", "1 hour", false}, {"2h", "2 hours", true}, {"4h", "4 hours", false}, {"8h", "8 hours", false}, {"24h", "1 day", false}}

// editable are the fields of a ticket, by the names that its edits have.
var editable = []field{
	{Name: "gravity", Label: "Gravity", Kind: "text", Hint: "0.83, or 39.0 API"}, {Name: "bsw", Label: "Sediment and water, percent", Kind: "text"},
	{Name: "top_temperature", Label: "Top temperature, °F", Kind: "text"}, {Name: "bottom_temperature", Label: "Bottom temperature, °F", Kind: "text"},
	{Name: "seal_off", Label: "Seal off", Kind: "text"}, {Name: "seal_on", Label: "Seal on", Kind: "text"},
	{Name: "purchaser", Label: "Purchaser", Kind: "text"}, {Name: "comments", Label: "Comments", Kind: "text"},
}

// acts by the last part of their address.
var acts = map[string]act{
	"release": {title: "Release a ticket", button: "Release it", request: "tickets.release", about: aboutHeld,
		plan: func(_ *site, on string, _ url.Values) (any, string, error) {
			return control.TicketArgs{Number: on}, "It leaves for the service now, and cannot be edited any more.", nil
		}},
	"hold": {title: "Hold a ticket", button: "Hold it", request: "tickets.hold", about: aboutHeld, plan: planHold,
		fields: []field{
			{Name: "for", Label: "For how long", Choices: []choice{{"4h", "4 hours", false}, {"24h", "1 day", true}, {"72h", "3 days", false}, {"", "until somebody releases it", false}}},
			{Name: "why", Label: "Why", Kind: "text"},
		}},
	"edit": {title: "Edit a ticket", button: "Edit it", request: "tickets.edit", about: aboutHeld, plan: planEdit,
		fields: append(editable[:len(editable):len(editable)], field{Name: "anyway", Label: "Why, though something speaks against it", Kind: "text", Hint: "only where you were asked for it"})},
	"inhibit": {title: "Work on a tank", button: "Begin it", request: "tanks.inhibit", about: aboutTank, plan: planInhibit,
		fields: []field{{Name: "for", Label: "For how long", Choices: spans}, {Name: "why", Label: "Why", Kind: "text", Must: true}}},
	"allow": {title: "End the work on a tank", button: "End it", request: "tanks.allow", about: aboutTank,
		plan: func(_ *site, on string, _ url.Values) (any, string, error) {
			return control.InhibitArgs{Tank: on}, "From now on loads of it make tickets again.", nil
		}},
	"retry": {title: "Send again what was refused", button: "Send again", request: "outbox.retry", about: aboutRefused, plan: planRetry},
	"confirm": {title: "The service has it", button: "Count it as delivered", request: "outbox.confirm", about: aboutUndelivered, plan: planConfirm,
		fields: []field{{Name: "why", Label: "Where it was seen", Kind: "text", Must: true}}},
	"memo": {title: "Write a memo", button: "Send it", request: "memos.add", about: func(*site, string) ([]string, string, error) { return nil, "/", nil },
		plan:   planMemo,
		fields: []field{{Name: "device", Label: "Device", Kind: "text", Hint: "the service's id of it: `gauger devices query` shows them", Must: true}, {Name: "text", Label: "Text", Kind: "text", Must: true}}},
}

func aboutHeld(s *site, on string) (says []string, back string, err error) {
	row, err := s.server.Ticket(on)
	if err != nil {
		return nil, "", err
	}
	if row.State != "held" {
		return nil, "", fmt.Errorf("ticket %s is not held any more, it is %s: nothing of it can be changed here", row.Name(), row.State)
	}
	w := words{time.Now(), s.server.Site.Zone}
	says = []string{fmt.Sprintf("Ticket %s: %s, %s bbl, %s to %s", row.Name(), row.Tank, figure(row.Barrels(), 2), w.clock(row.Start), w.clock(row.End))}
	if l := row.Load; l != nil {
		says = append(says, fmt.Sprintf("Gauges: %s (%.2f in) to %s (%.2f in)", tank.Length(l.Open).Gauge(), l.Open, tank.Length(l.Close).Gauge(), l.Close))
	}
	if v := row.Volumes; v != nil {
		says = append(says, fmt.Sprintf("At 60 °F: gross %s bbl, net %s bbl", figure(v.GrossBbl, 2), figure(v.NetBbl, 2)))
	}
	var figures []string
	stands, err := s.server.Ledger.HeldFigures(on)
	if err != nil {
		figures = append(figures, "what else it leaves with cannot be told: "+err.Error())
	}
	for _, f := range editable {
		if err == nil {
			figures = append(figures, strings.ToLower(f.Label)+" "+cmp.Or(stands[f.Name], "none"))
		}
	}
	says = append(says, capital(strings.Join(figures, ", ")))
	if row.Load != nil && len(row.Load.Review) > 0 {
		says = append(says, "It asks for a review: "+tank.JoinReasons(row.Load.Review))
	}
	return says, "/tickets/" + url.PathEscape(row.Name()), nil
}

func aboutTank(s *site, on string) (says []string, back string, err error) {
	for _, t := range s.server.Site.Tanks {
		if t.ID == on {
			return []string{"Tank " + on}, "/", nil
		}
	}
	return nil, "", fmt.Errorf("there is no tank %q", on)
}

// aboutRefused tells of the refused records of a stream, or of one, as STREAM/NUMBER.
func aboutRefused(s *site, on string) (says []string, back string, err error) {
	if s.server.NoOutbox != nil {
		return nil, "", control.NoOutboxError(s.server.NoOutbox().Error())
	}
	stream, _, _ := strings.Cut(on, "/")
	if n := s.server.Box.Counts()[stream].Dead; n > 0 {
		if stream == on {
			return []string{ledger.Plural(int(n), "refused record") + " of " + on}, "/", nil
		}
		return []string{"Record " + on}, "/", nil
	}
	return nil, "", fmt.Errorf("nothing of %q was refused", on)
}

// aboutUndelivered tells of one record that waits or was refused, as STREAM/NUMBER.
func aboutUndelivered(s *site, on string) (says []string, back string, err error) {
	if s.server.NoOutbox != nil {
		return nil, "", control.NoOutboxError(s.server.NoOutbox().Error())
	}
	which, err := recordQuery(on)
	if err != nil {
		return nil, "", err
	}
	e, err := s.server.Record(which)
	switch {
	case err != nil:
		return nil, "", err
	case e.State != "waiting" && e.State != "dead":
		return nil, "", fmt.Errorf("record %s is %s already", on, e.State)
	}
	return []string{"Record " + on + ": " + e.Label}, "/", nil
}

func planHold(_ *site, on string, form url.Values) (any, string, error) {
	a := control.HoldArgs{Number: on, Why: strings.TrimSpace(form.Get("why"))}
	if form.Get("for") == "" {
		return a, "It stays here until somebody releases it.", nil
	}
	span, err := time.ParseDuration(form.Get("for"))
	if err != nil || span <= 0 {
		return nil, "", fmt.Errorf("%q is no time to hold a ticket for", form.Get("for"))
	}
	a.For = span
	return a, fmt.Sprintf("It stays here for %s more.", spanText(span)), nil
}

// spanText is a length of time that was chosen.
func spanText(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
	return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m")
}

// planEdit takes the fields that are filled in.
func planEdit(s *site, on string, form url.Values) (any, string, error) {
	a := ledger.EditArgs{Number: on, Set: map[string]string{}, Anyway: strings.TrimSpace(form.Get("anyway"))}
	stands, err := s.server.Ledger.HeldFigures(on)
	if err != nil {
		return nil, "", err
	}
	var says []string
	for _, f := range editable {
		text := strings.TrimSpace(form.Get(f.Name))
		if text == "" {
			continue
		}
		kept, err := ledger.EditValue(f.Name, text)
		if err != nil {
			return nil, "", err
		}
		a.Set[f.Name] = kept
		says = append(says, fmt.Sprintf("%s becomes %s (was %s)", strings.ToLower(f.Label), kept, cmp.Or(stands[f.Name], "none")))
	}
	if len(says) == 0 {
		return nil, "", errors.New("nothing is filled in; what stays empty stays as it is")
	}
	return a, capital(strings.Join(says, ", ")) + ".", nil
}

func planInhibit(_ *site, on string, form url.Values) (any, string, error) {
	span, err := time.ParseDuration(form.Get("for"))
	why := strings.TrimSpace(form.Get("why"))
	switch {
	case err != nil || span <= 0:
		return nil, "", fmt.Errorf("%q is no time for work on a tank", form.Get("for"))
	case why == "":
		return nil, "", errors.New("say why: the reason stands in the event")
	}
	return control.InhibitArgs{Tank: on, For: span, Why: why}, fmt.Sprintf("For %s no load of it makes a ticket: %s.", spanText(span), why), nil
}

// recordQuery reads STREAM, or STREAM/NUMBER.
func recordQuery(on string) (control.RecordQuery, error) {
	stream, number, one := strings.Cut(on, "/")
	a := control.RecordQuery{Stream: stream}
	if one {
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return a, fmt.Errorf("%q is no record; it is STREAM/NUMBER", on)
		}
		a.Seqs = []uint64{seq}
	}
	return a, nil
}

func planConfirm(_ *site, on string, form url.Values) (any, string, error) {
	a, err := recordQuery(on)
	if a.Why = strings.TrimSpace(form.Get("why")); err == nil && a.Why == "" {
		err = errors.New("say where it was seen: that is kept with it")
	}
	return a, "It is not sent any more and counts as delivered, since you have seen it at the service: " + a.Why + ".", err
}

func planRetry(_ *site, on string, _ url.Values) (any, string, error) {
	a, err := recordQuery(on)
	if err != nil {
		return nil, "", err
	}
	return a, "What the service has refused is sent as it is once more. Mend the reason first, or it is refused again.", nil
}

func planMemo(_ *site, _ string, form url.Values) (any, string, error) {
	a := control.MemoArgs{Device: strings.TrimSpace(form.Get("device")), Text: strings.TrimSpace(form.Get("text"))}
	if a.Device == "" || a.Text == "" {
		return nil, "", errors.New("a memo needs a device and a text")
	}
	return a, fmt.Sprintf("The memo %q is sent for the device %s.", a.Text, a.Device), nil
}

// do shows an act's form, then what it will do, and does it when that was said yes to.
func (s *site) do(w http.ResponseWriter, r *http.Request) {
	name, on := r.PathValue("act"), r.FormValue("on")
	a, known := acts[name]
	who, in := s.people.who(r)
	switch {
	case !known:
		http.NotFound(w, r)
		return
	case !in:
		http.Redirect(w, r, "/login?"+url.Values{"then": {"/do/" + name + "?" + url.Values{"on": {on}}.Encode()}}.Encode(), http.StatusSeeOther)
		return
	}
	if err := s.take(r.Context()); err != nil {
		fail(w, err)
		return
	}
	says, back, err := a.about(s, on)
	s.give()
	p := formPage{Title: a.title, Action: "/do/" + name, Button: "Go on", Back: back, Says: says, Fields: a.filled(r), Hidden: []hidden{{"on", on}, {"code", who.code}}}
	if err != nil {
		p.Action, p.Back, p.Wrong = "", "/", capital(err.Error())
		s.writeForm(w, http.StatusConflict, p)
		return
	}
	seen := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(says, "\n"))))
	p.Hidden = append(p.Hidden, hidden{"seen", seen})
	post, sure := r.Method == http.MethodPost, r.PostFormValue("sure") == "yes"
	if post {
		if p.Wrong = s.people.stale(r, seen, sure); p.Wrong != "" {
			s.writeForm(w, http.StatusConflict, p)
			return
		}
	}
	if !post && len(a.fields) > 0 {
		s.writeForm(w, http.StatusOK, p)
		return
	}
	args, will, err := a.plan(s, on, r.PostForm)
	if err == nil && sure {
		if back == "/" { // a ticket's own page says which it is
			will = strings.Join(append(says, will), ". ")
		}
		err = s.act(r, a, who.name, args, will)
	}
	switch {
	case err != nil:
		again, _ := s.people.who(r)
		p.Wrong, p.Hidden[1].Value = capital(err.Error()), again.code
		s.writeForm(w, http.StatusUnprocessableEntity, p)
	case sure:
		http.Redirect(w, r, back, http.StatusSeeOther)
	default:
		p.Says, p.Button, p.Hidden = append(p.Says, will), a.button, append(p.Hidden, hidden{"sure", "yes"})
		for _, f := range p.Fields {
			p.Hidden = append(p.Hidden, hidden{f.Name, r.PostFormValue(f.Name)})
		}
		p.Fields = nil
		s.writeForm(w, http.StatusOK, p)
	}
}

// filled are the fields with what was given before.
func (a act) filled(r *http.Request) (all []field) {
	for _, f := range a.fields {
		if given := r.PostFormValue(f.Name); r.Method == http.MethodPost {
			f.Value = given
			f.Choices = append([]choice{}, f.Choices...)
			for i := range f.Choices {
				f.Choices[i].Chosen = f.Choices[i].Value == given
			}
		}
		all = append(all, f)
	}
	return all
}

// act asks for what was said yes to, under the person's name.
func (s *site) act(r *http.Request, a act, name string, args any, did string) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("write down the request: %w", err)
	}
	if _, err := s.server.Call(control.WithCaller(r.Context(), control.PageUser(name, peer(r))), a.request, raw); err != nil {
		return err
	}
	s.people.tell(r, "Done. "+did)
	if err := s.take(r.Context()); err == nil {
		s.made.at = time.Time{} // the next page shows it
		s.give()
	}
	return nil
}

// visitor is what a page says to whoever has shown a token.
type visitor struct {
	Forms             bool // somebody has a token here
	Person, Said, Out string
}

// visitor tells what was done once.
func (s *site) visitor(r *http.Request) (v visitor) {
	if s.people == nil {
		return v
	}
	v.Forms = true
	s.people.visit(r, func(x *visit) {
		if x != nil {
			v.Person, v.Said, v.Out, x.said = x.name, x.said, x.code, ""
		}
	})
	return v
}

// frame is what stands round the main part.
type frame struct {
	visitor
	Site, ID, Version, Title, Now string
	Main                          template.HTML // made by a template of ours
}
