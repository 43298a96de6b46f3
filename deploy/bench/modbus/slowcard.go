package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// syncTakes on the card of row 8's last case. strace makes the whole program wait so long in each sync, and in nothing else.
const syncTakes = 10 * time.Millisecond

// measureSlowCard is row 8 where gauger itself polls back to back and records each poll, beside the same where it records nothing.
// Without linger each poll waits for a commit of its own: that has no goal.
func measureSlowCard(gauger string) ([]finding, error) {
	_, missing := exec.LookPath("strace")
	var all []finding
	for _, c := range []struct {
		baud   int
		linger string
		judged bool
	}{{19200, "1s", true}, {115200, "1s", true}, {115200, "0s", false}} {
		f := finding{
			row: 8, what: fmt.Sprintf("each poll recorded at %d, linger %s, a sync takes %s (nothing recorded): registers/s", c.baud, c.linger, syncTakes),
			measured: "not measured (needs strace)", goal: ">= 0.97",
		}
		if missing == nil {
			still, err := runSlowCard(gauger, c.baud, c.linger, 0)
			if err != nil {
				return nil, err
			}
			recorded, err := runSlowCard(gauger, c.baud, c.linger, busUnits)
			if err != nil {
				return nil, err
			}
			f.theory, f.measured, f.ratio = fmt.Sprintf("%.0f", still), fmt.Sprintf("%.0f", recorded), recorded/max(1, still)
			f.judged, f.met = c.judged, f.ratio >= 0.97
		}
		if !c.judged {
			f.goal = ""
		}
		all = append(all, f)
	}
	return all, nil
}

// runSlowCard returns how many registers a second gauger reads off a line that never rests.
func runSlowCard(gauger string, baud int, linger string, recorded int) (rate float64, err error) {
	dir, err := os.MkdirTemp("/var/tmp", "modbusbench")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	t := serialTrial(baud, true, syncTakes)
	var addresses []string
	field, err := spawn(launch{}, "slave", t.field, &addresses)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, field.stop()) }()
	service, _, err := startService()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	file := filepath.Join(dir, "site.yaml")
	if err := os.WriteFile(file, []byte(slowCardYAML(t.url(addresses[0]), service.Addr().String(), dir, linger, recorded)), 0o600); err != nil {
		return 0, err
	}
	d, err := startProgram("strace", dir, launch{}, "-D", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "trace=fdatasync,fsync",
		"-e", fmt.Sprintf("inject=fdatasync,fsync:delay_enter=%d", syncTakes.Microseconds()),
		gauger, "run", "-c", file, "--strict", "--socket", filepath.Join(dir, "socket"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := awaitUnits(field, busUnits, d.ended); err != nil {
		return 0, fmt.Errorf("%w; gauger says: %s", err, lastLines(filepath.Join(dir, "log")))
	}
	time.Sleep(t.settle)
	o, err := window(field, d.cmd.Process.Pid, t.window, func() error { return nil })
	return float64(o.registers()) / t.window.Seconds(), err
}

// slowCardYAML is a site with the units of one line, of which so many are recorded at every poll, the others never.
func slowCardYAML(url, service, dir, linger string, recorded int) string {
	var b strings.Builder
	b.WriteString("site: Bench\nid: BENCH\nobject: 6f9619ff-8b86-d011-b42d-00c04fc964ff\ntime_zone: America/Chicago\nlink: {rate: off}\n")
	fmt.Fprintf(&b, "service: {url: \"http://%s\", primary_key: {env: MODBUSBENCH_KEY}}\n", service)
	fmt.Fprintf(&b, "store: {path: %s, max_bytes: 64MiB, linger: %s}\ndevices:\n", filepath.Join(dir, "store"), linger)
	for n := range busUnits {
		fmt.Fprintf(&b, "  - {name: d%d, modbus: \"%s\", unit: %d, every: %s, timeout: 1s, points: [", n, url, n+1, syncTakes)
		for i := range busRegisters {
			fmt.Fprintf(&b, "{name: p%d, holding: %d}, ", i, i)
		}
		b.WriteString("]}\n")
	}
	b.WriteString("wells:\n")
	for n := range recorded {
		fmt.Fprintf(&b, "  - {id: 3fa85f64-5717-4562-b3fc-2c963f66a%03d, tag_values: [{code: \"Production Target Oil\", point: d%d/p1, every: 0s}]}\n", n, n)
	}
	return b.String()
}
