package agent

import (
	"context"
	"fmt"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/outbox"
)

// classes translates what an answer means; the outbox and the cloud do not know each other.
var classes = map[cloud.Class]outbox.Class{
	cloud.Stored: outbox.Stored, cloud.Poison: outbox.Poison, cloud.TooLarge: outbox.TooLarge,
	cloud.Ambiguous: outbox.Ambiguous, cloud.Wait: outbox.Wait, cloud.Unauthorized: outbox.Key, cloud.WrongAddress: outbox.Path,
}

// Sender posts batches of the outbox to the service.
type Sender struct {
	Client *cloud.Client
	Clock  *clock.Clock // hears the Date of the service's answers; may be nil
	Pulse  *collectors.Pulse

	// Requests bounds the requests instead of whoever sends, when given: a drain that ends lets its last one come to its end. One that
	// is cut off may have been stored.
	Requests context.Context
}

// Send implements outbox.Sender: one request, and its answer holds for every record of the batch.
func (s Sender) Send(ctx context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	bodies := make([][]byte, len(batch))
	attempt := 0
	for i, r := range batch {
		bodies[i] = r.Body
		attempt = max(attempt, r.Attempt)
	}
	s.Pulse.WorkFor(s.Client.Longest(bodies, attempt))
	defer s.Pulse.Rest()
	if s.Requests != nil {
		ctx = s.Requests
	}
	a := s.Client.Post(ctx, ledger.Operations[stream], batch[0].Address, bodies, attempt)
	if s.Clock != nil {
		now := time.Now()
		s.Clock.Compare(now, a.Date)
		if grade := s.Clock.Grade(now); a.ClockDoubt && grade != clock.Trusted {
			a.Message += fmt.Sprintf("; nothing has confirmed this box's clock yet (it is %s), so it is the first to look at", grade)
		}
	}
	receipts := make([]outbox.Answer, len(batch))
	for i := range receipts {
		receipts[i] = outbox.Answer{
			Class: classes[a.Class], Status: a.Status, CorrelationID: a.CorrelationID,
			RetryAfter: a.RetryAfter, Message: a.Message, Tell: a.Foreign,
		}
	}
	return receipts
}
