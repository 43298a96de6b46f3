package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"gauger/deploy/bench/machine"
)

// The site of row 17: so many values of one device, all polled and sent every flashEvery.
const (
	flashValues = 20
	flashEvery  = 10 * time.Second
	flashSettle = 2 * time.Minute // so long after its start a program writes what every start has to
	flashBytes  = 128 << 20       // of the file system
)

// measureFlash is row 17's values: what the whole program has written in a day, by default and with the longest linger, both measured
// at once, since it takes minutes: in five to five and a half counts and receipts are stored once, in twice that what was sent, too, so that a
// window of six or eleven is fair and one of five may see nothing. (Quiet sites are played by a test, in virtual time, and garbage by mqttbench.)
func measureFlash(gauger string, window time.Duration) ([]finding, error) {
	sites := []struct {
		what, linger string
		most         float64 // MB
		day          float64
		err          error
	}{{what: "by default", most: 150}, {what: "linger: 30s", linger: ", linger: 30s", most: 50}}
	var wg sync.WaitGroup
	for i := range sites {
		wg.Go(func() { sites[i].day, sites[i].err = runFlash(gauger, sites[i].linger, window) })
	}
	wg.Wait()
	var all []finding
	for _, c := range sites {
		if c.err != nil {
			return nil, c.err
		}
		all = append(all, finding{
			row: 17, what: fmt.Sprintf("flash a day, %d values every %s, %s, MB", flashValues, flashEvery, c.what),
			measured: fmt.Sprintf("%.0f", c.day), goal: fmt.Sprintf("<= %g", c.most), judged: true, met: c.day <= c.most,
		})
	}
	return all, nil
}

// runFlash measures it on a disk of its own, or else in a folder on the disk, since nothing counts what is written to one in memory.
func runFlash(gauger, linger string, length time.Duration) (day float64, err error) {
	disk, err := machine.OpenDisk("/var/tmp", flashBytes)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, disk.Close()) }()
	dir := disk.Dir
	var addresses []string
	field, err := spawn(launch{inTurn: true}, "slave", []stationSpec{{Copies: 1, Every: flashEvery}}, &addresses)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, field.stop()) }()
	service, first, err := startService()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	text := siteYAML(addresses, service.Addr().String(), dir)
	text = strings.NewReplacer("max_bytes: 64MiB", "max_bytes: 64MiB"+linger, "every: 1s", "every: "+flashEvery.String()).Replace(text)
	text += "wells:\n  - id: 3fa85f64-5717-4562-b3fc-2c963f66afa6\n    targets:\n"
	for i := range flashValues {
		text += fmt.Sprintf("      - {code: Value %d, point: d0/p%d, every: %s}\n", i, i+1, flashEvery)
	}
	file := filepath.Join(dir, "site.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return 0, err
	}
	d, err := startProgram(gauger, dir, launch{inTurn: true}, "run", "-c", file, "--socket", filepath.Join(dir, "socket"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	select {
	case <-first:
	case <-time.After(4 * flashEvery):
		return 0, fmt.Errorf("no value came to the service; gauger says: %s", lastLines(filepath.Join(dir, "log")))
	}
	time.Sleep(flashSettle)
	before, err := machine.Written(disk.Device, strconv.Itoa(d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	time.Sleep(length)
	after, err := machine.Written(disk.Device, strconv.Itoa(d.cmd.Process.Pid))
	return float64(after-before) / length.Hours() * 24 / 1e6, err
}
