package ledger

import (
	"sync"
	"time"

	"gauger/agent/recorder"
	"gauger/agent/tank"
	"gauger/collectors"
)

// recording is the ledger's side of the recorder. The ledger's lock guards it.
type recording struct {
	lock    *sync.Mutex
	ring    *recorder.Ring // nil: no readings are kept
	most    int64
	exposed bool           // it is said that a kill costs the open block
	broken  error          // why there is no ring, where readings should be kept
	rows    []recorder.Row // used again for each batch
	failing bool
}

// UseRecorder lets every reading that counts be kept in ring, which may take so many bytes. It is called before the first
// reading.
func (k *recording) UseRecorder(ring *recorder.Ring, most int64) {
	k.lock.Lock()
	defer k.lock.Unlock()
	*k = recording{lock: k.lock, ring: ring, most: most}
}

// RecorderFailed says that readings should be kept, and why they cannot be.
func (k *recording) RecorderFailed(why error, most int64) {
	k.lock.Lock()
	defer k.lock.Unlock()
	*k = recording{lock: k.lock, broken: why, most: most}
}

// Recorder is the ring of readings, nil when none are kept, or why there is none where there should be.
func (k *recording) Recorder() (*recorder.Ring, error) {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.ring, k.broken
}

// add keeps what a batch that is committed brought for tanks, rules and values, at the instants that the detector was
// told. A disk that does not take it stops nothing: it is said once, and counted.
func (k *recording) add(tx *txn, batch []collectors.Reading) {
	if k.ring == nil {
		return
	}
	k.rows = k.rows[:0]
	for i := range batch {
		r := &batch[i]
		if tx.l.routes[r.Point] == nil {
			continue
		}
		var x tank.Input
		tx.stampInput(&x, tx.withTime(*r))
		k.rows = append(k.rows, recorder.Row{Point: r.Point, Value: r.Value, Unit: r.Unit, Quality: r.Quality, At: x.At, Mono: x.Mono, Boot: x.Boot})
	}
	err := k.ring.Add(tx.now, k.rows)
	if err == nil {
		err = k.ring.Err() // of a block before this one, until one is written again
	}
	if why := k.ring.Exposed(); why != nil && !k.exposed {
		k.exposed = true
		tx.l.log.Warn().Err(why).Msg("a kill costs the readings of the last ten minutes: they cannot be kept in the runtime directory")
	}
	switch failed := k.failing; {
	case err != nil && !failed:
		tx.l.log.Error().Err(err).Msg("readings cannot be recorded, and are lost for backtest and export")
	case err == nil && failed:
		tx.l.log.Info().Msg("readings are recorded again")
	}
	k.failing = err != nil
}

// RecorderStatus counts rows and bytes.
type RecorderStatus struct {
	Rows     uint64    `json:"rows"` // since the program started
	Lost     uint64    `json:"lost"` // of them, those that could not be written
	Bytes    int64     `json:"bytes"`
	MaxBytes int64     `json:"max_bytes"`
	Oldest   time.Time `json:"oldest,omitzero"` // reading that is still there
	Error    string    `json:"error,omitempty"` // why readings are being lost
}

// RecorderStatus is that of the recorder; nil when no readings are kept.
func (k *recording) RecorderStatus() *RecorderStatus {
	k.lock.Lock()
	now := *k
	k.lock.Unlock()
	switch {
	case now.broken != nil:
		return &RecorderStatus{MaxBytes: now.most, Error: now.broken.Error()}
	case now.ring == nil:
		return nil
	}
	s := now.ring.Stats()
	out := &RecorderStatus{Rows: s.Rows, Lost: s.Lost, Bytes: s.Bytes, MaxBytes: now.most, Oldest: s.Oldest}
	if s.Err != nil {
		out.Error = s.Err.Error()
	}
	return out
}
