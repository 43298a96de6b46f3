package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"gauger/agent/cloud/keys"
)

// AuthRequest is the body of Authenticate (interface specification 2.1). Empty fields are not sent.
type AuthRequest struct {
	AuthenticationType string
	CustomerGUID       string
	UserName           string
	PasswordHash       keys.Secret // sent as it is: nothing here hashes
	Token              keys.Secret
	APIKey             keys.Secret
	Feature            string
}

// Login is the body of Authenticate, and the subscription key that the gateway wants to see even then.
type Login struct {
	AuthRequest
	SubscriptionKey keys.Secret // empty: any key of the ring
}

// AuthResult is the answer of Authenticate (interface specification 2.2).
type AuthResult struct {
	Result                int
	UserName              string
	LoggedIn              bool
	Customers             []Customer
	AuthenticatedCustomer string
	Primary, Secondary    keys.Grant
	IDToken               keys.Secret
}

// Customer is a customer that the user may act for.
type Customer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Authenticate logs a user in. It counts as done when the service answers 200, says that the user is logged in,
// gives a key, and the result is one of Wire.ResultOK if any are named. It does not touch the key ring:
// keys.Ring.Adopt does.
func (c *Client) Authenticate(ctx context.Context, l Login) (AuthResult, error) {
	body, err := l.body()
	if err != nil {
		return AuthResult{}, fmt.Errorf("authenticating: %w", err)
	}
	r := request{op: Authenticate, body: body, records: 1}
	inOrder := []keys.Secret{l.SubscriptionKey}
	if l.SubscriptionKey == "" {
		inOrder = c.ring.Values()
	}
	p := reply{err: keys.ErrNoKey}
	for _, key := range inOrder {
		if p = c.exchange(ctx, r, key); p.status != http.StatusUnauthorized {
			break
		}
	}
	if p.status != http.StatusOK || !p.ok() {
		return AuthResult{}, c.failure(r, p)
	}
	result, err := parseAuth(p.body, time.Now())
	if err == nil {
		err = c.checkLogin(result)
	}
	if err != nil {
		return result, &Error{Op: Authenticate, Answer: Answer{Class: Unauthorized, Status: p.status, Message: err.Error()}, Cause: err}
	}
	c.mu.Lock()
	c.idToken = result.IDToken
	c.mu.Unlock()
	return result, nil
}

func (c *Client) checkLogin(a AuthResult) error {
	switch {
	case !a.LoggedIn:
		return fmt.Errorf("the service answers that the user is not logged in (result %d); check service.login", a.Result)
	case len(c.wire.ResultOK) > 0 && !slices.Contains(c.wire.ResultOK, a.Result):
		return fmt.Errorf("the service answers result %d, which is not one of wire.result_ok", a.Result)
	case a.Primary.Key == "" && a.Secondary.Key == "":
		return errors.New("the service gave no key")
	}
	return nil
}

func (l Login) body() ([]byte, error) {
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
		PrimaryAPIKey             keys.Secret     `json:"primaryApiKey"`
		PrimaryAPIKeyExpiration   json.RawMessage `json:"primaryApiKeyExpiration"`
		SecondaryAPIKey           keys.Secret     `json:"secondaryApiKey"`
		SecondaryAPIKeyExpiration json.RawMessage `json:"secondaryApiKeyExpiration"`
		IDToken                   keys.Secret     `json:"idToken"`
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
		Primary:               keys.Grant{Key: raw.PrimaryAPIKey, Expires: expiry(raw.PrimaryAPIKeyExpiration, now)},
		Secondary:             keys.Grant{Key: raw.SecondaryAPIKey, Expires: expiry(raw.SecondaryAPIKeyExpiration, now)},
		IDToken:               raw.IDToken,
	}, nil
}

// expiry reads a key's end; its text came from outside.
func expiry(raw json.RawMessage, now time.Time) keys.Expiry {
	e := keys.ParseExpiry(scalar(raw), now)
	e.Text = clean(e.Text)
	return e
}
