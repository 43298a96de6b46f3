package outbox

import (
	"bytes"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"gauger/outbox/boltfile"
	"gauger/outbox/disk"
)

// Report of Check.
type Report struct {
	Bytes       int64    `json:"bytes"`        // length of the file
	Pages       uint64   `json:"pages"`        // pages that bbolt uses
	Free        int      `json:"free_pages"`   // of them, free ones
	Records     int      `json:"waiting"`      // sound waiting records
	DeadLetters int      `json:"refused"`      // sound dead letters
	State       int      `json:"state"`        // sound pieces of state
	LostUnknown bool     `json:"lost_unknown"` // records are missing, or were lost before, and nobody knows how many
	Bad         int      `json:"bad"`          // problems in all
	Problems    []string `json:"problems"`     // the first ten, for people
}

// Check reads a whole box file: every page, every checksum, and whether the counts fit the records. It changes nothing.
// An error that wraps ErrDamaged means the file; ErrHeld, a process has it open; any other error, it could not be read.
//
// It reads the pages by itself first and lets bbolt look only at what was found sound; still, run it in a process of
// its own with a time limit (package preflight) where the caller must not fail.
func Check(path string) (Report, error) {
	p, err := boltfile.Open(path, boxLayout)
	if err != nil {
		return Report{}, fmt.Errorf("check %s: %w", path, err)
	}
	defer p.Close() //nolint:errcheck // opened for reading only
	if err := disk.LockShared(p.Handle()); err != nil {
		if errors.Is(err, disk.ErrLocked) {
			err = ErrHeld
		}
		return Report{}, fmt.Errorf("check %s: %w", path, err)
	}
	c := &checker{p: p, streams: map[string]*checkedStream{}}
	c.report.Bytes, c.report.Pages = p.Size, p.PageCount()
	p.Walk(c.visit)
	c.checkCounts()
	c.report.LostUnknown = c.lostUnknown()
	if p.Problems.N == 0 {
		if err := bboltCheck(path); err != nil {
			p.Problems.Add(err)
		}
	}
	c.report.Bad = p.Problems.N
	for _, err := range p.Problems.First {
		c.report.Problems = append(c.report.Problems, err.Error())
	}
	if err := damage(p); err != nil {
		return c.report, fmt.Errorf("check %s: %w", path, err)
	}
	return c.report, nil
}

// checker verifies what the walk visits.
type checker struct {
	p        *boltfile.File
	report   Report
	streams  map[string]*checkedStream
	stateSum stateChecksum
	written  []byte // what the generation says of the state
}

// checkedStream is what a stream has, and what its counts say.
type checkedStream struct {
	queued, dead uint64
	counts       *streamCounts // nil: there are none
}

func (c *checker) streamOf(name string) *checkedStream {
	if c.streams[name] == nil {
		c.streams[name] = &checkedStream{}
	}
	return c.streams[name]
}

func (c *checker) visit(bucket string, key, value []byte) {
	kind, stream := splitBucket(bucket)
	var err error
	switch kind {
	case prefixQueue:
		c.streamOf(stream).queued++
		if err = checkRecord(stream, key, value); err == nil {
			c.report.Records++
		}
	case prefixDead:
		c.streamOf(stream).dead++
		var content []byte
		if content, _, err = unseal(bucket, key, value); err == nil {
			_, _, err = decodeDeadLetter(content)
			c.report.DeadLetters++
		}
	case bucketState:
		c.stateSum.replace(nil, value)
		fallthrough
	case prefixAttempts:
		_, _, err = unseal(bucket, key, value)
		c.report.State++
	case bucketMeta:
		err = c.visitMeta(key, value)
	default:
		err = fmt.Errorf("bucket %q is not of an outbox", bucket)
	}
	if err != nil {
		c.p.Problems.Add(err)
	}
}

func (c *checker) visitMeta(key, value []byte) error {
	content, _, err := unseal(bucketMeta, key, value)
	if err != nil {
		return err
	}
	if string(key) == keyGeneration {
		c.written = bytes.Clone(content)
		return nil
	}
	s := c.streamOf(string(key))
	s.counts = &streamCounts{}
	return s.counts.decode(content)
}

// lostUnknown reports whether the counts, as far as they can be read, do not tell how many records are lost. A file that
// is wholly without buckets was just made.
func (c *checker) lostUnknown() bool {
	unknown := c.p.Problems.N > 0 && (c.written == nil || c.p.Metas < 2)
	for _, s := range c.streams {
		unknown = unknown || s.counts != nil && (s.counts.LostUnknown || s.counts.nextSeq == 0)
	}
	return unknown
}

// checkCounts holds the pages against the list of free ones, and the records against the counts.
func (c *checker) checkCounts() {
	if !c.p.Sound {
		return
	}
	if name := missingBucket(c.p.Buckets); name != "" && len(c.p.Buckets) > 0 { // one that has none was just made
		c.p.Problems.Add(fmt.Errorf("bucket %q is missing", name))
	}
	if err := c.stateSum.compare(c.written); err != nil {
		c.p.Problems.Add(err)
	}
	free, ok := c.p.FreePages()
	listed := c.p.HasFreelist()
	if listed && !ok {
		c.p.Problems.Add(errors.New("the list of free pages cannot be trusted"))
	}
	for id := uint64(boltfile.FirstPage); (ok || !listed) && id < c.p.PageCount(); id++ {
		switch {
		case c.p.Reached.Has(id):
		case free.Has(id) || !listed:
			c.report.Free++
		default:
			c.p.Problems.Add(fmt.Errorf("page %d is neither used nor free", id))
		}
	}
	for name, s := range c.streams {
		switch l := s.counts; {
		case l == nil:
			c.p.Problems.Add(fmt.Errorf("stream %s: %d records and %d dead letters, and no counts of it can be read", name, s.queued, s.dead))
		case l.Waiting != s.queued || l.Dead != s.dead || !l.Balanced():
			c.p.Problems.Add(fmt.Errorf("stream %s: %d records and %d dead letters, counted were %d and %d of %d",
				name, s.queued, s.dead, l.Waiting, l.Dead, l.Accepted))
		}
	}
}

// bboltCheck lets bbolt compare its own structures.
func bboltCheck(path string) error {
	return catchFaults("check with bbolt", func() error {
		db, err := bbolt.Open(path, 0o640, &bbolt.Options{OpenFile: disk.OpenFile, ReadOnly: true, Timeout: lockWait, PreLoadFreelist: true,
			FreelistType: bbolt.FreelistArrayType})
		if err != nil {
			return err
		}
		err = db.View(func(tx *bbolt.Tx) error {
			var first error
			for err := range tx.Check() {
				if first == nil {
					first = err
				}
			}
			return first
		})
		return errors.Join(err, db.Close())
	})
}
