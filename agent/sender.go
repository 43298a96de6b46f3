package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	Clock  *clock.Clock // named where a certificate's dates do not fit it; may be nil
	Pulse  *collectors.Pulse

	// Requests bounds the requests instead of whoever sends, when given: a drain that ends lets its last one come to its end. One that
	// is cut off may have been stored.
	Requests context.Context
}

// Send implements outbox.Sender: one request, and its answer holds for every record of the batch. Where a single record of several values
// is refused, its values are sent apart.
func (s Sender) Send(ctx context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	bodies := make([][]byte, len(batch))
	attempt, late := 0, 0
	for i, r := range batch {
		bodies[i] = r.Body
		attempt, late = max(attempt, r.Attempt), max(late, r.Late)
	}
	if s.Requests != nil {
		ctx = s.Requests
	}
	operation := ledger.Operations[stream]
	a := s.post(ctx, operation, batch[0].Address, bodies, attempt, late)
	if len(batch) == 1 && a.Class == outbox.Poison {
		if values := cloud.SplitSet(bodies[0]); len(values) > 1 {
			a = s.postApart(ctx, operation, batch[0].Address, values, a)
		}
	}
	return slices.Repeat([]outbox.Answer{a}, len(batch))
}

func (s Sender) post(ctx context.Context, operation cloud.Operation, address string, bodies [][]byte, attempt, late int) outbox.Answer {
	size := 0
	for _, b := range bodies {
		size += len(b)
	}
	s.Pulse.WorkFor(s.Client.Longest(size, late))
	defer s.Pulse.Rest()
	a := s.Client.Post(ctx, operation, address, bodies, attempt, late)
	if s.Clock != nil {
		if grade := s.Clock.Grade(time.Now()); a.ClockDoubt && grade != clock.Trusted {
			a.Message += fmt.Sprintf("; nothing has confirmed this box's clock yet (it is %s), so it is the first to look at", grade)
		}
	}
	return outbox.Answer{
		Class: classes[a.Class], Status: a.Status, CorrelationID: a.CorrelationID,
		RetryAfter: a.RetryAfter, Message: a.Message, Tell: a.Foreign || a.Lacking, Late: a.Late,
	}
}

const (
	apartFirst = 6 // requests, halves and quarters of the values, after which a service that takes nothing is not asked further
	apartTold  = 3 // refused values that are named
)

// postApart sends the values of a refused record in halves, and the refused halves again in halves, so that a bad one takes no good ones
// with it. Where none is taken the record's own answer stands; else it says which were refused. What ends a request otherwise ends it all: the
// record goes again, and the service gets values twice.
func (s Sender) postApart(ctx context.Context, operation cloud.Operation, address string, values [][]byte, refused outbox.Answer) outbox.Answer {
	taken, requests := 0, 0
	var bad []string
	for left := [][][]byte{values}; len(left) > 0; left = left[1:] {
		half := len(left[0]) / 2
		for _, part := range [][][]byte{left[0][:half], left[0][half:]} {
			if requests++; taken == 0 && requests > apartFirst {
				return refused
			}
			switch a := s.post(ctx, operation, address, part, 0, 0); {
			case a.Class == outbox.Stored:
				taken += len(part)
			case a.Class != outbox.Poison:
				return a
			case len(part) > 1:
				left = append(left, part)
			default:
				bad = append(bad, string(part[0]))
				refused.Status, refused.CorrelationID, refused.Message = a.Status, a.CorrelationID, a.Message
			}
		}
	}
	if taken > 0 {
		refused.Proved = true
		refused.Message = fmt.Sprintf("%d of its %d values were taken; refused: %s: %s", taken, len(values), strings.Join(bad[:min(len(bad), apartTold)], ", "), refused.Message)
	}
	return refused
}
