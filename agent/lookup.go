package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/collectors"
	"gauger/outbox"
)

// DeviceLookup is what the service said when it was asked for a tank's external id.
type DeviceLookup struct {
	Tank   string    `json:"tank"`
	Found  string    `json:"found"` // known, unknown, or unclear: the answer could not be read
	Device string    `json:"device,omitempty"`
	At     time.Time `json:"at"`
	Config uint32    `json:"config"` // that asked
	Note   string    `json:"note,omitempty"`
}

// What a lookup may find.
const (
	known   = "known"
	unknown = "unknown"
	unclear = "unclear"
)

const (
	lookupKey = "lookup/" // one per tank
	// A lookup without an answer is tried again after these, and one that found nothing after a day: somebody may have
	// put the tank into the service.
	firstLook = time.Minute
	mostLook  = time.Hour
	lookAgain = 24 * time.Hour
)

// lookUpTanks asks the service once for each tank and configuration whether it knows a device with the tank's external id, so
// that a mistyped one is seen before its first ticket is missed. Nothing says that tanks are devices there: what is not
// found is never an event nor an obstacle to a ticket (see unknownTanks).
func (a *Agent) lookUpTanks(ctx context.Context) error {
	for wait := firstLook; ; {
		again, err := a.lookUpUnknown(ctx)
		switch {
		case errors.Is(err, outbox.ErrDead):
			return err
		case err != nil:
			a.Log.Debug().Err(err).Msg("the service could not be asked for the tanks; it is tried again")
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

// lookUpUnknown asks for every tank that wants it, and returns when to look again; zero: never in this run.
func (a *Agent) lookUpUnknown(ctx context.Context) (again time.Duration, err error) {
	for _, t := range a.Site.Tanks {
		var last DeviceLookup
		if err := a.Ledger.recall(lookupKey+t.ID, &last); err != nil {
			return 0, err
		}
		asked := last.Tank != "" && last.Config == a.Site.Config
		if !asked || last.Found == unknown && (time.Since(last.At) >= lookAgain || time.Now().Before(last.At)) {
			found, err := a.queryDevice(ctx, t.ID)
			if err == nil {
				err = a.Ledger.KeepLookup(found)
			}
			if err != nil {
				return 0, err
			}
			last = found
		}
		if last.Found == unknown {
			again = lookAgain
		}
	}
	return again, nil
}

// errEnough ends a query that has found what it looks for.
var errEnough = errors.New("found")

// queryDevice queries one external id. An answer that cannot be read says nothing, and so does one with devices that have no
// external id where one is expected, and a refusal of this very id.
func (a *Agent) queryDevice(ctx context.Context, id string) (DeviceLookup, error) {
	l := DeviceLookup{Tank: id, Found: unknown, At: time.Now().Round(0), Config: a.Site.Config}
	err := a.Client.AllDevices(ctx, cloud.DeviceQuery{ExternalID: id}, func(p cloud.DevicePage) error {
		for _, d := range p.Devices {
			switch {
			case strings.EqualFold(d.ExternalID, id):
				l.Found, l.Device = known, d.ID
				return errEnough
			case d.ExternalID == "":
				l.Found, l.Note = unclear, "a device of the answer has no external id where service.wire.devices expects it"
			}
		}
		return nil
	})
	answered, ok := errors.AsType[*cloud.Error](err)
	switch {
	case ok && answered.Foreign:
		return l, err // the service itself said nothing yet
	case errors.Is(err, cloud.ErrShape), ok && answered.Class == cloud.Poison:
		l.Found, l.Note = unclear, err.Error()
	case err != nil && !errors.Is(err, errEnough):
		return l, err
	}
	return l, nil
}

// KeepLookup remembers what was found.
func (l *Ledger) KeepLookup(found DeviceLookup) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.begin(time.Now())
	d.putJSON(lookupKey+found.Tank, found)
	d.afterCommit = append(d.afterCommit, func() {
		l.log.Info().Str("tank", found.Tank).Str("found", found.Found).Str("device", found.Device).Str("note", found.Note).
			Msg("the service was asked for the tank's external id")
	})
	return l.commit(d, "")
}

// lookupOf is what is remembered of a tank; zero when the service was not asked yet.
func (l *Ledger) lookupOf(id string) (found DeviceLookup) {
	if err := l.recall(lookupKey+id, &found); err != nil {
		return DeviceLookup{} // the box is out of service, and that is said
	}
	return found
}

// unknownTanks are hints: the tanks that the service does not know as devices, where it knows at least one of the site's,
// so that tanks are devices there.
func unknownTanks(all []TankStatus) []string {
	out := []string{}
	i := slices.IndexFunc(all, func(t TankStatus) bool { return t.Known == known })
	if i < 0 {
		return out
	}
	for _, t := range all {
		if t.Known == unknown {
			out = append(out, fmt.Sprintf("the service knows %s as a device, but none has the external id %s; tickets are sent all the same: compare tanks.id with `gauger devices query`", all[i].ID, t.ID))
		}
	}
	return out
}
