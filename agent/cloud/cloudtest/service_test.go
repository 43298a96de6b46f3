package cloudtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

const (
	guid       = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	goodTicket = `{"ticketNumber":"T-1","tank":{"externalID":"TK-1"},"openingLevel":{"level":171.25},"closingLevel":{"level":49},"sealOn":"a","sealOff":"b","topTemperature":71.5,"bottomTemperature":68,"specificGravity":0.82,"bsw":0.4,"comments":"","start":"s","end":"e","purchaser":"p"}`
	goodEvent  = `{"ID":null,"startTimeString":"2026-03-02T12:00:00","endTimeString":"2026-03-02T12:01:00","objectGuid":"` + guid + `","objectTypeID":"Device","ruleName":"gap","note":""}`
	goodSet    = `{"dataClassificationCode":"Average Cost per BBL, Oil","values":[{"value":38,"timestamp":"2026-03-02T07:00:00-06:00"}]}`
	goodTags   = `{"objectId":"w","objectType":"Well","tagValues":[` + goodSet + `]}`
	goodTarget = `{"objectId":"w","targets":[` + goodSet + `]}`
	goodMemo   = `{"text":"x","email":"y"}`
	dayOfTest  = "startTime=2026-03-02T00:00:00Z&endTime=2026-03-03T00:00:00Z"
)

// ask makes one request in the process and gives status and body.
func ask(t *testing.T, s *Service, method, target, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(keyHeader, "any-key")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// TestStrict spoils one thing at a time in requests that are right.
func TestStrict(t *testing.T) {
	const tickets, events, tags, targets, memos = "/vAlpha/runtickets", "/vBeta/events/diagnostic/save", "/v1/object/tagvalues", "/v1/production-targets", "/v1/devices/d/memos"
	good := map[string]string{tickets: "[" + goodTicket + "," + goodTicket + "]", events: "[" + goodEvent + "]", tags: goodTags, targets: goodTarget, memos: goodMemo}
	s := &Service{}
	for path, body := range good {
		if status, answer := ask(t, s, "POST", path, body, "Content-Type", "application/json; charset=UTF-8"); status != 200 {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	cases := []struct{ path, from, to, says string }{
		{tickets, `"tank":{"externalID":"TK-1"}`, `"tank":"TK-1"`, "tank: a JSON object"},
		{tickets, `"externalID":"TK-1"`, `"externalId":"TK-1"`, "externalId"},
		{tickets, `"externalID":"TK-1"`, `"externalID":""`, "externalID: it must not be empty"},
		{tickets, `"externalID":"TK-1"`, ``, "externalID: it is required"},
		{tickets, `{"level":171.25}`, `171.25`, "openingLevel"},
		{tickets, `171.25`, `"171.25"`, "level: a number"},
		{tickets, `171.25`, `null`, "level: a number"},
		{tickets, `"sealOn":"a",`, ``, "sealOn: it is required"},
		{tickets, `"sealOn":"a"`, `"sealOn":null`, "sealOn: a string"},
		{tickets, `"sealOn":"a"`, `"sealOn":7`, "sealOn: a string"},
		{tickets, `"bsw":0.4`, `"bsw":null`, "bsw: a number"},
		{tickets, `"bsw":0.4`, `"bsw":0.4,"bsw":0.4`, "bsw is there twice"},
		{tickets, `"bsw":0.4`, `"BSW":0.4`, `no field "BSW"`},
		{tickets, `"ticketNumber":"T-1"`, `"ticketNumber":""`, "ticketNumber: it must not be empty"},
		{tickets, good[tickets], goodTicket, "a JSON array"},
		{tickets, good[tickets], `[]`, "it is empty"},
		{tickets, good[tickets], `[1]`, "a JSON object"},
		{tickets, good[tickets], ``, "a JSON array"},
		{events, `"ID":null,`, ``, "ID: it is required"},
		{events, `"ID":null`, `"ID":{}`, "null, a string or a number"},
		{events, `T12:00:00"`, `T12:00:00Z"`, "YYYY-MM-DDThh:mm:ss"},
		{events, `T12:00:00"`, `T25:00:00"`, "YYYY-MM-DDThh:mm:ss"},
		{events, `"` + guid + `"`, `"{` + guid + `}"`, "not a GUID"},
		{events, `"objectGuid"`, `"objectID"`, "objectType: it must not be empty"},
		{events, `"objectTypeID":"Device",`, ``, "objectTypeID: it must not be empty"},
		{events, `"objectGuid":"` + guid + `","objectTypeID":"Device",`, ``, "objectGuid: it is required"},
		{events, `"note":""`, `"note":"","objectID":"` + strings.Replace(guid, "6", "7", 1) + `","objectType":"Device"`, "differs"},
		{tags, `"Well"`, `"Device"`, "only supported value is Well"},
		{tags, `"Well"`, `"well"`, "only supported value is Well"},
		{tags, `"objectId":"w"`, `"objectId":""`, "objectId: it must not be empty"},
		{tags, `Average Cost per BBL, Oil`, `Tank Level`, "not one of the six"},
		{tags, `38`, `38.0`, "a whole number"},
		{tags, `38`, `3e1`, "a whole number"},
		{tags, `38`, `"38"`, "a whole number"},
		{tags, `38`, `null`, "a whole number"},
		{tags, `-06:00`, ``, "ISO 8601"},
		{tags, `2026-03-02T07`, `2026-02-30T07`, "ISO 8601"},
		{tags, goodTags, `[` + goodTags + `]`, "a JSON object"},
		{tags, goodTags, goodTags + `{}`, "something follows"},
		{targets, `"targets"`, `"tagValues"`, `no field "tagValues"`},
		{targets, `"objectId":"w",`, ``, "objectId: it is required"},
		{targets, `38`, `38.5`, "a whole number"},
		{targets, `"Average Cost per BBL, Oil"`, `""`, "dataClassificationCode: it must not be empty"},
		{targets, `[` + goodSet + `]`, goodSet, "a JSON array"},
		{memos, `"text":"x"`, `"text":""`, "text: it must not be empty"},
		{memos, `"text":"x",`, ``, "text: it is required"},
		{memos, `"email"`, `"user"`, `no field "user"`},
	}
	for _, c := range cases {
		if !strings.Contains(good[c.path], c.from) {
			t.Fatalf("%s has no %s", c.path, c.from)
		}
		body := strings.Replace(good[c.path], c.from, c.to, 1)
		status, answer := ask(t, s, "POST", c.path, body)
		if status != 400 || !strings.Contains(answer, strings.ReplaceAll(c.says, `"`, `\"`)) {
			t.Errorf("%s with %s for %s: %d %s, want %q", c.path, c.to, c.from, status, answer, c.says)
		}
	}
	// Of what was refused nothing is stored, not even the good half of it.
	got := fmt.Sprintf("%d tickets, %d events, %d values, %d targets, %d memos", len(s.Tickets()), len(s.Events()), len(s.TagValues()), len(s.Targets()), len(s.Memos()))
	if want := "2 tickets, 1 events, 1 values, 1 targets, 1 memos"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if d := s.Duplicates(); len(d) != 1 || d[0] != "T-1" {
		t.Errorf("duplicates: %v", d)
	}
}

func TestRequestsThatAreNone(t *testing.T) {
	s := &Service{MaxBody: 1000}
	cases := []struct {
		method, target, body string
		header               []string
		want                 int
	}{
		{"GET", "/vAlpha/runtickets", "", nil, 405},
		{"PUT", "/vAlpha/runtickets", "[]", nil, 405},
		{"POST", "/valpha/runtickets", "[]", nil, 404},
		{"POST", "/vAlpha/runtickets/", "[]", nil, 404},
		{"POST", "/v1/runtickets", "[]", nil, 404},
		{"POST", "/v1/devices//memos", goodMemo, nil, 404},
		{"POST", "/vAlpha/runtickets?x=1", "[" + goodTicket + "]", nil, 400},
		{"POST", "/vAlpha/runtickets", "[" + goodTicket + "]", []string{"Content-Type", "text/plain"}, 415},
		{"POST", "/vAlpha/runtickets", "[" + goodTicket + "]", []string{keyHeader, ""}, 401},
		{"POST", "/vAlpha/runtickets", strings.Repeat(" ", 1001), nil, 413},
		{"GET", "/v1/query-devices", "{}", nil, 400},
		{"GET", "/v1/query-devices?DeviceName=x", "", nil, 400},
		{"GET", "/v1/query-devices?deviceName=x&deviceName=y", "", nil, 400},
		{"GET", "/v1/query-devices?pageNumber=0", "", nil, 400},
		{"GET", "/v1/query-devices?pageSize=x", "", nil, 400},
		{"GET", "/v1/query-devices?textMatchStyle=exact", "", nil, 400},
		{"GET", "/v1/query-devices?include=tag", "", nil, 400},
		{"GET", "/v1/apikey/tertiary/renew", "", nil, 400},
		{"GET", "/v1/apikey/primary/renew?x=1", "", nil, 400},
		{"GET", "/vAlpha/alarm/events?" + dayOfTest, "", nil, 400},
		{"GET", "/vAlpha/Alarm/events?startTime=2026-03-02T00:00:00Z", "", nil, 400},
		{"GET", "/vAlpha/Alarm/events?startTime=yesterday&endTime=2026-03-02T00:00:00Z", "", nil, 400},
		{"GET", "/vAlpha/Alarm/events?timeQueryType=Start&" + dayOfTest, "", nil, 400},
		{"GET", "/vAlpha/Alarm/events?objectId=" + guid + "&" + dayOfTest, "", nil, 400},
		{"GET", "/vAlpha/Alarm/events?objectId=7&objectType=Well&" + dayOfTest, "", nil, 400},
		{"GET", "/vAlpha/Alarm/events?objectType=Pump&" + dayOfTest, "", nil, 400},
		{"POST", "/vAlpha/authenticate", `{"user":"x"}`, nil, 400},
		{"POST", "/vAlpha/authenticate", `{"userName":7}`, nil, 400},
		{"POST", "/vAlpha/authenticate", `{}`, nil, 401},
	}
	for _, c := range cases {
		status, body := ask(t, s, c.method, c.target, c.body, c.header...)
		var e struct {
			HTTPStatusCode int `json:"httpStatusCode"`
			Message        string
			CorrelationID  string
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil || status != c.want || e.HTTPStatusCode != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.method, c.target, status, body, c.want)
		}
		if e.Message == "" || e.CorrelationID == "" {
			t.Errorf("%s %s: no message or no correlation: %s", c.method, c.target, body)
		}
		if status == 401 && e.Message != "Unauthorized" {
			t.Errorf("%s %s: message %q", c.method, c.target, e.Message)
		}
	}
}

func TestDeviceFilters(t *testing.T) {
	s := &Service{}
	s.AddDevices(
		Device{ID: "1", Identifier: "tank-a", Name: "Tank A", ExternalID: "TK-1", OrganizationID: "o1", Tags: map[string]string{"Average Cost per BBL, Oil": "1", "Production Target Gas": "2"}, Attributes: map[string]string{"a1": "x", "a2": "y"}, Geo: "g"},
		Device{ID: "2", Identifier: "tank-b", Name: "Tank B", ExternalID: "TK-2", OrganizationID: "o1"},
		Device{ID: "3", Identifier: "meter", Name: "Meter", ExternalID: "M-1", OrganizationID: "o2"},
	)
	cases := map[string]string{
		"":                  "1,2,3",
		"deviceName=Tank A": "1",
		"deviceName=tank a": "",
		"deviceName=Tank&textMatchStyle=StartsWith":              "1,2",
		"deviceName=r&textMatchStyle=EndsWith":                   "3",
		"externalId=-&textMatchStyle=Contains&organizationId=o1": "1,2",
		"deviceIdentifier=tank&textMatchStyle=DoesNotContain":    "3",
		"deviceIdentifier=meter&textMatchStyle=DoesNotMatch":     "1,2",
		"deviceIdentifier=tank-a&externalId=TK-2":                "",
		"deviceIds=3,1,9&deviceName=Tank B&organizationId=o9":    "1,3",
		"pageSize=2":                               "1,2",
		"pageSize=2&pageNumber=2":                  "3",
		"pageSize=2&pageNumber=3":                  "",
		"pageSize=1000000&pageNumber=999999999999": "",
	}
	for q, want := range cases {
		status, body := ask(t, s, "GET", "/v1/query-devices?"+strings.ReplaceAll(q, " ", "%20"), "")
		var got []struct{ ID string }
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
			t.Fatalf("%s: %d %s", q, status, body)
		}
		var ids []string
		for _, d := range got {
			ids = append(ids, d.ID)
		}
		if strings.Join(ids, ",") != want {
			t.Errorf("%s: %v, want %s", q, ids, want)
		}
	}
	_, body := ask(t, s, "GET", "/v1/query-devices?deviceIds=1&include=tags,attributes&attributeSchemaIds=a2&dataClassificationCodes="+url.QueryEscape("Production Target Oil,Average Cost per BBL, Oil"), "")
	if want := `[{"attributes":{"a2":"y"},"deviceIdentifier":"tank-a","deviceName":"Tank A","externalId":"TK-1","id":"1","organizationId":"o1","tags":{"Average Cost per BBL, Oil":"1"}}]`; body != want {
		t.Errorf("got  %s\nwant %s", body, want)
	}
}

func TestEventFilters(t *testing.T) {
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	s := &Service{ListName: "events"}
	s.AddEvents(
		Event{RuleName: "a", Start: at, End: at.Add(72 * time.Hour), Created: at.Add(96 * time.Hour), ObjectID: guid, ObjectType: "Well"},
		Event{RuleName: "b", Start: at.Add(24*time.Hour - time.Second), ObjectType: "Device", OrganizationID: guid, Acknowledged: at.Add(time.Hour)},
		Event{RuleName: "c", Start: at.Add(24 * time.Hour)},
		Event{RuleName: "d", Type: "DataQuality", Start: at},
	)
	cases := map[string]string{
		"Alarm?" + dayOfTest:       "a,b",
		"DataQuality?" + dayOfTest: "d",
		"Diagnostic?" + dayOfTest:  "",
		"Alarm?startTime=2026-03-05T00:00:00&endTime=2026-03-06T00:00:00&timeQueryType=EventEnd": "a",
		"Alarm?startTime=2026-03-06T00:00:00&endTime=2026-03-07T00:00:00&timeQueryType=Created":  "a",
		"Alarm?timeQueryType=EventAcknowledged&" + dayOfTest:                                     "b",
		"Alarm?timeQueryType=Modified&" + dayOfTest:                                              "",
		"Alarm?objectType=Well&objectId=" + guid + "&" + dayOfTest:                               "a",
		"Alarm?objectId=&organizationId=" + guid + "&" + dayOfTest:                               "b",
		"Alarm?pageSize=1&pageNumber=2&" + dayOfTest:                                             "b",
	}
	for q, want := range cases {
		status, body := ask(t, s, "GET", "/vAlpha/"+strings.Replace(q, "?", "/events?", 1), "")
		var got struct{ Events []struct{ RuleName string } }
		if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
			t.Fatalf("%s: %d %s", q, status, body)
		}
		var rules []string
		for _, e := range got.Events {
			rules = append(rules, e.RuleName)
		}
		if strings.Join(rules, ",") != want {
			t.Errorf("%s: %v, want %s", q, rules, want)
		}
	}
}

// TestOverASocket serves the same over HTTP, with every fault that a socket can show.
func TestOverASocket(t *testing.T) {
	s := &Service{Alpha: "2024-a", PrimaryKey: "k"}
	server := httptest.NewServer(s)
	defer server.Close()
	send := func() (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/2024-a/runtickets", bytes.NewReader([]byte("["+goodTicket+"]")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(keyHeader, "k")
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return resp, err
	}
	cases := []struct {
		fault          Fault
		status, stored int
	}{
		{Fault{}, 200, 1}, {Fault{DropBefore: true}, 0, 1}, {Fault{Refuse: true}, 0, 1}, {Fault{DropAfter: true}, 0, 2},
		{Fault{Status: 503, RetryAfter: "7"}, 503, 2}, {Fault{Status: 502, Store: true}, 502, 3}, {Fault{Status: 204}, 204, 3},
		{Fault{Status: 302, Location: "/x", Header: http.Header{"x-more": {"1"}}}, 302, 3}, {Fault{Body: "<html>"}, 200, 4},
	}
	for _, c := range cases {
		s.Next(c.fault)
		resp, err := send()
		if c.status == 0 && err == nil || c.status != 0 && (err != nil || resp.StatusCode != c.status || resp.Header.Get("Retry-After") != c.fault.RetryAfter || resp.Header.Get("Location") != c.fault.Location) {
			t.Errorf("%v: %v, %v", c.fault, resp, err)
		}
		if n := len(s.Tickets()); n != c.stored {
			t.Errorf("%v: %d stored, want %d", c.fault, n, c.stored)
		}
	}
	if n := s.Count("SaveRunTickets"); n != len(cases) {
		t.Errorf("%d requests were counted", n)
	}
}
