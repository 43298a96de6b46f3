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
