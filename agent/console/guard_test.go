package console

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestThePageIsShownUnderItsNamesOnly(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	page := Page(newDesk(t), front, false, "gauge-box:8480", "rtu-7.example.com", "Scada.Example.COM.")
	for host, want := range map[string]int{
		"127.0.0.1:8480": 200, "10.20.0.5": 200, "[::1]:8480": 200, "[fd00::5]": 200, "localhost:8480": 200, "LOCALHOST": 200, "gauge-box:8480": 200,
		"rtu-7.example.com": 200, "RTU-7.example.com.:80": 200, "scada.example.com": 200, own + ":8480": 200, own + ".local": 200, "": 200,
		"evil.example": 421, "evil.example:8480": 421, "rtu-7.example.com.evil.example": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example:80": 421,
		own + ".evil.example": 421, "10.20.0.5.": 200, "[::1": 200, "a b": 421, "..": 421,
	} {
		for _, path := range []string{"/", "/metrics", "/healthz"} {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			page.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s of %q: %d, want %d", path, host, w.Code, want)
			}
			if body := w.Body.String(); want != 200 && (!strings.Contains(body, "http.hosts") || strings.Contains(body, "TK-1")) {
				t.Errorf("%s of %q says %q", path, host, body)
			}
		}
	}
}

func TestThePageTellsBrowsersWhatTheyMay(t *testing.T) {
	page := Page(newDesk(t), front, false, "127.0.0.1:8480")
	ask := func(method, path string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader("x"))
		r.Host = "localhost"
		page.ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{"/", "/metrics", "/healthz", "/nothing"} {
		h := ask(http.MethodGet, path).Header()
		for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cache-Control": "no-store"} {
			if got := h.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		for _, part := range []string{"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(h.Get("Content-Security-Policy"), part) {
				t.Errorf("%s: the policy lacks %s", path, part)
			}
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} {
			if w := ask(method, path); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, allowed is %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
		if got, want := ask(http.MethodHead, path).Code, ask(http.MethodGet, path).Code; got != want {
			t.Errorf("HEAD %s: %d, GET %d", path, got, want)
		}
	}
	for _, kind := range []string{"style", "script", "img", "connect"} {
		if policy := ask(http.MethodGet, "/").Header().Get("Content-Security-Policy"); !strings.Contains(policy, "; "+kind+"-src 'self';") {
			t.Errorf("the policy %s lets the page not have its own %s, or lets it have more", policy, kind)
		}
	}
}

// TestAFormComesFromThePageItself: where the page takes forms, only pages of its own may send them, short and soon.
func TestAFormComesFromThePageItself(t *testing.T) {
	taken := ""
	page := Page(newDesk(t), http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { taken = r.PostFormValue("name") }), true, "127.0.0.1:8480")
	for _, x := range []struct {
		header, value, host, body string
		want                      int
	}{
		{"Origin", "http://10.20.0.5:8480", "10.20.0.5:8480", "name=ann", 200},
		{"Sec-Fetch-Site", "same-origin", "localhost:8480", "name=ann", 200},
		{"", "", "localhost:8480", "name=ann", 200}, // no browser
		{"Origin", "http://evil.example", "10.20.0.5:8480", "name=ann", 403},
		{"Origin", "http://10.20.0.5:8481", "10.20.0.5:8480", "name=ann", 403},
		{"Origin", "null", "10.20.0.5:8480", "name=ann", 403},
		{"Sec-Fetch-Site", "cross-site", "localhost:8480", "name=ann", 403},
		{"Sec-Fetch-Site", "same-site", "localhost:8480", "name=ann", 403},
		{"Origin", "http://evil.example", "evil.example", "name=ann", 421},
		{"Sec-Fetch-Site", "same-origin", "localhost:8480", "name=ann&more=" + strings.Repeat("x", formBytes), 400},
		{"Sec-Fetch-Site", "same-origin", "localhost:8480", "name=ann&more=%zz", 400},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/login", strings.NewReader(x.body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Host, taken = x.host, ""
		if x.header != "" {
			r.Header.Set(x.header, x.value)
		}
		page.ServeHTTP(w, r)
		if w.Code != x.want || (taken == "ann") != (x.want == 200) {
			t.Errorf("%s %s at %s, %d bytes: %d, want %d; taken %q", x.header, x.value, x.host, len(x.body), w.Code, x.want, taken)
		}
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/login", nil))
	if policy := w.Header().Get("Content-Security-Policy"); w.Code != http.StatusMethodNotAllowed || !strings.HasSuffix(policy, "form-action 'self'") {
		t.Errorf("PUT: %d, the policy %s", w.Code, policy)
	}
}

// TestANameThatThePageDoesNotKnowIsTold, once, and of invented ones a few.
func TestANameThatThePageDoesNotKnowIsTold(t *testing.T) {
	server := newDesk(t)
	page := Page(server, front, false, "gauge-box:8480")
	ask := func(host string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		page.ServeHTTP(httptest.NewRecorder(), r)
	}
	hints := func() string {
		s, err := server.Status()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(s.Hints, "\n")
	}
	ask("10.20.0.5:8480")
	ask("gauge-box")
	if said := hints(); strings.Contains(said, "http.hosts") {
		t.Errorf("said of names that it knows: %s", said)
	}
	for range 3 {
		ask("rtu-7.example.com:8480")
	}
	if said := hints(); strings.Count(said, `asked for as "rtu-7.example.com" and not shown`) != 1 {
		t.Errorf("said: %s", said)
	}
	for i := range 100 {
		ask(strings.Repeat("x", i+1) + ".example")
	}
	if n := strings.Count(hints(), "http.hosts"); n != 4 {
		t.Errorf("%d names are told", n)
	}
}
