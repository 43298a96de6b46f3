package cloud

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// webPage says that an answer is one for a browser: a maintenance page, a gateway's, or that of a proxy which inspects TLS.
// The service speaks JSON. An answer without a body is no page, whatever its type.
func webPage(h http.Header, body []byte) bool {
	said := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff")))
	if len(said) == 0 {
		return false
	}
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return said[0] == '<' || strings.EqualFold(strings.TrimSpace(media), "text/html")
}

// aboutPage says what stood there instead of the service.
func aboutPage(p reply) string {
	return fmt.Sprintf("%d %s with a web page%s, which is not the service's answer: a maintenance page, a gateway or a proxy; "+
		"look at service.url and at what stands between (wire.accept_html, if the service itself answers so)",
		p.status, http.StatusText(p.status), pageTitle(p.body))
}

// pageTitle is the title of a page in quotes; without one, how its text begins.
func pageTitle(body []byte) string {
	text := string(body[:min(len(body), 4*loggedBody)])
	lower := strings.ToLower(text)
	if at := strings.Index(lower, "<title"); at >= 0 && len(lower) == len(text) { // else the places differ
		text, _, _ = strings.Cut(text[at:], "</")
	}
	title := strings.Join(strings.Fields(clean(withoutTags(text))), " ")
	if title == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", cut(title, 100))
}

// withoutTags leaves out what stands between < and >.
func withoutTags(text string) string {
	var b strings.Builder
	for text != "" {
		words, tag, _ := strings.Cut(text, "<")
		b.WriteString(words + " ")
		_, text, _ = strings.Cut(tag, ">")
	}
	return b.String()
}
