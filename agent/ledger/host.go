package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

// hostFor is what the ledger offers one collector: the same for all, but each has a memory of its own.
type hostFor struct {
	*Ledger
	device string
}

// Host returns the ledger as the named device's host.
func (l *Ledger) Host(device string) collectors.Host { return hostFor{l, device} }

// Emit implements collectors.Host.
func (h hostFor) Emit(ctx context.Context, batch []collectors.Reading) error {
	return h.Ledger.Emit(ctx, h.device, batch)
}

// Refusal is what is kept of a message that could not be decoded. When it came is the record's own time.
type Refusal struct {
	Source string             `json:"source"` // a topic, or a register
	Raw    []byte             `json:"raw"`    // base64
	Why    string             `json:"why"`
	Device string             `json:"device,omitempty"` // as in collectors.Refusal, like the rest
	Old    bool               `json:"old,omitempty"`
	Given  []collectors.Point `json:"given,omitempty"`
}

// Refuse implements collectors.Host: the bytes go to a stream that is never drained, for people to look at.
func (h hostFor) Refuse(ctx context.Context, batch []collectors.Refusal) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bodies := make([][]byte, len(batch))
	for i, r := range batch {
		var err error
		if bodies[i], err = json.Marshal(Refusal{r.Source, r.Raw, r.Err.Error(), r.Device, r.Old, r.Given}); err != nil {
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

// Notice implements collectors.Host.
func (h hostFor) Notice(ctx context.Context, n collectors.Notice) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.begin(time.Now())
	d.applyNotice(n)
	if err := h.commit(d, h.device); err != nil {
		return fmt.Errorf("store the notice %s of %s: %w", n.Rule, n.Source, err)
	}
	return nil
}

// Recall implements collectors.Host.
func (h hostFor) Recall(name string) ([]byte, error) {
	return h.box.Get(stateName(memoryKey + h.device + "/" + name))
}

// Remember implements collectors.Host.
func (h hostFor) Remember(name string, v []byte) error {
	return h.box.Update(func(tx *outbox.Tx) error {
		tx.Put(stateName(memoryKey+h.device+"/"+name), v)
		return nil
	})
}

// Hurry implements collectors.Host.
func (h hostFor) Hurry(points []collectors.Point) bool {
	for _, p := range points {
		f := h.routes[p]
		if f != nil && slices.ContainsFunc(f.inputs, func(in detectorInput) bool { return in.kind == tank.Level && h.loading[in.tank].Load() }) {
			return true
		}
	}
	return false
}

// LoadState reads a piece of state that was kept as JSON; absent leaves into alone.
func (l *Ledger) LoadState(name string, into any) error {
	if l.box == nil { // an onlooker
		return nil
	}
	b, err := l.box.Get(stateName(name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if b == nil {
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		l.log.Error().Str("state", name).Err(err).Msg("a stored piece of state cannot be read; going on without it")
	}
	return nil
}

// SaveState stores a piece of state as JSON.
func (l *Ledger) SaveState(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write down %s: %w", name, err)
	}
	return l.box.Update(func(tx *outbox.Tx) error {
		tx.Put(name, b)
		return nil
	})
}
