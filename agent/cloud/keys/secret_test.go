package keys

import (
	"strings"
	"testing"
)

func TestUnusableKeys(t *testing.T) {
	for _, key := range []Secret{"a b", "a\n", "schlüssel", Secret(strings.Repeat("x", 1025))} {
		ring, err := Open("", Seeds{Primary: key, Secondary: testKey})
		if err != nil || len(ring.Status()) != 1 || len(ring.found) != 1 {
			t.Fatalf("%d characters: %v, %+v", len(key), err, ring)
		}
		if strings.Contains(ring.found[0].Text, string(key)) {
			t.Errorf("%d characters: the key is told: %+v", len(key), ring.found)
		}
		if _, err := ring.Seed(Seeds{Primary: key}); err == nil || strings.Contains(err.Error(), string(key)) {
			t.Errorf("%d characters: %v", len(key), err)
		}
	}
}
