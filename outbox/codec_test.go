package outbox

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gauger/outbox/receipts"
)

// encodeRecord returns key and value of a record; both live in one allocation.
func encodeRecord(stream string, r Record) (key, value []byte) {
	return writeRecord(make([]byte, recordLen(r)), nameSum(stream), r)
}

func FuzzRecord(f *testing.F) {
	key, value := encodeRecord("tickets", Record{Seq: 7, Address: "well", Body: []byte(`{"a":1}`), At: time.Unix(1, 2), Clock: 2, Config: 9})
	f.Add(key, value)
	f.Add([]byte{}, []byte{})
	f.Add(key, value[:recordHeader-1])
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r, err := decodeRecord("tickets", key, value)
		_ = addressOf(value)
		if err != nil {
			return
		}
		k, v := encodeRecord("tickets", r)
		value = bytes.Clone(value)
		value[2] = 0 // reserved
		if !bytes.Equal(k, key) || len(v) != len(value) || !bytes.Equal(v[8:], value[8:]) {
			t.Errorf("%x under %x came back as %x under %x", value, key, v, k)
		}
	})
}

func FuzzDeadLetterAndCounts(f *testing.F) {
	f.Add(encodeDeadLetter(deadHeader{at: time.Unix(5, 6), class: Poison, status: 400, correlation: "c", reason: "bad"}, []byte("value")))
	f.Add((&streamCounts{nextSeq: 5}).encode())
	f.Fuzz(func(t *testing.T, v []byte) {
		if tb, value, err := decodeDeadLetter(v); err == nil {
			if again := encodeDeadLetter(tb, value); len(tb.reason) <= maxReason && len(tb.correlation) <= receipts.MaxCorrelation && !bytes.Equal(again, v) {
				t.Errorf("dead letter %x came back as %x", v, again)
			}
		}
		var l, again streamCounts
		if l.decode(v) == nil && (again.decode(l.encode()) != nil || again != l) {
			t.Errorf("counts %+v came back as %+v", l, again)
		}
		_ = decodeAttempts(v)
		_, _, _ = unseal(bucketState, []byte("k"), v)
	})
}

// The version before kept eleven bytes of a record's attempts, and did not say whether the last one had ended, so that it counts; and
// reads no more of what this one writes.
func TestAttemptsOfTheVersionBefore(t *testing.T) {
	before := []byte{1, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0}
	m := decodeAttempts(before)
	if m.Count != 4 || m.inARow != 2 || !m.started || !m.parkedUntil.IsZero() || m.Unclear != (Unclear{Count: 4}) {
		t.Errorf("%+v", m)
	}
	m.add(time.Unix(7, 8), "EOF")
	m.inARow++
	now := m.encode()
	if !bytes.Equal(now[:11], []byte{2, 5, 3, 0, 0, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("it begins with % x", now[:11])
	}
	if again := decodeAttempts(now); again.Unclear != m.Unclear {
		t.Errorf("%+v came back as %+v", m.Unclear, again.Unclear)
	}
}

// FuzzPages gives the page reader, the check and the salvage any bytes for a file.
func FuzzPages(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.db")
	b, err := Open(path, Options{MaxBytes: 1 << 20, Streams: []Stream{{Name: "tickets"}}})
	if err != nil {
		f.Fatal(err)
	}
	for range 20 {
		err := b.Update(func(tx *Tx) error {
			tx.Append("tickets", Record{Body: make([]byte, 700)})
			tx.Put("tank", []byte("state"))
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		f.Fatal(err)
	}
	seed, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	seed = bytes.TrimRight(seed, "\x00")
	f.Add(seed, uint32(0), byte(0))
	f.Add(seed, uint32(4096*3+20), byte(0xff))
	f.Add(append([]byte("in front"), seed...), uint32(0), byte(0))
	f.Add(append(bytes.Clone(seed[:3*4096]), seed[4*4096:]...), uint32(0), byte(0))
	f.Add(append(make([]byte, 8192), seed[8192:]...), uint32(0), byte(0))
	f.Add([]byte("no box"), uint32(1), byte(1))
	f.Fuzz(func(t *testing.T, file []byte, at uint32, with byte) {
		file = bytes.Clone(file)
		if len(file) > 0 {
			file[int(at)%len(file)] ^= with
		}
		dir, err := os.MkdirTemp("/dev/shm", "outbox-fuzz-") // in memory where there is such a folder: no disk to wait for
		if err != nil {
			dir = t.TempDir()
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a scratch folder
		path := filepath.Join(dir, "outbox.db")
		if err := os.WriteFile(path, file, 0o640); err != nil {
			t.Fatal(err)
		}
		b, err := Open(path, Options{MaxBytes: 1 << 20, Streams: []Stream{{Name: "tickets"}},
			Preflight: func(path string) error { _, err := Check(path); return err }})
		if err != nil {
			t.Fatalf("a damaged file must not keep the box from opening: %v", err)
		}
		if !b.Counts()["tickets"].Balanced() {
			t.Errorf("counts are %+v", b.Counts())
		}
		waiting, err := b.Entries("tickets", Waiting, 0, 0)
		if err != nil {
			t.Error(err)
		}
		for _, e := range waiting {
			if r := e.Record; e.Raw != nil || !bytes.Equal(r.Body, make([]byte, 700)) {
				t.Errorf("record %d is %x", r.Seq, r.Body)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPageCost(t *testing.T) {
	for n, want := range map[int]uint64{300: 341, 1000: 1365, 2000: 2048, 2100: 4096, 5000: 8192} {
		if got := pageCost(n); got != want {
			t.Errorf("a value of %d bytes costs %d, want %d", n, got, want)
		}
	}
}
