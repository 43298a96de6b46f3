package bundle

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestHidingLeavesJSONValid: a secret in a free text, quoted or not, takes nothing of what is around it along.
func TestHidingLeavesJSONValid(t *testing.T) {
	const secret = "hunter2hunter2"
	h := NewHider([]string{"some other secret"})
	for _, text := range []string{"token=" + secret, `say "token=` + secret + `" twice`, `password: "` + secret + `"`, `password: "` + secret, "secret='" + secret, `api_key=` + secret + `\`,
		`api_key=a\` + secret, "Authorization: Bearer " + secret + "\nnext", `{"token":"` + secret + `"}`, `{"token":{"x":"token=` + secret + `"}}`} {
		whole, err := json.Marshal(map[string]any{"note": text, "password": secret, "secret": 1234567, "z": "it's"})
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Hide(string(whole)); !json.Valid([]byte(got)) || strings.Contains(got, secret) || strings.Contains(got, "1234567") || !strings.Contains(got, `"z":"it's"`) {
			t.Errorf("%s\nbecomes\n%s", whole, got)
		}
	}
}
