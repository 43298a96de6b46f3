package outbox_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"gauger/outbox"
)

// The figures to compare are the ratios of two benchmarks of one run: each has a twin "raw" that appends the same bytes
// to a file that is written already, and syncs it once per commit.

const benchBody = 300

func benchBox(b *testing.B) *outbox.Box {
	b.Helper()
	box := open(b, filepath.Join(b.TempDir(), "outbox.db"), outbox.Options{MaxBytes: 1 << 30, Streams: []outbox.Stream{{Name: "tags", Batch: 100}}})
	b.Cleanup(func() { shut(b, box) })
	return box
}

// appendBench appends n records in one commit.
func appendBench(b *testing.B, box *outbox.Box, body []byte, n int) {
	err := box.Update(func(tx *outbox.Tx) error {
		for range n {
			tx.Append("tags", outbox.Record{Body: body})
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAppend measures one record: alone in its commit, and in commits of 100 and 1,000.
func BenchmarkAppend(b *testing.B) {
	body := slices.Repeat([]byte("x"), benchBody)
	for _, n := range []int{1, 64, 100, 1000} {
		name := strconv.Itoa(n)
		b.Run("commit of "+name, func(b *testing.B) {
			box := benchBox(b)
			b.ResetTimer()
			for done := 0; done < b.N; done += n {
				appendBench(b, box, body, n)
			}
		})
		b.Run("raw of "+name, func(b *testing.B) { rawAppend(b, n) })
	}
}

// rawAppend is the floor: one write and one fdatasync per commit into blocks that were written before.
func rawAppend(b *testing.B, n int) {
	const size = 64 << 20
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, size)); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, n*benchBody)
	b.ResetTimer()
	at := int64(0)
	for done := 0; done < b.N; done += n {
		if at+int64(len(buf)) > size {
			at = 0
		}
		if _, err := f.WriteAt(buf, at); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
		at += int64(len(buf))
	}
}

// BenchmarkProducers measures one record of 64 producers that append alone, all at once.
func BenchmarkProducers(b *testing.B) {
	box := benchBox(b)
	body := slices.Repeat([]byte("x"), benchBody)
	b.SetParallelism(64 / max(1, runtime.GOMAXPROCS(0)))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			appendBench(b, box, body, 1)
		}
	})
}

// BenchmarkDrain measures one record that is read, sent in a batch of 100 to a service that takes it at once, and deleted.
func BenchmarkDrain(b *testing.B) {
	box := benchBox(b)
	body := slices.Repeat([]byte("x"), benchBody)
	for done := 0; done < b.N; done += 1000 {
		appendBench(b, box, body, min(1000, b.N-done))
	}
	b.ResetTimer()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	taken := 0
	err := box.Drain(ctx, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
		if taken += len(batch); taken >= b.N {
			cancel()
		}
		return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
	}))
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReopen measures Open and Close of a box with 100,000 records.
func BenchmarkReopen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "outbox.db")
	o := outbox.Options{MaxBytes: 256 << 20, Streams: []outbox.Stream{{Name: "tags", Batch: 100}}}
	box := open(b, path, o)
	for range 100 {
		appendBench(b, box, slices.Repeat([]byte("x"), benchBody), 1000)
	}
	shut(b, box)
	for b.Loop() {
		shut(b, open(b, path, o))
	}
}
