package main

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"

	"go.etcd.io/bbolt"
)

// bare is a queue on bbolt and nothing else: a key per record in one bucket, no checksum, no counts, no receipts, the
// file written before. No outbox on bbolt can be faster, so this is where gauger's figures must stop.
type bare struct {
	group
	db   *bbolt.DB
	last atomic.Uint64
	came chan struct{} // holds one: there may be more records
}

var bareBucket = []byte("queue")

func openBare(dir string) (store, error) {
	path := filepath.Join(dir, "bare.db")
	db, err := bbolt.Open(path, 0o640, &bbolt.Options{FreelistType: bbolt.FreelistMapType, InitialMmapSize: 256 << 20})
	if err != nil {
		return nil, err
	}
	b := &bare{db: db, came: make(chan struct{}, 1)}
	b.write = b.store
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bareBucket)
		return err
	})
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return b, errors.Join(writeZeros(f, rawBytes), f.Close())
}

func (b *bare) store(bodies [][]byte) error {
	err := b.db.Update(func(tx *bbolt.Tx) error {
		bk := tx.Bucket(bareBucket)
		bk.FillPercent = 1
		for _, body := range bodies {
			var key [8]byte
			binary.BigEndian.PutUint64(key[:], b.last.Add(1))
			if err := bk.Put(key[:], body); err != nil {
				return err
			}
		}
		return nil
	})
	select {
	case b.came <- struct{}{}:
	default:
	}
	return err
}

func (b *bare) drain(n, batch int, sent func([][]byte)) error {
	for n > 0 {
		var keys, bodies [][]byte
		err := b.db.View(func(tx *bbolt.Tx) error {
			c := tx.Bucket(bareBucket).Cursor()
			for k, v := c.First(); k != nil && len(keys) < min(n, batch); k, v = c.Next() {
				keys, bodies = append(keys, append([]byte(nil), k...)), append(bodies, append([]byte(nil), v...))
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(keys) == 0 {
			<-b.came
			continue
		}
		sent(bodies)
		b.turn.Lock()
		err = b.db.Update(func(tx *bbolt.Tx) error {
			bk := tx.Bucket(bareBucket)
			for _, key := range keys {
				if err := bk.Delete(key); err != nil {
					return err
				}
			}
			return nil
		})
		b.turn.Unlock()
		if err != nil {
			return err
		}
		n -= len(keys)
	}
	return nil
}

func (b *bare) close() error { return b.db.Close() }
