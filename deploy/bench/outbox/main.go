// Command outbox measures the outbox beside a raw append and beside three other stores, in one run and on one disk, and
// prints each figure with its goal. Times count as multiples of the raw append's only: each cell is a process of its
// own, the contenders take turns inside each round, and what is told is the median of the rounds. It is a module of its
// own, so that no contender becomes a dependency of gauger, and it never ships.
//
// store.go says what a contender is: raw.go, bare.go, box.go (ours), wal.go, sqlite.go, otel.go; group.go commits for many. A cell
// (child.go) works on disk.go with the records of load.go. The rows: cells.go, backlog.go, service.go. table.go prints them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"gauger/deploy/bench/machine"
)

func main() {
	dir := flag.String("dir", os.TempDir(), "where to store: a folder on the disk to measure")
	rows := flag.String("rows", "", "the rows to measure, such as 12,14; default: all")
	scale := flag.Float64("scale", 1, "how much of the full size is measured: 0.1 is quick and coarse")
	rounds := flag.Int("rounds", 5, "how often each cell of row 12 is measured")
	only := flag.String("only", "", "the contenders of row 12 besides raw, separated by commas; default: all")
	table := flag.Bool("tab", false, "print the rows with tabs between, for a program to read")
	child := flag.Bool("child", false, "be one cell: the arguments say which")
	flag.Parse()
	var err error
	if *child {
		err = beChild(flag.Args())
	} else {
		err = bench(run{dir: *dir, scale: *scale, rounds: *rounds, only: *only, tabs: *table}, *rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run holds the flags.
type run struct {
	dir    string
	scale  float64
	rounds int
	only   string
	tabs   bool
}

// size is a number of records at the scale of the run, a multiple of 1,000.
func (r run) size(full int) int { return max(int(float64(full)*r.scale)/1000, 1) * 1000 }

// sections measure the rows of the project's goals.
var sections = []struct {
	rows    string
	measure func(run) ([]finding, error)
}{
	{"12", measureLoads},
	{"2,13,14,15", measureBacklog},
	{"16", measureService},
}

// errUnmet ends the program with status 1 after the whole table.
var errUnmet = errors.New("not every goal was met")

func bench(r run, rows string) error {
	var all []finding
	fmt.Printf("%s %s/%s, %d cores, load average %s; %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), machine.Load(), r.dir)
	for _, s := range sections {
		if rows != "" && !slices.ContainsFunc(strings.Split(rows, ","), func(row string) bool {
			return slices.Contains(strings.Split(s.rows, ","), strings.TrimSpace(row))
		}) {
			continue
		}
		found, err := s.measure(r)
		if err != nil {
			return fmt.Errorf("row %s: %w", s.rows, err)
		}
		all = append(all, found...)
	}
	fmt.Println()
	printFindings(all, r.tabs)
	if slices.ContainsFunc(all, func(f finding) bool { return f.missed }) {
		return errUnmet
	}
	return nil
}
