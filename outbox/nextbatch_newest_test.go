package outbox_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// The newest meta page is damaged: the root that it told is found all the same. With the one before it the records would
// be found besides, but the state would be older than they: a ticket could get the number of another.
func TestNewestRootIsFoundWithoutItsMetaPage(t *testing.T) {
	for seed := range uint64(16) { // pages are given out by chance, too
		path := boxPath(t)
		total := counted(t, path, rand.New(rand.NewPCG(7, seed)))
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		newest := 0
		const txid = 64 // behind the page's header
		if binary.NativeEndian.Uint64(file[filePage+txid:]) > binary.NativeEndian.Uint64(file[txid:]) {
			newest = filePage
		}
		clear(file[newest+16:][:64])
		write(t, path, file)
		b := open(t, path, outbox.Options{})
		accepted := uint64(0)
		for _, stream := range streamNames {
			accepted += counts(t, b, stream).Accepted
		}
		v, err := b.Get("count")
		if err != nil || len(v) != 8 || binary.BigEndian.Uint64(v) != total || accepted != total {
			t.Errorf("seed %d: %d were accepted, counted are %d, the state says %x, %v", seed, total, accepted, v, err)
		}
		shut(t, b)
	}
}

// counted makes a box whose state says how many records it has accepted in all.
func counted(t *testing.T, path string, rng *rand.Rand) (total uint64) {
	t.Helper()
	b := open(t, path, outbox.Options{})
	defer shut(t, b)
	for range 10 + rng.IntN(40) {
		stream := streamNames[rng.IntN(3)]
		if rng.IntN(4) == 0 {
			drainSome(t, b, stream, &outboxtest.Service{}, min(b.Counts()[stream].Waiting, 3))
			continue
		}
		n := 1 + rng.IntN(6)
		err := b.Update(func(tx *outbox.Tx) error {
			for range n {
				tx.Append(stream, outbox.Record{Body: bytes.Repeat([]byte{'x'}, 1+rng.IntN(900))})
			}
			total += uint64(n)
			tx.Put("count", binary.BigEndian.AppendUint64(nil, total))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return total
}
