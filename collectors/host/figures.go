package host

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// figure is one thing that can be read of a box: where it comes from is in read.go, what it means is here.
type figure struct {
	unit string // in which the figure is
	more string // another unit it can be told in
	read func(s source, path string) (float64, error)
}

// figures by the word that the configuration uses.
var figures = map[string]figure{
	"disk_free_percent":    {unit: "percent", read: diskPercent},
	"disk_free_mib":        {unit: "MiB", read: diskMiB},
	"memory_available_mib": {unit: "MiB", read: memoryAvailable},
	"cpu_temperature":      {unit: "degC", more: "degF", read: temperature},
	"load_1m":              {read: loadAverage},
	"uptime_s":             {unit: "s", read: uptime},
	"clock_synchronized":   {read: clockSynchronized},
}

// figureWords are the figures in the order in which they are told to people.
var figureWords = []string{
	"disk_free_percent", "disk_free_mib", "memory_available_mib", "cpu_temperature", "load_1m", "uptime_s", "clock_synchronized",
}

// diskSpace is a file system's size by statfs, in blocks of size bytes.
type diskSpace struct {
	blocks, free, available, size uint64
}

// percent is the share that an ordinary user still has, as df counts it: blocks that are kept for root count neither as used nor as free.
func (s diskSpace) percent() (float64, error) {
	if s.free > s.blocks || s.available > s.free || s.blocks-s.free+s.available == 0 {
		return 0, fmt.Errorf("file system of %d blocks with %d free, %d for us: makes no sense", s.blocks, s.free, s.available)
	}
	return float64(s.available) / float64(s.blocks-s.free+s.available) * 100, nil
}

func (s diskSpace) mib() float64 { return float64(s.available) * float64(s.size) / (1 << 20) }

// parseMemory takes MemAvailable, in MiB, out of /proc/meminfo.
func parseMemory(text string) (float64, error) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "MemAvailable:")
		if !ok {
			continue
		}
		f := strings.Fields(rest)
		if len(f) != 2 || f[1] != "kB" {
			return 0, fmt.Errorf("MemAvailable is %q; expected a number of kB", strings.TrimSpace(rest))
		}
		v, err := parseNumber(f[0])
		return v / 1024, err
	}
	return 0, fmt.Errorf("no MemAvailable among %d bytes", len(text))
}

// parseFirst takes the first number of a line: the load of the last minute, the seconds since the start.
func parseFirst(text string) (float64, error) {
	f := strings.Fields(text)
	if len(f) == 0 {
		return 0, fmt.Errorf("empty")
	}
	return parseNumber(f[0])
}

// parseZone takes a thermal zone's thousandths of a degree.
func parseZone(text string) (float64, error) {
	v, err := parseNumber(strings.TrimSpace(text))
	if err != nil {
		return 0, err
	}
	if v = v / 1000; v < -60 || v > 200 {
		return 0, fmt.Errorf("%g degC: no temperature of a running box", v)
	}
	return v, nil
}

func parseNumber(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q: not a number", s)
	}
	return v, nil
}
