package console

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
)

// pageHeaders tell a browser that the page is nobody's frame, takes script, style and pictures from files of its own alone, and is
// kept nowhere. Browsers say where a form comes from only to whom they say where a link comes from: same-origin.
var pageHeaders = map[string]string{
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options":        "DENY",
	"Referrer-Policy":        "same-origin",
	"Cache-Control":          "no-store",
}

// policy of a page's content, but for where its forms may go.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action "

// guard lets only those ask that use a name of this box, with GET and HEAD, and where the page takes forms with POST from pages of its
// own. A strange name is how a web site of somebody else reads the page in a visitor's browser, which takes the site's name for
// the box (DNS rebinding).
func guard(names []string, forms bool, denied func(host string), page http.Handler) http.Handler {
	action, methods, own := "'none'", "GET, HEAD", http.NewCrossOriginProtection()
	if forms {
		action, methods = "'self'", "GET, HEAD, POST"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range pageHeaders {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Security-Policy", policy+action)
		post := forms && r.Method == http.MethodPost
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !post:
			w.Header().Set("Allow", methods)
			http.Error(w, "The status page does not take this: ask with "+methods+".", http.StatusMethodNotAllowed)
			return
		case !knows(names, r.Host):
			denied(hostOf(r.Host))
			http.Error(w, fmt.Sprintf("Nobody has said that this box is called %q. Ask by its IP address, or write the name to http.hosts in the configuration.", r.Host), http.StatusMisdirectedRequest)
			return
		case !post:
		case own.Check(r) != nil:
			http.Error(w, "This form comes from another site; nothing was done. Open the status page itself.", http.StatusForbidden)
			return
		default:
			if err := readForm(w, r); err != nil {
				http.Error(w, "The form could not be read, and nothing was done: "+err.Error(), http.StatusBadRequest)
				return
			}
		}
		page.ServeHTTP(w, r)
	})
}

// formBytes are the most that a form of the page may be long.
const formBytes = 16 << 10

// readForm reads what is posted, within the time that a request's head may take.
func readForm(w http.ResponseWriter, r *http.Request) error {
	defer comes(r)()
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(headTime)) // a connection that takes none is closed, and says so when it is read
	r.Body = http.MaxBytesReader(w, r.Body, formBytes)
	err := r.ParseForm()
	_ = conn.SetReadDeadline(time.Time{})
	return err
}

// pageNames are the names of the box: the configuration's, that under which it listens, and its own, which nobody outside of the
// local network can have.
func pageNames(listen string, hosts []string) []string {
	names := append([]string{"localhost"}, hosts...)
	if host, _, err := net.SplitHostPort(listen); err == nil {
		names = append(names, host)
	}
	if own, err := os.Hostname(); err == nil {
		names = append(names, own, own+".local")
	}
	return names
}

// knows says whether a Host header is an IP address or one of the names; one who sends none is no browser.
func knows(names []string, host string) bool {
	host = hostOf(host)
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || host == "" {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(strings.TrimSuffix(name, "."), host) })
}

// hostOf is the name in a Host header, without port and final dot.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(host, ".")
}
