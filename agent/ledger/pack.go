package ledger

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rs/zerolog"

	"gauger/outbox"
)

const (
	packed     = 0       // first byte of a packed piece of state; that of none that is not
	packFrom   = 8 << 10 // bytes; a smaller piece would save no page of the flash
	unpackMost = 64 << 20
)

// pack makes a large piece of state smaller: that of twenty tanks is stored hundreds of times a day.
func pack(state []byte) ([]byte, error) {
	if len(state) < packFrom {
		return state, nil
	}
	var b bytes.Buffer
	b.WriteByte(packed)
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, fmt.Errorf("pack state: %w", err)
	}
	if _, err := w.Write(state); err != nil {
		return nil, fmt.Errorf("pack state: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack state: %w", err)
	}
	return b.Bytes(), nil
}

// unpack takes a stored piece of state, packed or not.
func unpack(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packed {
		return stored, nil
	}
	state, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored[1:])), unpackMost))
	if err != nil {
		return nil, fmt.Errorf("unpack state: %w", err)
	}
	return state, nil
}

// smallState is what is kept beside the streams, by name.
type smallState struct {
	box *outbox.Box // nil: there is none, as NewWithoutOutbox says
	log zerolog.Logger
}

// LoadState reads a piece of state that was kept as JSON; absent leaves into alone.
func (k *smallState) LoadState(name string, into any) error {
	if k.box == nil {
		return nil
	}
	b, err := k.box.Get(stateName(name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if b == nil {
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		k.log.Error().Str("state", name).Err(err).Msg("a stored piece of state cannot be read; going on without it")
	}
	return nil
}

// SaveState stores a piece of state as JSON.
func (k *smallState) SaveState(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write down %s: %w", name, err)
	}
	return k.box.Update(func(tx *outbox.Tx) error {
		tx.Put(name, b)
		return nil
	})
}

// longestStateName is the longest name under which the outbox keeps a piece of state, in bytes.
const longestStateName = 512

// stateName is the name of a piece of state, no longer than the outbox takes it: a name that somebody configured must not
// keep a whole batch from being stored.
func stateName(name string) string {
	if len(name) <= longestStateName {
		return name
	}
	hash := hashOf(name)
	return name[:longestStateName-len(hash)] + hash
}
