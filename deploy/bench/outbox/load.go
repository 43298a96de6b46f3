package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"
	"sync/atomic"
	"time"
)

// bodyBytes of every record.
const bodyBytes = 300

// makeBody is the record of one number: as a producer does, every record is made anew.
func makeBody(i uint64) []byte {
	body := make([]byte, bodyBytes)
	x := i*0x9E3779B97F4A7C15 + 1
	for at := 8; at+8 <= len(body); at += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(body[at:], x|0x0101010101010101)
	}
	binary.LittleEndian.PutUint64(body, i+1)
	return body
}

func makeBodies(from uint64, n int) [][]byte {
	bodies := make([][]byte, n)
	for i := range bodies {
		bodies[i] = makeBody(from + uint64(i))
	}
	return bodies
}

// tally sums what came out, so that a store that loses, doubles or changes a record does not count as a fast one.
type tally struct {
	n   int
	sum uint64
}

func (t *tally) add(bodies [][]byte) {
	for _, body := range bodies {
		t.n++
		t.sum += uint64(crc32.ChecksumIEEE(body))
	}
}

func (t *tally) expect(n int) error {
	var want tally
	for i := range n {
		want.add([][]byte{makeBody(uint64(i))})
	}
	if want != *t {
		return fmt.Errorf("%d records came out, and not the %d that went in", t.n, n)
	}
	return nil
}

// load is one way to use a store. run returns what one record took.
type load struct {
	name string
	goal float64 // times raw
	n    int     // records
	run  func(s store, n int) (time.Duration, error)
}

var loads = []load{
	{"one by one", 2.7, 2000, func(s store, n int) (time.Duration, error) { return produce(s, n, 1, 1) }},
	{"64 producers", 2.1, 40_000, func(s store, n int) (time.Duration, error) { return produce(s, n, 64, 1) }},
	{"100 a commit", 1.9, 40_000, func(s store, n int) (time.Duration, error) { return produce(s, n, 1, 100) }},
	{"1,000 a commit", 2.2, 100_000, func(s store, n int) (time.Duration, error) { return produce(s, n, 1, 1000) }},
	{"drain by 100", 1.9, 40_000, drainAll},
	{"mixed", 1.9, 10_000, mixed},
}

// produce stores n records from producers that each wait for their last commit, each records a commit.
func produce(s store, n, producers, each int) (time.Duration, error) {
	var next atomic.Int64
	errs := make(chan error, producers)
	start := time.Now()
	for range producers {
		go func() {
			for {
				at := next.Add(int64(each)) - int64(each)
				if at+int64(each) > int64(n) {
					errs <- nil
					return
				}
				if err := s.put(makeBodies(uint64(at), each)); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	var first error
	for range producers {
		if err := <-errs; err != nil && first == nil {
			first = err
		}
	}
	return time.Since(start) / time.Duration(n), first
}

func drainAll(s store, n int) (time.Duration, error) {
	if _, err := produce(s, n, 1, 1000); err != nil {
		return 0, err
	}
	var t tally
	start := time.Now()
	err := s.drain(n, 100, t.add)
	took := time.Since(start)
	if err == nil {
		err = t.expect(n)
	}
	return took / time.Duration(n), err
}

// mixed has 16 producers and a drain at once; the time goes until the last record is out.
func mixed(s store, n int) (time.Duration, error) {
	var t tally
	var drained error
	var wait sync.WaitGroup
	start := time.Now()
	wait.Go(func() { drained = s.drain(n, 100, t.add) })
	if _, err := produce(s, n, 16, 1); err != nil {
		return 0, err
	}
	wait.Wait()
	took := time.Since(start)
	if drained != nil {
		return 0, drained
	}
	return took / time.Duration(n), t.expect(n)
}
