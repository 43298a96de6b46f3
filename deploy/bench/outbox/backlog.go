package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"gauger/deploy/bench/machine"
)

const (
	mebi = 1 << 20
	// fieldRecords are stored one by one and drained ten at a time.
	fieldRecords, fieldBatch = 1000, 10
)

// measureBacklog is the rows 2, 13, 14 and 15: what a record writes in the field, before and after a million came and
// went; and what the million costs meanwhile. The other stores get a tenth of it: some of them take very long.
func measureBacklog(r run) (found []finding, err error) {
	d, err := machine.OpenDisk(r.dir, diskBytes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	fmt.Printf("\nfield: one record a second, drained every 10 s: %v\n", d)
	for _, c := range contenders {
		n := r.size(1_000_000)
		if c.name != "gauger" {
			n = r.size(100_000)
		}
		b, err := measureStore(d, c.name, n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Println(b.line(c.name, n))
		if c.name == "gauger" {
			found = append(found, b.judge(n)...)
		}
	}
	return found, nil
}

// backlog holds the figures of one store.
type backlog struct {
	before, after float64 // bytes a record in the field
	anon          float64 // MiB with 100,000 records in the queue, by the process that stored them
	openMS        float64
	openMiB       float64
	rate          float64 // records drained per second
	length        float64 // MiB when all were drained
}

func (b backlog) line(name string, n int) string {
	line := fmt.Sprintf("  %-12s %6.0f bytes a record", name, b.before)
	if b.rate == 0 {
		return line
	}
	return line + fmt.Sprintf("; killed with %d queued: open and the first 100 out %.1f ms, %.1f MiB; drained at %.0f/s, %.2f MiB left; then %.0f bytes a record",
		n, b.openMS, b.openMiB, b.rate, b.length, b.after)
}

func (b backlog) judge(n int) []finding {
	million := fmt.Sprintf("%d records", n)
	return []finding{
		atMost("2", "anonymous memory, 100,000 records queued", b.anon, 16, " MiB"),
		atMost("13", "device bytes per record", b.before/1000, 17, " KB"),
		atMost("13", "the same after "+million+" came and went", b.after/1000, 17, " KB"),
		atMost("14", "open after kill -9 with "+million, b.openMS, 50, " ms"),
		atMost("14", "memory of that", b.openMiB, 10, " MiB"),
		atMost("15", "file after "+million+" queued and drained", b.length, 4, " MiB"),
	}
}

// measureStore takes the figures of one store.
func measureStore(d *machine.Disk, name string, n int) (b backlog, err error) {
	dir, err := os.MkdirTemp(d.Dir, "store")
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	field := func(to *float64) error { return scan(to)(child("field", name, dir, d.Device)) }
	if err := field(&b.before); err != nil {
		return b, err
	}
	if slices.Contains([]string{"raw", "bare bbolt", "OTel"}, name) { // raw recovers nothing; the other two would need code of ours for it
		return b, nil
	}
	if err := scan(&b.anon)(killed("fill", name, dir, strconv.Itoa(n))); err != nil {
		return b, err
	}
	if err := forget(dir); err != nil {
		return b, err
	}
	if err := scan(&b.openMS, &b.openMiB, &b.rate, &b.length)(child("reopen", name, dir, strconv.Itoa(n))); err != nil {
		return b, err
	}
	return b, field(&b.after)
}

// scan reads the numbers that a cell printed.
func scan(to ...any) func(out string, err error) error {
	return func(out string, err error) error {
		if err == nil {
			_, err = fmt.Sscan(out, to...)
		}
		return err
	}
}

// beField stores and drains as a site does. The flush of the whole file system twice in ten records stands for the
// journal's timer of five seconds.
func beField(name, dir, device string) error {
	s, err := openStore(name, dir)
	if err != nil {
		return err
	}
	next := uint64(0)
	rounds := func(n int) error {
		for range n {
			for i := range fieldBatch {
				if err := s.put(makeBodies(next, 1)); err != nil {
					return err
				}
				next++
				if i%(fieldBatch/2) == 0 {
					if err := machine.SyncAll(dir); err != nil {
						return err
					}
				}
			}
			if err := s.drain(fieldBatch, 100, func([][]byte) {}); err != nil {
				return err
			}
		}
		return machine.SyncAll(dir)
	}
	if err := rounds(10); err != nil { // what the first records cost is not the field
		return err
	}
	before, err := machine.Written(device, "self")
	if err != nil {
		return err
	}
	if err := rounds(fieldRecords / fieldBatch); err != nil {
		return err
	}
	after, err := machine.Written(device, "self")
	fmt.Println(float64(after-before) / fieldRecords)
	return errors.Join(err, s.close())
}

// beFill stores n records, says what memory the first 100,000 took, and goes on until it is killed.
func beFill(name, dir string, n int) error {
	s, err := openStore(name, dir)
	if err != nil {
		return err
	}
	anon := int64(0)
	for at := 0; at < n; at += 1000 {
		if at == min(100_000, n-1000) {
			if anon, err = machine.Field("/proc/self/status", "RssAnon:"); err != nil {
				return err
			}
		}
		if err := s.put(makeBodies(uint64(at), 1000)); err != nil {
			return err
		}
	}
	fmt.Println(float64(anon) / 1024)
	for {
		if err := s.put(makeBodies(0, 1)); err != nil {
			return err
		}
	}
}

// beReopen measures the open and the first batch, and then drains n records.
func beReopen(name, dir string, n int) error {
	debug.FreeOSMemory()
	before, err := machine.Field("/proc/self/status", "VmRSS:")
	if err != nil {
		return err
	}
	start := time.Now()
	s, err := openStore(name, dir)
	if err != nil {
		return err
	}
	if err := s.drain(100, 100, func([][]byte) {}); err != nil {
		return err
	}
	opened := time.Since(start)
	after, err := machine.Field("/proc/self/status", "VmRSS:")
	if err != nil {
		return err
	}
	start = time.Now()
	if err := s.drain(n-100, 100, func([][]byte) {}); err != nil {
		return err
	}
	rate := float64(n-100) / time.Since(start).Seconds()
	length, err := lengthOf(dir)
	fmt.Println(float64(opened.Microseconds())/1000, float64(after-before)/1024, rate, float64(length)/mebi)
	return errors.Join(err, s.close())
}
