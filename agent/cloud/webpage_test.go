package cloud

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
)

const maintenance = "<!DOCTYPE html>\n<html><head><TITLE lang=en>Down for\n maintenance</TITLE></head><body>Back at noon</body></html>"

func TestWebPages(t *testing.T) {
	cases := []struct {
		media, body string
		want        bool
	}{
		{"text/html", "We are away", true}, {"Text/HTML; charset=utf-8", "{}", true}, {"application/json", maintenance, true},
		{"", " \r\n\t<html>", true}, {"", "\ufeff<html>", true}, {"", " \ufeff\n<?xml version='1.0'?>", true},
		{"application/json", `{"saved":"<b>"}`, false}, {"text/plain", "saved", false}, {"", "", false}, {"text/html", " \n", false}, {"", "\ufeff[]", false},
		{"text/htmlish", "saved", false},
	}
	for _, c := range cases {
		if got := webPage(http.Header{"Content-Type": {c.media}}, []byte(c.body)); got != c.want {
			t.Errorf("%q, %q: a page is %v", c.media, c.body, got)
		}
	}
}

// everyOperation calls the nine operations and gives what came of each.
func everyOperation(t *testing.T, c *Client) map[Operation]error {
	t.Helper()
	ctx, all, now := t.Context(), map[Operation]error{}, time.Now()
	_, all[Authenticate] = c.Authenticate(ctx, Login{AuthRequest: AuthRequest{UserName: "u", PasswordHash: "h"}})
	_, all[RenewAPIKey] = c.RenewAPIKey(ctx, keys.Secondary)
	all[SaveRunTickets] = Save(ctx, c, SaveRunTickets, "", Wire.EncodeRunTicket, someTicket())
	all[SaveDiagnosticEvents] = Save(ctx, c, SaveDiagnosticEvents, "", Wire.EncodeEvent, someEvent())
	values := ValueSet{Code: sixCodes()[0], Values: []Value{{Value: 1, At: now}}}
	all[SaveObjectTagValues] = Save(ctx, c, SaveObjectTagValues, wellGUID, Wire.EncodeTagValues, values)
	all[SaveProductionTargets] = Save(ctx, c, SaveProductionTargets, wellGUID, EncodeTargets, values)
	_, all[QueryDevices] = c.QueryDevices(ctx, DeviceQuery{})
	all[AddDeviceMemo] = Save(ctx, c, AddDeviceMemo, "dev-1", Wire.EncodeMemo, Memo{Text: "hello"})
	_, all[GetEvents] = c.GetEvents(ctx, EventQuery{Type: "Alarm", Start: now.Add(-time.Hour), End: now})
	return all
}

// A gateway answers 200 with its page to each of the nine operations: none counts as done, no key counts as proven, and
// the words say what stood there.
func TestAWebPageIsNoAnswerOfTheService(t *testing.T) {
	s := &cloudtest.Service{Fault: func(cloudtest.Call) *cloudtest.Fault {
		return &cloudtest.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: maintenance}
	}}
	c := keyed(t, "", s)
	for op, err := range everyOperation(t, c) {
		e, ok := err.(*Error)
		if !ok {
			t.Errorf("%s: %+v", op, err)
			continue
		}
		for what, right := range map[string]bool{
			"class":   e.Class == WrongAddress,
			"status":  e.Status == 200,
			"foreign": e.Foreign,
			"page":    strings.Contains(e.Message, `200 OK with a web page ("Down for maintenance")`),
			"remedy":  strings.Contains(e.Message, "wire.accept_html"),
			"body":    strings.Contains(e.Body, "Back at noon"),
		} {
			if !right {
				t.Errorf("%s: %s: %+v", op, what, err)
			}
		}
	}
	for _, k := range c.Keys().Status() {
		if k.State != "untried" || !k.Accepted.IsZero() || !k.Renewed.IsZero() {
			t.Errorf("a key after nothing but web pages: %+v", k)
		}
	}
	s.Next(cloudtest.Fault{Status: 409, Body: maintenance}, cloudtest.Fault{Status: 409, Body: maintenance})
	for attempt, want := range []Class{Poison, WrongAddress} { // after a lost answer a conflict says that the ticket is there
		if a := c.Post(t.Context(), SaveRunTickets, "", [][]byte{[]byte("{}")}, attempt, 0); a.Class != want {
			t.Errorf("a conflict with a page, attempt %d: %+v", attempt, a)
		}
	}
	if a := postTicket(t, c, "A-1"); a.Class != WrongAddress {
		t.Errorf("a ticket: %+v", a)
	}
}

// A site may say that its service itself answers so.
func TestAcceptHTML(t *testing.T) {
	s := &cloudtest.Service{Fault: func(c cloudtest.Call) *cloudtest.Fault {
		return &cloudtest.Fault{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<p>saved</p>"}
	}}
	c := keyed(t, "", s, func(o *Options) { o.Wire.AcceptHTML = true })
	for op, err := range everyOperation(t, c) {
		if op.stores() && err != nil || !op.stores() && err == nil {
			t.Errorf("%s: %v", op, err)
		}
	}
	if a := postTicket(t, c, "A-1"); a.Class != Stored || len(s.Tickets()) != 2 {
		t.Errorf("a ticket: %+v, the service has %d", a, len(s.Tickets()))
	}
}
