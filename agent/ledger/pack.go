package ledger

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
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
