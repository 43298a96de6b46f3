package outbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// keeps are the rules of the streams in these tests.
var keeps = map[string]Keep{"tickets": Never, "events": OldestLast, "tags": ThinFirst}

func ringAt(t testing.TB, path string, o Options) *receiptFile {
	t.Helper()
	r, err := openReceipts(path, o, func(stream string) Keep { return keeps[stream] })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.close() })
	return r
}

// receive gives a stream the receipts of the records from first on.
func receive(t testing.TB, r *receiptFile, stream string, first uint64, n int, at time.Time) {
	t.Helper()
	slots := make([]receipt, n)
	for i := range slots {
		slots[i] = receipt{state: Delivered, status: 200, seq: first + uint64(i), at: at, since: at, correlation: "c", label: "label"}
	}
	if err := r.add(stream, false, slots); err != nil {
		t.Fatal(err)
	}
}

// kept lists what a stream has, by page.
func kept(t testing.TB, r *receiptFile, stream string) (seqs []uint64) {
	t.Helper()
	for after := uint64(0); ; {
		page, err := r.page(stream, Delivered, after, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return seqs
		}
		for _, s := range page {
			after = s.seq
			seqs = append(seqs, s.seq)
		}
	}
}

// whole checks that a stream has exactly the receipts of the records from first to last.
func whole(t testing.TB, r *receiptFile, stream string, first, last uint64) {
	t.Helper()
	seqs := kept(t, r, stream)
	if len(seqs) != int(last-first+1) || seqs[0] != first || seqs[len(seqs)-1] != last || !slices.IsSorted(seqs) {
		t.Errorf("%s: %d receipts (first and last of %v), want those of %d to %d", stream, len(seqs), seqs[:min(len(seqs), 3)], first, last)
	}
}

// The room is bounded, and whoever gives way first in the box gives way first here: tickets and events keep theirs.
func TestReceiptsOfTagsGiveWayToThoseOfTickets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts")
	r := ringAt(t, path, Options{ReceiptsBytes: 1 << 20})
	now := time.Now()
	for i := range uint64(100) {
		receive(t, r, "tags", 1+i*100, 100, now)
		receive(t, r, "events", 1+i*10, 10, now)
		receive(t, r, "tickets", 1+i*3, 3, now)
	}
	whole(t, r, "tickets", 1, 300)
	whole(t, r, "events", 1, 1000)
	tags := kept(t, r, "tags")
	if len(tags) < 9*segmentSlots || tags[len(tags)-1] != 10_000 || !slices.IsSorted(tags) {
		t.Errorf("tags keep %d receipts, the newest of record %d", len(tags), tags[len(tags)-1])
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	if stream, ok := r.earlyLoss(); !ok || stream != "tags" {
		t.Errorf("given up were receipts of %q, %t", stream, ok)
	}
	if stream, ok := r.earlyLoss(); ok {
		t.Errorf("it was told again, of %q", stream)
	}
	if r.total("tags") != 10_000 || r.last("tags") != 10_000 {
		t.Errorf("total %d, last %d", r.total("tags"), r.last("tags"))
	}
}

// Receipts that are old enough make room before the file grows, those of a stream that would never give way too; but
// not the newest of a stream, which tell how far it had come.
func TestOldReceiptsMakeRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts")
	r := ringAt(t, path, Options{ReceiptsFor: 30 * time.Hour})
	now := time.Now()
	receive(t, r, "tickets", 1, 3*segmentSlots+10, now.Add(-25*time.Hour))
	r.keep = 24 * time.Hour
	receive(t, r, "events", 1, segmentSlots, now.Add(-23*time.Hour))
	receive(t, r, "tags", 1, 3*segmentSlots, now)
	if len(r.segments) != 5 {
		t.Errorf("the file has %d segments, want 5: the tags take the tickets' three", len(r.segments))
	}
	whole(t, r, "tickets", 3*segmentSlots+1, 3*segmentSlots+10)
	whole(t, r, "events", 1, segmentSlots)
	whole(t, r, "tags", 1, 3*segmentSlots)
	if _, ok := r.earlyLoss(); ok {
		t.Error("receipts that had their time are told of")
	}
}

// Before there were segments each stream had a lane of 1,024 slots, used round and round.
func TestReceiptsOfTheVersionBeforeAreTakenOver(t *testing.T) {
	const lane = 1024
	path := filepath.Join(t.TempDir(), "receipts")
	file := make([]byte, 2*lane*slotSize)
	for i := range uint64(1500) {
		s := receipt{state: Delivered, number: i + 1, seq: i + 1, stream: "events", at: time.Now()}
		copy(file[i%lane*slotSize:], s.append(nil))
	}
	for i := range uint64(10) {
		s := receipt{state: Delivered, number: i + 1, seq: i + 1, stream: "tickets", at: time.Now()}
		copy(file[(lane+i)*slotSize:], s.append(nil))
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	r := ringAt(t, path, Options{})
	whole(t, r, "events", 1500-lane+1, 1500)
	whole(t, r, "tickets", 1, 10)
	receive(t, r, "events", 1501, 700, time.Now())
	receive(t, r, "tickets", 11, 300, time.Now())
	whole(t, r, "tickets", 1, 310)
	if seqs := kept(t, r, "events"); r.total("events") != 2200 || seqs[len(seqs)-1] != 2200 || len(seqs) < 700+lane-segmentSlots {
		t.Errorf("%d in all, %d kept", r.total("events"), len(seqs))
	}
}

// A slot that is torn is lost alone, and written over by the next.
func TestATornReceiptIsLostAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts")
	r := ringAt(t, path, Options{})
	receive(t, r, "tickets", 1, 20, time.Now())
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []int64{7, 19} {
		if _, err := f.WriteAt(make([]byte, 100), place*slotSize+60); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r = ringAt(t, path, Options{})
	receive(t, r, "tickets", 21, 1, time.Now())
	want := []uint64{1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21}
	if got := kept(t, r, "tickets"); !slices.Equal(got, want) {
		t.Errorf("kept are %v", got)
	}
}

// At random: what the ring says is what it was given, over restarts, as long as nothing had to give way.
func TestReceiptsAtRandom(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 5))
		path := filepath.Join(t.TempDir(), fmt.Sprint("receipts", seed))
		o := Options{ReceiptsBytes: 2 << 20}
		r := ringAt(t, path, o)
		model := map[string]map[uint64]bool{}
		for range 60 {
			for stream := range keeps {
				if model[stream] == nil {
					model[stream] = map[uint64]bool{}
				}
				first := r.last(stream) + 1
				if rng.IntN(4) == 0 {
					first += 500 // a backlog that is delivered later leaves a hole
				}
				n := rng.IntN(30)
				receive(t, r, stream, first, n, time.Now())
				for i := range uint64(n) {
					model[stream][first+i] = true
				}
			}
			if rng.IntN(10) == 0 {
				if err := r.close(); err != nil {
					t.Fatal(err)
				}
				r = ringAt(t, path, o)
			}
		}
		for stream, want := range model {
			got := kept(t, r, stream)
			if len(got) != len(want) || r.total(stream) != uint64(len(want)) {
				t.Errorf("seed %d, %s: %d receipts of %d, total %d", seed, stream, len(got), len(want), r.total(stream))
			}
			for _, seq := range got {
				if s, ok, err := r.find(stream, seq); !want[seq] || !ok || err != nil || s.seq != seq {
					t.Errorf("seed %d: record %d of %s: %+v, %t, %v", seed, seq, stream, s, ok, err)
				}
			}
		}
	}
}
