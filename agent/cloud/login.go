package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AuthRequest is the body of Authenticate (interface specification 2.1). Empty fields are not sent.
type AuthRequest struct {
	AuthenticationType string
	CustomerGUID       string
	UserName           string
	PasswordHash       Secret // sent as it is: nothing here hashes
	Token              Secret
	APIKey             Secret
	Feature            string
}

// Login is what Authenticate needs: the body, and the subscription key that the gateway wants to see even then.
type Login struct {
	AuthRequest
	SubscriptionKey Secret // empty: any key of the ring
}

// AuthResult is the answer of Authenticate (interface specification 2.2).
type AuthResult struct {
	Result                int
	UserName              string
	LoggedIn              bool
	Customers             []Customer
	AuthenticatedCustomer string
	PrimaryKey            Secret
	PrimaryExpires        Expiry
	SecondaryKey          Secret
	SecondaryExpires      Expiry
	IDToken               Secret
}

// Customer is a customer that the user may act for.
type Customer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Expiry is when a key ends. The format of the service's text is not shown, so that several are tried.
type Expiry struct {
	Text    string    // as the service wrote it
	At      time.Time // what it means; zero when there is no text
	Assumed bool      // the text could not be read: At is half a year less a day from now
}

// Authenticate logs a user in. It counts as done when the service answers 200, says that the user is logged in,
// gives a key, and the result is one of Wire.ResultOK if any are named. It does not touch the key ring:
// KeyRing.Adopt does.
func (c *Client) Authenticate(ctx context.Context, l Login) (AuthResult, error) {
	body, err := l.encode()
	if err != nil {
		return AuthResult{}, fmt.Errorf("authenticating: %w", err)
	}
	r := request{op: Authenticate, body: body, records: 1}
	keys := []Secret{l.SubscriptionKey}
	if l.SubscriptionKey == "" {
		keys = c.keys.values()
	}
	p := reply{err: errNoKey}
	for _, key := range keys {
		if p = c.exchange(ctx, r, key); p.status != http.StatusUnauthorized {
			break
		}
	}
	if p.status != http.StatusOK || p.page {
		return AuthResult{}, c.failure(r, p)
	}
	result, err := parseAuth(p.body, time.Now())
	if err == nil {
		err = c.loggedIn(result)
	}
	if err != nil {
		return result, &Error{Op: Authenticate, Answer: Answer{Class: Key, Status: p.status, Message: err.Error()}, Cause: err}
	}
	c.mu.Lock()
	c.idToken = result.IDToken
	c.mu.Unlock()
	return result, nil
}

func (c *Client) loggedIn(a AuthResult) error {
	switch {
	case !a.LoggedIn:
		return fmt.Errorf("the service answers that the user is not logged in (result %d); check service.login", a.Result)
	case len(c.wire.ResultOK) > 0 && !slices.Contains(c.wire.ResultOK, a.Result):
		return fmt.Errorf("the service answers result %d, which is not one of wire.result_ok", a.Result)
	case a.PrimaryKey == "" && a.SecondaryKey == "":
		return errors.New("the service gave no key")
	}
	return nil
}

func (l Login) encode() ([]byte, error) {
	var members []property
	for _, f := range [...]struct{ name, value string }{
		{"authenticationType", l.AuthenticationType},
		{"customerGuid", l.CustomerGUID},
		{"userName", l.UserName},
		{"passwordHash", string(l.PasswordHash)},
		{"token", string(l.Token)},
		{"apiKey", string(l.APIKey)},
		{"feature", l.Feature},
	} {
		if f.value == "" {
			continue
		}
		v, err := encode(f.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		members = append(members, property{f.name, v})
	}
	if len(members) == 0 {
		return nil, errors.New("no login is configured; fill in service.login")
	}
	return object(members...)
}

func parseAuth(b []byte, now time.Time) (AuthResult, error) {
	var raw struct {
		Result                    json.RawMessage
		UserName                  string
		IsLoggedIn                bool
		Customers                 []Customer
		AuthenticatedCustomer     string
		PrimaryAPIKey             Secret          `json:"primaryApiKey"`
		PrimaryAPIKeyExpiration   json.RawMessage `json:"primaryApiKeyExpiration"`
		SecondaryAPIKey           Secret          `json:"secondaryApiKey"`
		SecondaryAPIKeyExpiration json.RawMessage `json:"secondaryApiKeyExpiration"`
		IDToken                   Secret          `json:"idToken"`
	}
	if json.Unmarshal(b, &raw) != nil { // the cause may quote a secret
		return AuthResult{}, errors.New("the answer is not the JSON object of a login")
	}
	result, err := strconv.Atoi(scalar(raw.Result))
	if err != nil && scalar(raw.Result) != "" {
		return AuthResult{}, errors.New("the answer's result is not a whole number")
	}
	return AuthResult{
		Result: result, UserName: clean(raw.UserName), LoggedIn: raw.IsLoggedIn, Customers: raw.Customers,
		AuthenticatedCustomer: clean(raw.AuthenticatedCustomer),
		PrimaryKey:            raw.PrimaryAPIKey, PrimaryExpires: parseExpiry(scalar(raw.PrimaryAPIKeyExpiration), now),
		SecondaryKey: raw.SecondaryAPIKey, SecondaryExpires: parseExpiry(scalar(raw.SecondaryAPIKeyExpiration), now),
		IDToken: raw.IDToken,
	}, nil
}

// expiryLayouts are tried in turn; those without a zone mean UTC.
var expiryLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
	"2006-01-02", "1/2/2006 3:04:05 PM", "1/2/2006 15:04:05", "1/2/2006", time.RFC1123, time.RFC1123Z,
}

// parseExpiry reads a key's expiration. It is for people and for Status: nothing is ever decided by it.
func parseExpiry(text string, now time.Time) Expiry {
	text = strings.TrimSpace(text)
	if text == "" {
		return Expiry{}
	}
	for _, layout := range expiryLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return expiryAt(text, t, now)
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < 1e15 {
		if n >= 1e11 {
			return expiryAt(text, time.UnixMilli(n), now)
		}
		return expiryAt(text, time.Unix(n, 0), now)
	}
	return assumedEnd(text, now)
}

// expiryAt holds an expiry within the years that can be written. Before 1970 no key ended: such a time says nothing.
func expiryAt(text string, t, now time.Time) Expiry {
	if t.Before(firstTime) {
		return assumedEnd(text, now)
	}
	return Expiry{Text: clean(text), At: writable(t)}
}

// assumedEnd is the end of a key of which the service has said nothing that can be read.
func assumedEnd(text string, now time.Time) Expiry {
	return Expiry{Text: clean(text), At: now.UTC().AddDate(0, 6, -1), Assumed: true}
}

// KeyRenewal is the answer of RenewAPIKey (interface specification 2.3).
type KeyRenewal struct {
	Key     Secret // may be a new value; empty: the service did not give it, so that it stays
	Expires Expiry
}

func parseRenewal(b []byte, now time.Time) (KeyRenewal, error) {
	var raw struct {
		SubscriptionKey Secret          `json:"subscriptionKey"`
		ExpirationDate  json.RawMessage `json:"expirationDate"`
	}
	if json.Unmarshal(b, &raw) != nil { // the cause may quote the key
		return KeyRenewal{}, errors.New("the answer is not the JSON object of a key renewal")
	}
	if raw.SubscriptionKey != "" {
		if err := raw.SubscriptionKey.usable(); err != nil {
			return KeyRenewal{}, fmt.Errorf("the renewed key cannot be used: %w", err)
		}
	}
	return KeyRenewal{Key: raw.SubscriptionKey, Expires: parseExpiry(scalar(raw.ExpirationDate), now)}, nil
}
