package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// source leads to the files that the figures are read from: the box's own, or a test's.
type source struct {
	files  fs.FS // the root of the file system
	statfs func(folder string) (diskSpace, error)
	store  string // the folder that disk_free_* asks about when a point names none
}

// statfs asks the kernel about the file system that a folder is on.
func statfs(folder string) (diskSpace, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return diskSpace{}, err
	}
	return diskSpace{blocks: s.Blocks, free: s.Bfree, available: s.Bavail, size: uint64(s.Bsize)}, nil
}

// mostText bounds such a file, in bytes; the longest that is read of has 2 KB.
const mostText = 64 << 10

// readText reads a small file of /proc, /sys or /run. A point may name any path.
func (s source) readText(name string) (string, error) {
	f, err := s.files.Open(strings.TrimPrefix(path.Clean(name), "/"))
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, errors.New("it is no file"))
	}
	b, err := io.ReadAll(io.LimitReader(f, mostText+1))
	if err == nil && len(b) > mostText {
		err = fmt.Errorf("it has more than %d bytes; it is no such file", mostText)
	}
	return string(b), err
}

func (s source) diskSpaceOf(folder string) (diskSpace, error) {
	if folder == "" {
		folder = s.store
	}
	got, err := s.statfs(folder)
	if err != nil {
		return diskSpace{}, fmt.Errorf("ask for the space of %s: %w", folder, err)
	}
	return got, nil
}

func diskPercent(s source, folder string) (float64, error) {
	got, err := s.diskSpaceOf(folder)
	if err != nil {
		return 0, err
	}
	return got.percent()
}

func diskMiB(s source, folder string) (float64, error) {
	got, err := s.diskSpaceOf(folder)
	if err != nil {
		return 0, err
	}
	return got.mib(), nil
}

func memoryAvailable(s source, _ string) (float64, error) {
	return s.readFigure("/proc/meminfo", parseMemory)
}

func loadAverage(s source, _ string) (float64, error) {
	return s.readFigure("/proc/loadavg", parseFirst)
}

func uptime(s source, _ string) (float64, error) { return s.readFigure("/proc/uptime", parseFirst) }

func (s source) readFigure(name string, parse func(string) (float64, error)) (float64, error) {
	text, err := s.readText(name)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	v, err := parse(text)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", name, err)
	}
	return v, nil
}

// temperature reads one thermal zone, or without a name the hottest of those that answer: which zone is the processor
// differs from board to board, and what matters is whether anything in the box gets too hot.
func temperature(s source, zone string) (float64, error) {
	if zone != "" {
		return s.readFigure(zone, parseZone)
	}
	names, err := fs.Glob(s.files, "sys/class/thermal/thermal_zone*/temp")
	if err != nil {
		return 0, fmt.Errorf("look for thermal zones: %w", err)
	}
	if len(names) == 0 {
		return 0, errors.New("this box has no thermal zone under /sys/class/thermal")
	}
	hottest := math.Inf(-1)
	var errs []error
	for _, name := range names {
		v, err := s.readFigure("/"+name, parseZone)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		hottest = max(hottest, v)
	}
	if len(errs) == len(names) {
		return 0, errors.Join(errs...)
	}
	return hottest, nil
}

const syncMarker = "/run/systemd/timesync/synchronized"

// clockSynchronized is 1 when systemd-timesyncd has set the clock since the box started, 0 when it has not. Where that daemon
// does not run nothing is known.
func clockSynchronized(s source, _ string) (float64, error) {
	_, err := fs.Stat(s.files, strings.TrimPrefix(syncMarker, "/"))
	if err == nil {
		return 1, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("look at %s: %w", syncMarker, err)
	}
	if _, err := fs.Stat(s.files, strings.TrimPrefix(path.Dir(syncMarker), "/")); err != nil {
		return 0, fmt.Errorf("systemd-timesyncd does not run here, so nobody says whether the clock is right: %w", err)
	}
	return 0, nil
}
