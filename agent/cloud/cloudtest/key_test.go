package cloudtest

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"
)

// accepts says whether the service takes a key now.
func accepts(t *testing.T, s *Service, key string) bool {
	t.Helper()
	status, _ := ask(t, s, "GET", "/v1/query-devices", "", keyHeader, key)
	return status == 200
}

func renewal(t *testing.T, s *Service, slot, with string) (value string, expires time.Time) {
	t.Helper()
	status, body := ask(t, s, "GET", "/v1/apikey/"+slot+"/renew", "", keyHeader, with)
	var got struct {
		SubscriptionKey string
		ExpirationDate  time.Time
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	return got.SubscriptionKey, got.ExpirationDate
}

func TestKeysLiveSixMonths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Service{PrimaryKey: "p", SecondaryKey: "s"}
		begin := time.Now()
		end := begin.AddDate(0, 6, 0)
		for key, want := range map[string]bool{"p": true, "s": true, "x": false, "": false} {
			if accepts(t, s, key) != want {
				t.Errorf("at the start: key %q", key)
			}
		}
		<-time.After(end.Sub(begin) - time.Second)
		if !accepts(t, s, "p") {
			t.Error("a second before the end")
		}
		value, expires := renewal(t, s, "secondary", "p")
		if want := time.Now().AddDate(0, 6, 0); value != "s" || expires.Sub(want).Abs() >= time.Second {
			t.Errorf("renewed to %s until %v, want %v", value, expires, want)
		}
		<-time.After(time.Second)
		if accepts(t, s, "p") || !accepts(t, s, "s") {
			t.Error("at the end")
		}
		renewal(t, s, "primary", "s")
		if !accepts(t, s, "p") {
			t.Error("an expired key was renewed with the other one")
		}
	})
}

func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Service{PrimaryKey: "p", SecondaryKey: "s", Rotate: true, Activation: 5 * time.Minute, Grace: 10 * time.Minute}
		value, _ := renewal(t, s, "primary", "s")
		if value == "p" || accepts(t, s, value) || !accepts(t, s, "p") {
			t.Errorf("at once: %s", value)
		}
		<-time.After(5 * time.Minute)
		if !accepts(t, s, value) || !accepts(t, s, "p") {
			t.Error("after the activation")
		}
		<-time.After(5 * time.Minute)
		if !accepts(t, s, value) || accepts(t, s, "p") {
			t.Error("after the grace")
		}
		if k := s.Keys(); len(k) != 2 || k[0].Value != value || k[1].Value != "s" {
			t.Errorf("%+v", k)
		}
	})
}

func TestUsers(t *testing.T) {
	s := &Service{PrimaryKey: "p", LoginKey: "l", ExpiryLayout: "2006-01-02", Users: []User{{UserName: "pat", PasswordHash: "h", CustomerGUID: guid, Result: 4}}}
	cases := []struct {
		key, body string
		want      int
	}{
		{"p", `{"userName":"pat","passwordHash":"h","customerGuid":"` + guid + `","feature":"f"}`, 200},
		{"l", `{"userName":"pat","passwordHash":"h","customerGuid":"` + guid + `"}`, 200},
		{"p", `{"userName":"pat","passwordHash":"H","customerGuid":"` + guid + `"}`, 401},
		{"p", `{"userName":"pat","passwordHash":"h"}`, 401},
		{"x", `{"userName":"pat","passwordHash":"h","customerGuid":"` + guid + `"}`, 401},
		{"p", `{"userName":null}`, 400},
	}
	for _, c := range cases {
		status, body := ask(t, s, "POST", "/vAlpha/authenticate", c.body, keyHeader, c.key)
		if status != c.want {
			t.Errorf("%s with %s: %d %s", c.body, c.key, status, body)
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if _, err := time.Parse("2006-01-02", toText(got["primaryApiKeyExpiration"])); status == 200 && (err != nil || got["primaryApiKey"] != "p" || got["isLoggedIn"] != true || got["result"] != 4.0 || got["idToken"] == "") {
			t.Errorf("%s", body)
		}
	}
	if accepts(t, s, "l") {
		t.Error("the login's key is good for more than the login")
	}
}

func toText(v any) string {
	s, _ := v.(string)
	return s
}
