// Package codec is the binary form in which the tank's detector and the tank's book are stored: the same walk over a
// value writes and reads it, so that the two cannot differ. Numbers are IEEE 754 in little endian, whole numbers varints
// as of encoding/binary, lists their length and their items; the first byte says which format it is.
package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"gauger/agent/tank/stats"
)

var errShort = errors.New("it ends early")

const textMost = 1 << 12 // bytes

// Archive is a walk over a value that is being written or read. The first error stays, and the walk goes on without effect.
type Archive struct {
	Reading bool
	Format  byte // the first byte: the format of what is read, or written

	b         []byte
	err       error
	notFinite bool // a number that is none was met, since it was last asked for
}

// Write begins to write a format.
func Write(format byte) *Archive { return &Archive{b: []byte{format}, Format: format} }

// Read begins to read what was written; b holds a byte at least.
func Read(b []byte) *Archive { return &Archive{b: b[1:], Reading: true, Format: b[0]} }

// Bytes that were written.
func (a *Archive) Bytes() ([]byte, error) { return a.b, a.err }

// Err is the first thing that went wrong.
func (a *Archive) Err() error { return a.err }

// Len is the bytes written so far, or still to be read.
func (a *Archive) Len() int { return len(a.b) }

// Cut takes back what was written after the first n bytes.
func (a *Archive) Cut(n int) { a.b = a.b[:n] }

// Count writes or reads a length, refusing one beyond most.
func (a *Archive) Count(n, most int) int {
	v := uint64(n)
	a.Uint(&v)
	if v > uint64(most) || a.Reading && v > uint64(len(a.b)) {
		a.Fail(fmt.Errorf("a count of %d is more than there can be", v))
	}
	if a.err != nil {
		return 0
	}
	return int(v)
}

// Fail keeps an error, if it is the first.
func (a *Archive) Fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

// Floats writes or reads numbers.
func (a *Archive) Floats(p ...*float64) {
	for _, f := range p {
		if !a.Reading {
			a.b = binary.LittleEndian.AppendUint64(a.b, math.Float64bits(*f))
			a.Check(*f)
			continue
		}
		if len(a.b) < 8 {
			a.Fail(errShort)
			return
		}
		*f = math.Float64frombits(binary.LittleEndian.Uint64(a.b))
		a.b = a.b[8:]
		a.Check(*f)
	}
}

// Check looks for numbers that are none.
func (a *Archive) Check(numbers ...float64) {
	for _, v := range numbers {
		a.notFinite = a.notFinite || !stats.Finite(v)
	}
}

// NotFinite says whether a number that is none was met, and forgets it.
func (a *Archive) NotFinite() bool {
	was := a.notFinite
	a.notFinite = false
	return was
}

// Ints writes or reads whole numbers.
func (a *Archive) Ints(p ...*int) {
	for _, i := range p {
		v := int64(*i)
		a.Int(&v)
		*i = int(v)
	}
}

// Int writes or reads a whole number.
func (a *Archive) Int(p *int64) { whole(a, p, binary.AppendVarint, binary.Varint) }

// Uint writes or reads a whole number that is not below 0.
func (a *Archive) Uint(p *uint64) { whole(a, p, binary.AppendUvarint, binary.Uvarint) }

func whole[N any](a *Archive, p *N, write func([]byte, N) []byte, read func([]byte) (N, int)) {
	if !a.Reading {
		a.b = write(a.b, *p)
		return
	}
	v, n := read(a.b)
	if n <= 0 {
		a.Fail(errShort)
		return
	}
	*p, a.b = v, a.b[n:]
}

// Flag writes or reads a bool.
func (a *Archive) Flag(p *bool) {
	v := uint64(0)
	if *p {
		v = 1
	}
	a.Uint(&v)
	*p = v != 0
}

// Each writes or reads the numbers of slices whose lengths are known.
func (a *Archive) Each(all ...[]float64) {
	for _, v := range all {
		for i := range v {
			a.Floats(&v[i])
		}
	}
}

// Time writes or reads an instant, to the millisecond.
func (a *Archive) Time(t *time.Time) {
	ms := t.UnixMilli()
	a.Int(&ms)
	*t = time.UnixMilli(ms).UTC()
}

// Text writes or reads a string.
func (a *Archive) Text(s *string) {
	n := a.Count(len(*s), textMost)
	if !a.Reading {
		a.b = append(a.b, *s...)
		return
	}
	if n > len(a.b) {
		a.Fail(errShort)
		return
	}
	*s, a.b = string(a.b[:n]), a.b[n:]
}

// List writes or reads the items of a slice; none is nil.
func List[T any](a *Archive, all *[]T, most int, one func(*T)) {
	n := a.Count(len(*all), most)
	if a.Reading {
		*all = nil
		if n > 0 {
			*all = make([]T, n)
		}
	}
	for i := range *all {
		one(&(*all)[i])
	}
}
