package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// measureLoads is row 12: every load on every contender.
func measureLoads(r run) ([]finding, error) {
	names := []string{"raw"}
	for _, c := range contenders[1:] {
		if r.only == "" || slices.Contains(strings.Split(r.only, ","), c.name) {
			names = append(names, c.name)
		}
	}
	var found []finding
	fmt.Printf("\nus per record of %d bytes, median (least-most) of %d, x raw\n", bodyBytes, r.rounds)
	for _, l := range loads {
		times, cpu := map[string][]float64{}, map[string][]float64{}
		for round := range r.rounds {
			for i := range names {
				name := names[(i+round)%len(names)]
				c, err := r.cell(name, l)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", l.name, name, err)
				}
				times[name] = append(times[name], c.us)
				cpu[name] = append(cpu[name], c.cpu)
			}
		}
		fmt.Println(l.name)
		floor := spreadOf(times["raw"]).median
		for _, name := range names {
			s := spreadOf(times[name])
			fmt.Printf("  %-12s x%-6.2f %-24v cpu %.2f\n", name, s.median/floor, s, spreadOf(cpu[name]).median)
			if name == "gauger" {
				found = append(found, atMost("12", l.name, s.median/floor, l.goal, " x raw"))
			}
		}
	}
	return found, nil
}

// cost of one record, in microseconds: time, and time of the processor with its making.
type cost struct{ us, cpu float64 }

// cell measures one load on one contender, in a process and a folder of its own.
func (r run) cell(name string, l load) (c cost, err error) {
	dir, err := os.MkdirTemp(r.dir, "bench")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	out, err := child("load", name, dir, strconv.Itoa(r.size(l.n)), l.name)
	if err == nil {
		_, err = fmt.Sscan(out, &c.us, &c.cpu)
	}
	return c, err
}

func beLoad(name, dir string, n int, loadName string) error {
	at := slices.IndexFunc(loads, func(l load) bool { return l.name == loadName })
	if at < 0 {
		return fmt.Errorf("no load %q", loadName)
	}
	s, err := openStore(name, dir)
	if err != nil {
		return err
	}
	before, err := cpuTime()
	if err != nil {
		return errors.Join(err, s.close())
	}
	took, err := loads[at].run(s, n)
	if err == nil {
		var after time.Duration
		after, err = cpuTime()
		fmt.Println(float64(took.Nanoseconds())/1000, float64((after-before).Nanoseconds())/1000/float64(n))
	}
	return errors.Join(err, s.close())
}

// cpuTime of this process so far.
func cpuTime() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
