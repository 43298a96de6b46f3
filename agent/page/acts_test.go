package page

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/ledger"
)

// TestAFigureThatIsDoubtedIsEditedWithAReason: the form comes again with what was given, and takes the reason.
func TestAFigureThatIsDoubtedIsEditedWithAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(s *ledger.Site) { s.Hold = 12 * time.Hour })
		r.Haul(time.Hour)
		all, err := r.Tickets()
		r.Must(err)
		b := newBrowser(t, r)
		b.comesIn()
		_, page := b.ask(http.MethodGet, "/do/edit?on="+url.QueryEscape(all[0].Number+all[0].Handle), nil)
		_, page = b.send(page, url.Values{"bsw": {"40"}})
		code, page := b.send(page, nil)
		if code != http.StatusUnprocessableEntity || !strings.Contains(page, "Bsw 40 is hardly ever so") || !strings.Contains(page, `name="anyway"`) {
			t.Fatalf("without a reason: %d\n%s", code, page)
		}
		_, page = b.send(page, url.Values{"bsw": {"40"}, "anyway": {"lab sheet 17"}})
		code, page = b.send(page, nil)
		if all, err = r.Tickets(); err != nil || code != http.StatusOK || len(all[0].Edits) != 1 || all[0].Edits[0].Anyway != "lab sheet 17" {
			t.Errorf("with one: %d, %v, %+v\n%s", code, err, all[0].Edits, page)
		}
	})
}

// TestNothingLeavesThatNobodyOnThePageSaw: the question shows what leaves, and a yes to it is none once the ticket is another.
func TestNothingLeavesThatNobodyOnThePageSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(s *ledger.Site) { s.Hold = 12 * time.Hour })
		r.Haul(time.Hour)
		all, err := r.Tickets()
		r.Must(err)
		name := all[0].Number + all[0].Handle
		b := newBrowser(t, r)
		b.comesIn()
		edit := func(bsw string) {
			_, err := r.Edit(ledger.EditArgs{Number: name, Set: map[string]string{"bsw": bsw}, Anyway: "typo"}, "bob")
			r.Must(err)
		}
		edit("0.9")
		_, form := b.ask(http.MethodGet, "/do/edit?on="+url.QueryEscape(name), nil)
		_, sure := b.send(form, url.Values{"bsw": {"0.3"}})
		_, release := b.ask(http.MethodGet, "/do/release?on="+url.QueryEscape(name), nil)
		for _, want := range []string{"Gauges: ", "gross ", "net ", "gravity", "percent 0.9"} {
			if !strings.Contains(strings.ToLower(release), strings.ToLower(want)) {
				t.Errorf("the question does not show %q\n%s", want, release)
			}
		}
		if !strings.Contains(sure, "percent becomes 0.3 (was 0.9)") {
			t.Errorf("the question of the edit\n%s", sure)
		}
		edit("40")
		for _, page := range []string{form, sure, release} {
			code, again := b.send(page, url.Values{"bsw": {"0.3"}})
			if code != http.StatusConflict || !strings.Contains(again, "changed meanwhile") || !strings.Contains(again, "percent 40") {
				t.Errorf("%d\n%s", code, again)
			}
			release = again
		}
		if all, err = r.Tickets(); err != nil || len(all[0].Edits) != 2 || all[0].Ticket != nil {
			t.Errorf("it was changed or has left: %+v, %v", all[0], err)
		}
		_, sure = b.send(release, nil)
		if code, page := b.send(sure, nil); code != http.StatusOK || !strings.Contains(page, "Done. It leaves") || r.Box.Counts()[ledger.Tickets].Waiting != 1 {
			t.Errorf("looked at again: %d\n%s", code, page)
		}
	})
}
