package cloud

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"

	"gauger/agent/cloud/keys"
)

// FuzzAnswers gives any status and body to everything that reads an answer. What must hold: no panic, only 2xx
// is stored, and what a person will read is one line without control characters.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"message":"x\u001b[31m","errorCode":1e9}`, `{"subscriptionKey":"k","expirationDate":"9/1/2026 1:02:03 PM"}`,
		`{"result":0,"isLoggedIn":true,"primaryApiKey":"k","customers":[{"id":"1","name":"n"}],"primaryApiKeyExpiration":1780000000000}`,
		`[{"id":1,"ruleName":"gap"}]`, "[]\v", `{"items":[{"deviceId":"d"}]}`, "\xff\xfe", `{"a":` + strings.Repeat("[", 200),
	} {
		f.Add(400, seed, "30")
		f.Add(200, seed, "Mon, 02 Mar 2026 12:00:00 GMT")
	}
	ring, err := keys.Open("", keys.Seeds{Primary: testKey})
	if err != nil {
		f.Fatal(err)
	}
	c, err := New(Options{URL: "https://api.example.com", Wire: DefaultWire(), Keys: ring})
	if err != nil {
		f.Fatal(err)
	}
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, status int, body, wait string) {
		p := reply{status: status, header: http.Header{"Retry-After": {wait}, "Location": {wait}, "X-Correlation-Id": {body}}, body: []byte(body), sent: true}
		a := c.answerOf(request{op: SaveRunTickets, records: 1}, p)
		if (a.Class == Stored) != (status >= 200 && status <= 299) {
			t.Errorf("%d is %s", status, a.Class)
		}
		if a.RetryAfter != 0 && (a.RetryAfter < time.Second || a.RetryAfter > time.Hour) {
			t.Errorf("wait %v", a.RetryAfter)
		}
		for _, said := range []string{a.Message, a.CorrelationID} {
			if strings.ContainsFunc(said, unicode.IsControl) || strings.Contains(said, testKey) {
				t.Errorf("%q", said)
			}
		}
		if got, err := parseRenewal([]byte(body), now); err == nil && got.Key != "" && got.Key.Usable() != nil {
			t.Errorf("a key that cannot be sent was taken")
		}
		if _, err := parseAuth([]byte(body), now); err != nil && strings.Contains(err.Error(), body) && len(body) > 20 {
			t.Errorf("the error repeats the answer: %v", err)
		}
		if d, err := c.wire.readDevices([]byte(body)); err == nil && !json.Valid([]byte(body)) {
			t.Errorf("%d devices in what is no JSON", len(d.Items))
		}
		if e, err := c.wire.readEvents([]byte(body)); err == nil && !json.Valid([]byte(body)) {
			t.Errorf("%d events in what is no JSON", len(e.Items))
		}
	})
}

// FuzzPaths looks for a path that cannot be written or followed without a panic.
func FuzzPaths(f *testing.F) {
	f.Add("data.items[0].id|x", `{"data":{"items":[{"id":1}]}}`)
	f.Add("[0][1]", `[[1,2]]`)
	f.Fuzz(func(_ *testing.T, path, doc string) {
		_ = text(json.RawMessage(doc), path)
		if at, err := parsePath(path); err == nil {
			_, _ = list([]byte(doc), at)
		}
	})
}

// FuzzTicket holds that whatever is encoded is JSON, and that every text survives.
func FuzzTicket(f *testing.F) {
	f.Add("A-1", "TK <1>", "Acme & Co", "c\u2028omment", 171.25, 49.5, 0.4)
	f.Fuzz(func(t *testing.T, number, tank, purchaser, comments string, open, shut, bsw float64) {
		r := someTicket()
		r.Number, r.TankID, r.Purchaser, r.Comments, r.OpeningLevel, r.ClosingLevel, r.BSW = number, tank, purchaser, comments, open, shut, &bsw
		b, err := siteWire().EncodeRunTicket(r)
		if err != nil {
			return
		}
		var back struct {
			TicketNumber string
			Tank         struct{ ExternalID string }
			OpeningLevel struct{ Level float64 }
		}
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		if back.TicketNumber != number || back.Tank.ExternalID != strings.ToValidUTF8(tank, "\ufffd") && strings.ToValidUTF8(tank, "") == tank {
			t.Errorf("%q, %q became %+v", number, tank, back)
		}
		if off := back.OpeningLevel.Level - open; (off > 0.0051 || off < -0.0051) && open < 1e12 && open > -1e12 {
			t.Errorf("level %v became %v", open, back.OpeningLevel.Level)
		}
	})
}
