// Package machine reads what the machine under a bench does: its load, and what was written to its disks, by a process or to a
// device. A Disk is a file system of its own, so that nothing else counts and its journal does.
package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Load is the load average of the last minute; how much of a core was free is for the reader to judge.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// WrittenBy is what a process ("self", or its number) has had written to disks, in bytes.
func WrittenBy(process string) (int64, error) {
	return Field(filepath.Join("/proc", process, "io"), "write_bytes:")
}

// Field reads one number of a file of /proc.
func Field(path, name string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}

// WrittenTo is what was ever written to a device, as /sys/block or /sys/dev/block name it, in bytes.
func WrittenTo(device string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(device, "stat"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 7 {
		return 0, fmt.Errorf("the statistics of %s have only %d fields", device, len(fields))
	}
	sectors, err := strconv.ParseInt(fields[6], 10, 64)
	return sectors * 512, err
}
