package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
)

// Arguments and results of the requests that ask the service or the key ring.
type (
	// KeyArgs names a slot, primary or secondary, and a new key for it.
	KeyArgs struct {
		Slot string `json:"slot"`
		Key  string `json:"key,omitempty"`
	}
	// RenewResult tells of the key that came back.
	RenewResult struct {
		Slot    string    `json:"slot"`
		Key     string    `json:"key"` // fingerprint of the value that came back; none: the value stays
		Expires time.Time `json:"expires"`
		Assumed bool      `json:"assumed"`
		Warning string    `json:"warning,omitempty"`
	}
	// LoginArgs go to Authenticate; empty fields are taken from the configuration, or left out.
	LoginArgs struct {
		Type, Customer, User, PasswordHash, Token, APIKey, Feature, SubscriptionKey string
		Keep                                                                        bool // take the keys into the ring
	}
	// LoginResult has the answer to a login, without the keys themselves.
	LoginResult struct {
		User         string           `json:"user"`
		Result       int              `json:"result"`
		LoggedIn     bool             `json:"logged_in"`
		Customer     string           `json:"authenticated_customer"`
		Customers    []cloud.Customer `json:"customers"`
		Primary      string           `json:"primary_key"` // fingerprints
		PrimaryEnd   time.Time        `json:"primary_expires,omitzero"`
		Secondary    string           `json:"secondary_key"`
		SecondaryEnd time.Time        `json:"secondary_expires,omitzero"`
		Kept         bool             `json:"kept"`
	}
	// DevicesArgs is a query, and whether to follow its pages to the end.
	DevicesArgs struct {
		cloud.DeviceQuery
		All bool
	}
	// MemoArgs is a memo, and the service's id of the device that it is for.
	MemoArgs struct {
		Device string `json:"device"`
		Text   string `json:"text"`
	}
	// EventsArgs is a query, and whether to follow its pages to the end.
	EventsArgs struct {
		cloud.EventQuery
		All bool
	}
	// QueryResult has the elements that could be read, or the answers as they came. With a note it is not
	// known what there is.
	QueryResult[E any] struct {
		Items []E               `json:"items"`
		Raw   []json.RawMessage `json:"raw,omitempty"` // of pages whose shape was not understood
		Note  string            `json:"note,omitempty"`
		Odd   []string          `json:"odd,omitempty"` // elements that could not be read, by their place; the others are in Items

		pages, bytes int
	}
)

// Of an answer with many pages: mostListed bounds what is kept of them together, in bytes, and mostOdd the elements that are
// told.
const (
	mostListed = 8 << 20
	mostOdd    = 20
)

func keySlotOf(name string) (keys.Slot, error) {
	switch name {
	case "primary":
		return keys.Primary, nil
	case "secondary":
		return keys.Secondary, nil
	}
	return 0, fmt.Errorf("a key is primary or secondary, not %q", name)
}

func (d *Server) renew(ctx context.Context, a KeyArgs) (RenewResult, error) {
	slot, err := keySlotOf(a.Slot)
	if err != nil {
		return RenewResult{}, err
	}
	warning := d.Client.Keys().Hasty(slot)
	got, err := d.Client.RenewAPIKey(ctx, slot)
	if err != nil {
		return RenewResult{}, err
	}
	d.Kick()
	return RenewResult{Slot: a.Slot, Key: got.Key.Fingerprint(), Expires: got.Expires.At, Assumed: got.Expires.Assumed, Warning: warning}, nil
}

func (d *Server) setKey(_ context.Context, a KeyArgs) (None, error) {
	slot, err := keySlotOf(a.Slot)
	if err != nil {
		return None{}, err
	}
	if err := d.Client.Keys().Set(slot, keys.Secret(a.Key)); err != nil {
		return None{}, err
	}
	d.Kick()
	return None{}, nil
}

func (d *Server) login(ctx context.Context, a LoginArgs) (LoginResult, error) {
	l := d.Client.Login()
	for _, f := range []struct {
		into *string
		from string
	}{
		{&l.AuthenticationType, a.Type}, {&l.CustomerGUID, a.Customer}, {&l.UserName, a.User}, {&l.Feature, a.Feature},
		{(*string)(&l.PasswordHash), a.PasswordHash}, {(*string)(&l.Token), a.Token}, {(*string)(&l.APIKey), a.APIKey},
		{(*string)(&l.SubscriptionKey), a.SubscriptionKey},
	} {
		if f.from != "" {
			*f.into = f.from
		}
	}
	r, err := d.Client.Authenticate(ctx, l)
	if err != nil {
		return LoginResult{}, err
	}
	out := LoginResult{
		User: r.UserName, Result: r.Result, LoggedIn: r.LoggedIn, Customer: r.AuthenticatedCustomer, Customers: r.Customers,
		Primary: r.Primary.Key.Fingerprint(), PrimaryEnd: r.Primary.Expires.At,
		Secondary: r.Secondary.Key.Fingerprint(), SecondaryEnd: r.Secondary.Expires.At, Kept: a.Keep,
	}
	if a.Keep {
		err = d.Client.Keys().Adopt(r.Primary, r.Secondary)
		d.Kick()
	}
	return out, err
}

func (d *Server) addMemo(ctx context.Context, m MemoArgs) (QueuedRecord, error) {
	body, err := d.Site.Wire.EncodeMemo(cloud.Memo{Text: m.Text})
	if err != nil {
		return QueuedRecord{}, err
	}
	return d.queue(ctx, QueueArgs{ledger.Memos, m.Device, body})
}

func (d *Server) devices(ctx context.Context, a DevicesArgs) (QueryResult[cloud.Device], error) {
	return queryPages(d.Client, a.All, func(take func(cloud.Page[cloud.Device]) error) error {
		return d.Client.AllDevices(ctx, a.DeviceQuery, take)
	},
		func() (cloud.Page[cloud.Device], error) { return d.Client.QueryDevices(ctx, a.DeviceQuery) })
}

func (d *Server) events(ctx context.Context, a EventsArgs) (QueryResult[cloud.Event], error) {
	return queryPages(d.Client, a.All, func(take func(cloud.Page[cloud.Event]) error) error {
		return d.Client.AllEvents(ctx, a.EventQuery, take)
	},
		func() (cloud.Page[cloud.Event], error) { return d.Client.GetEvents(ctx, a.EventQuery) })
}

// queryPages takes every page, or one, also when only its raw form is of use.
func queryPages[E any](from *cloud.Client, all bool, every func(func(cloud.Page[E]) error) error, one func() (cloud.Page[E], error)) (out QueryResult[E], err error) {
	out.Items = []E{}
	take := func(p cloud.Page[E]) error { return out.addPage(p, from) }
	if all {
		return out, out.shape(every(take))
	}
	page, err := one()
	if err == nil || errors.Is(err, cloud.ErrShape) {
		err = errors.Join(err, take(page))
	}
	return out, out.shape(err)
}

// addPage takes a page: what could be read of it, or else its raw form.
func (f *QueryResult[E]) addPage(p cloud.Page[E], from *cloud.Client) error {
	f.pages++
	if f.bytes += len(p.Raw); f.bytes > mostListed {
		return fmt.Errorf("the service has more than %d MB of this; ask for less at a time, or page by page", mostListed>>20)
	}
	for _, at := range p.Odd[:min(len(p.Odd), mostOdd-len(f.Odd))] {
		f.Odd = append(f.Odd, fmt.Sprintf("element [%d] of page %d has none of the fields that service.wire names", at, f.pages))
	}
	if p.Items == nil && len(bytes.TrimSpace(p.Raw)) > 0 {
		f.Raw = append(f.Raw, from.Shown(p.Raw))
	}
	f.Items = append(f.Items, p.Items...)
	return nil
}

// shape turns an answer of another shape into a note: what came is shown as it is. A refused key has its next step.
func (f *QueryResult[E]) shape(err error) error {
	if errors.Is(err, cloud.ErrShape) {
		f.Note = err.Error()
		return nil
	}
	if refusal, is := errors.AsType[keys.Failure](err); is && refusal.KeyRefused() {
		return fmt.Errorf("%w; compare the key with the one that whoever runs the service gave; `gauger keys show` says which are refused", err)
	}
	return err
}
