// Command modbus, built as modbusbench, measures the Modbus collector and the whole program against what the line, the machine and
// the least possible program allow, and prints the theoretical figure beside each measured one. The slaves are a
// process of their own; a pseudo-terminal or a socket with true character times stands for the serial line. Each
// row is a goal of the project; a number alone depends on the machine, so the ratio is what counts. It never ships.
//
// poller.go is the load and run.go one measurement of it, by processes of their own (child.go): station.go and slave.go are the
// field, wire.go its serial line, tally.go counts requests and usage.go what the machine spent; floor.go is the least program. The
// rows: daemon.go, recorded.go, throughput.go, dead.go, bus.go, slowcard.go, plans.go, flash.go. table.go prints them.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"gauger/deploy/bench/machine"
)

func main() {
	gauger := flag.String("gauger", "bin/gauger", "the program that is measured as a whole")
	rows := flag.String("rows", "", "the rows to measure, such as 6,8; default: all")
	telegraf := flag.String("telegraf", "", "a minimal Telegraf for row 3 to measure beside; empty: none")
	flash := flag.Duration("flash", 11*time.Minute, "how long row 17 looks at what is written (flash.go)")
	table := flag.Bool("tab", false, "print the rows with tabs between, for a program to read")
	role := flag.String("role", "", "what this process does for another one of the benchmark: slave, collector, floor")
	flag.Parse()
	err := error(nil)
	if *role != "" {
		err = play(*role)
	} else {
		err = bench(programs{*gauger, *telegraf, *flash}, *rows, *table)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "modbusbench:", err)
		os.Exit(1)
	}
}

// play is the life of a child.
func play(role string) error {
	switch role {
	case "slave":
		return obey(os.Stdin, os.Stdout, startSlaves)
	case "collector":
		return obey(os.Stdin, os.Stdout, startCollectors)
	case "floor":
		return obey(os.Stdin, os.Stdout, startFloor)
	}
	return fmt.Errorf("unknown role %q", role)
}

// programs are those that are measured as a whole, and for how long row 17 does it.
type programs struct {
	gauger, telegraf string
	flash            time.Duration
}

// section measures the rows that go together.
type section struct {
	rows    string
	measure func(programs) ([]finding, error)
}

var sections = []section{
	{"2,3,4", func(p programs) ([]finding, error) { return measureDaemon(p.gauger) }},
	{"3,5", func(p programs) ([]finding, error) { return measureRecorded(p.gauger, p.telegraf) }},
	{"6", func(programs) ([]finding, error) { return measureThroughput() }},
	{"7", func(programs) ([]finding, error) { return measureDead() }},
	{"8", func(programs) ([]finding, error) { return measureBackToBack() }},
	{"8", func(p programs) ([]finding, error) { return measureSlowCard(p.gauger) }},
	{"9", func(programs) ([]finding, error) { return measureIntervals() }},
	{"10", func(programs) ([]finding, error) { return measurePlans() }},
	{"17", func(p programs) ([]finding, error) { return measureFlash(p.gauger, p.flash) }},
}

// errUnmet ends the program with status 1 after the whole table.
var errUnmet = errors.New("not every goal was met")

func bench(p programs, rows string, tabs bool) error {
	wanted, err := parseRows(rows)
	if err != nil {
		return err
	}
	fmt.Printf("%s %s/%s, %d cores, load average %s at the start\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), machine.Load())
	if !ahead() {
		fmt.Println("other work on this machine disturbs what follows: chrt -f is not permitted here")
	}
	var all []finding
	for _, s := range sections {
		if !slices.ContainsFunc(strings.Split(s.rows, ","), func(r string) bool { return wanted[r] }) {
			continue
		}
		found, err := s.measure(p)
		if err != nil {
			return fmt.Errorf("row %s: %w", s.rows, err)
		}
		all = append(all, found...)
	}
	if tabs {
		for _, f := range all {
			fmt.Printf("%d\t%s\t%s\t%s\t%s\n", f.row, f.what, strings.TrimSuffix(f.measured+" / "+f.theory, " / "), f.goal, f.verdict())
		}
	} else if err := printTable(os.Stdout, all); err != nil {
		return err
	}
	fmt.Printf("load average %s at the end\n", machine.Load())
	if slices.ContainsFunc(all, finding.unmet) {
		return errUnmet
	}
	return nil
}

// parseRows reads a list of row numbers; the empty one is every row.
func parseRows(list string) (map[string]bool, error) {
	known := map[string]bool{}
	for _, s := range sections {
		for _, r := range strings.Split(s.rows, ",") {
			known[r] = true
		}
	}
	if list == "" {
		return known, nil
	}
	wanted := map[string]bool{}
	for _, r := range strings.Split(list, ",") {
		r = strings.TrimSpace(r)
		if !known[r] {
			return nil, fmt.Errorf("-rows %q: there are 2 to 10 and 17", r)
		}
		wanted[r] = true
	}
	return wanted, nil
}
