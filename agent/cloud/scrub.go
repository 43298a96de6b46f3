package cloud

import (
	"strings"

	"gauger/agent/cloud/keys"
)

const piece = 8 // bytes of a secret in a row that must not show

// Scrub hides the given secrets in a text that came from outside, and every piece of them: a text may have been cut in the
// middle of a key, or tell only how it begins. Small and capital letters are the same.
func Scrub(text string, secrets []keys.Secret) string {
	pieces := map[string]bool{}
	for _, s := range secrets {
		if len(s) >= 4 && len(s) < piece {
			text = strings.ReplaceAll(text, string(s), "(hidden)")
		}
		low := lower(string(s))
		for i := range max(0, len(low)-piece+1) {
			pieces[low[i:i+piece]] = true
		}
	}
	low := lower(text)
	var out strings.Builder
	kept, until := 0, -1 // what is written to out; where the pieces found so far end
	for i := range max(0, len(low)-piece+1) {
		if !pieces[low[i:i+piece]] {
			continue
		}
		if i > until { // else it goes on
			out.WriteString(text[kept:i])
			out.WriteString("(hidden)")
		}
		until = i + piece
		kept = until
	}
	return out.String() + text[kept:]
}

// lower makes the plain capital letters of a text small and leaves every byte in its place.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
