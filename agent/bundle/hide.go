package bundle

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
)

// Hider hides secrets in texts.
type Hider struct{ forms []keys.Secret }

// NewHider hides these secrets besides what looks like one.
func NewHider(secrets []string) *Hider {
	h := &Hider{}
	for _, s := range secrets {
		for _, form := range formsOf(s) {
			h.forms = append(h.forms, keys.Secret(form))
		}
	}
	return h
}

// shortForm is the length from which a secret is looked for in other forms than its own: of a shorter one they would be
// everywhere.
const shortForm = 8

// formsOf a secret: as it is, quoted, in a URL, in hexadecimal, and in base64 at whichever place of a longer text it stood.
func formsOf(s string) []string {
	quoted := strconv.Quote(s)
	forms := []string{s, quoted[1 : len(quoted)-1], url.QueryEscape(s), url.PathEscape(s)}
	if len(s) < shortForm {
		return forms
	}
	forms = append(forms, hex.EncodeToString([]byte(s)))
	for before := range 3 {
		text := append(make([]byte, before), s...)
		for _, code := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			whole := code.EncodeToString(text[:len(text)/3*3]) // what a neighbour changes is left away
			forms = append(forms, whole[(before*8+5)/6:])
		}
	}
	return forms
}

// pattern is made when it is first asked for: every start of the program would pay for it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Words after which a secret stands. What says where one is kept is none.
var (
	words = []string{"passw", "passphrase", "passwd", "secret", "token", "apikey", "api_key", "api-key", "authorization", "cookie", "subscription", "pwd", "sig",
		"primary", "secondary", "private", "shared", "access", "hash"}
	after = pattern(`(?i)((?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|authorization|cookie|(?:primary|secondary|subscription|private|shared|access)[_-]?key|` +
		`password[_-]?hash|signature|\bpwd|\bsig)[a-z0-9_-]*\\?["']?\s*[:=]\s*)(\\"(?:[^"\\]|\\[^"])*(?:\\")?|"(?:[^"\\]|\\.)*"|'(?:[^'"\\]|\\[^"])*'?|(?:(?:bearer|basic|digest)\s+)?(?:[^\s,;&"'\\}\]]|\\[^"])(?:[^\s,;&"'\\}\]]|\\[^"])*)`)
	bareValue = pattern(`[^\\]"\s*:\s*$`) // behind a key of JSON
	inURL     = pattern(`(://)[^@\s"'<>]+@`)
	scheme    = pattern(`(?i)\b((?:bearer|basic)\s+)[a-z0-9+/=._~-]{8,}`)
	private   = pattern(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)
	// Where a secret is kept, and what is too short for one.
	harmless = pattern(`^["']?(\{.*|\(hidden\).*|null|true|false|[0-9]{1,3}|~|-|[|>][+-]?)["']?$`)
)

// Hide is a text without secrets.
func (h *Hider) Hide(text string) string {
	text = private().ReplaceAllString(text, "(hidden)")
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(hideInLine(line))
	}
	return cloud.Scrub(b.String(), h.forms)
}

// hideInLine looks for the words first: a bundle has a hundred thousand lines, and a small box a slow processor.
func hideInLine(line string) string {
	if strings.Contains(line, "://") && strings.Contains(line, "@") {
		line = inURL().ReplaceAllString(line, "${1}(hidden)@")
	}
	low := strings.ToLower(line)
	if strings.Contains(low, "bearer") || strings.Contains(low, "basic") {
		line = scheme().ReplaceAllString(line, "${1}(hidden)")
	}
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) }) {
		return line
	}
	return after().ReplaceAllStringFunc(line, func(found string) string {
		at := after().FindStringSubmatchIndex(found)
		value, mark := found[at[4]:], ""
		switch {
		case harmless().MatchString(value):
			return found
		case strings.HasPrefix(value, `\"`) && strings.HasSuffix(value[2:], `\"`): // what is JSON stays JSON
			mark = `\"`
		case strings.HasPrefix(value, `\"`):
			return found[:at[4]] + `\"(hidden)`
		case strings.HasPrefix(value, `'`):
			mark = `'`
		case strings.HasPrefix(value, `"`), bareValue().MatchString(found[:at[4]]):
			mark = `"`
		}
		return found[:at[4]] + mark + "(hidden)" + mark
	})
}

// HideLines is a configuration that nobody can parse, without what its keys say whose names are a secret's, and what stands further
// in below them.
func HideLines(text string) string {
	var b strings.Builder
	under := -1
	for line := range strings.Lines(text) {
		in := len(line) - len(strings.TrimLeft(line, " \t-#"))
		if under >= 0 && (in > under || strings.TrimSpace(line) == "") {
			continue
		}
		under = -1
		if at := secretKey().FindStringIndex(line); at != nil {
			under = in
			line = line[:at[1]] + " (hidden)\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

var secretKey = pattern(`(?i)[a-z0-9_.-]*(pass|pwd|secret|token|key|hash|auth|cookie|login|header)[a-z0-9_. -]*["']?\s*:?`)
