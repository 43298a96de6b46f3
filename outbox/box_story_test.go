package outbox_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// story collects the words of a script until it was cut off.
type story struct {
	seed     uint64
	accepted map[string]uint64          // highest number that was accepted
	sent     map[string]map[uint64]int  // what the service has, and how often it came
	settled  map[string]map[uint64]bool // what the box has put down as delivered
	dropped  map[string]map[uint64]bool // what a person gave up, or began to
	count    uint64                     // records that were accepted, as the state must say
	begun    bool                       // an update was on its way
	opened   bool                       // it was opened once
	ended    string                     // why the script ended early
}

func newStory(seed uint64) *story {
	s := &story{seed: seed, accepted: map[string]uint64{}, sent: map[string]map[uint64]int{},
		settled: map[string]map[uint64]bool{}, dropped: map[string]map[uint64]bool{}}
	for _, stream := range streamNames {
		s.sent[stream], s.settled[stream], s.dropped[stream] = map[uint64]int{}, map[uint64]bool{}, map[uint64]bool{}
	}
	return s
}

func (s *story) hear(line string) {
	words := strings.Fields(line)
	var seqs []uint64
	for _, w := range words[1:] {
		if n, err := strconv.ParseUint(w, 10, 64); err == nil {
			seqs = append(seqs, n)
		}
	}
	switch words[0] {
	case "opened":
		s.opened = true
	case "ended":
		s.ended = line
	case "begin":
		s.begun = true
	case "refused":
		s.begun = false
	case "accepted":
		s.accepted[words[1]] = seqs[1]
	case "state":
		s.count, s.begun = seqs[0], false
	case "sent":
		for _, n := range seqs {
			s.sent[words[1]][n]++
		}
	case "settled":
		for _, n := range seqs {
			s.settled[words[1]][n] = true
		}
	case "dropping":
		s.dropped[words[1]][seqs[0]] = true
	}
}

// promised judges a box that was opened after a cut on a disk that keeps its word: all that was accepted is there or at
// the service, nothing that was put down as delivered waits again, the counts and the state fit, no byte is wrong.
func (s *story) promised(b *outbox.Box) error {
	var accepted uint64
	for _, stream := range streamNames {
		c := b.Counts()[stream]
		accepted += c.Accepted
		if !c.Balanced() || c.Lost+c.Evicted > 0 || c.Accepted < s.accepted[stream] {
			return fmt.Errorf("%s: %d were accepted, counted are %+v", stream, s.accepted[stream], c)
		}
		held, err := s.held(b, stream)
		if err != nil {
			return err
		}
		if uint64(len(held)) != c.Waiting+c.Dead {
			return fmt.Errorf("%s holds %d records, counted are %+v", stream, len(held), c)
		}
		for seq := uint64(1); seq <= c.Accepted; seq++ {
			switch state, there := held[seq]; {
			case !there && s.sent[stream][seq] == 0 && !s.dropped[stream][seq]:
				return fmt.Errorf("%s: record %d of %d is neither in the box nor at the service", stream, seq, c.Accepted)
			case state == outbox.Waiting && s.settled[stream][seq]:
				return fmt.Errorf("%s: record %d was put down as delivered and waits again", stream, seq)
			}
		}
	}
	return s.countFits(b, accepted)
}

// countFits compares the state with the counts: both come with the records in one transaction.
func (s *story) countFits(b *outbox.Box, accepted uint64) error {
	v, err := b.Get("count")
	if err != nil {
		return err
	}
	var count uint64
	if v != nil {
		count = binary.BigEndian.Uint64(v)
	}
	if count != accepted || count < s.count || count > s.count && !s.begun {
		return fmt.Errorf("the state counts %d, the streams %d; %d were accepted, one more on its way: %v", count, accepted, s.count, s.begun)
	}
	return nil
}

// held lists what a box has of a stream; a wrong byte in it is an error.
func (s *story) held(b *outbox.Box, stream string) (map[uint64]outbox.State, error) {
	held := map[uint64]outbox.State{}
	for _, state := range []outbox.State{outbox.Waiting, outbox.Dead} {
		all, err := outboxtest.All(b, stream, state)
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			if e.Raw == nil && !scriptBody(s.seed, e.Record.Body) {
				return nil, fmt.Errorf("%s: record %d has wrong bytes", stream, e.Record.Seq)
			}
			held[e.Record.Seq] = state
		}
	}
	return held, nil
}

// errWrongByte says that a sender was handed bytes that were never stored.
var errWrongByte = errors.New("a wrong byte was sent")

// deliver lets the service have all that waits, in a bubble of virtual time, and counts what came.
func (s *story) deliver(b *outbox.Box, drained func(stream string, to outbox.Sender)) error {
	var wrong error
	for _, stream := range streamNames {
		drained(stream, senderFunc(func(batch []outbox.Record) []outbox.Answer {
			for _, r := range batch {
				s.sent[stream][r.Seq]++
				if !scriptBody(s.seed, r.Body) {
					wrong = fmt.Errorf("%w: record %d of %s", errWrongByte, r.Seq, stream)
				}
			}
			return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
		}))
		if c := b.Counts()[stream]; c.Waiting > 0 || !c.Balanced() {
			wrong = errors.Join(wrong, fmt.Errorf("%s was drained: %+v", stream, c))
		}
	}
	return wrong
}

// doubled lists what came to the service more often than an answer was lost: twice at most, and only what the box had
// not put down when it was cut off.
func (s *story) doubled() (ambiguous int, err error) {
	for _, stream := range streamNames {
		for seq, n := range s.sent[stream] {
			if n > 2 || n == 2 && s.settled[stream][seq] {
				return 0, fmt.Errorf("record %d of %s came %d times, put down was %v", seq, stream, n, s.settled[stream][seq])
			}
			ambiguous += n - 1
		}
	}
	return ambiguous, nil
}

// limit bounds the time of an open, whatever the disk did.
const limit = 30 * time.Second
