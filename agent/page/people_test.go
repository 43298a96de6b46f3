package page

import (
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/audit"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/outbox"
)

const annsToken = "0123456789abcdef"

// browser is a browser with its one cookie.
type browser struct {
	t      testing.TB
	h      http.Handler
	cookie *http.Cookie
}

// newBrowser is one before a page on which ann has a token, whose trail is kept.
func newBrowser(t testing.TB, r *rig) *browser {
	r.server.Trail = audit.New(t.TempDir())
	return &browser{t: t, h: New(r.server, map[string]string{"ann": annsToken})}
}

// ask follows where it is sent, and gives the last page.
func (b *browser) ask(method, target string, form url.Values) (int, string) {
	b.t.Helper()
	for range 3 {
		r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if b.cookie != nil {
			r.AddCookie(b.cookie)
		}
		w := httptest.NewRecorder()
		b.h.ServeHTTP(w, r)
		for _, c := range w.Result().Cookies() {
			b.cookie = c
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" {
				b.t.Errorf("the cookie is %v", c)
			}
		}
		if w.Code != http.StatusSeeOther {
			return w.Code, html.UnescapeString(w.Body.String())
		}
		method, target, form = http.MethodGet, w.Header().Get("Location"), nil
	}
	b.t.Fatalf("%s leads in a circle", target)
	return 0, ""
}

var (
	hiddenFields = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)
	formAction   = regexp.MustCompile(`<form method="post" action="([^"]*)">`)
)

// send fills in the form of a page and sends it.
func (b *browser) send(page string, fields url.Values) (int, string) {
	b.t.Helper()
	to := formAction.FindStringSubmatch(page)
	if to == nil {
		b.t.Fatalf("there is no form on\n%s", page)
	}
	form := url.Values{}
	for _, h := range hiddenFields.FindAllStringSubmatch(page, -1) {
		form.Set(h[1], h[2])
	}
	for name, values := range fields {
		form[name] = values
	}
	return b.ask(http.MethodPost, to[1], form)
}

// comesIn shows ann's token.
func (b *browser) comesIn() {
	b.t.Helper()
	_, page := b.ask(http.MethodGet, "/login", nil)
	if code, page := b.send(page, url.Values{"name": {"ann"}, "token": {annsToken}}); code != http.StatusOK || !strings.Contains(page, "<b>ann</b>") {
		b.t.Fatalf("the door answers %d\n%s", code, page)
	}
}

// newest is the newest entry of the audit trail.
func newest(r *rig) audit.Entry {
	all := r.server.Trail.Newest(1)
	if len(all) == 0 {
		return audit.Entry{}
	}
	return all[0]
}

func TestWithoutTokensThePageOnlyShows(t *testing.T) {
	r := newRig(t, nil)
	_, page := r.get("/")
	for _, path := range []string{"/login", "/do/inhibit?on=TK-1"} {
		if code, _ := r.get(path); code != http.StatusNotFound || strings.Contains(page, "/do/") {
			t.Errorf("%s answers %d", path, code)
		}
	}
}

// TestATicketIsReleasedOnThePage: who has shown no token is led to the door and then to what he wanted; what will be done is said,
// and done at the second yes; a second click does nothing more; and the trail has the name.
func TestATicketIsReleasedOnThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(s *ledger.Site) { s.Hold = 12 * time.Hour })
		r.Haul(time.Hour)
		all, err := r.Tickets()
		if err != nil || len(all) != 1 {
			t.Fatalf("tickets %v, %v", all, err)
		}
		b := newBrowser(t, r)
		name := all[0].Number + all[0].Handle
		code, page := b.ask(http.MethodGet, "/do/release?on="+name, nil)
		if code != http.StatusOK || !strings.Contains(page, `type="password"`) {
			t.Fatalf("a stranger is given %d\n%s", code, page)
		}
		code, page = b.send(page, url.Values{"name": {"ann"}, "token": {annsToken}})
		if code != http.StatusOK || !strings.Contains(page, "leaves for the service now") || !strings.Contains(page, name) || newest(r).Verb != "page.login" {
			t.Fatalf("behind the door: %d, %+v\n%s", code, newest(r), page)
		}
		if r.Box.Counts()[ledger.Tickets].Waiting != 0 {
			t.Fatal("it has left before anybody has said yes")
		}
		code, done := b.send(page, nil)
		if code != http.StatusOK || !strings.Contains(done, "Done. It leaves for the service now") || r.Box.Counts()[ledger.Tickets].Waiting != 1 {
			t.Errorf("the ticket's page answers %d\n%s", code, done)
		}
		if e := newest(r); e.Verb != "tickets.release" || e.Name != "ann" || e.From == "" || e.UID != -1 || e.Result != audit.Done || e.Record != name {
			t.Errorf("the trail has %+v", e)
		}
		if code, page := b.send(page, nil); code != http.StatusConflict || strings.Contains(page, "Done.") {
			t.Errorf("the same form again: %d\n%s", code, page)
		}
		if _, page := b.ask(http.MethodGet, "/", nil); strings.Contains(page, "Done.") || !strings.Contains(page, "ann on this page</b> tickets.release") {
			t.Errorf("the page says\n%s", page)
		}
	})
}

// TestWhatCanBeDoneOnThePage: each act with its form, from the link to what became of it.
func TestWhatCanBeDoneOnThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(s *ledger.Site) { s.Hold = 12 * time.Hour })
		r.Haul(time.Hour)
		all, err := r.Tickets()
		r.Must(err)
		name := all[0].Number + all[0].Handle
		b := newBrowser(t, r)
		b.comesIn()
		for _, x := range []struct {
			act, on    string
			wrong      url.Values // what the form is sent back with
			fields     url.Values
			will, verb string
		}{
			{"hold", name, url.Values{"for": {"-1h"}}, url.Values{"for": {"72h"}, "why": {"the hauler calls"}}, "for 3 days more", "tickets.hold"},
			{"edit", name, url.Values{"bsw": {"a lot"}}, url.Values{"bsw": {"0.4"}}, "percent becomes 0.4 (was ", "tickets.edit"},
			{"inhibit", "TK-1", url.Values{"for": {"2h"}, "why": {" "}}, url.Values{"for": {"2h"}, "why": {"cleaning"}}, "For 2h no load", "tanks.inhibit"},
			{"allow", "TK-1", nil, nil, "make tickets again", "tanks.allow"},
			{"memo", "", url.Values{"device": {"4711"}, "text": {""}}, url.Values{"device": {"4711"}, "text": {"valve <replaced>"}}, `"valve <replaced>" is sent`, "memos.add"},
		} {
			_, page := b.ask(http.MethodGet, "/do/"+x.act+"?on="+url.QueryEscape(x.on), nil)
			if x.wrong != nil {
				code, again := b.send(page, x.wrong)
				if code != http.StatusUnprocessableEntity || !strings.Contains(again, `role="alert"`) {
					t.Errorf("%s with %v: %d\n%s", x.act, x.wrong, code, again)
				}
				_, page = b.send(again, x.fields)
			}
			if !strings.Contains(page, x.will) {
				t.Errorf("%s does not say %q\n%s", x.act, x.will, page)
				continue
			}
			if code, page := b.send(page, nil); code != http.StatusOK || !strings.Contains(page, "Done. ") {
				t.Errorf("%s: %d\n%s", x.act, code, page)
			}
			if e := newest(r); e.Verb != x.verb || e.Name != "ann" || e.Result != audit.Done {
				t.Errorf("%s leaves %+v", x.act, e)
			}
		}
		if all, err = r.Tickets(); err != nil || len(all[0].Edits) != 1 || all[0].Edits[0].Person != "ann" || all[0].Stop == nil {
			t.Errorf("the ticket is %+v, %v", all[0], err)
		}
		for _, path := range []string{"/do/retry?on=tickets/1", "/do/release?on=none", "/do/inhibit?on=TK-9"} {
			if code, page := b.ask(http.MethodGet, path, nil); code != http.StatusConflict || !strings.Contains(page, `role="alert"`) {
				t.Errorf("%s: %d\n%s", path, code, page)
			}
		}
		if code, _ := b.ask(http.MethodGet, "/do/keys", nil); code != http.StatusNotFound {
			t.Errorf("keys: %d", code)
		}
	})
}

// TestARefusedRecordIsSentAgain: with all of its stream, and by itself.
func TestARefusedRecordIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		b := newBrowser(t, r)
		b.comesIn()
		event := func() { r.Must(r.QueueEvent(ledger.Event{Rule: "test", Start: time.Now(), End: time.Now()})) }
		event()
		for _, on := range []string{"events", "events/1"} {
			event() // which is taken, so that it is the other one that is wrong
			refuse(t, r.Box)
			_, page := b.ask(http.MethodGet, "/do/retry?on="+on, nil)
			code, page := b.send(page, nil)
			if c := r.Box.Counts()[ledger.Events]; code != http.StatusOK || c.Dead != 0 || c.Waiting != 1 || newest(r).Record != on {
				t.Errorf("%s: %d, %+v, %+v\n%s", on, code, c, newest(r), page)
			}
		}
	})
}

// TestARecordAtTheServiceIsConfirmed: a ticket whose answer was lost leads to the form; then it counts as delivered, and its page
// says who said so and where it was seen.
func TestARecordAtTheServiceIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.Haul(4 * time.Hour)
		b := newBrowser(t, r)
		b.comesIn()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Box.Drain(ctx, ledger.Tickets, silence{}) }()
		ledgertest.Pass(time.Second)
		cancel()
		r.Must(<-ended)
		all, err := r.Tickets()
		r.Must(err)
		ticket := "/tickets/" + all[0].Number
		if _, page := b.ask(http.MethodGet, ticket, nil); !strings.Contains(page, "1 send without a clear answer") || !strings.Contains(page, `href="/do/confirm?on=tickets%2f1"`) {
			t.Errorf("the ticket's page\n%s", page)
		}
		_, form := b.ask(http.MethodGet, "/do/confirm?on=tickets/1", nil)
		_, again := b.send(form, url.Values{"why": {" "}})
		_, sure := b.send(again, url.Values{"why": {"their list"}})
		if code, page := b.send(sure, nil); code != http.StatusOK || !strings.Contains(page, "Done. Record tickets/1: "+all[0].Number) || newest(r).Reason != "their list" {
			t.Errorf("%d, %+v\n%s", code, newest(r), page)
		}
		if _, page := b.ask(http.MethodGet, ticket, nil); !strings.Contains(page, "delivered: confirmed by ann: their list") || strings.Contains(page, "/do/confirm") {
			t.Errorf("the ticket's page\n%s", page)
		}
		for _, on := range []string{"tickets/1", "tickets", "tickets/x", "tickets/9"} {
			if code, _ := b.ask(http.MethodGet, "/do/confirm?on="+on, nil); code != http.StatusConflict {
				t.Errorf("%s: %d", on, code)
			}
		}
	})
}

// silence takes a request and never answers.
type silence struct{}

// Send implements outbox.Sender.
func (silence) Send(context.Context, string, []outbox.Record) []outbox.Answer {
	return []outbox.Answer{{Class: outbox.Ambiguous, Message: "EOF"}}
}

// TestAVisitEnds: by leaving, after hours, and when too many have come since; a cookie that nobody gave is none.
func TestAVisitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		b := newBrowser(t, r)
		here := func() bool {
			_, page := b.ask(http.MethodGet, "/", nil)
			return strings.Contains(page, "<b>ann</b>")
		}
		b.comesIn()
		_, page := b.ask(http.MethodGet, "/", nil)
		b.ask(http.MethodPost, "/logout", nil)
		if !here() {
			t.Error("a form without its code ends the visit")
		}
		old := *b.cookie
		b.send(page, nil)
		b.cookie = &old
		if here() {
			t.Error("it goes on behind its end")
		}
		b.cookie = nil
		b.comesIn()
		if ledgertest.Pass(visitLasts - time.Minute); !here() {
			t.Error("it ends too early")
		}
		if ledgertest.Pass(2 * time.Minute); here() {
			t.Error("it does not end")
		}
		b.cookie = nil
		b.comesIn()
		first := *b.cookie
		for range mostVisits {
			ledgertest.Pass(10 * time.Second)
			b.cookie = nil
			b.comesIn()
		}
		if b.cookie = &first; here() {
			t.Error("the oldest of too many is still here")
		}
		b.cookie = &http.Cookie{Name: first.Name, Value: "AAAAAAAAAAAAAAAAAAAAAAAAAA"}
		if here() {
			t.Error("anybody's cookie will do")
		}
	})
}

// TestTheDoorLeadsNowhereElse: what comes behind the token is on this page.
func TestTheDoorLeadsNowhereElse(t *testing.T) {
	r := newRig(t, nil)
	b := newBrowser(t, r)
	for _, then := range []string{"https://evil.example/", "//evil.example/do/", "/\\evil.example", "javascript:alert(1)", "/main", ""} {
		w := httptest.NewRecorder()
		q := httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(url.Values{"name": {"ann"}, "token": {annsToken}, "then": {then}}.Encode()))
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		b.h.ServeHTTP(w, q)
		if at := w.Header().Get("Location"); at != "/" {
			t.Errorf("%q leads to %q", then, at)
		}
	}
}

// refuser is a service that takes all but record 1.
type refuser struct{}

// Send implements outbox.Sender.
func (refuser) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	all := make([]outbox.Answer, len(batch))
	for i, r := range batch {
		all[i] = outbox.Answer{Class: outbox.Stored, Status: http.StatusOK}
		if r.Seq == 1 {
			all[i] = outbox.Answer{Class: outbox.Poison, Status: http.StatusBadRequest, Message: "no such object"}
		}
	}
	return all
}

// refuse has the service refuse what waits of the events, in a bubble.
func refuse(t *testing.T, box *outbox.Box) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- box.Drain(ctx, ledger.Events, refuser{}) }()
	for range 100 {
		if box.Counts()[ledger.Events].Dead > 0 {
			break
		}
		ledgertest.Pass(time.Second)
	}
	cancel()
	if err := <-ended; err != nil || box.Counts()[ledger.Events].Dead != 1 {
		t.Fatalf("%+v, %v", box.Counts()[ledger.Events], err)
	}
}
