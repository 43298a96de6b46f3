package host

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// board is a small board's files with a disk of 1000 blocks of 4 KiB, 300 of them free, 250 of those for us.
func board(name string) source {
	return source{
		files: os.DirFS("testdata/" + name), store: "/var/lib/gauger",
		statfs: func(folder string) (diskSpace, error) {
			if folder != "/var/lib/gauger" {
				return diskSpace{}, errors.New("no such file or directory")
			}
			return diskSpace{blocks: 1000, free: 300, available: 250, size: 4096}, nil
		},
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		box, read, path string
		want            float64
		err             string
	}{
		{"board", "disk_free_percent", "", 250.0 / 950 * 100, ""},
		{"board", "disk_free_mib", "", 250 * 4096.0 / 1048576, ""},
		{"board", "disk_free_mib", "/elsewhere", 0, "ask for the space of /elsewhere: no such file"},
		{"board", "memory_available_mib", "", 512, ""},
		{"board", "load_1m", "", 0.52, ""},
		{"board", "uptime_s", "", 86412.37, ""},
		{"board", "cpu_temperature", "", 61.25, ""},
		{"board", "cpu_temperature", "/sys/class/thermal/thermal_zone0/temp", 48.312, ""},
		{"board", "cpu_temperature", "/sys/class/thermal/thermal_zone2/temp", 0, "no temperature of a running box"},
		{"board", "cpu_temperature", "/sys/class/thermal/thermal_zone9/temp", 0, "no such file"},
		{"board", "clock_synchronized", "", 1, ""},
		{"bare", "clock_synchronized", "", 0, ""},
		{"nothing", "clock_synchronized", "", 0, "systemd-timesyncd does not run here"},
		{"bare", "memory_available_mib", "", 0, "no MemAvailable"},
		{"bare", "load_1m", "", 0, "/proc/loadavg: empty"},
		{"bare", "cpu_temperature", "", 0, "no thermal zone"},
		{"bare", "uptime_s", "", 12.5, ""},
	} {
		got, err := figures[c.read].read(board(c.box), c.path)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s of %s: %v, want %q", c.read, c.box, err, c.err)
			}
			continue
		}
		if err != nil || math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s of %s is %g, %v; want %g", c.read, c.box, got, err, c.want)
		}
	}
	if len(figureWords) != len(figures) {
		t.Errorf("%d words for %d figures", len(figureWords), len(figures))
	}
}

func TestParsersRefuseNonsense(t *testing.T) {
	for _, text := range []string{"MemAvailable: 12 MB\n", "MemAvailable:\n", "MemAvailable: NaN kB\n", "MemAvailable: x kB\n"} {
		if v, err := parseMemory(text); err == nil {
			t.Errorf("%q is %g MiB", text, v)
		}
	}
	for _, s := range []diskSpace{{}, {blocks: 10, free: 11}, {blocks: 10, free: 5, available: 6}} {
		if v, err := s.percent(); err == nil {
			t.Errorf("%+v is %g %%", s, v)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"MemAvailable: 524288 kB\n", "0.52 0.41", "61250\n", "-0x1p9", "Inf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (float64, error){parseMemory, parseFirst, parseZone} {
			if v, err := parse(text); err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
				t.Errorf("%q is %g without an error", text, v)
			}
		}
	})
}

func TestThisBox(t *testing.T) {
	here := source{files: os.DirFS("/"), statfs: statfs, store: t.TempDir()}
	for _, read := range []string{"disk_free_percent", "disk_free_mib", "memory_available_mib", "load_1m", "uptime_s"} {
		v, err := figures[read].read(here, "")
		if err != nil || v < 0 || (v == 0 && read != "load_1m") || (read == "disk_free_percent" && v > 100) {
			t.Errorf("%s is %g, %v; want above zero (a load may be 0), at most 100 for a percentage", read, v, err)
		}
	}
}

// TestAPathThatIsNoSuchFile: a point may name any path, also one that never ends.
func TestAPathThatIsNoSuchFile(t *testing.T) {
	files := fstest.MapFS{"long": {Data: make([]byte, mostText+1)}, "folder": {Mode: fs.ModeDir}, "pipe": {Mode: fs.ModeNamedPipe}, "zone": {Data: []byte("42000\n")}}
	s := source{files: files}
	for name, want := range map[string]string{"/long": "more than 65536 bytes", "/folder": "no file", "/pipe": "no file", "/none": "not exist"} {
		if v, err := temperature(s, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	if v, err := temperature(s, "/zone"); v != 42 || err != nil {
		t.Errorf("a zone: %v, %v", v, err)
	}
}
