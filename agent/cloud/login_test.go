package cloud

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
)

func TestForbiddenIsNotRenewed(t *testing.T) {
	s := &cloudtest.Service{Users: []cloudtest.User{{UserName: "pat"}}}
	c := keyed(t, "", s, func(o *Options) { o.Login = &Login{AuthRequest: AuthRequest{UserName: "pat"}} })
	s.Next(cloudtest.Fault{Status: 403}, cloudtest.Fault{Status: 403})
	a := postTicket(t, c, "T-1")
	if a.Class != Unauthorized || a.Status != 403 {
		t.Errorf("%+v", a)
	}
	if len(s.Calls()) != 2 || s.Count("SaveRunTickets") != 2 {
		t.Errorf("%d requests, of which %d with a ticket", len(s.Calls()), s.Count("SaveRunTickets"))
	}
	if st := c.ring.Status(); st[0].State == "refused" || st[1].State == "refused" {
		t.Errorf("a key was blamed for a missing right: %+v", st)
	}
}

func TestLoginThatIsNone(t *testing.T) {
	s := &cloudtest.Service{Users: []cloudtest.User{{UserName: "pat", NotLoggedIn: true}, {UserName: "sam", Result: 3}}}
	c := keyed(t, "", s)
	login := func(user string) error {
		_, err := c.Authenticate(t.Context(), Login{AuthRequest: AuthRequest{UserName: user}})
		return err
	}
	if err := login("pat"); err == nil || !strings.Contains(err.Error(), "not logged in") {
		t.Errorf("isLoggedIn false: %v", err)
	}
	if err := login("sam"); err != nil {
		t.Errorf("result 3 with no rule: %v", err)
	}
	c.wire.ResultOK = []int{0, 1}
	if err := login("sam"); err == nil || !strings.Contains(err.Error(), "result 3") {
		t.Errorf("result 3 against [0 1]: %v", err)
	}
	if err := login("nobody"); err == nil { // asked with both keys
		t.Error("an unknown user was logged in")
	}
	if err := login(""); err == nil || s.Count("Authenticate") != 5 {
		t.Errorf("an empty login: %v", err)
	}
}

func TestTokenInHeaders(t *testing.T) {
	s := &cloudtest.Service{Users: []cloudtest.User{{UserName: "pat"}}}
	c := keyed(t, "", s, func(o *Options) {
		o.Wire.Headers = map[string]string{"Authorization": "Bearer {idToken}", "X-Site": "cooper"}
	})
	postTicket(t, c, "T-1")
	if _, err := c.Authenticate(t.Context(), Login{AuthRequest: AuthRequest{UserName: "pat"}}); err != nil {
		t.Fatal(err)
	}
	postTicket(t, c, "T-2")
	calls := s.Calls()
	if _, early := calls[0].Header["Authorization"]; early || calls[0].Header.Get("X-Site") != "cooper" {
		t.Errorf("before the login: %v", calls[0].Header)
	}
	if got := calls[2].Header.Get("Authorization"); got != "Bearer id-token-of-pat" {
		t.Errorf("after the login: %q", got)
	}
}

// TestSecretHeaders are read for each request, sent, and hidden where the service repeats them; without one nothing is sent.
func TestSecretHeaders(t *testing.T) {
	const literal, given = "Basic bGl0ZXJhbC1zZWNyZXQ", "Bearer referenced-secret-1"
	var missing error
	s := &cloudtest.Service{}
	c := keyed(t, "", s, func(o *Options) {
		o.Wire.Headers = map[string]string{"X-Old": literal}
		o.SecretHeaders = func() (map[string]keys.Secret, error) {
			return map[string]keys.Secret{"Authorization": given}, missing
		}
	})
	s.Next(cloudtest.Fault{Status: 400, Body: `{"message":"not with ` + given + ` and ` + literal + `"}`})
	a := postTicket(t, c, "T-1")
	if h := s.Calls()[0].Header; h.Get("Authorization") != given || h.Get("X-Old") != literal {
		t.Errorf("sent: %v", h)
	}
	if strings.Contains(a.Message+a.Body, "referenced") || strings.Contains(a.Message+a.Body, "bGl0ZXJhbC") {
		t.Errorf("shown: %q, %q", a.Message, a.Body)
	}
	missing = errors.New("no such file")
	if a := postTicket(t, c, "T-2"); a.Class != Wait || s.Count("SaveRunTickets") != 1 || !strings.Contains(a.Message, "no such file") {
		t.Errorf("without it: %+v after %d requests", a, s.Count("SaveRunTickets"))
	}
}

func TestWhatAPersonSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := keyed(t, "", &cloudtest.Service{}, func(o *Options) { o.Login = &Login{AuthRequest: AuthRequest{UserName: "pat"}} })
		if c.Login().UserName != "pat" || c.Keys().Hasty(keys.Secondary) != "" {
			t.Errorf("%+v, %q", c.Login(), c.Keys().Hasty(keys.Secondary))
		}
		if _, err := c.RenewAPIKey(t.Context(), keys.Primary); err != nil {
			t.Fatal(err)
		}
		if why := c.Keys().Hasty(keys.Secondary); !strings.Contains(why, "a day") {
			t.Errorf("%q", why)
		}
		st := c.Keys().Status()
		now, week := time.Now(), 7*24*time.Hour
		if len(st) != 2 {
			t.Fatalf("%+v", st)
		}
		for what, right := range map[string]bool{
			"slot":                  st[0].Slot == "primary",
			"fingerprint":           st[0].Fingerprint == keys.Secret(testKey).Fingerprint(),
			"source":                st[0].Source == "file",
			"renewed":               st[0].Renewed.Equal(now),
			"end":                   st[0].Expires.Sub(now.AddDate(0, 6, 0)).Abs() <= time.Second,
			"said by the service":   !st[0].Assumed,
			"next":                  st[0].Next.Equal(now.Add(week)),
			"next of the secondary": st[1].Next.Equal(now.Add(week / 2)),
		} {
			if !right {
				t.Errorf("%s: %+v", what, st)
			}
		}
	})
}

func TestWhatALoginMaySay(t *testing.T) {
	for body, want := range map[string]string{
		`{"isLoggedIn":true}`: "", `{"result":"7"}`: "", `{"result":"x"}`: "whole number", `[]`: "not the JSON object",
	} {
		_, err := parseAuth([]byte(body), time.Now())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", body, err)
		}
	}
}
