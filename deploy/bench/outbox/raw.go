package main

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// rawBytes of the raw file; its blocks are written before anything is measured.
const rawBytes = 64 << 20

// raw is the floor: a length and a body for each record, one write and one fdatasync per commit, no checksum, no
// recovery. What was drained is a number in a file of its own.
type raw struct {
	group
	f, cursor *os.File
	buf       []byte
	end       atomic.Int64 // of what is synced
	records   atomic.Int64
	at        int64 // where the drain stands
	rest      []byte
	taken     int64
	came      chan struct{} // holds one: there are more records
}

func openRaw(dir string) (store, error) {
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		return nil, err
	}
	cursor, err := os.Create(filepath.Join(dir, "cursor"))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r := &raw{f: f, cursor: cursor, came: make(chan struct{}, 1)}
	r.write = r.append
	return r, errors.Join(writeZeros(f, rawBytes), writeZeros(cursor, 4096))
}

// writeZeros makes the file n bytes long, of written blocks, and leaves none of them in memory: pages that were written in
// large pieces would make every later sync slower than it is.
func writeZeros(f *os.File, n int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	piece := make([]byte, min(n, 1<<20))
	for at := info.Size(); at < n; at += int64(len(piece)) {
		if _, err := f.WriteAt(piece, at); err != nil {
			return err
		}
	}
	return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
}

func (r *raw) append(bodies [][]byte) error {
	r.buf = r.buf[:0]
	for _, body := range bodies {
		r.buf = append(binary.LittleEndian.AppendUint32(r.buf, uint32(len(body))), body...)
	}
	if _, err := r.f.WriteAt(r.buf, r.end.Load()); err != nil {
		return err
	}
	if err := unix.Fdatasync(int(r.f.Fd())); err != nil {
		return err
	}
	r.end.Add(int64(len(r.buf)))
	r.records.Add(int64(len(bodies)))
	select {
	case r.came <- struct{}{}:
	default:
	}
	return nil
}

func (r *raw) drain(n, batch int, sent func([][]byte)) error {
	for n > 0 {
		have := r.records.Load() - r.taken
		if have == 0 {
			<-r.came
			continue
		}
		bodies, err := r.read(min(int(have), n, batch))
		if err != nil {
			return err
		}
		sent(bodies)
		var mark [16]byte
		binary.LittleEndian.PutUint64(mark[:], uint64(r.taken))
		if _, err := r.cursor.WriteAt(mark[:], 0); err != nil {
			return err
		}
		if err := unix.Fdatasync(int(r.cursor.Fd())); err != nil {
			return err
		}
		n -= len(bodies)
	}
	return nil
}

// read takes the next n records out of the file; each body is a copy, the caller's to keep.
func (r *raw) read(n int) ([][]byte, error) {
	bodies := make([][]byte, 0, n)
	for len(bodies) < n {
		if len(r.rest) < 4 || len(r.rest) < 4+int(binary.LittleEndian.Uint32(r.rest)) {
			r.rest = make([]byte, min(64<<10, r.end.Load()-r.at))
			if _, err := r.f.ReadAt(r.rest, r.at); err != nil {
				return nil, err
			}
		}
		size := int(binary.LittleEndian.Uint32(r.rest))
		bodies = append(bodies, append([]byte(nil), r.rest[4:4+size]...))
		r.rest = r.rest[4+size:]
		r.at += int64(4 + size)
		r.taken++
	}
	return bodies, nil
}

func (r *raw) close() error { return errors.Join(r.f.Close(), r.cursor.Close()) }
