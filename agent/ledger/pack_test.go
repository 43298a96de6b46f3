package ledger

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
)

func TestPackedStateComesBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, packFrom - 1, packFrom, 1 << 20} {
		state := make([]byte, n)
		for i := range state {
			state[i] = byte(1 + rng.IntN(9))
		}
		stored, err := pack(state)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unpack(stored); err != nil || !bytes.Equal(got, state) {
			t.Errorf("%d bytes came back as %d, %v", n, len(got), err)
		}
	}
	if _, err := unpack([]byte{packed, 0xff, 1}); err == nil {
		t.Error("damaged state was unpacked")
	}
}

// TestTwentyTanksAreStoredInLittle: a store of twenty noisy tanks is less than half of their state, and a restart has all
// of it; a state that an earlier version has stored as it is is taken up as well.
func TestTwentyTanksAreStoredInLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) {
			for i := 2; i <= 20; i++ {
				next := s.Tanks[0]
				next.ID = fmt.Sprintf("TK-%d", i)
				s.Tanks = append(s.Tanks, next)
			}
		})
		rng := rand.New(rand.NewPCG(1, 2))
		b.play(90*time.Minute, func(time.Duration) float64 { return 180 + 0.05*rng.NormFloat64() })
		stored, err := b.box.Get(tanksKey)
		b.must(err)
		whole, err := unpack(stored)
		b.must(err)
		if len(whole) < 20<<10 || len(stored) > len(whole)/2 {
			t.Errorf("%d bytes of state are stored in %d", len(whole), len(stored))
		}
		var want tank.State
		b.must(want.UnmarshalBinary(whole))
		if b.again(); b.state.tanks.Mark() != want.Mark() {
			t.Errorf("after a restart the mark is %d, want %d", b.state.tanks.Mark(), want.Mark())
		}
		b.store(tanksKey, whole)
		if b.again(); b.state.tanks.Mark() != want.Mark() {
			t.Errorf("of a state as it is the mark is %d, want %d", b.state.tanks.Mark(), want.Mark())
		}
	})
}

// store puts a piece of state into the box.
func (b *bench) store(name string, value []byte) {
	b.t.Helper()
	tx := b.begin(time.Now())
	tx.putState(name, value)
	b.must(b.box.Update(tx.commitTo))
}
