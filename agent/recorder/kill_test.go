package recorder

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

// childDir names the folder in which the test binary, run again, is a program that records until it is killed.
const childDir = "GAUGER_RECORDER_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := recordForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// recordForEver adds rows whose value counts them, and says after each how many are in closed blocks.
func recordForEver(dir string) error {
	ring, err := Open(dir, Options{MaxBytes: 64 << 20})
	if err != nil {
		return err
	}
	boot := time.Now().UnixNano()
	for n := 0; ; n++ {
		at := noon.Add(time.Duration(n) * time.Second)
		row := Row{At: at, Mono: at.Sub(noon), Boot: boot, Point: "plc/count", Value: float64(n)}
		if err := ring.Add(noon, []Row{row}); err != nil {
			return err
		}
		if _, err := fmt.Println(n + 1 - ring.block.rows); err != nil {
			return err
		}
	}
}

// TestKilledAtAnyInstant kills the program 25 times at random instants, always in the same folder: of each run all rows
// of closed blocks are there, in order, and no other error than torn blocks.
func TestKilledAtAnyInstant(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(7, 8))
	var closed []int
	for range 25 {
		closed = append(closed, killAfter(t, dir, rng.IntN(9000)))
	}
	var kept []int
	boot := int64(0)
	for r, err := range rowsOf(dir) {
		if err != nil {
			t.Log(err)
			continue
		}
		if r.Boot != boot {
			boot, kept = r.Boot, append(kept, 0)
		}
		if last := len(kept) - 1; int(r.Value) != kept[last] {
			t.Fatalf("run %d: row %v follows %d rows", last, r.Value, kept[last])
		}
		kept[len(kept)-1]++
	}
	for i, run := 0, 0; i < len(closed); i++ {
		if closed[i] == 0 {
			continue // killed before its first block, or at it
		}
		if run >= len(kept) || kept[run] < closed[i] {
			t.Fatalf("run %d: %d rows were in closed blocks; kept are %v", i, closed[i], kept)
		}
		run++
	}
	t.Logf("rows kept of each run: %v", kept)
}

// killAfter runs the program until it has said something so many times, kills it, and returns what it said last.
func killAfter(t *testing.T, dir string, lines int) (closed int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for n := 0; said.Scan(); n++ {
		if _, err := fmt.Sscan(said.Text(), &closed); err != nil {
			t.Fatalf("the program said %q: %v", said.Text(), err)
		}
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.Success() {
		t.Fatalf("the program ended by itself: %v", err)
	}
	return closed
}
