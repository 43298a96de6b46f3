package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"time"

	"gauger/agent/ledger"
	"gauger/agent/recorder"
	"gauger/collectors"
	"gauger/outbox"
)

// ProofArgs is the time that a proof is about: From inclusive, To exclusive.
type ProofArgs struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Proof says where every record is: of each stream in all, and of what was accepted in a stretch of time.
type Proof struct {
	From    time.Time               `json:"from"`
	To      time.Time               `json:"to"`
	At      time.Time               `json:"at"`
	Holds   bool                    `json:"holds"` // every record of every stream is accounted for
	Streams []StreamProof           `json:"streams"`
	Unused  []ledger.UnusedReadings `json:"unused"` // readings that became no record since nobody knows when they were true; of all time
	Events  EventProof              `json:"events"`
	Store   string                  `json:"new_store,omitempty"` // that nothing of before is in the store, for a day
}

// Tally counts records by their fate: Accepted is the sum of the others.
type Tally struct {
	Accepted  uint64 `json:"accepted"`  // stored to be sent
	Delivered uint64 `json:"delivered"` // the service has them
	Waiting   uint64 `json:"waiting"`   // have not left yet
	Dead      uint64 `json:"dead"`      // refused, or damaged on disk, and kept for a person
	Evicted   uint64 `json:"evicted"`   // gave way since the store was full
	Dropped   uint64 `json:"dropped"`   // given up by a person, or gave no value when it was decoded again
	Lost      uint64 `json:"lost"`      // taken by a damaged file

	LostUnknown bool `json:"lost_unknown,omitempty"` // more may be lost than lost says: damage took the counts as well
}

// Losses counts the lost records, in words where the number is not known.
func (t Tally) Losses() string {
	switch {
	case t.LostUnknown && t.Lost == 0:
		return "unknown"
	case t.LostUnknown:
		return strconv.FormatUint(t.Lost, 10) + " or more"
	}
	return strconv.FormatUint(t.Lost, 10)
}

// StreamProof is the ledger of one stream.
type StreamProof struct {
	Stream string `json:"stream"`
	Whole  Tally  `json:"whole"`
	// Queued and Letters are the waiting records and the dead letters that were counted one by one in the file.
	Queued  uint64 `json:"queued"`
	Letters uint64 `json:"letters"`
	Holds   bool   `json:"holds"`
	// Within is the same of the records that were accepted in the stretch. One that is neither here nor has a receipt
	// counts as evicted as long as the stream has evicted so many, then as lost likewise, else it is in NoReceipt.
	Within    Tally     `json:"within"`
	NoReceipt uint64    `json:"no_receipt"`
	Before    uint64    `json:"unknown_before"`  // right before First, and nowhere: some may have been accepted in the stretch
	First     uint64    `json:"first,omitempty"` // sequence numbers of those records
	Last      uint64    `json:"last,omitempty"`
	Since     time.Time `json:"receipts_since,omitzero"` // where receipts went because they were old or their room used up
	Moved     bool      `json:"moved,omitempty"`         // records came or went between Whole and Within, each time that they were counted
}

// proofTries: a stream on which records move while they are counted is counted again, so many times at most.
const proofTries = 3

// prove makes the proof. Nothing is held up meanwhile; what is delivered during it is counted once.
func (d *Server) prove(ctx context.Context, a ProofArgs) (Proof, error) {
	p := Proof{From: a.From, To: a.To, At: time.Now().Round(0), Holds: true, Streams: []StreamProof{}, Unused: d.Ledger.Unused(), Store: d.Ledger.NewStoreHint(time.Now())}
	audited, err := d.Box.AuditNow()
	if err != nil {
		return p, err
	}
	events := &eventComparison{}
	for _, name := range slices.Sorted(maps.Keys(audited)) {
		s, seen, err := d.proveStream(name, audited[name], a)
		if err != nil {
			return p, err
		}
		if name == ledger.Events {
			events = seen
		}
		p.Streams = append(p.Streams, s)
		p.Holds = p.Holds && s.Holds
	}
	if p.empty() {
		p.Events = EventProof{Missing: []EventCount{}, Doubled: []EventCount{}, Unknown: []EventCount{}, Note: "nothing was accepted yet, so that the service is not asked"}
		return p, nil
	}
	p.Events = d.compare(ctx, events)
	return p, nil
}

// proveStream counts the records of a stream, in all and in the stretch, at one instant: it counts until nothing has moved meanwhile.
func (d *Server) proveStream(name string, before outbox.Audited, a ProofArgs) (s StreamProof, events *eventComparison, err error) {
	for try := 1; ; try++ {
		s = StreamProof{Stream: name, Whole: Tally(before.Counts), Queued: before.Queued, Letters: before.Letters, Holds: before.Holds() && !before.LostUnknown}
		events = &eventComparison{zone: d.Client.Wire(), from: a.From, to: a.To, all: map[eventKey]*eventTally{}}
		see := func(outbox.Entry) {}
		if name == ledger.Events {
			see = events.addRecord
		}
		places, err := d.within(&s, before.Counts, a, see)
		if err != nil {
			return s, events, err
		}
		events.since = s.Since
		after, err := d.Box.AuditNow()
		if err != nil {
			return s, events, err
		}
		if s.Moved = after[name] != before; !s.Moved || try == proofTries {
			s.count(places)
			return s, events, nil
		}
		before = after[name]
	}
}

// empty says that nothing was ever accepted.
func (p *Proof) empty() bool {
	return !slices.ContainsFunc(p.Streams, func(s StreamProof) bool { return s.Whole.Accepted > 0 || s.Whole.LostUnknown })
}

// recordPlace is one sight of a record.
type recordPlace struct {
	seq   uint64
	state outbox.State
	in    bool // it was accepted in the stretch
}

// within finds what became of the records of a stream, in the order of their numbers. see gets every record that is known.
func (d *Server) within(s *StreamProof, counts outbox.Counts, a ProofArgs, see func(outbox.Entry)) ([]recordPlace, error) {
	since, all, err := d.Box.ReceiptsSince(s.Stream, counts)
	if err != nil {
		return nil, err
	}
	if !all {
		s.Since = since.Round(0)
	}
	var places []recordPlace
	// In this order, so that a record which moves on meanwhile is seen.
	for _, state := range []outbox.State{outbox.Waiting, outbox.Dead, outbox.Delivered, outbox.Dropped} {
		for e, err := range d.Box.All(s.Stream, state, 0) {
			if err != nil {
				return nil, err
			}
			see(e)
			at := e.Record.At
			places = append(places, recordPlace{e.Record.Seq, state, !at.Before(a.From) && at.Before(a.To)})
		}
	}
	sort.SliceStable(places, func(i, j int) bool { return places[i].seq < places[j].seq })
	return places, nil
}

// count counts places, which are in the order of their numbers. Numbers have no holes: what lies between two records of the
// stretch and is nowhere was evicted or lost, or its receipt is no longer kept. A record that was seen twice is where it was in the end; where
// nothing has moved its receipt is ahead of the commit, and it is where it was in the file.
func (s *StreamProof) count(places []recordPlace) {
	w := &s.Within
	w.LostUnknown = s.Whole.LostUnknown
	known := uint64(0) // places from the first of the stretch on, and up to its last
	since, last := uint64(0), uint64(0)
	for i, p := range places {
		if again := i + 1; s.Moved && again < len(places) && places[again].seq == p.seq || !s.Moved && i > 0 && places[i-1].seq == p.seq {
			continue
		}
		if s.First > 0 {
			since++
		}
		before := last
		last = p.seq
		if !p.in {
			continue
		}
		if s.First == 0 {
			s.First, since, s.Before = p.seq, 1, p.seq-1-before
		}
		s.Last, known = p.seq, since
		switch p.state {
		case outbox.Waiting:
			w.Waiting++
		case outbox.Dead:
			w.Dead++
		case outbox.Delivered:
			w.Delivered++
		case outbox.Dropped:
			w.Dropped++
		}
	}
	if s.First == 0 {
		return
	}
	nowhere := s.Last - s.First + 1 - known
	w.Evicted = min(nowhere, s.Whole.Evicted)
	w.Lost = min(nowhere-w.Evicted, s.Whole.Lost)
	s.NoReceipt = nowhere - w.Evicted - w.Lost
	w.Accepted = w.Delivered + w.Waiting + w.Dead + w.Evicted + w.Dropped + w.Lost + s.NoReceipt
}

// ReadingsArgs says which recorded readings somebody wants: those with From <= time < To of the points. A zero time is no
// bound, and no points are all.
type ReadingsArgs struct {
	From   time.Time          `json:"from,omitzero"`
	To     time.Time          `json:"to,omitzero"`
	Points []collectors.Point `json:"points,omitempty"`
}

// RecordingPiece is a piece of a recording, or what of it cannot be read.
type RecordingPiece struct {
	CSV    string `json:"csv,omitempty"` // whole lines, without the header
	Damage string `json:"damage,omitempty"`
}

// pieceSize, in bytes: a recording is handed over in pieces.
const pieceSize = 32 << 10

// readings gives what the recorder holds, in the order in which it came.
func (d *Server) readings(ctx context.Context, w ReadingsArgs, see func(any) error) error {
	ring, broken := d.Ledger.Recorder()
	switch {
	case broken != nil:
		return fmt.Errorf("no readings can be kept here: %w", broken)
	case ring == nil:
		return errors.New("no readings are kept here: the configuration has recorder.max_bytes: 0")
	}
	var lines recorder.CSV
	for row, err := range ring.Rows(w.From, w.To, w.Points...) {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			if err := see(RecordingPiece{Damage: err.Error()}); err != nil {
				return err
			}
			continue
		}
		lines.Add(row)
		if len(lines.Text) < pieceSize {
			continue
		}
		if err := see(RecordingPiece{CSV: string(lines.Text)}); err != nil {
			return err
		}
		lines.Text = lines.Text[:0]
	}
	if len(lines.Text) == 0 {
		return nil
	}
	return see(RecordingPiece{CSV: string(lines.Text)})
}
