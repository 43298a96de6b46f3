package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gauger/outbox/receipts"
)

// What a caller can act on. All errors of the package that have one of these causes wrap it.
var (
	// ErrFull says that the quota is used up and nothing that is allowed to give way is left.
	ErrFull = errors.New("the outbox is full")
	// ErrNoSpace says that the disk is full, although the quota is not: nothing of the Update was stored, the box works on,
	// and a later Update works when there is room again.
	ErrNoSpace = errors.New("the disk is full")
	// ErrDead says that the file or its disk failed under the open box. Nothing can be stored or sent any more: end the
	// process; the next Open examines and repairs the file.
	ErrDead = errors.New("the outbox is out of service")
	// ErrClosed says that Close was called before.
	ErrClosed = errors.New("the outbox is closed")
	// ErrHeld says that another process has the box open.
	ErrHeld = errors.New("another gauger holds the outbox")
	// ErrDamaged says that a file is not a sound box. Open mends it; Check reports it.
	ErrDamaged = errors.New("the outbox file is damaged")
	// ErrStream says that the box has no stream of that name.
	ErrStream = errors.New("no such stream")
	// ErrRecord says that a stream has no record of that sequence number (any more).
	ErrRecord = errors.New("no such record")
	// ErrLookOnly says that a box that was opened for looking would have to be changed for it.
	ErrLookOnly = errors.New("the outbox is only looked at")
	// ErrRefused says that a record or a name cannot be stored as it is: no body, too long an address or name.
	ErrRefused = errors.New("cannot be stored")
)

// NoRoom reports whether an Update was refused for want of room, in the quota or on the disk: nothing of it was stored,
// and nothing else is wrong.
func NoRoom(err error) bool { return errors.Is(err, ErrFull) || errors.Is(err, ErrNoSpace) }

// Limits of what one record may be.
const (
	// MaxAddress is the longest address in bytes.
	MaxAddress = 255
	// MaxRequest bytes of bodies go into one request; a single larger record goes alone.
	MaxRequest = 256 << 10
)

// Record is one element of a stream.
type Record struct {
	Seq     uint64    // position in its stream, from 1; set by Append
	Address string    // what the path needs: a well's or device's id; "" for tickets and events
	Body    []byte    // wire JSON, made once; the service gets these bytes
	At      time.Time // when it was enqueued; Append sets it when zero
	Clock   byte      // grade of the clock at that time, by whoever appends
	Config  uint32    // hash of the configuration that made it

	// Attempt is set for a Sender only: how many attempts before this one may have stored the record without an answer
	// that says so, in a row. 0: the service cannot have it yet.
	Attempt int

	Late int // set for a Sender only: how many of the last attempts before this one had no answer in time, in this run

	sum uint32 // the checksum that its value has on disk, once it was read from there
}

// Options say what a box is made of. The zero value of every field works, except that a box without streams holds none.
type Options struct {
	// MaxBytes is the quota: so many bytes of disk are reserved, and four fifths of them take records; the rest is kept
	// so that deleting always works. 0: 64 MiB.
	MaxBytes int64
	// ReceiptsFor: the receipt of a delivered or dropped record is kept at least so long, as far as ReceiptsBytes
	// reach; where they do not, the bytes win, and the streams give way in the order of Keep. 0: 62 days and 16 MiB.
	ReceiptsFor   time.Duration
	ReceiptsBytes int64
	// Streams are the streams that exist, with their rules. A stream that the file has and this list has not is kept
	// and counted, but not drained.
	Streams []Stream
	// LookOnly opens the box so that nothing is made or changed, of the disk's reserve too. One that would have to be is not opened
	// (ErrLookOnly, or ErrDamaged where it would be mended), and every Update fails.
	LookOnly bool
	// Notify is told once of every change of state: evictions, dead letters, pauses, salvage. It is called on the
	// goroutine that caused the change, with no lock and no transaction held, and before Open returns for what Open
	// found. It must not block. nil: nobody is told.
	Notify func(Note)
	// Pace is asked before each request of a drain, when nothing is chosen yet, and may wait, for hours too, or end it with
	// an error (of ctx). nil: no pacing.
	Pace func(ctx context.Context, stream string) error
	// Label gives the few words that a delivered record's receipt keeps, a ticket's number for instance. nil: none.
	Label func(stream string, r Record) string
	// Preflight examines the file before it is opened, best in a process of its own (package preflight), since a damaged file
	// can crash or hang its reader. nil: sound; an error that wraps ErrDamaged: set aside and salvage; any other error:
	// the examination itself could not be made, Notify is told and Check looks at the file in this process. A nil func
	// checks only what is quickly checked.
	Preflight func(path string) error
}

// Stream is one queue and its rules.
type Stream struct {
	Name    string // lower-case word, at most 32 bytes: tickets, events, tags
	Batch   int    // records per request at most; 0: 1. The drain of a stream of more may be one batch ahead of the file
	Most    int    // requests grow from Batch to so many records while the service takes full ones quickly; 0: they do not
	Keep    Keep   // what gives way when the quota or the stream's share of it is full
	Share   int    // percent of the quota's room for records that the stream may use, dead letters included; 0: all of it
	Journal bool   // write "attempt started" before sending, and park a record after five ambiguous attempts: tickets
	Held    bool   // never drained: a stream of refused messages
	// Linger: records wait so long for more to leave with, unless a request is full; and a deletion waits up to half a minute
	// for a commit to go with. 0: neither waits, and nothing can be offered.
	Linger time.Duration
}

// Keep says how a stream gives way when the quota is full. Streams give way in the order ThinFirst, OldestFirst,
// OldestLast, each only when the one before has nothing left.
type Keep uint8

// The zero value never gives way, so that a forgotten field loses nothing.
const (
	Never       Keep = iota // never gives way: Update returns ErrFull instead
	OldestLast              // the oldest go, after everything else
	OldestFirst             // the oldest go, after the thinned streams
	ThinFirst               // first to give way: of the oldest, one in eight is kept
)

// Class of a service's answer for a record: the drain acts on it.
type Class uint8

// The zero value is Ambiguous: an answer that was not understood may mean that the record was stored.
const (
	Ambiguous Class = iota // sent, no answer that says so: the same bytes are sent again
	Stored                 // the service has it
	Poison                 // refused as invalid
	TooLarge               // the request was too big
	Wait                   // not stored, try again later
	Key                    // not stored: no valid key
	Path                   // not stored: wrong path, redirect, or a service that does not know the operation
)

// String is the lower-case word that people and programs see.
func (c Class) String() string {
	words := [...]string{"ambiguous", "stored", "refused", "too large", "wait", "key", "path"}
	if int(c) < len(words) {
		return words[c]
	}
	return "unknown"
}

// Answer is the service's answer for one record.
type Answer struct {
	Class         Class
	Status        int           // HTTP status; 0 when there was no answer
	CorrelationID string        // of the error body, or ""
	RetryAfter    time.Duration // the service's wish; 0: none
	Message       string        // for people
	Tell          bool          // people should hear of it at once: NoteStalled does not wait its ten minutes
	Late          bool          // of an Ambiguous: no answer came in the time that it had
	Proved        bool          // of a Poison: the service took what stood beside it in the record, so that it is to blame
}

// Sender takes batches to the service.
type Sender interface {
	// Send sends one request with all records of the batch and returns an answer for each, in order. It is called from
	// the stream's drain, one call at a time per stream; the batch is the Sender's to keep. A record without an answer
	// counts as Ambiguous. It returns soon after ctx ends.
	Send(ctx context.Context, stream string, batch []Record) []Answer
}

// NoteKind says what a Note is about.
type NoteKind string

// The kinds of notes.
const (
	NoteEvicted    NoteKind = "evicted"     // records gave way to the quota; Count of them
	NoteFull       NoteKind = "full"        // the quota or the disk refuses records; told once until it takes one again
	NoteDeadLetter NoteKind = "dead-letter" // Count records, the first is Seq, became dead letters
	NoteParked     NoteKind = "parked"      // five ambiguous attempts, or one more while others were taken: Seq waits for Retry, Confirm or a day
	NotePaused     NoteKind = "paused"      // everything is refused: the stream keeps all and probes; Seq where it is a single record
	NoteStalled    NoteKind = "stalled"     // nothing was taken for ten minutes; Message has the last answer
	NoteResumed    NoteKind = "resumed"     // the end of paused or stalled
	NoteIsolated   NoteKind = "apart"       // what is for Address, or the record Seq, is not taken while others are: it waits by itself
	NoteRejoined   NoteKind = "taken"       // the end of it
	NoteShrunk     NoteKind = "shrunk"      // requests were too large: Count is the new limit of records a request
	NoteSalvaged   NoteKind = "salvaged"    // the file was damaged and was mended; Message has the figures
	NoteUnreserved NoteKind = "unreserved"  // the disk did not give the space; the quota is not certain
	NoteReceipts   NoteKind = "receipts"    // receipts of Stream went before their time, since their room is used up; told once per Open
	NoteTrouble    NoteKind = "trouble"     // something beside the records did not work: receipts, preflight, replacement
	NoteDead       NoteKind = "dead"        // ErrDead from here on
)

// Note is one change of state, told once.
type Note struct {
	Kind    NoteKind
	Stream  string // "" when it concerns the whole box
	Seq     uint64 // the record, where one is meant
	Address string // where one is meant
	Count   int    // how many, where something is counted
	At      time.Time
	Message string // a sentence for a person

	Behind []string // of NoteSalvaged: streams that had records which the file has never had: all that is kept beside them is older too
}

// Isolated is an address, or a single record, that waits by itself: nothing of it is taken, while the others are.
type Isolated struct {
	Address string
	Seq     uint64    // the record, where it has no address
	Since   time.Time // of the first answer that did not take it
	Next    time.Time // attempt
	Answer  Answer    // the last
}

// describe is the answer in words, for a note or a dead letter.
func (r Answer) describe() string {
	text := r.Class.String()
	if r.Status != 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, status %d", text, r.Status), "refused, ") // where it stands says so
	}
	if r.Message != "" {
		text += ": " + receipts.Shorten(r.Message, maxReason-64)
	}
	return text
}

// Activity of the drain of a stream.
type Activity string

// The activities.
const (
	Stopped   Activity = ""          // nobody drains the stream
	Idle      Activity = "idle"      // nothing is there that could be sent
	Gathering Activity = "gathering" // it waits for more records to go together
	Pacing    Activity = "pacing"    // Options.Pace holds the next request back
	Sending   Activity = "sending"   // a request is out
	BackOff   Activity = "waiting"   // until Next, after an answer that did not take the records
	Paused    Activity = "paused"    // everything that was tried is refused; one record is tried at Next
)

// DrainStatus says how far a stream's drain is, and what holds it up.
type DrainStatus struct {
	Activity Activity
	Asked    time.Time  // while it is sending, when the request began
	Asking   int        // how many bytes of records that has
	Late     int        // and how many attempts before it had no answer in time
	Since    time.Time  // since when the answers are of the kind of the last one; zero: the last one is of a run before
	Next     time.Time  // of the next attempt, while it is waiting or paused
	Troubled time.Time  // since when nothing was taken; zero: all is well
	Answer   Answer     // the last that did not take its records, while there is trouble
	Answered time.Time  // when that was
	Taken    time.Time  // when the service last took some; zero: not in this run
	Parked   int        // records that were sent without a clear answer too often
	Unclear  int        // the other waiting ones that were sent without a clear answer
	FirstSeq uint64     // of those, the first; 0: there is none
	Again    time.Time  // when the first of those goes again that wait by themselves; zero: none does
	Refused  uint64     // while it is paused, the one record that was refused; 0: several were
	Isolated []Isolated // what waits by itself, since it alone is not taken
	Limit    int        // records a request may have, where answers "too large" have made it less than the stream's own; 0: its own
}

// maxReason bounds what is kept of the words about a record, in bytes.
const maxReason = 512
