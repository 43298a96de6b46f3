// Package recorder keeps the readings that count in a bounded ring of files, so that a configuration can be tried on
// what a site has really seen, and a ticket be looked into weeks later.
//
// Rows are gathered in memory and leave in blocks of one page: when the page is full, after ten minutes, and at the end
// of the run. Nothing is synced before the end of the run, since a sync costs flash several times what a page does: the
// system writes a page within about half a minute by itself. A power cut therefore costs the open block and what was
// closed in the half minute before; a block that was torn by it is recognised and skipped. Never is one lost that lay on
// the disk before. A kill costs the open block too, or 15 seconds of it where it has a refuge in memory (Options.Refuge).
//
// ring.go is the room's front: rows (value.go) are put into a block and pages (block.go), pages into
// files (files.go); refuge.go keeps the open one. read.go gives rows back.
//
// A block has a checksum and names of its own, so that a flipped bit costs one block. The age of a file is believed only when two
// clocks agree about it, so a clock in 2099 deletes nothing. What is exported is a recording that backtest reads.
package recorder

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// blockAge: a block is closed at this age.
const blockAge = 10 * time.Minute

// Options bound a ring.
type Options struct {
	MaxBytes int64 // of all its files together, at least 8 pages of 4 KiB
	Days     int   // age in days at which a file is deleted; 0: any
	// Refuge is a file in memory for the open block, which a kill would cost otherwise; the next run finds it there. No
	// other ring may have the same one. "": there is none.
	Refuge string
}

// Stats of a ring since it was opened.
type Stats struct {
	Rows   uint64    // taken since it was opened
	Lost   uint64    // of them, those that could not be written
	Bytes  int64     // of disk space that its files have
	Oldest time.Time // wall time of its oldest row on disk; zero when there is none
	Err    error     // as Ring.Err
}

// Ring is the recorder of one running program: the only writer in its folder. Its methods may be called from any
// goroutine.
type Ring struct {
	files files

	mu    sync.Mutex
	block *writer
	since time.Time // when the open block began
	stats Stats

	refuge refuge
	left   []byte // a block that a killed run has left, as a page; nil: none
}

// Open takes up the ring in dir. The folder is made with the first block; a folder that cannot be read is an error.
func Open(dir string, o Options) (*Ring, error) {
	if o.MaxBytes < leastPages*pageSize {
		return nil, fmt.Errorf("recorder in %s: %d bytes are too few, give it at least %d", dir, o.MaxBytes, leastPages*pageSize)
	}
	f, err := openFiles(dir, o)
	if err != nil {
		return nil, fmt.Errorf("open the recorder: %w", err)
	}
	r := &Ring{files: f, block: newWriter(), refuge: refuge{path: o.Refuge}}
	r.refuge.err = r.inherit()
	return r, nil
}

// Add takes rows at now, which ought to carry the monotonic clock. Without rows it only looks whether the open block has
// become old. After an error the rows of the block that could not be written are lost and counted; the next block is
// tried anew.
func (r *Ring) Add(now time.Time, rows []Row) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.writeInherited(now)
	if r.block.rows > 0 && now.Sub(r.since).Abs() >= blockAge {
		err = errors.Join(err, r.flush(now))
	}
	for i := range rows {
		if e := r.add(now, &rows[i]); e != nil {
			err = e
		}
	}
	r.refuge.keep(r.block, now)
	return err
}

func (r *Ring) add(now time.Time, row *Row) (err error) {
	r.stats.Rows++
	if len(row.Point) > longestName || len(row.Unit) > longestName {
		r.stats.Lost++
		r.stats.Err = fmt.Errorf("record %.40s...: its name or unit is longer than %d bytes", row.Point, longestName)
		return r.stats.Err
	}
	if r.block.rows == 0 {
		r.since = now
	}
	if r.block.addRow(row) {
		return nil
	}
	err = r.flush(now)
	r.since = now
	r.block.addRow(row)
	return err
}

// flush closes the open block.
func (r *Ring) flush(now time.Time) error {
	err := r.files.append(r.block.sealed(), now)
	if err != nil {
		r.stats.Lost += uint64(r.block.rows)
		err = fmt.Errorf("record %d readings: %w", r.block.rows, err)
	}
	r.stats.Err = err
	r.block.reset()
	r.refuge.leave()
	return err
}

// Close writes the open block and waits until the disk has it.
func (r *Ring) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.block.rows > 0 {
		err = r.flush(r.since)
	}
	return errors.Join(err, r.files.close(), r.refuge.close())
}

// Err is the error of the last write, by which rows are being lost; nil while all is well.
func (r *Ring) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats.Err
}

// Exposed is the error for which the open block is not kept against a kill; nil: it is, or it never was to be.
func (r *Ring) Exposed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refuge.err
}

// Stats looks at the ring.
func (r *Ring) Stats() Stats {
	r.mu.Lock()
	s := r.stats
	s.Bytes = r.files.bytes()
	first := r.files.first()
	r.mu.Unlock()
	if least, _, ok := span(first, mostPages); ok { // without the lock, which the readings wait for
		s.Oldest = time.UnixMicro(least).UTC()
	}
	return s
}

// gone says that a file is not there any more: the ring has gone on while it was read.
func gone(err error) bool { return errors.Is(err, os.ErrNotExist) }
