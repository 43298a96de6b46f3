package outbox_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"time"

	"gauger/outbox"
)

// scriptedBox names the box that a child of this test binary plays a script to, on its first thread only, so that what
// it asks of the system can be recorded and made to fail call by call. Behind a blank come the seed and the number of steps.
const scriptedBox = "OUTBOX_TEST_SCRIPTED_BOX"

func init() {
	if os.Getenv(scriptedBox) != "" {
		runtime.LockOSThread()
	}
}

// script does to a box what a site does to it, and says on standard output what was promised, each as one line:
//
//	begin                  an update of the box may be on disk from here on
//	accepted STREAM A B    records A to B are accepted
//	refused                what began is not on disk: the disk is full
//	state N                the state "count" is N: so many records were accepted in all
//	sent STREAM A B ...    the service has stored these
//	settled STREAM A ...   and the box has put that down
//	dropping STREAM A      a person gives it up
//	opened                 the box is open
type script struct {
	path string
	seed uint64
	rng  *rand.Rand
	b    *outbox.Box
}

// The statuses of a child that ended before its script did.
const (
	exitDead = 75 // the box is out of service
	exitShut = 76 // it could not be opened, or not be closed in order
)

// scripted plays the script that the environment names.
func scripted(order string) int {
	var path string
	var seed uint64
	var steps int
	if _, err := fmt.Sscan(order, &path, &seed, &steps); err != nil {
		fmt.Fprintln(os.Stderr, "script:", order, err)
		return 2
	}
	outbox.SyncMarks()
	outbox.HoldDeletions()
	s := &script{path: path, seed: seed, rng: rand.New(rand.NewPCG(seed, 5))}
	if err := s.play(steps); err != nil {
		fmt.Println("ended", strings.ReplaceAll(err.Error(), "\n", "; "))
		switch {
		case s.b == nil:
			return exitShut
		case errors.Is(err, outbox.ErrDead):
			return exitDead
		}
		fmt.Fprintln(os.Stderr, "script:", err)
		return 1
	}
	return 0
}

func scriptOptions() outbox.Options {
	return outbox.Options{Streams: site(), MaxBytes: 8 << 20, Label: func(stream string, r outbox.Record) string {
		return fmt.Sprint(stream, "-", r.Seq)
	}}
}

func (s *script) open() (err error) {
	if s.b, err = outbox.Open(s.path, scriptOptions()); err == nil {
		fmt.Println("opened")
	}
	return err
}

// play goes through small days; after sixty of them comes a backlog that makes the file long, and its end, which makes it
// short again.
func (s *script) play(steps int) error {
	if err := s.open(); err != nil {
		return err
	}
	for i := range steps {
		if err := s.step(i); err != nil {
			return err
		}
	}
	return s.close()
}

// close leaves the script without a box, whatever comes of it.
func (s *script) close() error {
	b := s.b
	s.b = nil
	return b.Close()
}

func (s *script) step(i int) error {
	if i == 60 {
		return s.backlog()
	}
	switch p := s.rng.IntN(100); {
	case p < 60:
		return s.append(1+s.rng.IntN(6), 1+s.rng.IntN(900))
	case p < 85:
		return s.drain(streamNames[s.rng.IntN(3)], 1+s.rng.IntN(4))
	case p < 92:
		return s.amend()
	case p < 96:
		return s.reopen()
	}
	return s.damage()
}

var streamNames = []string{"tickets", "events", "tags"}

// append stores records of one stream, and counts them in the state, in one transaction.
func (s *script) append(n, size int) error {
	stream := streamNames[s.rng.IntN(3)]
	var first, last, count uint64
	fmt.Println("begin")
	err := s.b.Update(func(tx *outbox.Tx) error {
		v := tx.Get("count")
		if v != nil {
			count = binary.BigEndian.Uint64(v)
		}
		for range n {
			last = tx.Append(stream, scriptRecord(s.seed, size))
		}
		first = last + 1 - uint64(n)
		count += uint64(n)
		tx.Put("count", binary.BigEndian.AppendUint64(nil, count))
		return nil
	})
	if errors.Is(err, outbox.ErrNoSpace) {
		fmt.Println("refused")
		return nil
	}
	if err == nil {
		fmt.Println("accepted", stream, first, last)
		fmt.Println("state", count)
	}
	return err
}

// scriptRecord is a record whose body tells whether all of it is its own.
func scriptRecord(seed uint64, size int) outbox.Record {
	rng := rand.New(rand.NewPCG(seed, uint64(size)))
	body := binary.BigEndian.AppendUint64(nil, uint64(size))
	for range size {
		body = append(body, byte(rng.Uint32()))
	}
	return outbox.Record{Body: body, At: time.Unix(1_700_000_000, 0), Config: uint32(size)}
}

// scriptBody reports whether a body is as scriptRecord made it.
func scriptBody(seed uint64, body []byte) bool {
	if len(body) < 8 {
		return false
	}
	return string(scriptRecord(seed, int(binary.BigEndian.Uint64(body))).Body) == string(body)
}

// refuses: these are what the service of the script does not take.
func refuses(r outbox.Record) bool { return r.Config%11 == 3 }

// drain sends at most so many requests of a stream, and as many as there is something for.
func (s *script) drain(stream string, requests int) error {
	d := &scriptDrain{s: s, stream: stream, left: requests}
	if s.b.Counts()[stream].Waiting == 0 {
		return nil
	}
	var ctx context.Context
	ctx, d.cancel = context.WithCancel(context.Background())
	defer d.cancel()
	err := s.b.Drain(untilWaitedFor{ctx, d.cancel}, stream, d)
	if err == nil {
		d.settled(0)
	}
	return err
}

// untilWaitedFor ends when somebody waits for its end, as a drain does that has nothing to send now: with records that were refused
// it would wait for minutes.
type untilWaitedFor struct {
	context.Context
	cancel func()
}

// Done ends the context.
func (c untilWaitedFor) Done() <-chan struct{} {
	c.cancel()
	return c.Context.Done()
}

// scriptDrain is the service: it stores everything but poison.
type scriptDrain struct {
	s      *script
	stream string
	left   int
	cancel func()
	sent   [][]uint64 // by request
}

func (d *scriptDrain) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	ahead := 1
	if d.stream == "tickets" {
		ahead = 0
	}
	d.settled(ahead)
	var sent []uint64
	receipts := make([]outbox.Answer, len(batch))
	var words strings.Builder
	for i, r := range batch {
		if refuses(r) {
			receipts[i] = outbox.Answer{Class: outbox.Poison, Status: 400, Message: "poison"}
			continue
		}
		receipts[i] = outbox.Answer{Class: outbox.Stored, Status: 200, CorrelationID: "c"}
		sent = append(sent, r.Seq)
		fmt.Fprint(&words, " ", r.Seq)
	}
	if len(sent) > 0 {
		d.sent = append(d.sent, sent)
		fmt.Println("sent " + d.stream + words.String())
	}
	if d.left--; d.left <= 0 || len(sent) == 0 || d.s.b.Counts()[d.stream].Waiting == uint64(len(batch)) {
		d.cancel()
	}
	return receipts
}

// settled says that what was sent before is put down, but for the last requests that the drain may be ahead: it would not have
// come back otherwise.
func (d *scriptDrain) settled(ahead int) {
	for len(d.sent) > ahead {
		fmt.Println("settled", d.stream, strings.Trim(fmt.Sprint(d.sent[0]), "[]"))
		d.sent = d.sent[1:]
	}
}

// amend retries or drops the first dead letter of a stream.
func (s *script) amend() error {
	stream := streamNames[s.rng.IntN(3)]
	dead, err := s.b.Entries(stream, outbox.Dead, 0, 1)
	if err != nil || len(dead) == 0 {
		return err
	}
	seq := dead[0].Record.Seq
	if s.rng.IntN(2) == 0 {
		_, err = s.b.Retry(stream, seq)
	} else {
		fmt.Println("dropping", stream, seq)
		_, err = s.b.Drop(stream, "script", seq)
	}
	if errors.Is(err, outbox.ErrNoSpace) {
		return nil
	}
	return err
}

// backlog fills the file beyond four megabytes, and takes everything away again.
func (s *script) backlog() error {
	for range 11 {
		if err := s.append(5, 90_000); err != nil {
			return err
		}
	}
	for _, stream := range streamNames {
		if err := s.drain(stream, 1000); err != nil {
			return err
		}
	}
	return s.append(1, 10)
}

func (s *script) reopen() error {
	if err := s.close(); err != nil {
		return err
	}
	return s.open()
}

// damage lets the next open take the file for a damaged one, so that it carries everything into a fresh file.
func (s *script) damage() (err error) {
	if err := s.close(); err != nil {
		return err
	}
	o := scriptOptions()
	o.Preflight = func(string) error { return outbox.ErrDamaged }
	if s.b, err = outbox.Open(s.path, o); err == nil {
		fmt.Println("opened")
	}
	return err
}
