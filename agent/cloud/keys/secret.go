package keys

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
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

// Usable says why a key cannot be a header's value; nil when it can.
func (s Secret) Usable() error {
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
