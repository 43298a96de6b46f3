package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
)

const (
	deviceGUID = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	wellGUID   = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
	firstKey   = "primary-0123456789abcdef"
	secondKey  = "secondary-0123456789abcdef"
)

// site is a client with its reference service in the same process.
func site(t *testing.T, s *cloudtest.Service, change ...func(*cloud.Options)) *cloud.Client {
	t.Helper()
	if s.PrimaryKey == "" {
		s.PrimaryKey, s.SecondaryKey = firstKey, secondKey
	}
	ring, err := keys.Open("", keys.Seeds{Primary: firstKey, Secondary: secondKey})
	if err != nil {
		t.Fatal(err)
	}
	o := cloud.Options{URL: "http://127.0.0.1:9/base", Wire: cloud.DefaultWire(), Zone: time.FixedZone("", -6*3600), Transport: based{s}, Keys: ring}
	for _, c := range change {
		c(&o)
	}
	c, err := cloud.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// based takes the base path off, as a gateway would.
type based struct{ http.RoundTripper }

func (b based) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/base")
	if !ok {
		return nil, fmt.Errorf("the base path is missing in %s", r.URL)
	}
	u, err := r.URL.Parse("http://127.0.0.1:9" + path + "?" + r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	r.URL = u
	return b.RoundTripper.RoundTrip(r)
}

func ticket(number string) cloud.RunTicket {
	return cloud.RunTicket{
		Number: number, TankID: "TK-1001", OpeningLevel: 171.25, ClosingLevel: 49.5, TopTemperature: new(71.5),
		BottomTemperature: new(68.0), SpecificGravity: new(0.8193), BSW: new(0.4), Comments: "observed", Purchaser: "Acme",
		Start: time.Date(2026, 3, 2, 13, 4, 0, 0, time.UTC), End: time.Date(2026, 3, 2, 13, 41, 0, 0, time.UTC),
	}
}

func event(rule string, at time.Time) cloud.DiagnosticEvent {
	return cloud.DiagnosticEvent{Start: at, End: at.Add(time.Minute), ObjectID: deviceGUID, Rule: rule, Note: "n"}
}

func setOf(code string, v float64) cloud.ValueSet {
	return cloud.ValueSet{Code: code, Values: []cloud.Value{{Value: v, At: time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)}}}
}

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// operations are one call of each, and the request that must arrive.
var operations = []struct {
	op, method, path, query, body string
	do                            func(context.Context, *cloud.Client) error
}{
	{"Authenticate", "POST", "/vAlpha/authenticate", "", `{"userName":"pat","passwordHash":"hash-of-pat"}`,
		func(ctx context.Context, c *cloud.Client) error {
			got, err := c.Authenticate(ctx, cloud.Login{AuthRequest: cloud.AuthRequest{UserName: "pat", PasswordHash: "hash-of-pat"}})
			if err == nil && (got.Primary.Key != firstKey || got.Secondary.Key != secondKey || got.IDToken == "" || len(got.Customers) != 1) {
				return fmt.Errorf("got %+v", got)
			}
			return err
		}},
	{"RenewAPIKey", "GET", "/v1/apikey/secondary/renew", "", "", func(ctx context.Context, c *cloud.Client) error {
		got, err := c.RenewAPIKey(ctx, keys.Secondary)
		if err == nil && (got.Key != secondKey || got.Expires.Assumed || time.Until(got.Expires.At) < 180*24*time.Hour) {
			return fmt.Errorf("got %+v", got)
		}
		return err
	}},
	{"SaveRunTickets", "POST", "/vAlpha/runtickets", "", "[" + string(mustTicket("T-1")) + "," + string(mustTicket("T-2")) + "]",
		func(ctx context.Context, c *cloud.Client) error {
			return cloud.Save(ctx, c, cloud.SaveRunTickets, "", cloud.Wire.EncodeRunTicket, ticket("T-1"), ticket("T-2"))
		}},
	{"SaveDiagnosticEvents", "POST", "/vBeta/events/diagnostic/save", "",
		`[{"ID":null,"startTimeString":"2026-03-02T12:00:00","endTimeString":"2026-03-02T12:01:00","objectGuid":"` + deviceGUID + `","objectTypeID":"Device","ruleName":"gap","note":"n"}]`,
		func(ctx context.Context, c *cloud.Client) error {
			return cloud.Save(ctx, c, cloud.SaveDiagnosticEvents, "", cloud.Wire.EncodeEvent, event("gap", noon))
		}},
	{"SaveObjectTagValues", "POST", "/v1/object/tagvalues", "",
		`{"objectId":"` + wellGUID + `","objectType":"Well","tagValues":[{"dataClassificationCode":"Average Cost per BBL, Oil","values":[{"value":38,"timestamp":"2026-03-02T07:00:00-06:00"}]}]}`,
		func(ctx context.Context, c *cloud.Client) error {
			return cloud.Save(ctx, c, cloud.SaveObjectTagValues, wellGUID, cloud.Wire.EncodeTagValues, setOf("Average Cost per BBL, Oil", 38.2))
		}},
	{"SaveProductionTargets", "POST", "/v1/production-targets", "",
		`{"objectId":"` + wellGUID + `","targets":[{"dataClassificationCode":"Odd Code","values":[{"value":120,"timestamp":"2026-03-02T07:00:00-06:00"}]}]}`,
		func(ctx context.Context, c *cloud.Client) error {
			return cloud.Save(ctx, c, cloud.SaveProductionTargets, wellGUID, cloud.EncodeTargets, setOf("Odd Code", 120))
		}},
	{"QueryDevices", "GET", "/v1/query-devices", "dataClassificationCodes=Production+Target+Oil&deviceName=Tank&include=tags%2Cgeo&pageNumber=2&pageSize=10&textMatchStyle=StartsWith", "",
		func(ctx context.Context, c *cloud.Client) error {
			_, err := c.QueryDevices(ctx, cloud.DeviceQuery{Name: "Tank", TextMatch: "StartsWith", Include: []string{"tags", "geo"}, Codes: []string{"Production Target Oil"}, Page: 2, PageSize: 10})
			return err
		}},
	{"AddDeviceMemo", "POST", "/v1/devices/a%2Fb%20c%3F/memos", "", `{"text":"hatch open","email":"pat@example.com"}`,
		func(ctx context.Context, c *cloud.Client) error {
			return cloud.Save(ctx, c, cloud.AddDeviceMemo, "a/b c?", cloud.Wire.EncodeMemo, cloud.Memo{Text: "hatch open", Email: "pat@example.com"})
		}},
	{"GetEvents", "GET", "/vAlpha/DataQuality/events", "endTime=2026-03-02T12%3A00%3A00Z&objectId=" + wellGUID + "&objectType=Well&startTime=2026-03-01T12%3A00%3A00Z&timeQueryType=Created", "",
		func(ctx context.Context, c *cloud.Client) error {
			_, err := c.GetEvents(ctx, cloud.EventQuery{Type: "DataQuality", Start: noon.AddDate(0, 0, -1), End: noon, ObjectID: wellGUID, ObjectType: "Well", TimeQueryType: "Created"})
			return err
		}},
}

// TestEveryOperation sends each operation to the strict service and looks at the request that arrived.
func TestEveryOperation(t *testing.T) {
	for _, c := range operations {
		t.Run(c.op, func(t *testing.T) {
			s := &cloudtest.Service{Users: []cloudtest.User{{UserName: "pat", PasswordHash: "hash-of-pat"}}}
			if err := c.do(t.Context(), site(t, s)); err != nil {
				t.Fatal(err)
			}
			calls := s.Calls()
			if len(calls) != 1 {
				t.Fatalf("%d requests", len(calls))
			}
			got := calls[0]
			said := fmt.Sprintf("%s: %s %s?%s %s: %d", got.Op, got.Method, got.Path, got.Query.Encode(), got.Body, got.Status)
			if want := fmt.Sprintf("%s: %s %s?%s %s: 200", c.op, c.method, c.path, c.query, c.body); said != want {
				t.Errorf("got  %s\nwant %s", said, want)
			}
			want := map[string]string{"Accept": "application/json", "User-Agent": "gauger", "Content-Type": ""}
			if c.method == "POST" {
				want["Content-Type"] = "application/json"
			}
			for name, value := range want {
				if got.Header.Get(name) != value {
					t.Errorf("header %s is %q, want %q", name, got.Header.Get(name), value)
				}
			}
			if k := got.Header.Values("Ocp-Apim-Subscription-Key"); len(k) != 1 || k[0] != firstKey && c.op != "RenewAPIKey" {
				t.Errorf("key header: %q", k)
			}
		})
	}
}

func mustTicket(number string) []byte {
	w := cloud.DefaultWire()
	w.Zone = time.FixedZone("", -6*3600)
	b, err := w.EncodeRunTicket(ticket(number))
	if err != nil {
		panic(err)
	}
	return b
}

// TestMisspelling changes every field name that the client sends, one at a time: the service must refuse it.
func TestMisspelling(t *testing.T) {
	s := &cloudtest.Service{}
	c := site(t, s)
	ctx := t.Context()
	err1 := cloud.Save(ctx, c, cloud.SaveRunTickets, "", cloud.Wire.EncodeRunTicket, ticket("T-1"))
	err2 := cloud.Save(ctx, c, cloud.SaveDiagnosticEvents, "", cloud.Wire.EncodeEvent, event("gap", time.Now()))
	err3 := cloud.Save(ctx, c, cloud.SaveObjectTagValues, wellGUID, cloud.Wire.EncodeTagValues, setOf("Production Target Oil", 1))
	err4 := cloud.Save(ctx, c, cloud.SaveProductionTargets, wellGUID, cloud.EncodeTargets, setOf("Production Target Oil", 1))
	err5 := cloud.Save(ctx, c, cloud.AddDeviceMemo, "d", cloud.Wire.EncodeMemo, cloud.Memo{Text: "x", Email: "pat@example.com"})
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, call := range s.Calls() {
		for _, name := range fieldNames(call.Body) {
			tried += misspell(t, s, call, name)
		}
	}
	if tried < 90 {
		t.Errorf("only %d misspellings were tried", tried)
	}
}

// misspell sends the call again with the name written in other ways, and counts them.
func misspell(t *testing.T, s *cloudtest.Service, call cloudtest.Call, name string) (tried int) {
	t.Helper()
	for _, wrong := range []string{strings.ToUpper(name) + "_", name + "s", strings.ToUpper(name[:1]) + name[1:], strings.ToLower(name)} {
		if wrong == name {
			continue
		}
		body := bytes.Replace(call.Body, []byte(`"`+name+`":`), []byte(`"`+wrong+`":`), 1)
		req, err := http.NewRequestWithContext(t.Context(), call.Method, "http://127.0.0.1"+call.Path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Ocp-Apim-Subscription-Key", firstKey)
		resp, err := s.RoundTrip(req)
		if err != nil || resp.StatusCode != 400 {
			t.Errorf("%s with %s for %s: %v, %v", call.Op, wrong, name, resp, err)
		}
		tried++
	}
	return tried
}

// fieldNames gives each name once, in the order of the text.
func fieldNames(body []byte) []string {
	var names []string
	for part := range bytes.SplitSeq(body, []byte(`":`)) {
		name := string(part[bytes.LastIndexByte(part, '"')+1:])
		if name != "" && !strings.ContainsAny(name, `]}`) && !strings.Contains(strings.Join(names, " ")+" ", name+" ") {
			names = append(names, name)
		}
	}
	return names
}

func TestPostJoinsFrozenBytes(t *testing.T) {
	s := &cloudtest.Service{}
	c := site(t, s)
	one := []byte(`{"dataClassificationCode":"Production Target Oil","values":[{"value":1,"timestamp":"2026-03-02T07:00:00-06:00"}]}`)
	two := bytes.Replace(one, []byte("Oil"), []byte("Gas"), 1)
	a := c.Post(t.Context(), cloud.SaveObjectTagValues, `we"ll`, [][]byte{one, two}, 0, 0)
	if a.Class != cloud.Stored || a.Body == "" {
		t.Fatalf("%+v", a)
	}
	if got, want := string(s.Calls()[0].Body), `{"objectId":"we\"ll","objectType":"Well","tagValues":[`+string(one)+`,`+string(two)+`]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	v := s.TagValues()
	if len(v) != 2 || v[0].ObjectID != `we"ll` {
		t.Fatalf("stored, of %q: %+v", `we"ll`, v)
	}
	if v[1].Code != "Production Target Gas" || v[1].Value != 1 {
		t.Errorf("stored second: %+v", v[1])
	}
}

func TestPostRefusesWhatCannotBeSent(t *testing.T) {
	s := &cloudtest.Service{}
	c := site(t, s)
	memo := []byte(`{"text":"x"}`)
	cases := []struct {
		op      cloud.Operation
		address string
		bodies  [][]byte
		want    cloud.Class
	}{
		{cloud.SaveRunTickets, "", nil, cloud.Poison},
		{cloud.SaveObjectTagValues, "", [][]byte{memo}, cloud.Poison},
		{cloud.SaveProductionTargets, "w", [][]byte{[]byte("{")}, cloud.Poison},
		{cloud.AddDeviceMemo, "", [][]byte{memo}, cloud.Poison},
		{cloud.AddDeviceMemo, "..", [][]byte{memo}, cloud.Poison},
		{cloud.AddDeviceMemo, "d", [][]byte{memo, memo}, cloud.TooLarge},
		{cloud.QueryDevices, "d", [][]byte{memo}, cloud.WrongAddress},
	}
	for _, k := range cases {
		if a := c.Post(t.Context(), k.op, k.address, k.bodies, 0, 0); a.Class != k.want || a.Message == "" {
			t.Errorf("%s to %q: %+v", k.op, k.address, a)
		}
	}
	if n := len(s.Calls()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// TestOutcomes lets the service answer in every way and looks at what the records are told.
func TestOutcomes(t *testing.T) {
	cases := []struct {
		fault   cloudtest.Fault
		attempt int
		class   cloud.Class
		stored  int
		retry   time.Duration
		says    string
	}{
		{cloudtest.Fault{}, 0, cloud.Stored, 1, 0, "200 OK"},
		{cloudtest.Fault{Refuse: true}, 0, cloud.Wait, 0, 0, "connection refused"},
		{cloudtest.Fault{DropBefore: true}, 0, cloud.Ambiguous, 0, 0, "the service may have it"},
		{cloudtest.Fault{DropAfter: true}, 0, cloud.Ambiguous, 1, 0, "the service may have it"},
		{cloudtest.Fault{Status: 204, Store: true}, 0, cloud.Stored, 1, 0, "204"},
		{cloudtest.Fault{Status: 400}, 0, cloud.Poison, 0, 0, "400 Bad Request: fault"},
		{cloudtest.Fault{Status: 409}, 0, cloud.Poison, 0, 0, "409 Conflict"},
		{cloudtest.Fault{Status: 409}, 1, cloud.Stored, 0, 0, "409 Conflict"},
		{cloudtest.Fault{Status: 413}, 0, cloud.TooLarge, 0, 0, "413"},
		{cloudtest.Fault{Status: 429, RetryAfter: "17"}, 0, cloud.Wait, 0, 17 * time.Second, "429"},
		{cloudtest.Fault{Status: 503, RetryAfter: "99999"}, 0, cloud.Wait, 0, time.Hour, "503"},
		{cloudtest.Fault{Status: 307, Location: "https://elsewhere.example/x"}, 0, cloud.WrongAddress, 0, 0, "redirected to https://elsewhere.example/x"},
		{cloudtest.Fault{Status: 404}, 0, cloud.WrongAddress, 0, 0, "404"},
	}
	for _, k := range cases {
		s := &cloudtest.Service{}
		s.Next(k.fault)
		c := site(t, s)
		c.Heard = func(_, _ time.Time, verified bool) {
			if verified {
				t.Errorf("%v: a Date without TLS was believed", k.fault)
			}
		}
		a := c.Post(t.Context(), cloud.SaveRunTickets, "", [][]byte{mustTicket("T-1")}, k.attempt, 0)
		if a.Class != k.class || a.Status != k.fault.Status && k.fault.Status != 0 {
			t.Errorf("%v: %s, status %d: %+v", k.fault, a.Class, a.Status, a)
		}
		if a.RetryAfter != k.retry || !strings.Contains(a.Message, k.says) {
			t.Errorf("%v: again after %s, %q", k.fault, a.RetryAfter, a.Message)
		}
		if got := len(s.Tickets()); got != k.stored {
			t.Errorf("%v: %d tickets stored, want %d", k.fault, got, k.stored)
		}
		if a.Status >= 400 && a.CorrelationID != "c-000001" {
			t.Errorf("%v: correlation id %q", k.fault, a.CorrelationID)
		}
	}
}

// TestResendAfterLostAnswer is the road of a ticket whose answer was lost: the same bytes, and the service's 409
// counts as stored.
func TestResendAfterLostAnswer(t *testing.T) {
	s := &cloudtest.Service{Conflict: true}
	s.Next(cloudtest.Fault{DropAfter: true})
	c := site(t, s)
	body := [][]byte{mustTicket("T-1")}
	if a := c.Post(t.Context(), cloud.SaveRunTickets, "", body, 0, 0); a.Class != cloud.Ambiguous {
		t.Fatalf("%+v", a)
	}
	if a := c.Post(t.Context(), cloud.SaveRunTickets, "", body, 1, 0); a.Class != cloud.Stored {
		t.Fatalf("%+v", a)
	}
	calls := s.Calls()
	if !bytes.Equal(calls[0].Body, calls[1].Body) || len(s.Tickets()) != 1 || len(s.Duplicates()) != 0 {
		t.Errorf("bodies differ or the ticket doubled: %v", s.Duplicates())
	}
}

func TestTypedError(t *testing.T) {
	s := &cloudtest.Service{}
	s.Next(cloudtest.Fault{Status: 422})
	_, err := site(t, s).QueryDevices(t.Context(), cloud.DeviceQuery{})
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok {
		t.Fatalf("%#v", err)
	}
	for what, right := range map[string]bool{
		"operation":   e.Op == cloud.QueryDevices,
		"status":      e.Status == 422,
		"correlation": e.CorrelationID != "",
	} {
		if !right {
			t.Errorf("%s: %#v", what, err)
		}
	}
	if want := "querying devices: 422 Unprocessable Entity: fault (error code 42200)"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// Nothing that was only asked for can be at the service already.
func TestOnlyWhatIsSavedMayBeAtTheService(t *testing.T) {
	s := &cloudtest.Service{}
	c := site(t, s)
	for range 9 {
		s.Next(cloudtest.Fault{DropAfter: true})
	}
	if _, err := c.GetEvents(t.Context(), cloud.EventQuery{Type: "Diagnostic", Start: time.Now().Add(-time.Hour), End: time.Now()}); err == nil || strings.Contains(err.Error(), "may have it") {
		t.Errorf("getting events: %v", err)
	}
}
