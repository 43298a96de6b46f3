package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/outbox"
)

const (
	// A lookup without an answer is tried again after these, and one that found nothing after a day: somebody may have
	// put the tank into the service.
	firstLook = time.Minute
	mostLook  = time.Hour
	lookAgain = 24 * time.Hour
)

// lookUpIDs asks the service once for each configuration whether it knows a device with each tank's external id, and each device to which
// events go, so that a mistyped one is seen before its first ticket is missed. Nothing says that tanks are devices there: what is not
// found is a hint, never an event nor an obstacle to a ticket (see unknownIDs).
func (a *Agent) lookUpIDs(ctx context.Context) error {
	for wait := firstLook; ; {
		again, err := a.lookUpUnknown(ctx)
		switch {
		case errors.Is(err, outbox.ErrDead):
			return err
		case err != nil:
			a.Log.Debug().Err(err).Msg("the service could not be asked for the ids; it is tried again")
			again, wait = wait, min(2*wait, mostLook)
		default:
			wait = firstLook
		}
		if again == 0 {
			<-ctx.Done()
			return nil
		}
		if !collectors.Wait(ctx, again) {
			return nil
		}
	}
}

// lookUpUnknown asks for every id that wants it, and returns when to look again; zero: never in this run.
func (a *Agent) lookUpUnknown(ctx context.Context) (again time.Duration, err error) {
	queries := map[string]cloud.DeviceQuery{}
	for _, id := range a.Site.DeviceIDs() {
		queries[id] = cloud.DeviceQuery{IDs: []string{id}}
	}
	for _, t := range a.Site.Tanks {
		queries[t.ID] = cloud.DeviceQuery{ExternalID: t.ID}
	}
	for _, id := range slices.Sorted(maps.Keys(queries)) {
		last, err := a.Ledger.LookupOf(id)
		if err != nil {
			return 0, err
		}
		asked := last.Tank != "" && last.Config == a.Site.Config
		if !asked || last.Found == ledger.Unknown && (time.Since(last.At) >= lookAgain || time.Now().Before(last.At)) {
			found, err := a.queryDevice(ctx, id, queries[id])
			if err == nil {
				err = a.Ledger.KeepLookup(found)
			}
			if err != nil {
				return 0, err
			}
			last = found
		}
		if last.Found == ledger.Unknown {
			again = lookAgain
		}
	}
	sooner, err := a.tellEmptied(ctx, true)
	return cmp.Or(sooner, again), err
}

const (
	firstAsk = time.Minute // other answers come first, if any do
	mostAsk  = 24 * time.Hour
)

// askTime asks the service for any device while nobody has vouched for the clock, for the Date of the answer: a quiet site's first answer
// would be that to a ticket, and a wrong clock has dated it by then. An answer that says nothing, as over plain HTTP, is
// asked for ever more seldom.
func (a *Agent) askTime(ctx context.Context) error {
	steady := a.Site.Steady()
	first := min(firstAsk, steady/15)
	for wait := first; collectors.Wait(ctx, wait); {
		if a.Replay || a.Client.Heard == nil || !a.Clock.WantsWitness(time.Now()) {
			wait = first
			continue
		}
		if wait = min(2*wait, mostAsk); a.Clock.Doubted(time.Now()) { // tickets wait for it, and nothing else may be asked
			wait = min(wait, steady)
		}
		if _, err := a.Client.QueryDevices(ctx, cloud.DeviceQuery{ExternalID: a.Site.ID}); err != nil {
			a.Log.Debug().Err(err).Msg("the service was asked for its time")
		}
	}
	return nil
}

// errEnough ends a query that has found what it looks for.
var errEnough = errors.New("found")

// queryDevice queries one id, a device's own or an external one. An answer that cannot be read says nothing, and so does one with devices that have no
// external id where one is expected, and a refusal of this very id.
func (a *Agent) queryDevice(ctx context.Context, id string, q cloud.DeviceQuery) (ledger.DeviceLookup, error) {
	l := ledger.DeviceLookup{Tank: id, Found: ledger.Unknown, At: time.Now().Round(0), Config: a.Site.Config}
	err := a.Client.AllDevices(ctx, q, func(p cloud.Page[cloud.Device]) error {
		for _, d := range p.Items {
			switch {
			case strings.EqualFold(d.ExternalID, id), q.IDs != nil && strings.EqualFold(d.ID, id):
				l.Found, l.Device = ledger.Known, d.ID
				return errEnough
			case d.ExternalID == "" && q.IDs == nil:
				l.Found, l.Note = ledger.Unclear, "a device of the answer has no external id where service.wire.devices expects it"
			}
		}
		if len(p.Odd) > 0 {
			l.Found, l.Note = ledger.Unclear, fmt.Sprintf("element [%d] of the answer has none of the fields that service.wire.devices names", p.Odd[0])
		}
		return nil
	})
	answered, ok := errors.AsType[*cloud.Error](err)
	switch {
	case ok && answered.Foreign:
		return l, err // the service itself said nothing yet
	case errors.Is(err, cloud.ErrShape), ok && answered.Class == cloud.Poison:
		l.Found, l.Note = ledger.Unclear, err.Error()
	case err != nil && !errors.Is(err, errEnough):
		return l, err
	}
	return l, nil
}
