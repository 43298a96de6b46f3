package console

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gauger/agent/control"
)

// asked gives one request, as it comes on a connection, to a handler: whatever it is, it is answered, and no key shows.
func asked(t *testing.T, h http.Handler, raw []byte) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // streams go on until they are left
	defer cancel()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r.WithContext(ctx))
	if w.Body.Len() > 8<<20 || strings.Contains(w.Body.String(), "a-key-that-must-not-show") {
		t.Errorf("%d with %d bytes: %.300s", w.Code, w.Body.Len(), w.Body)
	}
}

func FuzzPage(f *testing.F) {
	for _, line := range []string{"GET / HTTP/1.1\r\nHost: 127.0.0.1:8480", "GET /metrics HTTP/1.1\r\nHost: localhost", "GET /healthz HTTP/1.0", "HEAD / HTTP/1.1\r\nHost: [::1]:8480",
		"GET http://evil/ HTTP/1.1\r\nHost: evil", "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\nabc", "GET //../%2e HTTP/1.1\r\nHost: 127.0.0.1"} {
		f.Add([]byte(line + "\r\n\r\n"))
	}
	h := Page(newDesk(f), front, false, "127.0.0.1:8480")
	f.Fuzz(func(t *testing.T, raw []byte) { asked(t, h, raw) })
}

func FuzzSocket(f *testing.F) {
	desk := newDesk(f)
	for name, args := range map[string]string{
		"status": `{}`, "tickets.list": `{"from":"2026-03-02T00:00:00Z","limit":-1}`, "tickets.edit": `{"number":"TEST-1","bsw":1e309}`,
		"tickets.add": `{"tank":"TK-1","start":"2026-03-02T12:00:00Z","open":171.5,"close":20}`, "outbox.list": `{"stream":"tickets","after":18446744073709551615}`,
		"queue": `{"stream":"memos","address":"1","body":{"text":"x"}}`, "tanks.inhibit": `{"tank":"TK-1","for":9223372036854775807}`, "book": `{"from":"x"}`,
		"keys.set": `{"slot":"primary","key":"\u0000"}`, "nothing": `null`, "proof": `[]`,
	} {
		f.Add(name, []byte(args))
	}
	h := Control(desk)
	f.Fuzz(func(t *testing.T, name string, args []byte) {
		r, err := http.NewRequest(http.MethodPost, "http://gauger/", bytes.NewReader(args))
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Path = "/" + name
		ctx, cancel := context.WithTimeout(control.WithCaller(t.Context(), control.Caller{UID: 70001, Name: "ann"}), 20*time.Millisecond)
		defer cancel()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(ctx))
		if w.Body.Len() > 8<<20 || strings.Contains(w.Body.String(), "a-key-that-must-not-show") {
			t.Errorf("%s: %d with %d bytes: %.300s", name, w.Code, w.Body.Len(), w.Body)
		}
	})
}
