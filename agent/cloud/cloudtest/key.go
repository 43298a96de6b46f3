package cloudtest

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

const keyHeader = "Ocp-Apim-Subscription-Key"

// keyValue is one value of a slot, from when and until when it is accepted.
type keyValue struct {
	value       string
	from, until time.Time
}

// KeyInfo is a key's newest value and when it expires.
type KeyInfo struct {
	Slot, Value string
	Active      time.Time // accepted from then on
	Expires     time.Time
}

// User may log in with the fields that are not empty here; they must all be given as they stand here.
type User struct {
	AuthenticationType, CustomerGUID, UserName, PasswordHash, Token, APIKey, Feature string
	Result                                                                           int  // answered as result
	NotLoggedIn                                                                      bool // answers isLoggedIn false
}

var slotNames = [2]string{"primary", "secondary"}

// open gives the two configured keys their first life.
func (s *Service) open() {
	if s.opened {
		return
	}
	s.opened = true
	now := time.Now()
	until := s.keyEnd(now)
	for slot, value := range [2]string{s.PrimaryKey, s.SecondaryKey} {
		if value != "" {
			s.keys[slot] = []keyValue{{value, now, until}}
		}
	}
}

// whose says which key the header carries; "" when it is none that is accepted now.
func (s *Service) whose(header []string, op string) string {
	s.open()
	if len(header) != 1 || header[0] == "" {
		return ""
	}
	if op == "Authenticate" && s.LoginKey != "" && header[0] == s.LoginKey {
		return "login"
	}
	if len(s.keys[0])+len(s.keys[1]) == 0 {
		return "any"
	}
	now := time.Now()
	for slot, refused := range [2]bool{s.RefusePrimary, s.RefuseSecondary} {
		for _, k := range s.keys[slot] {
			if !refused && k.value == header[0] && !now.Before(k.from) && now.Before(k.until) {
				return slotNames[slot]
			}
		}
	}
	return ""
}

// renew gives the named key six months from now, and a new value when Rotate says so.
func (s *Service) renew(c *Call, args []string) (any, error) {
	if len(c.Query) > 0 {
		return nil, invalid("RenewAPIKey has no query")
	}
	slot := 0
	switch args[0] {
	case "primary":
	case "secondary":
		slot = 1
	default:
		return nil, invalid("keytype %q is neither primary nor secondary", args[0])
	}
	if c.Key == "any" {
		return s.renewal(c.Header.Get(keyHeader), c.At.AddDate(0, 6, 0)), nil
	}
	if len(s.keys[slot]) == 0 {
		return nil, invalid("there is no %s key", args[0])
	}
	k := s.extend(slot, c.At)
	return s.renewal(k.value, k.until), nil
}

func (s *Service) extend(slot int, now time.Time) keyValue {
	newest := &s.keys[slot][len(s.keys[slot])-1]
	until := s.keyEnd(now)
	if !s.Rotate {
		newest.until = until
		return *newest
	}
	kept := s.keys[slot][:0]
	for _, k := range s.keys[slot] {
		if k.until.After(now) {
			k.until = minTime(k.until, now.Add(max(s.Grace, 0)))
			kept = append(kept, k)
		}
	}
	s.serial++
	k := keyValue{fmt.Sprintf("%s-key-%06d", slotNames[slot], s.serial), now.Add(s.Activation), until}
	s.keys[slot] = append(kept, k)
	return k
}

// keyEnd is the expiry of a key that is given or renewed now.
func (s *Service) keyEnd(now time.Time) time.Time {
	if s.KeyLife > 0 {
		return now.Add(s.KeyLife)
	}
	return now.AddDate(0, 6, 0)
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (s *Service) renewal(value string, until time.Time) map[string]string {
	return map[string]string{"subscriptionKey": value, "expirationDate": s.expiry(until)}
}

func (s *Service) expiry(t time.Time) string {
	return t.UTC().Format(cmp.Or(s.ExpiryLayout, time.RFC3339))
}

// SetKey replaces a key at the service, as a person in its portal would. slot is primary or secondary.
func (s *Service) SetKey(slot, value string, expires time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open()
	for i, name := range slotNames {
		if name == slot {
			s.keys[i] = []keyValue{{value, time.Now(), expires}}
		}
	}
}

// Keys gives the newest value of each key.
func (s *Service) Keys() []KeyInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open()
	var out []KeyInfo
	for slot, values := range s.keys {
		if len(values) > 0 {
			k := values[len(values)-1]
			out = append(out, KeyInfo{slotNames[slot], k.value, k.from, k.until})
		}
	}
	return out
}

// authenticate compares the given fields with those of the users.
func (s *Service) authenticate(c *Call, _ []string) (any, error) {
	names := []string{"authenticationType", "customerGuid", "userName", "passwordHash", "token", "apiKey", "feature"}
	fields, err := members(c.Body, "login", nil, names)
	if err != nil {
		return nil, err
	}
	r := reader{what: "login", fields: fields}
	given := map[string]string{}
	for _, name := range names {
		given[name] = r.text(name)
	}
	if r.err != nil {
		return nil, r.err
	}
	for _, u := range s.Users {
		if u.is(given) {
			return s.loggedIn(u), nil
		}
	}
	return nil, refuse(http.StatusUnauthorized, "Unauthorized")
}

// is compares what the user must give; a user without anything is nobody.
func (u User) is(given map[string]string) bool {
	asked := 0
	for name, want := range map[string]string{
		"authenticationType": u.AuthenticationType, "customerGuid": u.CustomerGUID, "userName": u.UserName,
		"passwordHash": u.PasswordHash, "token": u.Token, "apiKey": u.APIKey, "feature": u.Feature,
	} {
		if want != "" && given[name] != want {
			return false
		}
		asked += len(want)
	}
	return asked > 0
}

func (s *Service) loggedIn(u User) map[string]any {
	m := map[string]any{
		"result": u.Result, "userName": u.UserName, "isLoggedIn": !u.NotLoggedIn,
		"customers":             []map[string]string{{"id": cmp.Or(u.CustomerGUID, "1"), "name": "Customer"}},
		"authenticatedCustomer": cmp.Or(u.CustomerGUID, "1"),
		"idToken":               "id-token-of-" + u.UserName,
	}
	for slot, values := range s.keys {
		if len(values) > 0 && !u.NotLoggedIn {
			k := values[len(values)-1]
			m[slotNames[slot]+"ApiKey"], m[slotNames[slot]+"ApiKeyExpiration"] = k.value, s.expiry(k.until)
		}
	}
	return m
}
