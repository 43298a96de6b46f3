package receipts

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// ranks say who gives way first of the streams in these tests.
var ranks = map[string]int{"tickets": 0, "events": 1, "tags": 3}

func fileAt(t testing.TB, path string, o Options) *File {
	t.Helper()
	o.Yields = func(stream string) int { return ranks[stream] }
	o.KeepFor, o.Bytes = cmp.Or(o.KeepFor, 62*24*time.Hour), cmp.Or(o.Bytes, 16<<20)
	r, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// receive gives a stream the receipts of the records from first on.
func receive(t testing.TB, r *File, stream string, first uint64, n int, at time.Time) {
	t.Helper()
	slots := make([]Receipt, n)
	for i := range slots {
		slots[i] = Receipt{Outcome: Delivered, Status: 200, Seq: first + uint64(i), At: at, Enqueued: at, Correlation: "c", Label: "label"}
	}
	if err := r.Add(stream, false, slots); err != nil {
		t.Fatal(err)
	}
}

// kept lists what a stream has, by page.
func kept(t testing.TB, r *File, stream string) (seqs []uint64) {
	t.Helper()
	for after := uint64(0); ; {
		page, err := r.Page(stream, Delivered, after, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return seqs
		}
		for _, s := range page {
			after = s.Seq
			seqs = append(seqs, s.Seq)
		}
	}
}

// whole checks that a stream has exactly the receipts of the records from first to last.
func whole(t testing.TB, r *File, stream string, first, last uint64) {
	t.Helper()
	seqs := kept(t, r, stream)
	if len(seqs) != int(last-first+1) || seqs[0] != first || seqs[len(seqs)-1] != last || !slices.IsSorted(seqs) {
		t.Errorf("%s: %d receipts (first and last of %v), want those of %d to %d", stream, len(seqs), seqs[:min(len(seqs), 3)], first, last)
	}
}

// The room is bounded, and whoever gives way first in the box gives way first here: tickets and events keep theirs.
func TestReceiptsOfTagsGiveWayToThoseOfTickets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts")
	r := fileAt(t, path, Options{Bytes: 1 << 20})
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
	if stream, ok := r.GaveUpEarly(); !ok || stream != "tags" {
		t.Errorf("given up were receipts of %q, %t", stream, ok)
	}
	if stream, ok := r.GaveUpEarly(); ok {
		t.Errorf("it was told again, of %q", stream)
	}
	if r.Total("tags") != 10_000 || r.HighestSeq("tags") != 10_000 {
		t.Errorf("total %d, last %d", r.Total("tags"), r.HighestSeq("tags"))
	}
}

// Receipts that are old enough make room before the file grows, those of a stream that would never give way too; but
// not the newest of a stream, which tell how far it had come.
func TestOldReceiptsMakeRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts")
	r := fileAt(t, path, Options{KeepFor: 30 * time.Hour})
	now := time.Now()
	receive(t, r, "tickets", 1, 3*segmentSlots+10, now.Add(-25*time.Hour))
	r.keepFor = 24 * time.Hour
	receive(t, r, "events", 1, segmentSlots, now.Add(-23*time.Hour))
	receive(t, r, "tags", 1, 3*segmentSlots, now)
	if len(r.segments) != 5 {
		t.Errorf("the file has %d segments, want 5: the tags take the tickets' three", len(r.segments))
	}
	whole(t, r, "tickets", 3*segmentSlots+1, 3*segmentSlots+10)
	whole(t, r, "events", 1, segmentSlots)
	whole(t, r, "tags", 1, 3*segmentSlots)
	if _, ok := r.GaveUpEarly(); ok {
		t.Error("receipts that had their time are told of")
	}
}

// Before there were segments each stream had a lane of 1,024 slots, used round and round.
func TestReceiptsOfTheVersionBeforeAreTakenOver(t *testing.T) {
	const lane = 1024
	path := filepath.Join(t.TempDir(), "receipts")
	file := make([]byte, 2*lane*slotSize)
	for i := range uint64(1500) {
		s := Receipt{Outcome: Delivered, Number: i + 1, Seq: i + 1, Stream: "events", At: time.Now()}
		copy(file[i%lane*slotSize:], s.append(nil))
	}
	for i := range uint64(10) {
		s := Receipt{Outcome: Delivered, Number: i + 1, Seq: i + 1, Stream: "tickets", At: time.Now()}
		copy(file[(lane+i)*slotSize:], s.append(nil))
	}
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	r := fileAt(t, path, Options{})
	whole(t, r, "events", 1500-lane+1, 1500)
	whole(t, r, "tickets", 1, 10)
	receive(t, r, "events", 1501, 700, time.Now())
	receive(t, r, "tickets", 11, 300, time.Now())
	whole(t, r, "tickets", 1, 310)
	if seqs := kept(t, r, "events"); r.Total("events") != 2200 || seqs[len(seqs)-1] != 2200 || len(seqs) < 700+lane-segmentSlots {
		t.Errorf("%d in all, %d kept", r.Total("events"), len(seqs))
	}
}

// A slot that is torn is lost alone, and written over by the next.
func TestATornReceiptIsLostAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts")
	r := fileAt(t, path, Options{})
	receive(t, r, "tickets", 1, 20, time.Now())
	if err := r.Close(); err != nil {
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
	r = fileAt(t, path, Options{})
	receive(t, r, "tickets", 21, 1, time.Now())
	want := []uint64{1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21}
	if got := kept(t, r, "tickets"); !slices.Equal(got, want) {
		t.Errorf("kept are %v", got)
	}
}

// The file has whole segments from the first receipt on, so that a later one does not make it longer; the program before reads
// them as it read a segment that is not full, and where it stopped in the middle of one this program goes on there.
func TestReceiptsDoNotMakeTheFileLonger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "receipts")
	r := fileAt(t, path, Options{})
	for _, step := range []struct{ n, segments int }{{1, 1}, {255, 1}, {1, 2}, {100, 2}} {
		receive(t, r, "tags", r.HighestSeq("tags")+1, step.n, time.Now())
		if info, err := os.Stat(path); err != nil || info.Size() != int64(step.segments)*segmentSize {
			t.Errorf("after %d more: %v bytes, %v; want %d segments", step.n, info.Size(), err, step.segments)
		}
	}
	if err := os.Truncate(path, segmentSize+101*slotSize); err != nil {
		t.Fatal(err)
	}
	r = fileAt(t, path, Options{})
	receive(t, r, "tags", 358, 10, time.Now())
	whole(t, r, "tags", 1, 367)
}

// The room of a segment is written ahead, and the system may keep it in memory as one large page: then it would count that for each receipt.
func TestAReceiptWritesItsPage(t *testing.T) {
	written := func() int64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return int64(u.Oublock) * 512
	}
	r := fileAt(t, filepath.Join(t.TempDir(), "receipts"), Options{})
	before := written()
	for seq := range uint64(33) {
		if seq == 1 {
			if before = written() - before; before == 0 {
				t.Skip("this kernel does not count what is written, or the temporary folder is in memory")
			}
			before = written()
		}
		if err := r.Add("tickets", true, []Receipt{{Outcome: Delivered, Seq: seq + 1, At: time.Now()}}); err != nil {
			t.Fatal(err)
		}
	}
	if n := written() - before; n > 2*32*4096 {
		t.Errorf("%d bytes for 32 receipts of 256", n)
	}
}

// At random: what the file says is what it was given, over restarts, as long as nothing had to give way.
func TestReceiptsAtRandom(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 5))
		path := filepath.Join(t.TempDir(), fmt.Sprint("receipts", seed))
		o := Options{Bytes: 2 << 20}
		r := fileAt(t, path, o)
		model := map[string]map[uint64]bool{}
		for range 60 {
			for stream := range ranks {
				if model[stream] == nil {
					model[stream] = map[uint64]bool{}
				}
				first := r.HighestSeq(stream) + 1
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
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
				r = fileAt(t, path, o)
			}
		}
		for stream, want := range model {
			got := kept(t, r, stream)
			if len(got) != len(want) || r.Total(stream) != uint64(len(want)) {
				t.Errorf("seed %d, %s: %d receipts of %d, total %d", seed, stream, len(got), len(want), r.Total(stream))
			}
			for _, seq := range got {
				if s, ok, err := r.Find(stream, seq); !want[seq] || !ok || err != nil || s.Seq != seq {
					t.Errorf("seed %d: record %d of %s: %+v, %t, %v", seed, seq, stream, s, ok, err)
				}
			}
		}
	}
}

func FuzzReceipt(f *testing.F) {
	f.Add(Receipt{Outcome: Delivered, Status: 200, Number: 3, Seq: 4, At: time.Unix(7, 8), Stream: "tickets", Correlation: "c", Label: "l"}.append(nil))
	f.Fuzz(func(t *testing.T, v []byte) {
		if s, ok := decode(v); ok && len(s.Stream) <= MaxStream && len(s.Correlation) <= MaxCorrelation && len(s.Label) <= maxLabel {
			if again, ok := decode(s.append(nil)); !ok || again != s {
				t.Errorf("receipt %+v came back as %+v", s, again)
			}
		}
	})
}

func TestCutKeepsCharactersWhole(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "a", 2: "a", 3: "aé", 9: "aéb"} {
		if got := Shorten("aéb", n); got != want {
			t.Errorf("cut to %d is %q, want %q", n, got, want)
		}
	}
}
