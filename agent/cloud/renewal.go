package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"gauger/agent/cloud/keys"
)

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

// Renew implements keys.Service.
func (v renewer) Renew(ctx context.Context, slot keys.Slot, with keys.Secret, now func() time.Time) keys.Reply {
	r := request{op: RenewAPIKey, arg: slot.String()}
	p := v.client.exchange(ctx, r, with)
	if p.ok() {
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

// Login implements keys.Service.
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

func parseRenewal(b []byte, now time.Time) (keys.Grant, error) {
	var raw struct {
		SubscriptionKey keys.Secret     `json:"subscriptionKey"`
		ExpirationDate  json.RawMessage `json:"expirationDate"`
	}
	if json.Unmarshal(b, &raw) != nil { // the cause may quote the key
		return keys.Grant{}, errors.New("the answer is not the JSON object of a key renewal")
	}
	if raw.SubscriptionKey != "" {
		if err := raw.SubscriptionKey.Usable(); err != nil {
			return keys.Grant{}, fmt.Errorf("the renewed key cannot be used: %w", err)
		}
	}
	return keys.Grant{Key: raw.SubscriptionKey, Expires: expiry(raw.ExpirationDate, now)}, nil
}
