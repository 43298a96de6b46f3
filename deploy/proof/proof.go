// Package proof says which stretch of a long proof is to be run. A proof is a test whose cases are numbered and depend on
// a seed and their number alone, so that it can be run in parts, and the parts be added up. By itself the test runs a
// short form; GAUGER_N makes it the long one (`make prove` sets it).
//
// The package is for tests, and never ships.
package proof

import (
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Stretch is the part of a proof that one run does: the cases From to From+N-1 under a seed.
type Stretch struct {
	Seed uint64
	From int
	N    int
	Long bool // GAUGER_N was given
}

// Of reads the stretch from GAUGER_SEED (1 when absent), GAUGER_FROM (0) and GAUGER_N (short). A value that is no number
// fails the test.
func Of(t testing.TB, short int) Stretch {
	t.Helper()
	_, long := os.LookupEnv("GAUGER_N")
	return Stretch{
		Seed: uint64(number(t, "GAUGER_SEED", 1)), From: number(t, "GAUGER_FROM", 0), N: number(t, "GAUGER_N", short), Long: long,
	}
}

func number(t testing.TB, name string, absent int) int {
	t.Helper()
	text, ok := os.LookupEnv(name)
	if !ok || text == "" {
		return absent
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%q is no number of cases", name, text)
	}
	return n
}

// Cases gives each case of the stretch by its number, with a source of chance of its own: case i is the same whatever
// stretch it is run in.
func (s Stretch) Cases() iter.Seq2[int, *rand.Rand] {
	return func(yield func(int, *rand.Rand) bool) {
		for i := s.From; i < s.From+s.N; i++ {
			if !yield(i, rand.New(rand.NewPCG(s.Seed, uint64(i)))) {
				return
			}
		}
	}
}

// Tell prints the figures of a stretch, after its seed and cases.
func (s Stretch) Tell(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Logf("seed %d, cases %d to %d: "+format, append([]any{s.Seed, s.From, s.From + s.N - 1}, args...)...)
}
