package outbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"

	"gauger/outbox/disk"
)

// recoverFromFullDisk decides about a commit that ended because the disk is full, and keeps the box in service. Such a commit may be
// in the file or not: the file is closed, examined, opened again, and the generation in it tells. nil: it is there, on
// disk. ErrNoSpace: it is not, and what was staged on top of it goes too. Any other error is the end of the box.
// commitMu is held.
func (b *Box) recoverFromFullDisk(g *group, cause error) error {
	err := b.reopen(cause)
	if err != nil {
		return errors.Join(cause, err)
	}
	refused := fmt.Errorf("%w: nothing of this was stored: %w", ErrNoSpace, cause)
	b.mu.Lock()
	defer b.mu.Unlock()
	there := false
	err = b.view("read the outbox again", func(tx *bbolt.Tx) error {
		gen, state := generationOf(tx)
		if there = gen == g.gen; there {
			b.stateSum = state
			return nil
		}
		return b.rereadCounts(tx)
	})
	if err != nil || there {
		return err
	}
	if b.next != nil { // whoever staged it saw what is not there
		b.next.err = refused
		b.next = nil
	}
	b.leaving = map[recordRef]bool{}
	b.noteDiskFull(cause)
	return refused
}

// diskFull reports whether a commit ended because the disk is full. Of what makes a file longer bbolt hands on only the
// words.
func diskFull(err error) bool {
	return err != nil && !errors.Is(err, ErrDamaged) && (disk.IsFull(err) || strings.Contains(err.Error(), syscall.ENOSPC.Error()))
}

// reopen exchanges the handle, so that nothing which the failed commit left in memory is believed.
func (b *Box) reopen(cause error) error {
	b.dbMu.Lock()
	defer b.dbMu.Unlock()
	if err := b.closeDB(); err != nil {
		return err
	}
	if err := quickCheck(b.path); err != nil {
		return err
	}
	if _, writing := errors.AsType[*fs.PathError](cause); !writing { // a sync: the system may have forgotten what it was given
		if err := disk.Rewrite(b.path); err != nil {
			return err
		}
	}
	return catchFaults("open the file again", func() error {
		db, err := openDB(b.path, b.opt.MaxBytes)
		if err != nil {
			return err
		}
		b.db = db
		if b.fileInfo, err = os.Stat(b.path); err != nil {
			return err
		}
		return errors.Join(db.Sync(), b.measure(db))
	})
}

// generationOf is the number of the last group of commits in the file, and what it says of the state.
func generationOf(tx *bbolt.Tx) (gen uint64, state stateChecksum) {
	v := tx.Bucket([]byte(bucketMeta)).Get([]byte(keyGeneration))
	content, gen, err := unseal(bucketMeta, []byte(keyGeneration), v)
	if err != nil {
		return 0, stateChecksum{}
	}
	state, _ = decodeStateChecksum(content)
	return gen, state
}

// rereadCounts makes counts and attempts what the file says. What this process knows besides stays: which attempts were its own,
// and the attempts of streams that are not journaled. The lock is held.
func (b *Box) rereadCounts(tx *bbolt.Tx) error {
	old := map[*stream]map[uint64]*attempts{}
	for _, s := range b.streams {
		s.counts = streamCounts{nextSeq: 1}
		old[s] = maps.Clone(s.attempts)
		if s.Journal {
			clear(s.attempts)
		}
	}
	if err := b.readCounts(tx); err != nil {
		return err
	}
	for s, marks := range old {
		for seq, m := range s.attempts {
			if was := marks[seq]; was != nil {
				m.endUnknown = was.endUnknown
			}
		}
	}
	return nil
}

// noteDiskFull tells once that the disk is full; accepted tells when it no longer is. The lock is held.
func (b *Box) noteDiskFull(cause error) {
	if b.refusedByDisk++; b.refusedByDisk == 1 {
		b.note(Note{Kind: NoteFull, Message: fmt.Sprintf(
			"the disk is full: new records are refused until it has room again, what is stored stays: %v", cause)})
	}
}

func (b *Box) noteDiskRoom() {
	if b.refusedByDisk > 0 {
		b.note(Note{Kind: NoteFull, Count: b.refusedByDisk, Message: fmt.Sprintf(
			"the disk has room again; while it was full, %d changes were refused", b.refusedByDisk)})
	}
	b.refusedByDisk = 0
}

// persist commits what must not be forgotten: while the disk is full it tries again. When ctx ends it tries once more and
// gives up; the receipts tell the next start.
func (d *drain) persist(ctx context.Context, stage func(*group) error) error {
	for last := false; ; {
		err := d.b.submit(stage)
		if last || !errors.Is(err, ErrNoSpace) {
			return err
		}
		d.b.tell()
		d.delay = d.waits.NextBackOff()
		last = d.sitOutDelay(ctx) != nil
	}
}
