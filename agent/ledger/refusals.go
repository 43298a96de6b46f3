package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/flash"
	"gauger/collectors"
	"gauger/outbox"
)

// Refusal is the stored form of a message that could not be decoded. Its arrival is the record's own time.
type Refusal struct {
	Source string             `json:"source"` // a topic, or a register
	Raw    []byte             `json:"raw"`    // base64
	Why    string             `json:"why"`
	Device string             `json:"device,omitempty"` // as in collectors.Refusal, like the rest
	Old    bool               `json:"old,omitempty"`
	Given  []collectors.Point `json:"given,omitempty"`
	Budget *refusalBudget     `json:"budget,omitempty"` // of the device, as it stood then; an earlier version stored none
}

// refusalBudget is what a restart takes up.
type refusalBudget struct {
	Left      int64  `json:"left"`
	Equal     uint64 `json:"equal,omitempty"`
	Over      uint64 `json:"over,omitempty"`
	OverBytes uint64 `json:"over_bytes,omitempty"`
}

// Undecoded counts one device's messages that could not be decoded and are not stored.
type Undecoded struct {
	Device    string `json:"device"`
	Equal     uint64 `json:"equal"`      // one like it is stored
	Over      uint64 `json:"over"`       // beyond the budget
	OverBytes uint64 `json:"over_bytes"` // of those
	Left      int64  `json:"left"`       // bytes that the budget has room for
}

// String says it in a sentence.
func (u Undecoded) String() string {
	return fmt.Sprintf("of the messages that nobody could decode, %d equal ones were counted, and %d (%s) beyond the budget were dropped",
		u.Equal, u.Over, megabytes(int64(u.OverBytes)))
}

// refusals are the budgets by device. They have a lock of their own, which nobody holds while the disk writes.
type refusals struct {
	limits flash.Limits
	box    *outbox.Box
	mu     sync.Mutex
	all    map[string]*deviceRefusals // nil: the stream was not read yet
	gone   uint64                     // records that had left the stream when it was last read
}

type deviceRefusals struct {
	*flash.Budget
	Undecoded
	over time.Time // the last that was not stored for want of room
	told bool      // the event about it is open
}

const (
	// refusedQuiet: nobody talks too much any more when nothing went over the budget for so long.
	refusedQuiet = time.Hour
	// refusalExtra is about what a stored message has beside its topic, its bytes and the reason.
	refusalExtra = 120
	// refusedRead bounds the messages that are looked through for those that come again.
	refusedRead = 8192
)

// Keeps implements collectors.Host.
func (h hostFor) Keeps(r collectors.Refusal) bool {
	device := cmp.Or(r.Device, h.device)
	verdict, tell, err := h.refusals.judge(device, r, time.Now())
	if err != nil {
		h.log.Error().Err(err).Msg("what could not be decoded before cannot be looked through; the budget begins anew")
	}
	if tell {
		limits := h.refusals.limits
		err := h.Notice(context.Background(), collectors.Notice{Rule: eventrules.MessagesDropped, Source: device, Since: time.Now(), Note: fmt.Sprintf(
			"it sends more that cannot be decoded than is stored (%d messages or %s at once, then %s a day, and the first three of each topic): the rest is "+
				"acknowledged, counted and dropped. `gauger outbox dead refused` shows what came, and why it cannot be read: correct the point or the device, "+
				"then `gauger outbox retry refused`. store.refused says how much is stored", limits.Messages, megabytes(limits.Bytes), megabytes(limits.Day))})
		if err != nil {
			h.log.Error().Err(err).Str("device", device).Msg("the event about messages that are dropped could not be stored")
		}
	}
	return verdict == flash.Keep
}

// Refuse implements collectors.Host: the bytes go to a stream that is never drained, for people to look at.
func (h hostFor) Refuse(ctx context.Context, batch []collectors.Refusal) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bodies := make([][]byte, len(batch))
	told := map[string]bool{}
	for i, r := range slices.Backward(batch) {
		var err error
		var budget *refusalBudget // with the last of each device
		if device := cmp.Or(r.Device, h.device); !told[device] {
			budget, told[device] = h.refusals.budget(device), true
		}
		if bodies[i], err = json.Marshal(Refusal{r.Source, r.Raw, r.Err.Error(), r.Device, r.Old, r.Given, budget}); err != nil {
			return fmt.Errorf("keep what %s sent: %w", r.Source, err)
		}
	}
	return h.box.Update(func(tx *outbox.Tx) error {
		for i, r := range batch {
			at := r.At
			if at.IsZero() {
				at = time.Now()
			}
			tx.Append(Refused, outbox.Record{Address: h.device[:min(len(h.device), outbox.MaxAddress)], Body: bodies[i], At: at, Config: h.site.Config})
		}
		return nil
	})
}

// judge says what becomes of one message, and whether it is to be told that its device sends too much.
func (s *refusals) judge(device string, r collectors.Refusal, now time.Time) (verdict flash.Verdict, tell bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.read(now)
	d := s.of(device, now)
	size := len(r.Source) + len(r.Err.Error()) + len(r.Raw)*4/3 + refusalExtra
	switch verdict = d.Judge(r.Source, r.Raw, size, now); verdict {
	case flash.Equal:
		d.Equal++
	case flash.Over:
		d.Over, d.OverBytes = d.Over+1, d.OverBytes+uint64(len(r.Raw))
		tell, d.over, d.told = !d.told, now, true
	}
	return verdict, tell, err
}

// budget of a device, to be stored with one of its messages.
func (s *refusals) budget(device string) *refusalBudget {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.all[device]; d != nil {
		return &refusalBudget{d.Budget.Left(), d.Equal, d.Over, d.OverBytes}
	}
	return nil
}

// of finds a device's budget, or makes a new one. The lock is held.
func (s *refusals) of(device string, now time.Time) *deviceRefusals {
	if s.all == nil {
		s.all = map[string]*deviceRefusals{}
	}
	if s.all[device] == nil {
		s.all[device] = &deviceRefusals{Budget: flash.NewBudget(s.limits, now), Undecoded: Undecoded{Device: device}}
	}
	return s.all[device]
}

// read looks through what is stored: for the budgets at the first message of a run, and again for what is still there when
// something has left. The lock is held.
func (s *refusals) read(now time.Time) error {
	c := s.box.Counts()[Refused]
	first, gone := s.all == nil, c.Accepted-c.Waiting
	if !first && gone == s.gone {
		return nil
	}
	s.gone = gone
	for _, d := range s.all {
		d.Forget()
	}
	for e, err := range s.box.All(Refused, outbox.Waiting, c.Accepted-min(c.Accepted, refusedRead)) {
		var r Refusal
		if err != nil {
			return err
		}
		if json.Unmarshal(e.Record.Body, &r) != nil {
			continue // damaged, which `gauger outbox dead` says
		}
		d := s.of(cmp.Or(r.Device, e.Record.Address), now)
		d.Remember(r.Source, r.Raw)
		if first {
			d.resume(r, now.Sub(e.Record.At))
		}
	}
	return nil
}

// resume takes up what an earlier run stored with a message so long ago.
func (d *deviceRefusals) resume(r Refusal, ago time.Duration) {
	d.CountSample(r.Source)
	if b := r.Budget; b != nil {
		d.Budget.Resume(b.Left, ago)
		d.Equal, d.Over, d.OverBytes = b.Equal, b.Over, b.OverBytes
	}
}

// quiet ends the time in which a device sent too much, once it has not for a while since the program began; it says then how much was
// dropped.
func (s *refusals) quiet(device string, began, now time.Time) (dropped string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.all[device]
	if d == nil {
		return "nothing was dropped since the program began", now.Sub(began) >= refusedQuiet
	}
	if now.Sub(began) < refusedQuiet || now.Sub(d.over) < refusedQuiet {
		return "", false
	}
	d.told = false
	return fmt.Sprintf("%s of %s, %s in all", Plural(int(d.Over), "message"), device, megabytes(int64(d.OverBytes))), true
}

func (s *refusals) undecoded() []Undecoded {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []Undecoded{}
	for _, name := range slices.Sorted(maps.Keys(s.all)) {
		if d := s.all[name]; d.Equal+d.Over > 0 {
			d.Undecoded.Left = d.Budget.Left()
			out = append(out, d.Undecoded)
		}
	}
	return out
}

// megabytes of 1,000,000 bytes, as cards are sold.
func megabytes(n int64) string { return fmt.Sprintf("%.3g MB", float64(n)/1e6) }
