package keys_test

import (
	"context"
	"net/http"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
)

func init() {
	keys.NewAbove = func(ring *keys.Ring, way http.RoundTripper) (keys.Above, error) {
		c, err := cloud.New(cloud.Options{URL: "https://api.example.com", Keys: ring, Transport: way})
		return above{c}, err
	}
}

// above is the client as the tests of package keys need it.
type above struct{ *cloud.Client }

// PostTicket implements keys.Above.
func (c above) PostTicket(ctx context.Context, number string) (keys.Answer, error) {
	wire := c.Wire()
	b, err := wire.EncodeRunTicket(cloud.RunTicket{
		Number: number, TankID: "TK-1001", OpeningLevel: 171.25, ClosingLevel: 49.5, TopTemperature: new(71.46),
		SpecificGravity: new(0.81934), BSW: new(0.4), Comments: "observed", Purchaser: "Acme",
		Start: time.Date(2026, 3, 2, 13, 4, 0, 0, time.UTC), End: time.Date(2026, 3, 2, 13, 41, 0, 0, time.UTC),
	})
	return c.post(ctx, cloud.SaveRunTickets, "", b), err
}

// PostMemo implements keys.Above.
func (c above) PostMemo(ctx context.Context) keys.Answer {
	return c.post(ctx, cloud.AddDeviceMemo, "1", []byte(`{"text":"x"}`))
}

func (c above) post(ctx context.Context, op cloud.Operation, address string, body []byte) keys.Answer {
	a := c.Post(ctx, op, address, [][]byte{body}, 0, 0)
	return keys.Answer{Class: a.Class.String(), Message: a.Message, Status: a.Status}
}

// LoginWith implements keys.Above.
func (c above) LoginWith(user string, key keys.Secret) {
	c.SetLogin(&cloud.Login{AuthRequest: cloud.AuthRequest{UserName: user}, SubscriptionKey: key})
}
