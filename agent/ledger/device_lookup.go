package ledger

import "time"

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
	Known   = "known"
	Unknown = "unknown"
	Unclear = "unclear"
)

const lookupKey = "lookup/" // one per tank

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

// LookupOf is what is remembered of a tank; zero when the service was not asked yet.
func (l *Ledger) LookupOf(id string) (found DeviceLookup, err error) {
	err = l.LoadState(lookupKey+id, &found)
	return found, err
}
