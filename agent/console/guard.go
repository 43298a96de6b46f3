package console

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// pageHeaders tell a browser that the page is nobody's frame, takes script, style and pictures from files of its own alone, and is
// kept nowhere.
var pageHeaders = map[string]string{
	"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":  "nosniff",
	"X-Frame-Options":         "DENY",
	"Referrer-Policy":         "no-referrer",
	"Cache-Control":           "no-store",
}

// guard lets only those ask that use a name of this box, with GET and HEAD. A strange name is how a web site of somebody else
// reads the page in a visitor's browser, which takes the site's name for the box (DNS rebinding).
func guard(names []string, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range pageHeaders {
			w.Header().Set(name, value)
		}
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "The status page only shows: ask with GET or HEAD.", http.StatusMethodNotAllowed)
		case !knows(names, r.Host):
			http.Error(w, fmt.Sprintf("Nobody has said that this box is called %q. Ask by its IP address, or write the name to http.hosts in the configuration.", r.Host), http.StatusMisdirectedRequest)
		default:
			page.ServeHTTP(w, r)
		}
	})
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
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(host, ".")
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || host == "" {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(strings.TrimSuffix(name, "."), host) })
}
