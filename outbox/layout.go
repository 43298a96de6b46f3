package outbox

import (
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
