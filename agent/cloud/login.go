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

// RenewAPIKey renews one key now and keeps what came of it in the ring. It asks nobody whether that is wise: a
// person may insist, and keys.Ring.Hasty is there to warn. The ring's own renewals are more careful.
func (c *Client) RenewAPIKey(ctx context.Context, slot keys.Slot) (keys.Grant, error) {
	if slot != keys.Primary && slot != keys.Secondary {
		return keys.Grant{}, fmt.Errorf("renewing the key: there is no slot %d", slot)
	}
	return c.ring.Renew(ctx, slot)
}

// renewer is the key ring's way to the service.
type renewer struct{ client *Client }

func (v renewer) Renew(ctx context.Context, slot keys.Slot, with keys.Secret, now func() time.Time) keys.Reply {
	r := request{op: RenewAPIKey, arg: slot.String()}
	p := v.client.exchange(ctx, r, with)
	if p.ok() {
		v.client.scopes.note(r.op, with, true)
		grant, err := parseRenewal(p.body, now())
		if err == nil {
			err = p.bodyErr
		}
		return keys.Reply{Outcome: keys.Renewed, Grant: grant, Err: err}
	}
	out := keys.Reply{Outcome: keys.Unanswered, Err: v.client.failure(r, p)}
	switch {
	case p.status == http.StatusUnauthorized:
		out.Outcome = keys.HeaderRefused
	case p.status >= 300 && p.status < 500:
		out.Outcome = keys.Declined
	case p.err != nil && !p.sent:
		out.Outcome = keys.Unsent
	}
	return out
}

func (v renewer) Login(ctx context.Context) (primary, secondary keys.Grant, err error) {
	v.client.mu.Lock()
	login := v.client.login
	v.client.mu.Unlock()
	if login == nil {
		return primary, secondary, keys.ErrNoLogin
	}
	got, err := v.client.Authenticate(ctx, *login)
	return got.Primary, got.Secondary, err
}

// KeyRefused says that no key is accepted, or the key may not do this.
func (e *Error) KeyRefused() bool { return e.Class == Unauthorized }

// Lasting says that only a person can mend it.
func (e *Error) Lasting() bool {
	return e.Class == Unauthorized || e.Class == WrongAddress || e.Class == Poison
}

// parseRenewal reads what a renewal answers by the specification: the key, and when it ends. An answer without either shows no
// renewal, whatever its status says.
func parseRenewal(b []byte, now time.Time) (keys.Grant, error) {
	var raw struct {
		SubscriptionKey keys.Secret     `json:"subscriptionKey"`
		ExpirationDate  json.RawMessage `json:"expirationDate"`
	}
	if json.Unmarshal(b, &raw) != nil { // the cause may quote the key
		return keys.Grant{}, errors.New("the answer is not the JSON object of a key renewal")
	}
	if raw.SubscriptionKey == "" && scalar(raw.ExpirationDate) == "" {
		return keys.Grant{}, errors.New("the answer shows no renewal: neither subscriptionKey nor expirationDate is in it; whether the key was renewed is not known")
	}
	if raw.SubscriptionKey != "" {
		if err := raw.SubscriptionKey.Usable(); err != nil {
			return keys.Grant{}, fmt.Errorf("the renewed key cannot be used: %w", err)
		}
	}
	return keys.Grant{Key: raw.SubscriptionKey, Expires: expiry(raw.ExpirationDate, now)}, nil
}
