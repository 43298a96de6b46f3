package cloud

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

const (
	deviceGUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	wellGUID   = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
)

// siteZone is six hours behind UTC, as Texas in winter.
var siteZone = time.FixedZone("CST", -6*3600)

func siteWire() Wire {
	w := DefaultWire()
	w.Zone = siteZone
	return w
}

func someTicket() RunTicket {
	return RunTicket{
		Number: "A-COOPER12-7-TK-1001-20260302T1304Z", TankID: "TK-1001", OpeningLevel: 171.25, ClosingLevel: 49.5,
		TopTemperature: new(71.46), SpecificGravity: new(0.81934), BSW: new(0.4),
		Comments: `parts=1 sigma<0.1 & "clean"`,
		Start:    time.Date(2026, 3, 2, 13, 4, 0, 999, time.UTC), End: time.Date(2026, 3, 2, 13, 41, 10, 0, time.UTC),
		Purchaser: "Acme Crude Gathering",
	}
}

func someEvent() DiagnosticEvent {
	return DiagnosticEvent{
		Start: time.Date(2026, 3, 2, 13, 4, 0, 0, time.UTC), End: time.Date(2026, 3, 2, 14, 0, 0, 0, time.UTC),
		ObjectID: deviceGUID, Rule: "gap", Note: "TK-1001: no reading for 56 min",
	}
}

// The expected bodies are written by hand from the interface specification.
func TestTicketBody(t *testing.T) {
	const head = `{"ticketNumber":"A-COOPER12-7-TK-1001-20260302T1304Z","tank":{"externalID":"TK-1001"},`
	const tail = `"comments":"parts=1 sigma<0.1 & \"clean\"",`
	cases := []struct {
		name   string
		change func(*Wire, *RunTicket)
		want   string
	}{
		{"defaults", func(*Wire, *RunTicket) {}, head +
			`"openingLevel":{"level":171.25},"closingLevel":{"level":49.5},` +
			`"sealOn":"2026-03-02T07:41:10-06:00","sealOff":"2026-03-02T07:04:00-06:00",` +
			`"topTemperature":71.5,"specificGravity":0.8193,"bsw":0.4,` + tail +
			`"start":"2026-03-02T07:04:00-06:00","end":"2026-03-02T07:41:10-06:00","purchaser":"Acme Crude Gathering"}`},
		{"other units, UTC, empty seals, nothing optional", func(w *Wire, r *RunTicket) {
			w.LevelUnit, w.TimeZone, w.SealMode, w.BSW, w.TemperatureUnit = "ft", "utc", "empty", "fraction", "degC"
			w.Omit = []string{"specificGravity"}
			r.BottomTemperature = new(68.0)
		}, head +
			`"openingLevel":{"level":14.271},"closingLevel":{"level":4.125},"sealOn":"","sealOff":"",` +
			`"topTemperature":21.9,"bottomTemperature":20,"bsw":0.004,` + tail +
			`"start":"2026-03-02T13:04:00+00:00","end":"2026-03-02T13:41:10+00:00","purchaser":"Acme Crude Gathering"}`},
		{"metres, no offset, seal numbers", func(w *Wire, r *RunTicket) {
			w.LevelUnit, w.TimeZone, w.SealMode, w.SealOn, w.SealOff = "m", "none", "static", "none", "none"
			r.SealOn, r.TopTemperature, r.SpecificGravity, r.BSW = "88121", nil, nil, nil
		}, head +
			`"openingLevel":{"level":4.3498},"closingLevel":{"level":1.2573},"sealOn":"88121","sealOff":"none",` + tail +
			`"start":"2026-03-02T07:04:00","end":"2026-03-02T07:41:10","purchaser":"Acme Crude Gathering"}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w, r := siteWire(), someTicket()
			c.change(&w, &r)
			got, err := w.EncodeRunTicket(r)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestTicketRefused(t *testing.T) {
	cases := map[string]func(*RunTicket){
		"no number":                func(r *RunTicket) { r.Number = "" },
		"longer than 40":           func(r *RunTicket) { r.Number = strings.Repeat("A", 41) },
		"other than A-Z":           func(r *RunTicket) { r.Number = "a-1" },
		"no tank":                  func(r *RunTicket) { r.TankID = "" },
		"no purchaser":             func(r *RunTicket) { r.Purchaser = " " },
		"start is not set":         func(r *RunTicket) { r.Start = time.Time{} },
		"end is not set":           func(r *RunTicket) { r.End = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC) },
		"opening level is not":     func(r *RunTicket) { r.OpeningLevel = math.NaN() },
		"closing level is not":     func(r *RunTicket) { r.ClosingLevel = math.Inf(-1) },
		"top temperature is not":   func(r *RunTicket) { r.TopTemperature = new(math.NaN()) },
		"bottom temperature is":    func(r *RunTicket) { r.BottomTemperature = new(math.Inf(1)) },
		"specific gravity is not":  func(r *RunTicket) { r.SpecificGravity = new(math.NaN()) },
		"bsw is not a number":      func(r *RunTicket) { r.BSW = new(math.NaN()) },
		"closing level is not a n": func(r *RunTicket) { r.TankID, r.ClosingLevel = "", math.NaN() },
	}
	for want, spoil := range cases {
		r := someTicket()
		spoil(&r)
		body, err := siteWire().EncodeRunTicket(r)
		if err == nil || !strings.Contains(err.Error(), want) || body != nil {
			t.Errorf("%s: got body %s, error %v", want, body, err)
		}
	}
}

func TestCommentsAreCutNotRefused(t *testing.T) {
	w, r := siteWire(), someTicket()
	w.CommentsMax = 8
	r.Comments = "äöüäöüäöü"
	got, err := w.EncodeRunTicket(r)
	if err != nil || !strings.Contains(string(got), `"comments":"äöüäö..."`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestEventBody(t *testing.T) {
	cases := []struct {
		name   string
		change func(*Wire, *DiagnosticEvent)
		want   string
	}{
		{"defaults", func(*Wire, *DiagnosticEvent) {},
			`{"ID":null,"startTimeString":"2026-03-02T13:04:00","endTimeString":"2026-03-02T14:00:00",` +
				`"objectGuid":"6f9619ff-8b86-d011-b42d-00c04fc964ff","objectTypeID":"Device","ruleName":"gap","note":"TK-1001: no reading for 56 min"}`},
		{"sample names, site time, own id", func(w *Wire, e *DiagnosticEvent) {
			w.EventNames, w.EventZone, w.EventID = "sample", "site", "string"
			e.ID, e.ObjectType = []byte(`"e-7"`), "Well"
		}, `{"ID":"e-7","startTimeString":"2026-03-02T07:04:00","endTimeString":"2026-03-02T08:00:00",` +
			`"objectID":"6f9619ff-8b86-d011-b42d-00c04fc964ff","objectType":"Well","ruleName":"gap","note":"TK-1001: no reading for 56 min"}`},
		{"a number given by a person, where none is sent otherwise", func(w *Wire, e *DiagnosticEvent) { e.ID = []byte("4") },
			`{"ID":4,"startTimeString":"2026-03-02T13:04:00","endTimeString":"2026-03-02T14:00:00",` +
				`"objectGuid":"6f9619ff-8b86-d011-b42d-00c04fc964ff","objectTypeID":"Device","ruleName":"gap","note":"TK-1001: no reading for 56 min"}`},
		{"a number where IDs are texts", func(w *Wire, e *DiagnosticEvent) { w.EventID, e.ID = "string", []byte("9007199254740993") },
			`{"ID":"9007199254740993","startTimeString":"2026-03-02T13:04:00","endTimeString":"2026-03-02T14:00:00",` +
				`"objectGuid":"6f9619ff-8b86-d011-b42d-00c04fc964ff","objectTypeID":"Device","ruleName":"gap","note":"TK-1001: no reading for 56 min"}`},
		{"both names, no id", func(w *Wire, e *DiagnosticEvent) {
			w.EventNames, w.EventID = "both", "omit"
			e.Note = ""
		}, `{"startTimeString":"2026-03-02T13:04:00","endTimeString":"2026-03-02T14:00:00",` +
			`"objectGuid":"6f9619ff-8b86-d011-b42d-00c04fc964ff","objectTypeID":"Device",` +
			`"objectID":"6f9619ff-8b86-d011-b42d-00c04fc964ff","objectType":"Device","ruleName":"gap","note":""}`},
	}
	for _, c := range cases {
		w, e := siteWire(), someEvent()
		c.change(&w, &e)
		got, err := w.EncodeEvent(e)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

// TestAnIDIsNeverLeftOut: where the site sends none, one that a person gave is refused with the setting's name.
func TestAnIDIsNeverLeftOut(t *testing.T) {
	w, e := siteWire(), someEvent()
	w.EventID, e.ID = "omit", []byte("4")
	if body, err := w.EncodeEvent(e); err == nil || !strings.Contains(err.Error(), "wire.event_id") {
		t.Errorf("%s, %v", body, err)
	}
	e.ID = []byte("null")
	if body, err := w.EncodeEvent(e); err != nil || strings.Contains(string(body), `"ID"`) {
		t.Errorf("%s, %v", body, err)
	}
}

func TestEventIDIsStable(t *testing.T) {
	w := siteWire()
	w.EventID = "string"
	first, err := w.EncodeEvent(someEvent())
	if err != nil {
		t.Fatal(err)
	}
	later := someEvent()
	later.End, later.Note = later.End.Add(time.Hour), "longer"
	second, err := w.EncodeEvent(later)
	if err != nil {
		t.Fatal(err)
	}
	const idLen = len(`{"ID":"00000000-0000-0000-0000-000000000000"`)
	if string(first[:idLen]) != string(second[:idLen]) || !isGUID(string(first[7:43])) {
		t.Errorf("ids differ or are no GUIDs:\n%s\n%s", first, second)
	}
}

func TestEventRefused(t *testing.T) {
	cases := map[string]func(*DiagnosticEvent){
		"neither a text nor": func(e *DiagnosticEvent) { e.ID = []byte("[4]") },
		"no rule":            func(e *DiagnosticEvent) { e.Rule = "" },
		"not a GUID":         func(e *DiagnosticEvent) { e.ObjectID = "6f9619ff8b86d011b42d00c04fc964ff" },
		`"" is not a`:        func(e *DiagnosticEvent) { e.ObjectID = "" },
		"its start is":       func(e *DiagnosticEvent) { e.Start = time.Time{} },
		"its end is no":      func(e *DiagnosticEvent) { e.End = time.Time{} },
	}
	for want, spoil := range cases {
		e := someEvent()
		spoil(&e)
		if _, err := siteWire().EncodeEvent(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

func TestValueSets(t *testing.T) {
	w := siteWire()
	at := time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)
	set := ValueSet{Code: "Production Target Oil", Values: []Value{{120.4, at}, {-0.2 + 0.2, at.Add(time.Hour)}}}
	const want = `{"dataClassificationCode":"Production Target Oil","values":[{"value":120,"timestamp":"2026-03-02T07:00:00-06:00"},{"value":0,"timestamp":"2026-03-02T08:00:00-06:00"}]}`
	got, err := w.EncodeTagValues(set)
	if err != nil || string(got) != want {
		t.Errorf("tag values: %v\ngot  %s\nwant %s", err, got, want)
	}
	odd := ValueSet{Code: "\"é\"\\ <a>\u2028\x7f", Values: set.Values[:1]}
	viaJSON, err := encode(struct {
		Code   string `json:"dataClassificationCode"`
		Values []any  `json:"values"`
	}{odd.Code, nil})
	if got, _, oddErr := w.EncodeTargets(odd); err != nil || oddErr != nil || !strings.HasPrefix(string(got), strings.TrimSuffix(string(viaJSON), "null}")) {
		t.Errorf("an odd code: %s (%v), as JSON %s (%v)", got, oddErr, viaJSON, err)
	}
	if _, err := w.EncodeTagValues(ValueSet{Code: "Tank Level", Values: set.Values}); err == nil || !strings.Contains(err.Error(), "Production Target Water") {
		t.Errorf("a seventh code for tag values: %v", err)
	}
	got, warning, err := w.EncodeTargets(set)
	if err != nil || warning != "" || string(got) != want {
		t.Errorf("targets: %s, %q, %v", got, warning, err)
	}
	set.Code = "Tank Level"
	if _, warning, err := w.EncodeTargets(set); err != nil || !strings.Contains(warning, "Tank Level") {
		t.Errorf("a seventh code for targets: warning %q, error %v", warning, err)
	}
	for _, bad := range []ValueSet{{}, {Code: "x"}, {Code: "x", Values: []Value{{1, time.Time{}}}}, {Code: "x", Values: []Value{{math.NaN(), at}}}} {
		if _, _, err := w.EncodeTargets(bad); err == nil {
			t.Errorf("%+v was encoded", bad)
		}
	}
	w.Zone = nil
	if got, err := w.EncodeTagValues(ValueSet{sixCodes()[0], []Value{{50, at}}}); err != nil || !strings.Contains(string(got), `"2026-03-02T13:00:00+00:00"`) {
		t.Errorf("UTC must show a numeric offset: %s, %v", got, err)
	}
}

func TestWholeNumbers(t *testing.T) {
	cases := []struct {
		v, share, scale float64
		want            int64
		refused         bool
	}{
		{100.5, 2, 1, 101, false}, {-100.5, 2, 1, -101, false}, {99.5, 2, 1, 100, false},
		{0, 2, 1, 0, false}, {12.37, 2, 1, 0, true}, {12.37, 2, 100, 1237, false}, {12.37, 5, 1, 12, false},
		{24.5, 2, 1, 0, true}, {25, 0, 1, 25, false}, {25.0001, 0, 1, 0, true}, {0.4, 50, 1, 0, true}, {0.4, 100, 1, 0, false},
		{1e300, 2, 1, 0, true}, {1 << 53, 2, 1, 1 << 53, false}, {math.Inf(1), 2, 1, 0, true},
	}
	for _, c := range cases {
		w := DefaultWire()
		w.ValueRounding, w.ValueScale = c.share, c.scale
		got, err := w.whole(c.v)
		if (err != nil) != c.refused || got != c.want {
			t.Errorf("%+v: got %d, %v", c, got, err)
		}
	}
	if _, err := DefaultWire().whole(12.37); !errors.Is(err, ErrRounding) {
		t.Errorf("got %v, want ErrRounding as the cause", err)
	}
	if _, err := DefaultWire().whole(1.445156711313289e-12); errors.Is(err, ErrRounding) || !strings.Contains(err.Error(), "the order of its point") {
		t.Errorf("registers that are read amiss: %v", err)
	}
}

func TestMemoBody(t *testing.T) {
	w := siteWire()
	w.MemoText, w.MemoEmail = "memoText", `user"Email`
	got, err := w.EncodeMemo(Memo{Text: "gauge <hatch> open", Email: "pat@example.com"})
	if want := `{"memoText":"gauge <hatch> open","user\"Email":"pat@example.com"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	got, err = w.EncodeMemo(Memo{Text: "x"})
	if want := `{"memoText":"x"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	for _, bad := range []Memo{{}, {Text: " \n"}, {Text: "x", Email: "Pat <pat@example.com>"}, {Text: "x", Email: "pat"}} {
		if _, err := w.EncodeMemo(bad); err == nil {
			t.Errorf("%+v was encoded", bad)
		}
	}
}

func TestWireCheckFindsEveryMistake(t *testing.T) {
	if p := DefaultWire().Check(); len(p) != 0 {
		t.Errorf("the defaults are refused: %v", p)
	}
	w := DefaultWire()
	w.LevelUnit, w.SealMode, w.EventID, w.TimeLayout, w.MemoEmail = "inch", "register", "uuid", "", "text"
	w.Codes, w.NumberMax, w.ValueRounding, w.RenewEvery = nil, 0, math.NaN(), time.Hour
	w.Devices.List, w.Events.Rule = "a[x]", "a..b"
	w.Headers = map[string]string{"idempotency-key": "x"}
	w.Proxy = "http://user:pw@proxy:3128"
	w.Omit = []string{"comments"}
	want := []string{"level_unit", "seal_mode", "event_id", "omit", "time_layout", "memo_email", "number_max", "value_rounding",
		"renew_every", "codes", "devices.list", "events.rule", "headers", "proxy"}
	var got []string
	for _, p := range w.Check() {
		got = append(got, p.Key)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
