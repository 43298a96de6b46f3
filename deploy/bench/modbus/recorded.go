package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// recordedRounds of rows 3 and 5, in turn. A window has one departure of values that gather for ten seconds, wherever it begins.
const (
	recordedRounds = 3
	recordedWindow = 10 * time.Second
)

// startGoal is row 5: from the start of the program to its first sample at the service.
const startGoal = 100 * time.Millisecond

// measureRecorded is row 3 where each of ten devices records at every poll, with a service that takes it, and row 5. Beside it a
// minimal Telegraf polls the same and posts it, where there is one.
func measureRecorded(gauger, telegraf string) ([]finding, error) {
	var ours, theirs, starts []float64
	for range recordedRounds {
		o, start, err := runRecorded(gauger, gaugerProgram)
		if err != nil {
			return nil, err
		}
		ours, starts = append(ours, microseconds(o.perRegister())), append(starts, float64(start)/float64(time.Millisecond))
		if telegraf == "" {
			continue
		}
		if o, _, err = runRecorded(telegraf, telegrafProgram); err != nil {
			return nil, err
		}
		theirs = append(theirs, microseconds(o.perRegister()))
	}
	f := finding{
		row: 3, what: "gauger run, 10 devices that each record at every poll: CPU us/register (Telegraf beside it)",
		theory: "not measured (TELEGRAF=)", measured: fmt.Sprintf("%.3f", median(ours)), goal: "<= 0.50 of Telegraf's",
	}
	if len(theirs) > 0 {
		f.theory, f.ratio = fmt.Sprintf("%.3f", median(theirs)), median(ours)/median(theirs)
		f.judged, f.met = true, f.ratio <= 0.5
	}
	return []finding{f, {
		row: 5, what: "exec to the first sample at the service, ms", theory: "6", measured: fmt.Sprintf("%.0f", median(starts)),
		goal: fmt.Sprintf("<= %d", startGoal.Milliseconds()), judged: true, met: median(starts) <= float64(startGoal.Milliseconds()),
	}}, nil
}

// program is one that polls ten devices and posts what it reads.
type program struct {
	file      string
	settings  func(addresses []string, service, dir string) string
	arguments func(file, dir string) []string
}

var gaugerProgram = program{"site.yaml", func(addresses []string, service, dir string) string {
	var b strings.Builder
	b.WriteString(siteYAML(addresses, service, dir) + "link: {rate: off}\nwells:\n")
	for n := range addresses {
		fmt.Fprintf(&b, "  - {id: 3fa85f64-5717-4562-b3fc-2c963f66a%03d, tag_values: [{code: \"Production Target Oil\", point: d%d/p1, every: 0s}]}\n", n, n)
	}
	return b.String()
}, func(file, dir string) []string {
	return []string{"run", "-c", file, "--socket", filepath.Join(dir, "socket")}
}}

var telegrafProgram = program{"telegraf.conf", func(addresses []string, service, _ string) string {
	var b strings.Builder
	b.WriteString("[agent]\n  interval = \"1s\"\n  flush_interval = \"1s\"\n  omit_hostname = true\n  quiet = true\n")
	fmt.Fprintf(&b, "[[outputs.http]]\n  url = \"http://%s\"\n  data_format = \"json\"\n", service)
	for n, address := range addresses {
		fmt.Fprintf(&b, "[[inputs.modbus]]\n  name = \"d%d\"\n  controller = \"tcp://%s\"\n  slave_id = 1\n  timeout = \"1s\"\n  holding_registers = [\n", n, address)
		for i := range registersEach {
			fmt.Fprintf(&b, "    {name = \"p%d\", byte_order = \"AB\", data_type = \"UINT16\", scale = 1.0, address = [%d]},\n", i, i)
		}
		b.WriteString("  ]\n")
	}
	return b.String()
}, func(file, _ string) []string { return []string{"--config", file} }}

// runRecorded measures a program beside a field of ten devices and a service, in a folder of its own.
func runRecorded(path string, p program) (_ outcome, start time.Duration, err error) {
	dir, err := os.MkdirTemp("", "modbusbench")
	if err != nil {
		return outcome{}, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var addresses []string
	field, err := spawn(launch{}, "slave", []stationSpec{{Copies: 10, Every: time.Second}}, &addresses)
	if err != nil {
		return outcome{}, 0, err
	}
	defer func() { err = errors.Join(err, field.stop()) }()
	service, first, err := startService()
	if err != nil {
		return outcome{}, 0, err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	file := filepath.Join(dir, p.file)
	if err := os.WriteFile(file, []byte(p.settings(addresses, service.Addr().String(), dir)), 0o600); err != nil {
		return outcome{}, 0, err
	}
	began := time.Now()
	d, err := startProgram(path, dir, launch{}, p.arguments(file, dir)...)
	if err != nil {
		return outcome{}, 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	select {
	case at := <-first:
		start = at.Sub(began)
	case <-d.ended:
		return outcome{}, 0, fmt.Errorf("%s has ended; it says: %s", path, lastLines(filepath.Join(dir, "log")))
	case <-time.After(20 * time.Second):
		return outcome{}, 0, fmt.Errorf("nothing of %s came to the service; it says: %s", path, lastLines(filepath.Join(dir, "log")))
	}
	if err := awaitUnits(field, 10, d.ended); err != nil {
		return outcome{}, 0, err
	}
	time.Sleep(5 * time.Second)
	o, err := window(field, d.cmd.Process.Pid, recordedWindow, func() error { return nil })
	return o, start, err
}

// startService takes whatever is posted; first tells when the first sample came.
func startService() (net.Listener, <-chan time.Time, error) {
	l, err := net.Listen("tcp", loopback)
	if err != nil {
		return nil, nil, err
	}
	first := make(chan time.Time, 1)
	var once sync.Once
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:errcheck // it ends with the listener
		body, _ := io.ReadAll(r.Body) // what cannot be read is no sample
		if bytes.Contains(body, []byte(`"timestamp"`)) {
			once.Do(func() { first <- time.Now() })
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	return l, first, nil
}
