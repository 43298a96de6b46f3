package cloud

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
)

// What the service says of a refused record is told in its own words, in whatever shape they come; a page for a browser
// is no word of its.
func TestARefusalKeepsTheServicesOwnWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"Bad Request","errorDescription":"tank TK-9 is closed","correlationId":"c-1"}`: "400 Bad Request: tank TK-9 is closed",
		"tank TK-9 is closed\r\n":                "400 Bad Request: tank TK-9 is closed",
		`{"errors":{"tank":["TK-9 is closed"]}}`: `400 Bad Request: {"errors":{"tank":["TK-9 is closed"]}}`,
		"<html><body>Bad Request</body></html>":  "400 Bad Request",
		"the key primary-key-value may not":      "400 Bad Request: the key (hidden) may not",
		`["` + strings.Repeat("x", 1000) + `"]`:  `400 Bad Request: ["` + strings.Repeat("x", 395) + "...",
	} {
		service := &cloudtest.Service{PrimaryKey: "primary-key-value", Fault: func(cloudtest.Call) *cloudtest.Fault {
			return &cloudtest.Fault{Status: http.StatusBadRequest, Body: body}
		}}
		keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(Options{URL: "https://service.test", Keys: keys, Transport: service})
		if err != nil {
			t.Fatal(err)
		}
		if a := c.Post(t.Context(), SaveRunTickets, "", [][]byte{[]byte(`{}`)}, 0, 0); a.Message != want || a.Class != Poison {
			t.Errorf("%s is told as %v %q, want %q", body, a.Class, a.Message, want)
		}
		c.Close()
	}
}

// A 200 around an error, the service's own (specification 2.10) or a gateway's, is no delivery, proves no key and is told at once; whatever else an
// object holds, the specification does not show what a success says, so that it stays one.
func TestAnErrorInASuccessIsNoDelivery(t *testing.T) {
	const whole = `{"httpStatusCode":500,"message":"try later","errorCode":17,"errorDescription":"no storage","correlationId":"c-1","timestamp":"2026-03-01T10:00:00Z"}`
	for body, taken := range map[string]bool{
		whole: false, " \n" + whole + "\n": false,
		`{"httpStatusCode":400,"message":"Bad Request"}`:                            false,
		`{"errorCode":17,"errorDescription":"the tank is closed","message":null}`:   false,
		`{"httpStatusCode":200,"message":"OK","errorCode":0,"correlationId":"c-1"}`: true,
		`{"message":"saved"}`: true,
		`{"errorCode":0,"errorDescription":"","message":"saved","correlationId":null}`: true,
		`{"httpStatusCode":500,"message":"try later","saved":1}`:                       true,
		`{"statusCode":500,"message":"Internal server error","activityId":"x"}`:        false,
		`{"httpStatusCode":500,"errorCode":17}`:                                        false, `{"success":false}`: false, `{"status":"error"}`: false,
		`{"success":false,"errors":["tank unknown"]}`: false, `{"error":{"code":"Internal","message":"down"}}`: false,
		`{"success":true,"errors":[]}`: true, `{"success":true,"errors":["late"]}`: true, `{"errors":[],"message":"saved"}`: true,
		`{"errors":["row 2"],"saved":1}`: true, `{"status":"saved"}`: true, `{"status":200,"error":null}`: true,
		`[` + whole + `]`: false, `[{"success":false},{"success":true}]`: true,
		`{"httpStatusCode":200,"message":"Bad Request","errorCode":17,"errorDescription":"tank unknown"}`: false,
		`{"Status":"Failed","ErrorMessage":"not stored"}`:                                                 false, `{"httpStatusCode":200,"errors":["late"]}`: true,
		"false": false, `"Error: tank not found"`: false, "Service temporarily unavailable": false,
		`{"success":false,"error":"` + strings.Repeat("x", saveLimit) + `"}`: false, `["` + strings.Repeat("x", saveLimit) + `"]`: true,
		`[{"ticketNumber":"A-1","error":"invalid tank"}]`: false, `{"ticketNumber":"A-1","error":"invalid tank"}`: false, `{"id":7,"success":false,"data":null}`: false,
		`{"data":{"success":false,"error":"tank unknown"}}`: false, `{"results":[{"ticketNumber":"A-1","error":"invalid tank"}]}`: false,
		`{"accepted":0,"rejected":1,"errors":["tank unknown"]}`: false, `{"accepted":0,"rejected":1}`: false,
		`{"timestamp":"x","status":500,"error":"Internal Server Error","path":"/v"}`: false,
		`{"accepted":1,"rejected":1,"errors":["tank unknown"]}`:                      true, `{"accepted":1,"rejected":0,"errors":[]}`: true, `{"success":false,"saved":1}`: true,
		`[{"ticketNumber":"A-1","error":""}]`: true, `[{"ticketNumber":"A-1","error":"none"}]`: true, `[{"ticketNumber":"A-1","error":{"code":0,"message":"OK"}}]`: true,
		`[{"ticketNumber":"A-1","error":"invalid tank"},{"ticketNumber":"A-1"}]`: true, `{"data":{"success":true},"error":null}`: true,
		`{"ticketNumber":"A-1","result":"saved","error":"late"}`: true, `{"result":5,"message":"no"}`: true, "null": true, // no plain refusals
		"{}": true, "true": true, `"saved"`: true, "\ufeff[]": true, " \n": true,
	} {
		s := &cloudtest.Service{}
		c := keyed(t, "", s)
		s.Next(cloudtest.Fault{Status: http.StatusOK, Body: body})
		a := postTicket(t, c, "A-1")
		if want := map[bool]Class{true: Stored, false: WrongAddress}[taken]; a.Class != want || a.Foreign == taken || a.Status != http.StatusOK {
			t.Errorf("%s: %+v", body, a)
		}
		if !taken && len(body) < 100 && strings.Contains(body, "invalid tank") && !strings.Contains(a.Message, "invalid tank") {
			t.Errorf("%s is told as %q", body, a.Message)
		}
		proven := slices.ContainsFunc(c.Keys().Status(), func(k keys.Status) bool { return k.State == "proven" })
		if proven != taken {
			t.Errorf("%s: a key counts as proven: %v", body, proven)
		}
		if !taken && strings.HasPrefix(strings.TrimSpace(body), whole) && (a.CorrelationID != "c-1" || !strings.Contains(a.Message, "its body is an error, so that it does not count as taken: 500 Internal Server Error: try later: no storage (error code 17)")) {
			t.Errorf("%s is told as %q, %q", body, a.Message, a.CorrelationID)
		}
	}
}

// None of the nine operations counts as done by such an answer.
func TestAnErrorInASuccessIsNoneForAnyOperation(t *testing.T) {
	s := &cloudtest.Service{Fault: func(cloudtest.Call) *cloudtest.Fault {
		return &cloudtest.Fault{Status: 200, Body: `{"httpStatusCode":503,"message":"try later"}`}
	}}
	c := keyed(t, "", s)
	for op, err := range everyOperation(t, c) {
		if e, ok := err.(*Error); !ok || e.Class != WrongAddress || !strings.Contains(e.Message, "503 Service Unavailable: try later") {
			t.Errorf("%s: %+v", op, err)
		}
	}
}

// A body that should be JSON, as all of the service's are, and is none is no yes: it may be a gateway's, or the service's in trouble. A site may say
// that its service answers so. An empty body, words and what calls itself a text go on as ever.
func TestABodyThatIsNoJSONIsNoClearAnswer(t *testing.T) {
	for _, c := range []struct {
		header http.Header
		body   string
		broken bool
	}{
		{http.Header{"Content-Type": {"application/json"}}, "\x00\xff{{{", true}, {http.Header{"Content-Type": {"Application/JSON; charset=utf-8"}}, "{'saved': 1}", true},
		{http.Header{"Content-Type": {"application/problem+json"}}, "[1 2]", true}, {nil, "\x00\xff{{{", true}, {nil, `{"saved":1}}`, true},
		{http.Header{"Content-Type": {"application/octet-stream"}}, "\x17\x03\x03", true},
		{http.Header{"Content-Type": {"application/json"}}, "", false}, {http.Header{"Content-Type": {"application/json"}}, "1 ticket saved\r\n", false},
		{http.Header{"Content-Type": {"text/plain"}}, "{'saved': 1}", false}, {nil, "OK", false}, {http.Header{"Content-Type": {"text/plain; charset=iso-8859-1"}}, "\xfcbernommen", false},
		{http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"br"}}, "\x0b\x02\x80{}\x03", false},
	} {
		for _, accept := range []bool{false, true} {
			s := &cloudtest.Service{}
			k := keyed(t, "", s, func(o *Options) { o.Wire.AcceptHTML = accept })
			for op := range map[Operation]bool{SaveRunTickets: true, SaveDiagnosticEvents: true} {
				s.Next(cloudtest.Fault{Status: http.StatusOK, Header: c.header, Body: c.body})
				a, want := k.Post(t.Context(), op, "", [][]byte{[]byte("{}")}, 0, 0), Stored
				if c.broken && !accept {
					want = Ambiguous
				}
				if a.Class != want || want == Ambiguous && !strings.Contains(a.Message, "whose body should be JSON and is none") {
					t.Errorf("%s, %v %q, accepted %v: %s %q", op, c.header, c.body, accept, a.Class, a.Message)
				}
			}
		}
	}
}

// A portal answers a 2xx with scripts and images, which no service of records does; what was cut off may have been anything. A word, or
// nothing at all, is an answer.
func TestWhatNoServiceSaysIsNoDelivery(t *testing.T) {
	const whole = `{"httpStatusCode":500,"message":"try later"}`
	for _, c := range []struct {
		media, body string
		want        Class
	}{
		{"application/javascript", "window.location='http://10.0.0.1/'", WrongAddress}, {"text/javascript; charset=utf-8", "go()", WrongAddress},
		{"image/gif", "GIF89a\x01\x00", WrongAddress}, {"text/css", "a{}", WrongAddress},
		{"text/plain", strings.Repeat(" ", saveLimit+1), WrongAddress}, {"text/plain", strings.Repeat("x", saveLimit+1), WrongAddress},
		{"text/plain", "ok", Stored}, {"", "saved", Stored}, {"application/json", "OK", Stored},
		{"application/json", whole[:20], Ambiguous}, {"application/json", `["saved`, Ambiguous}, {"", "[", Ambiguous},
		{"application/json", `["` + strings.Repeat("x", echoLimit-4) + `"]`, Stored}, {"application/json", `["` + strings.Repeat("x", echoLimit), WrongAddress},
	} {
		for _, accept := range []bool{false, true} {
			s := &cloudtest.Service{}
			k := keyed(t, "", s, func(o *Options) { o.Wire.AcceptHTML = accept })
			s.Next(cloudtest.Fault{Status: http.StatusOK, Header: http.Header{"Content-Type": {c.media}}, Body: c.body})
			want := c.want
			if accept && want == WrongAddress {
				want = Stored
			}
			a := postTicket(t, k, "A-1")
			if a.Class != want || want == WrongAddress && !strings.Contains(a.Message, "200 OK with what no service of records says, "+c.media) {
				t.Errorf("%s %.30q, accepted %v: %s, %q", c.media, c.body, accept, a.Class, a.Message)
			}
			if proven := slices.ContainsFunc(k.Keys().Status(), func(k keys.Status) bool { return k.State == "proven" }); proven != (want == Stored) {
				t.Errorf("%s %.30q, accepted %v: a key counts as proven: %v", c.media, c.body, accept, proven)
			}
		}
	}
}
