package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
	"time"
)

// full is the error of a commit on a full disk, in the words of a write and of a sync.
var full = map[string]error{
	"a write": &fs.PathError{Op: "write", Path: "outbox.db", Err: syscall.ENOSPC},
	"a sync":  syscall.ENOSPC,
}

// A commit that ended for want of room is looked up in the file: what is not there is forgotten with all that was staged
// on top of it, what is there stands; the box goes on either way.
func TestFullDiskIsDecidedByTheFile(t *testing.T) {
	for name, cause := range full {
		for _, there := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, there %v", name, there), func(t *testing.T) {
				var told []Note
				b := openTickets(t, t.TempDir()+"/outbox.db")
				b.notify = func(n Note) { told = append(told, n) }
				if err := appendOne(b, "before"); err != nil {
					t.Fatal(err)
				}
				later, err := halfCommitted(b, there, cause)
				if (err == nil) != there || !there && !errors.Is(err, ErrNoSpace) {
					t.Fatalf("recovering: %v", err)
				}
				if !there && !errors.Is(later.err, ErrNoSpace) {
					t.Errorf("what was staged on top: %v", later.err)
				}
				onTop := b.Update(func(tx *Tx) error { tx.After(&Commit{b, later}); return nil })
				if (onTop == nil) != there || !there && !errors.Is(onTop, ErrNoSpace) {
					t.Errorf("what is staged afterwards on top of it: %v", onTop)
				}
				if err := appendOne(b, "after"); err != nil {
					t.Fatal(err)
				}
				want := Counts{Accepted: 2, Waiting: 2}
				if there {
					want = Counts{Accepted: 4, Waiting: 4}
				}
				all, err := b.Entries("tickets", Waiting, 0, 10)
				if c := b.Counts()["tickets"]; c != want || err != nil || len(all) != int(want.Waiting) {
					t.Errorf("counts %+v, %d records, %v, want %+v", c, len(all), err, want)
				}
				if err := b.Close(); err != nil {
					t.Fatal(err)
				}
				if _, err := Check(b.path); err != nil {
					t.Error(err)
				}
				if n := len(told); n != 0 && there || n != 2 && !there {
					t.Errorf("told %v", told)
				}
			})
		}
	}
}

// halfCommitted stages a record, commits it or not, stages another on top, and recovers from the cause.
func halfCommitted(b *Box, there bool, cause error) (later *group, err error) {
	g := stageOne(b)
	if there {
		before := b.stateSum
		b.lead(g)
		b.stateSum = before // as lead does, when the commit returns an error
	} else { // as lead does, but for the commit
		b.next, b.running = nil, g
		b.generation++
		g.generation = b.generation
	}
	later = stageOne(b)
	b.commitMu.Lock()
	err = b.recoverFromFullDisk(g, cause)
	b.commitMu.Unlock()
	b.tell()
	if there {
		b.lead(later)
	}
	return later, err
}

// stageOne adds a record to the next group, and commits nothing.
func stageOne(b *Box) *group {
	s := b.streams["tickets"]
	c, err := b.join(func(g *group) error {
		key, value := encodeRecord(s.Name, Record{Seq: s.counts.nextSeq, Body: []byte("staged"), At: time.Unix(1, 0)})
		g.put(s.queueBucket, key, value)
		s.counts.nextSeq, s.counts.Accepted, s.counts.Waiting = s.counts.nextSeq+1, s.counts.Accepted+1, s.counts.Waiting+1
		s.counts.bytes += storedCost(value)
		g.touch(s)
		g.putState("tank/1", fmt.Append(nil, "with record ", s.counts.nextSeq))
		return nil
	})
	if err != nil {
		panic(err)
	}
	return c.g
}
