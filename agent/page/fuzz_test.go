package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gauger/agent/audit"
)

// FuzzForms sends any form to any address, by ann and by nobody. What must hold: no panic and no failure of the page's own, no
// token on a page, and nobody does anything.
func FuzzForms(f *testing.F) {
	r := newRig(f, nil)
	b := newBrowser(f, r)
	b.comesIn()
	for path, form := range map[string]string{
		"login": "name=ann&token=0123456789abcdeX", "do/inhibit?on=TK-1": "for=1h&why=cleaning&code=x", "do/edit?on=M-1": "bsw=0.3&anyway=%00", "do/memo": "text=x&on=1",
		"do/release?on=M-1": "yes=1&code=", "do/retry?on=tickets/1": "", "do/allow?on=TK-1": "on=TK-1&on=TK-2", "logout": "", "main": "%zz=%", "tickets/M-1": "a=b", "do/": ";;",
	} {
		f.Add("POST", path, form, true)
		f.Add("GET", path, form, false)
	}
	f.Fuzz(func(t *testing.T, method, path, form string, ann bool) {
		q, err := http.NewRequest(method, "http://127.0.0.1:8480/", strings.NewReader(form))
		if err != nil {
			return
		}
		before := newest(r)
		q.URL.Path, q.URL.RawQuery, _ = strings.Cut("/"+path, "?") // without one the query is empty
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.RemoteAddr = "127.0.0.1:50000"
		if ann {
			q.AddCookie(b.cookie)
		}
		w := httptest.NewRecorder()
		b.h.ServeHTTP(w, q)
		if w.Code == http.StatusInternalServerError || w.Body.Len() > 1<<20 || strings.Contains(w.Body.String(), annsToken) {
			t.Errorf("%d with %d bytes: %.300s", w.Code, w.Body.Len(), w.Body)
		}
		if e := newest(r); !ann && e != before && e.Result != audit.Denied && !strings.Contains(form, annsToken) {
			t.Errorf("nobody has done %+v", e)
		}
	})
}
