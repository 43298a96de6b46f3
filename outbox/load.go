package outbox

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"go.etcd.io/bbolt"
)

// load opens the file and reads the counts. An error that wraps ErrDamaged means the file, any other the surroundings.
func (b *Box) load() error {
	err := catchFaults("open the file", func() error {
		if err := b.openFile(); err != nil {
			return err
		}
		if err := b.prepare(); err != nil {
			return err
		}
		return errors.Join(b.db.View(b.readCounts), b.measure(b.db))
	})
	if err != nil && b.db != nil {
		if errors.Is(err, ErrDamaged) {
			b.db = nil // it may hang in its own Close, and stays open until the process ends: at most once per start
			return err
		}
		return errors.Join(err, b.closeDB())
	}
	return err
}

// prepare makes the buckets that are missing. A file that has them all is not written.
func (b *Box) prepare() error {
	missing := false
	err := b.db.View(func(tx *bbolt.Tx) error {
		for _, name := range b.bucketNames() {
			missing = missing || tx.Bucket([]byte(name)) == nil
		}
		return nil
	})
	if err != nil || !missing {
		return err
	}
	if b.opt.LookOnly {
		return fmt.Errorf("it has not every stream: %w", ErrLookOnly)
	}
	return b.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range b.bucketNames() {
			if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
				return fmt.Errorf("make bucket %s: %w", name, err)
			}
		}
		return nil
	})
}

func (b *Box) bucketNames() []string {
	names := []string{bucketState, bucketMeta}
	for _, s := range b.streams {
		names = append(names, s.queueBucket, s.deadBucket, s.attemptsBucket)
	}
	return names
}

// readCounts reads counts and attempts, and compares what is cheap to compare.
func (b *Box) readCounts(tx *bbolt.Tx) error {
	var written []byte
	err := tx.Bucket([]byte(bucketMeta)).ForEach(func(k, v []byte) error {
		content, gen, err := unseal(bucketMeta, k, v)
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrDamaged)
		}
		b.generation = max(b.generation, gen)
		if string(k) == keyGeneration {
			written = content
			return nil
		}
		s := b.streams[string(k)]
		if s == nil {
			s = newStream(Stream{Name: string(k), Held: true})
			b.streams[s.Name] = s
		}
		if err := s.counts.decode(content); err != nil {
			return fmt.Errorf("counts of %s: %w: %w", k, err, ErrDamaged)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.stateSum = stateChecksum{}
	err = tx.Bucket([]byte(bucketState)).ForEach(func(_, v []byte) error { b.stateSum.replace(nil, v); return nil })
	if err = cmp.Or(err, b.stateSum.compare(written)); err != nil {
		return err
	}
	for _, s := range b.streams {
		if err := s.readStream(tx); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) readStream(tx *bbolt.Tx) error {
	queue, marks := tx.Bucket([]byte(s.queueBucket)), tx.Bucket([]byte(s.attemptsBucket))
	if queue == nil || marks == nil || tx.Bucket([]byte(s.deadBucket)) == nil {
		return fmt.Errorf("stream %s has no buckets: %w", s.Name, ErrDamaged)
	}
	last, _ := queue.Cursor().Last()
	if seq, ok := keySeq(last); last != nil && (!ok || seq >= s.counts.nextSeq) {
		return fmt.Errorf("stream %s ends at record %d, its counts at %d: %w", s.Name, seq, s.counts.nextSeq-1, ErrDamaged)
	}
	if (last != nil) != (s.counts.Waiting > 0) || !s.counts.Balanced() {
		return fmt.Errorf("stream %s: the counts do not fit its records: %w", s.Name, ErrDamaged)
	}
	return marks.ForEach(func(k, v []byte) error {
		content, _, err := unseal(s.attemptsBucket, k, v)
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrDamaged)
		}
		seq, _ := keySeq(k)
		s.attempts[seq] = decodeAttempts(content)
		return nil
	})
}

// rereadCounts makes counts and attempts what the file says. What this process knows besides stays: which attempts were
// its own, and the attempts of streams that are not journaled. The lock is held.
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
			if was := marks[seq]; m.cutOff && was != nil && (!was.begun.IsZero() || was.cutOff) {
				s.attempts[seq] = was // this process still waits for the answer, or has counted it
			}
		}
	}
	return nil
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
