package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"gauger/agent/cloud/keys"
)

func TestSecretsDoNotPrint(t *testing.T) {
	const value = "s3cr3t-value-of-a-key"
	s := keys.Secret(value)
	l := Login{AuthRequest{UserName: "pat", PasswordHash: s, Token: s, APIKey: s}, s}
	things := []any{s, &s, l, &l, keys.Seeds{Primary: s, Secondary: s}, []keys.Secret{s}, map[string]keys.Secret{"a": s}, AuthResult{Primary: keys.Grant{Key: s}, IDToken: s}, keys.Grant{Key: s}}
	ring, err := keys.Open("", keys.Seeds{Primary: s, Secondary: s})
	if err != nil {
		t.Fatal(err)
	}
	things = append(things, ring, ring.Status())
	for _, thing := range things {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%08b", "%t", "%c"} {
			shown := fmt.Sprintf(verb, thing)
			if strings.Contains(shown, value) || strings.Contains(strings.ToLower(shown), fmt.Sprintf("%x", value)) {
				t.Errorf("%s of %T shows the key: %s", verb, thing, shown)
			}
		}
		if thing == any(ring) {
			continue // JSON cannot hold it
		}
		b, err := json.Marshal(thing)
		if err != nil || bytes.Contains(b, []byte(value)) {
			t.Errorf("JSON of %T: %s, %v", thing, b, err)
		}
	}
	// printf 's3cr3t-value-of-a-key' | sha256sum
	if s.Fingerprint() != "fbe818a7" || keys.Secret("").Fingerprint() != "none" {
		t.Errorf("fingerprints: %s, %s", s.Fingerprint(), keys.Secret("").Fingerprint())
	}
}

// TestNoKeyInAnyText lets the service and the network repeat the key wherever they can.
func TestNoKeyInAnyText(t *testing.T) {
	echo := func(status int) tripper {
		return func(r *http.Request) (*http.Response, error) {
			key := r.Header.Get(keyHeader)
			escaped := strings.ReplaceAll(key, "-", `\u002d`)
			return &http.Response{
				StatusCode: status,
				Header:     http.Header{"Location": {"https://x/?k=" + key}, "X-Correlation-Id": {key}},
				Body:       io.NopCloser(strings.NewReader(`{"message":"bad key ` + key + `","errorDescription":"` + escaped + `","subscriptionKey":17,"k":"` + key + `"}`)),
			}, nil
		}
	}
	var texts []string
	for _, transport := range []tripper{echo(200), echo(301), echo(400), echo(401), echo(403), echo(500), func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("proxy said no to %s", r.Header.Get(keyHeader))
	}} {
		c := clientOf(t, "https://api.example.com", func(o *Options) {
			o.Transport = transport
			o.Login = &Login{AuthRequest{UserName: "pat", PasswordHash: "pass-word-hash"}, "login-subscription-key"}
		})
		c.ring.Notify = func(n keys.Note) { texts = append(texts, fmt.Sprintf("%+v", n)) }
		texts = append(texts, fmt.Sprintf("%+v", post(t, c)))
		_, err1 := c.RenewAPIKey(t.Context(), keys.Primary)
		_, err2 := c.QueryDevices(t.Context(), DeviceQuery{})
		_, err3 := c.Authenticate(t.Context(), *c.login)
		err4 := Save(t.Context(), c, SaveRunTickets, "", Wire.EncodeRunTicket, someTicket())
		for _, err := range []error{err1, err2, err3, err4} {
			if e, ok := errors.AsType[*Error](err); ok {
				texts = append(texts, fmt.Sprintf("%+v", e.Answer))
			}
			texts = append(texts, fmt.Sprint(err))
		}
		texts = append(texts, fmt.Sprintf("%+v", c.ring.Status()))
	}
	all := strings.Join(texts, "\n")
	for _, secret := range []string{testKey, "pass-word-hash", "login-subscription-key"} {
		if i := strings.Index(all, secret); i >= 0 {
			t.Errorf("%s shows in ...%s", secret, all[max(0, i-200):i+len(secret)])
		}
	}
	if !strings.Contains(all, "(hidden)") {
		t.Error("nothing was hidden, so that nothing was tried")
	}
}

// TestScrub: no eight bytes of a secret in a row are left, and nothing else is lost.
func TestScrub(t *testing.T) {
	secrets := []keys.Secret{"0123456789abcdef0123456789ABCDEF", "shorty", "", "abc"}
	for text, want := range map[string]string{
		"":                                      "",
		"nothing to hide":                       "nothing to hide",
		"key 0123456789abcdef0123456789abcdef.": "key (hidden).",
		"KEY 0123456789ABCDEF0123456789ABCDEF":  "KEY (hidden)",
		"begins with 0123456789ab":              "begins with (hidden)",
		"and ends with 89abcdef":                "and ends with (hidden)",
		"01234567":                              "(hidden)",
		"0123456 is too short to tell":          "0123456 is too short to tell",
		"a shorty one, abc":                     "a (hidden) one, abc",
		"01234567 and cdef0123 é":               "(hidden) and (hidden) é",
		"012345678 next":                        "(hidden) next",
	} {
		if got := Scrub(text, secrets); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("x", 490) + string(secrets[0])
	if got := parseErrorBody([]byte(`{"message":"` + long + `"}`)).scrubbed(secrets).Message; strings.Contains(got, "01234567") {
		t.Errorf("half a key at the end of a message that is cut: %q", got)
	}
}
