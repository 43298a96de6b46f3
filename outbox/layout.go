package outbox

import (
	"encoding/binary"
	"fmt"
	"strings"

	"gauger/outbox/boltfile"
)

// The buckets of the file: per stream a queue, its dead letters and its journal of attempts; for the box its state and
// the rows of counts. The last one is small enough to stay inline, so counting costs no page.
const (
	bucketState    = "state"
	bucketMeta     = "meta"
	prefixQueue    = "q/"
	prefixDead     = "d/"
	prefixAttempts = "j/"
	keyGeneration  = "\x00generation"
)

// splitBucket returns a bucket's kind (a prefix, or the whole name) and stream.
func splitBucket(bucket string) (kind, stream string) {
	for _, prefix := range []string{prefixQueue, prefixDead, prefixAttempts} {
		if name, ok := strings.CutPrefix(bucket, prefix); ok {
			return prefix, name
		}
	}
	return bucket, ""
}

// boxLayout is the layout of every box file: what its pages alone do not tell.
var boxLayout = boltfile.Layout{Bucket: bucketMeta, Missing: missingBucket, Generation: func(key, value []byte) (gen uint64, ok bool) {
	if string(key) != keyGeneration {
		return 0, false
	}
	_, gen, err := unseal(bucketMeta, key, value)
	return gen, err == nil
}}

// missingBucket names a bucket that a box with the found ones should have besides; "": none.
func missingBucket(found map[string]bool) string {
	want := []string{bucketState, bucketMeta}
	for name := range found {
		if _, stream := splitBucket(name); stream != "" {
			want = append(want, prefixQueue+stream, prefixDead+stream, prefixAttempts+stream)
		}
	}
	for _, name := range want {
		if !found[name] {
			return name
		}
	}
	return ""
}

// damage is the error of a file whose pages have problems; nil: they have none.
func damage(p *boltfile.File) error {
	if err := p.Problems.Err(); err != nil {
		return fmt.Errorf("%w: %w", err, ErrDamaged)
	}
	return nil
}

// stateChecksum sums up all pieces of state: how many there are, and their checksums in one. It is written with each
// generation, so that a piece that is lost, or that a lost write has left older than it was, is noticed.
type stateChecksum struct {
	n, sum uint32
}

// replace takes one sealed value out and another in; nil: there is none.
func (t *stateChecksum) replace(old, fresh []byte) {
	if len(old) >= sealHeader {
		t.n--
		t.sum ^= binary.LittleEndian.Uint32(old)
	}
	if len(fresh) >= sealHeader {
		t.n++
		t.sum ^= binary.LittleEndian.Uint32(fresh)
	}
}

func (t stateChecksum) encode() []byte {
	v := binary.LittleEndian.AppendUint32(make([]byte, 0, 8), t.n)
	return binary.LittleEndian.AppendUint32(v, t.sum)
}

// decodeStateChecksum reads what a generation says of the state; one that an older program wrote says nothing.
func decodeStateChecksum(v []byte) (t stateChecksum, ok bool) {
	if len(v) < 8 {
		return stateChecksum{}, false
	}
	return stateChecksum{n: binary.LittleEndian.Uint32(v), sum: binary.LittleEndian.Uint32(v[4:])}, true
}

// compare compares the state that is there with what was written of it.
func (t stateChecksum) compare(written []byte) error {
	if want, ok := decodeStateChecksum(written); ok && t != want {
		return fmt.Errorf("the state is not what was written: %d pieces, there were %d: %w", t.n, want.n, ErrDamaged)
	}
	return nil
}

// quickCheck looks at what opening the file would trust: meta page, length, list of free pages. A file with
// few pages in use has no such list: opening it reads all of them, so that is what is done here.
func quickCheck(path string) error {
	p, err := boltfile.Open(path, boxLayout)
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // opened for reading only
	if !p.Sound {
		return fmt.Errorf("%s has no sound meta page: %w", path, ErrDamaged)
	}
	if need := p.Need(); uint64(p.Size) < need {
		return fmt.Errorf("%s has %d of its %d bytes: %w", path, p.Size, need, ErrDamaged)
	}
	if !p.HasFreelist() {
		p.Walk(func(string, []byte, []byte) {})
		return damage(p)
	}
	if _, ok := p.FreePages(); !ok {
		return fmt.Errorf("%s: the list of free pages cannot be trusted: %w", path, ErrDamaged)
	}
	return nil
}
