package page

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/control"
	"gauger/agent/flash"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/collectors"
)

// rig is a site on its page.
type rig struct {
	*ledgertest.Bench
	server *control.Server
	page   http.Handler
}

func newRig(t testing.TB, change func(*ledger.Site)) *rig {
	t.Helper()
	b := ledgertest.New(t, func(s *ledger.Site) {
		s.Name = `The <"best"> & only site`
		if change != nil {
			change(s)
		}
	})
	if time.Now().Year() < 2020 { // in a bubble, whose clock begins where none was set
		ledgertest.Pass(27 * 365 * 24 * time.Hour)
		b.Again()
	}
	ring, err := keys.Open("", keys.Seeds{Primary: "a-key-that-must-not-show"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{URL: "http://127.0.0.1:9", Keys: ring})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Bench: b, server: (&control.Server{Ledger: b.Ledger, Box: b.Box, Client: client, Clock: b.Clock, Site: b.Site, Version: "1.2", Began: time.Now(), Daemon: true}).Open()}
	r.page = New(r.server, nil)
	return r
}

// get asks for a path.
func (r *rig) get(path string) (int, string) {
	w := httptest.NewRecorder()
	r.page.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// status is a reading with words of its own.
func (r *rig) status(text, why string) {
	r.Emit("status", 0, func(x *collectors.Reading) {
		x.Text, x.Quality, x.Err = text, collectors.Bad, errors.New(why)
	})
}

func TestThePageEscapesWhatComesFromTheSite(t *testing.T) {
	r := newRig(t, nil)
	r.Emit("level", 171.25)
	r.status("<script>alert(1)</script>", "a & b")
	code, body := r.get("/")
	if code != http.StatusOK || !strings.Contains(body, "14-03-1") || !strings.Contains(body, "a &amp; b") {
		t.Errorf("status %d, page without what it should show:\n%s", code, body)
	}
	for _, raw := range []string{"<script>", `<"best">`, "a-key-that-must-not-show"} {
		if strings.Contains(body, raw) {
			t.Errorf("the page holds %s", raw)
		}
	}
	for _, path := range []string{"/anything", "/tickets/none", "/api/v1/tickets/none", "/tickets/none/level.svg"} {
		if code, _ := r.get(path); code != http.StatusNotFound {
			t.Errorf("%s answers %d", path, code)
		}
	}
}

// TestThePageLivesWithAStrictPolicy: no style and no script stands in the page, nothing is asked of another host, and all of it
// is light enough for a slow link.
func TestThePageLivesWithAStrictPolicy(t *testing.T) {
	r := newRig(t, nil)
	r.Emit("level", 171.25)
	weight := 0
	for _, path := range []string{"/", "/style.css", "/script.js"} {
		code, body := r.get(path)
		if weight += len(body); code != http.StatusOK {
			t.Errorf("%s answers %d", path, code)
		}
		if found := regexp.MustCompile(`(?i)\sstyle=|\son\w+=|<style|<script>|https?://|@import|eval\(`).FindString(body); found != "" {
			t.Errorf("%s holds %q", path, found)
		}
	}
	if weight > 150_000 {
		t.Errorf("the page weighs %d bytes", weight)
	}
}

// TestALoadFromItsBeginningToItsTicket: the page says while it goes on, that it settles, and has the ticket with its picture.
func TestALoadFromItsBeginningToItsTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		for m := range 60 + 20 { // a quiet hour and twenty minutes of a load
			for range 6 {
				r.Emit("level", 180-4*max(0, float64(m-60)))
				ledgertest.Pass(10 * time.Second)
			}
			r.Must(r.Tick(time.Now()))
		}
		if _, body := r.get("/"); !regexp.MustCompile(`loading since \d\d:\d\d, 1?\d\d bbl so far`).MatchString(body) {
			t.Errorf("while it is hauled the page says\n%s", body)
		}
		for range 30 {
			r.Emit("level", 104)
			ledgertest.Pass(time.Minute)
			r.Must(r.Tick(time.Now()))
		}
		if _, body := r.get("/"); !strings.Contains(body, "settling: 1") {
			t.Errorf("behind its end the page says\n%s", body)
		}
		for range 60 {
			r.Emit("level", 104)
			ledgertest.Pass(time.Minute)
			r.Must(r.Tick(time.Now()))
		}
		_, body := r.get("/")
		link := regexp.MustCompile(`href="(/tickets/[^"]+)">`).FindStringSubmatch(body)
		if link == nil || !strings.Contains(body, "1 load") || !strings.Contains(body, "<b>waiting</b>") {
			t.Fatalf("the ticket is not on the page\n%s", body)
		}
		number := strings.TrimPrefix(link[1], "/tickets/")
		_, _, err := r.Ledger.Match(ledger.MatchArgs{Number: number, Hauler: "88123", Bbl: 127.7, Basis: ledger.AsObserved, Meter: true}, "ann")
		r.Must(err)
		if code, body := r.get(link[1]); code != http.StatusOK || !strings.Contains(body, "Closing gauge") || !strings.Contains(body, "level.svg?phone") ||
			!regexp.MustCompile(`<dt>Removed</dt><dd>(\d+\.\d\d) bbl.*agrees: the truck has 0\.\d\d bbl (less|more) than the \d+\.\d\d that were removed</dd>`).MatchString(body) {
			t.Errorf("the ticket's page answers %d\n%s", code, body)
		}
		if code, body := r.get(link[1] + "/level.svg?phone"); code != http.StatusOK || !strings.Contains(body, `width="360"`) {
			t.Errorf("the picture for a phone answers %d", code)
		}
		if code, body := r.get(link[1] + "/level.svg"); code != http.StatusOK || !strings.Contains(body, "</svg>") {
			t.Errorf("the picture answers %d", code)
		}
		if code, body := r.get("/api/v1" + link[1]); code != http.StatusOK || !strings.Contains(body, `"state":"waiting"`) {
			t.Errorf("as data it answers %d %s", code, body)
		}
	})
}

// TestNothingIsWellBeforeItWasSeenToBe: a service that was never reached is not green.
func TestNothingIsWellBeforeItWasSeenToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.Emit("level", 171.25)
		o, err := r.server.Overview()
		if err != nil || len(o.Answers) != 4 || o.Answers[0].State != control.Well || o.Answers[1].State != control.Unknown || o.Answers[3].State != control.Unknown {
			t.Errorf("%+v, %v", o.Answers, err)
		}
		if _, body := r.get("/"); strings.Contains(body, "All is well") || !strings.Contains(body, "the service has taken nothing yet") {
			t.Errorf("the page says\n%s", body)
		}
	})
}

// TestReadyNamesEachReason: readyz fails where a person is needed, and says why.
func TestReadyNamesEachReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		why := func(what string, want ...string) {
			t.Helper()
			ledgertest.Pass(madeFor)
			code, body := r.get("/readyz")
			var answer readiness
			if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Ready != (code == http.StatusOK) || answer.Ready != (len(answer.Why) == 0) {
				t.Errorf("%s: %d %s, %v", what, code, body, err)
			}
			if len(answer.Why) != len(want) {
				t.Errorf("%s: %q, want %q", what, answer.Why, want)
				return
			}
			for i, w := range want {
				if !strings.Contains(answer.Why[i], w) {
					t.Errorf("%s: %q, want %q", what, answer.Why, want)
				}
			}
		}
		why("before the first level", "there is no good level of TK-1")
		for range 6 {
			r.Emit("level", 171.25)
			ledgertest.Pass(10 * time.Second)
		}
		why("with a level")
		r.Emit("level", 171.25, func(x *collectors.Reading) { x.Quality, x.Err = collectors.Bad, errors.New("no answer within 1 s") })
		why("with the level bad", "there is no good level of TK-1: no answer within 1 s")
		if _, body := r.get("/"); !strings.Contains(body, "the last good one was 14-03-1") {
			t.Errorf("the page does not say the last good level\n%s", body)
		}
		r.Emit("level", 500)
		why("with a level above the tank", "there is no good level of TK-1: outside the tank: 500 in of")
		r.Emit("level", 171.25)
		ledgertest.Pass(3 * time.Hour)
		why("with a level that is old", "the newest level of TK-1 came 3 h ago")
		r.Emit("level", 171.25)
		r.Must(r.QueueEvent(ledger.Event{Rule: "test", Start: time.Now(), End: time.Now()}))
		ledgertest.Pass(time.Minute)
		why("with records that wait for a minute") // one of them tells of the three hours
		ledgertest.Pass(4 * time.Minute)
		why("with records that wait for long", "sending: 2 records waiting, the oldest queued 5 min ago")
		r.Clock.NotBefore = time.Now().Add(time.Hour)
		why("with a clock of before the program was built", "sending: ", "clock: not set")
		r.Clock.NotBefore = time.Time{}
		all, _ := r.server.Client.Keys().Order(false)
		for _, k := range all {
			r.server.Client.Keys().Rejected(k)
		}
		why("with refused keys", "sending: ", "keys: no key is accepted; `gauger keys show` says what to do")
		r.Must(r.Box.Close())
		code, body := r.get("/readyz")
		if ledgertest.Pass(madeFor); code != http.StatusServiceUnavailable {
			t.Errorf("with the outbox closed: %d %s", code, body)
		}
		if code, body = r.get("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "closed") {
			t.Errorf("with the outbox closed: %d %s", code, body)
		}
	})
}

// TestThePageSaysWhatIsWrittenAndWhatIsNotStored: flash wears out by the one, the other is nowhere else.
func TestThePageSaysWhatIsWrittenAndWhatIsNotStored(t *testing.T) {
	r := newRig(t, nil)
	r.server.Flash = flash.NewMeter(flash.Card{})
	for range 3 {
		r.Host("mqtt").Keeps(collectors.Refusal{Device: "radio", Source: "t", Raw: []byte("E05"), Err: errors.New("no number")})
	}
	if _, body := r.get("/"); !strings.Contains(body, "MB since the start") || !strings.Contains(body, "radio: of the messages that nobody could decode, 2 equal ones") {
		t.Errorf("the page says\n%s", body)
	}
}

// TestHealthFailsWhereARestartHelps: with an outbox out of service, and with a part that hangs; a slow one is none.
func TestHealthFailsWhereARestartHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		answers := make(chan struct{})
		r.server.Lines = func() []control.LineStatus { <-answers; return nil }
		if code, body := r.get("/healthz"); code != http.StatusOK {
			t.Errorf("asked for the first time: %d %s", code, body)
		}
		ledgertest.Pass(stuckAfter)
		if code, body := r.get("/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "a part of the program hangs") {
			t.Errorf("with a part that hangs: %d %s", code, body)
		}
		if code, body := r.get("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "a part of the program hangs") {
			t.Errorf("whoever asks what is needed is told: %d %s", code, body)
		}
		close(answers)
		synctest.Wait()
		if code, body := r.get("/healthz"); code != http.StatusOK {
			t.Errorf("when it hangs no more: %d %s", code, body)
		}
		r.Must(r.Box.Close())
		if code, body := r.get("/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "outbox") {
			t.Errorf("with the outbox closed: %d %s", code, body)
		}
	})
}

// TestEveryFileIsServed: what is embedded is used.
func TestEveryFileIsServed(t *testing.T) {
	all, err := fs.Glob(files, "*")
	if err != nil || len(all) != 7 {
		t.Errorf("embedded are %q, %v", all, err)
	}
}
