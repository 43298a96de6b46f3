package page

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/audit"
	"gauger/agent/ledger/ledgertest"
)

// TestWrongTokensAreSlowedDown: ten from an address, and then one in ten seconds; a right one is let in all the while, as often as it
// comes; the trail has those that were refused, and none of the tokens.
func TestWrongTokensAreSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		b := newBrowser(t, r)
		try := func(name, token string) int {
			code, page := b.ask(http.MethodPost, "/login", url.Values{"name": {name}, "token": {token}})
			if strings.Contains(page, token) {
				t.Errorf("the page shows the token\n%s", page)
			}
			return code
		}
		for i, x := range [][2]string{{"ann", "0123456789abcdeX"}, {"bob", annsToken}, {"", strings.Repeat("\x00", 32)}, {"ann", annsToken + " "}} {
			if code := try(x[0], x[1]); code != http.StatusForbidden || b.cookie != nil {
				t.Errorf("try %d: %d, %v", i, code, b.cookie)
			}
			if e := newest(r); e.Result != audit.Denied || e.Name != x[0] || strings.Contains(e.Why, x[1]) {
				t.Errorf("try %d leaves %+v", i, e)
			}
		}
		for range 6 {
			try("ann", "another wrong token")
		}
		before := newest(r)
		for range 50 {
			if code := try("ann", "another wrong token"); code != http.StatusTooManyRequests {
				t.Errorf("after ten wrong ones: %d", code)
			}
		}
		if e := newest(r); e != before {
			t.Errorf("one that was not looked into leaves %+v", e)
		}
		for range 2 * tries.Burst {
			if code := try("ann", annsToken); code != http.StatusOK {
				t.Errorf("a right one after wrong ones of others: %d", code)
			}
		}
		ledgertest.Pass(10 * time.Second)
		if code := try("ann", "another wrong token"); code != http.StatusForbidden {
			t.Errorf("ten seconds later: %d", code)
		}
		for range allLogins.Burst {
			try("bob", "another wrong token")
		}
		if code := try("ann", annsToken); code != http.StatusTooManyRequests {
			t.Errorf("more than are compared: %d", code)
		}
		if ledgertest.Pass(time.Second); try("ann", annsToken) != http.StatusOK {
			t.Error("a second later a right one is not let in")
		}
	})
}
