package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// Secret is a key, a token or a password hash. However it is printed or marshalled, only a fingerprint shows;
// string(s) is the one way to the value.
type Secret string

// Fingerprint is the first eight hex digits of the SHA-256 of the value, or "none": enough to compare two keys.
func (s Secret) Fingerprint() string {
	if s == "" {
		return "none"
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// String is the fingerprint with a mark, never the value.
func (s Secret) String() string { return "secret:" + s.Fingerprint() }

// Format prints the same under every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, s.String()) // a print that fails has nowhere to say so
}

// MarshalText gives the fingerprint, so that no JSON or YAML writer shows the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// usable says why a key cannot be a header's value; nil when it can.
func (s Secret) usable() error {
	if s == "" {
		return fmt.Errorf("it is empty")
	}
	if len(s) > 1024 {
		return fmt.Errorf("it is longer than 1024 characters")
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return fmt.Errorf("character %d is a space or no plain character", i+1)
		}
	}
	return nil
}

// piece is how many bytes of a secret in a row must not show.
const piece = 8

// scrub hides the given secrets in a text that came from outside, and every piece of them: a text may have been cut in the
// middle of a key, or tell only how it begins. Small and capital letters are the same.
func scrub(text string, secrets []Secret) string {
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
