package modbus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/addresstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
)

// needs finds a program, or skips the test with what is to be installed.
func needs(t *testing.T, program, install string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not here; %s", program, install)
	}
	return path
}

// pythonWithPymodbus is the first interpreter that has the server's packages.
func pythonWithPymodbus(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", "import pymodbus.payload, serial_asyncio").Run() == nil {
			return path
		}
	}
	t.Skip("no Python with pymodbus 3.0 here; install python3-pymodbus")
	return ""
}

// run starts a program that ends with the test.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	said := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := cmd.Wait(); t.Failed() {
			t.Logf("%s: %v\n%s", program, err, said)
		}
	})
}

// serialPair is two serial ports, joined by socat.
func serialPair(t *testing.T) (ours, theirs string) {
	t.Helper()
	socat := needs(t, "socat", "install socat")
	dir := t.TempDir()
	ours, theirs = filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	run(t, socat, "pty,raw,echo=0,link="+ours, "pty,raw,echo=0,link="+theirs)
	linetest.Eventually(t, "socat's ports", func() error {
		_, one := os.Stat(ours)
		_, other := os.Stat(theirs)
		return errors.Join(one, other)
	})
	return ours, theirs
}

// answers waits until a slave answers at all.
func answers(t *testing.T, lines *line.Lines, url string, r line.Request) {
	t.Helper()
	l := linetest.Open(t, lines, url)
	linetest.Eventually(t, url, func() error {
		_, err := l.Read(t.Context(), r, 300*time.Millisecond)
		return err
	})
}

// bench is a stranger's slave on one transport.
type stranger struct {
	url   string
	lines *line.Lines
}

// over starts a slave on each of the transports in turn. command is its program and arguments; those of the
// transport come after them.
func over(t *testing.T, transports []string, first line.Request, command []string, test func(t *testing.T, s stranger)) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			place, theirs := placeFor(t, transport)
			run(t, command[0], slices.Concat(command[1:], []string{transport}, theirs)...)
			s := stranger{url: transport + "://" + place, lines: &line.Lines{}}
			defer linetest.Close(t, s.lines)
			answers(t, s.lines, s.url, first)
			test(t, s)
		})
	}
}

// placeFor a slave on a transport: our URL's part, and its own arguments.
func placeFor(t *testing.T, transport string) (ours string, theirs []string) {
	t.Helper()
	switch {
	case transport == "tls":
		port, a := addresstest.Port(t), linetest.NewAuthority(t, "authority")
		certificate, key, err := a.Issue("127.0.0.1", linetest.LongAgo, linetest.FarAway)
		if err != nil {
			t.Fatal(err)
		}
		return "127.0.0.1:" + port + "?ca_file=" + a.File, []string{port, certificate, key}
	case strings.HasSuffix(transport, "tcp"):
		port := addresstest.Port(t)
		return "127.0.0.1:" + port, []string{port}
	}
	near, far := serialPair(t)
	return near + "?baud=115200&parity=N&data=8", []string{far, "115200"}
}

// truth that a stranger was told to hold: as text for it, and as the reading that must come of it.
type truth struct {
	kind, told string
	value      float64
	text       string
}

var truths = []truth{
	{"int16", "-200", -200, ""}, {"uint16", "65336", 65336, ""}, {"bcd16", "1234", 1234, ""},
	{"int32", "-100000", -100000, ""}, {"uint32", "4294867296", 4294867296, ""}, {"bcd32", "12345678", 12345678, ""},
	{"float32", "123.456", float64(float32(123.456)), ""}, {"float64", "-98765.4321", -98765.4321, ""},
	{"int64", "-9007199254740995", -9007199254740996, "-9007199254740995"}, {"uint64", "18446744073709551615", 18446744073709551616, "18446744073709551615"},
	{"int64", "-100000", -100000, ""}, {"uint64", "123456789012", 123456789012, ""},
}

// everything is a device with each type in each order in each table, what its values must be, and the same told
// to a stranger, line by line: unit, table, address, type, order, value.
func everything() (d Device, want map[collectors.Point]truth, told string) {
	d, want = Device{Name: "d", Unit: new(7), Timeout: 2 * time.Second}, map[collectors.Point]truth{}
	values := &strings.Builder{}
	add := func(p Point, table string, address int, tr truth, order string) {
		p.Name = fmt.Sprintf("%s-%d-%s-%s", table, address, tr.kind, order)
		d.Points = append(d.Points, p)
		want[collectors.PointOf("d", p.Name)] = tr
		fmt.Fprintf(values, "7 %s %d %s %s %s\n", table, address, tr.kind, order, tr.told)
	}
	address := 0
	for _, tr := range truths {
		for _, o := range wireOrders {
			add(Point{Holding: new(address), Type: tr.kind, Order: string(o)}, "holding", address, tr, string(o))
			add(Point{Input: new(address + 1000), Type: tr.kind, Order: string(o)}, "input", address+1000, tr, string(o))
			address += 4
		}
	}
	add(Point{Holding: new(900), Type: "string", Length: 4}, "holding", 900, truth{kind: "string", told: "TK-10017", text: "TK-10017"}, "ABCD")
	for a := range 12 {
		on := strconv.Itoa(a % 2)
		add(Point{Coil: new(a)}, "coil", a, truth{kind: "bool", told: on, value: float64(a % 2)}, "ABCD")
		add(Point{Discrete: new(a + 3)}, "discrete", a+3, truth{kind: "bool", told: on, value: float64(a % 2)}, "ABCD")
	}
	return d, want, values.String()
}

// toldIn is a file with what is told to a stranger.
func toldIn(t *testing.T, values string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAgainstPymodbus(t *testing.T) {
	python := pythonWithPymodbus(t)
	d, want, values := everything()
	d.Points = append(d.Points, holding("nowhere", 899))
	command := []string{python, "testdata/pymodbus_slave.py", toldIn(t, values)}
	over(t, []string{"tcp", "tls", "rtu", "rtu+tcp", "ascii", "ascii+tcp"}, line.Request{Unit: 7, Table: line.Holding, Address: 0, Quantity: 1}, command, func(t *testing.T, s stranger) {
		d.URL = s.url
		s.holds(t, d, want)
	})
}

// holds reads a device of which everything must be as it should, and the point nowhere, if there is one, refused.
func (s stranger) holds(t *testing.T, d Device, want map[collectors.Point]truth) {
	got := readings(t, s.lines, d)
	for p, tr := range want {
		r := got[p]
		if r.Quality != collectors.Good || r.Text != tr.text || tr.kind != "string" && r.Value != tr.value {
			t.Errorf("%s: %s %v %q (%v), want %v %q", p, r.Quality, r.Value, r.Text, r.Err, tr.value, tr.text)
		}
	}
	if r, asked := got["d/nowhere"]; asked && (r.Quality != collectors.Bad || !strings.Contains(fmt.Sprint(r.Err), "exception 2")) {
		t.Errorf("the point that is not there: %s %v (%v)", r.Quality, r.Value, r.Err)
	}
	if len(got) != len(d.Points) || len(want) > len(got) {
		t.Errorf("%d readings, want %d", len(got), len(d.Points))
	}
}

func TestAgainstLibmodbus(t *testing.T) {
	compiler := needs(t, "cc", "install gcc")
	config := needs(t, "pkg-config", "install pkg-config")
	flags, err := exec.Command(config, "--cflags", "--libs", "libmodbus").Output()
	if err != nil {
		t.Skip("libmodbus is not here; install libmodbus-dev")
	}
	program := filepath.Join(t.TempDir(), "slave")
	args := append([]string{"-o", program, "testdata/libmodbus_slave.c"}, strings.Fields(string(flags))...)
	if said, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	d := Device{Name: "d", Timeout: 2 * time.Second}
	want := map[collectors.Point]truth{}
	add := func(p Point, value float64) {
		d.Points = append(d.Points, p)
		want[collectors.PointOf("d", p.Name)] = truth{value: value}
	}
	for i, o := range wireOrders {
		add(holding("float-"+string(o), 100+2*i, typed("float32", string(o))), float64(float32(123.456)))
	}
	add(holding("int32", 108, typed("int32", "")), -100000)
	add(holding("int64", 110, typed("int64", "")), -100000)
	add(holding("int16", 114, typed("int16", "")), -200)
	add(holding("uint16", 115), 65336)
	for a := 116; a < 140; a++ {
		add(holding(fmt.Sprint(a), a), float64(900+a))
	}
	for a := range 20 {
		add(Point{Name: fmt.Sprintf("coil-%d", a), Coil: new(a)}, oneIf(a%3 == 0))
	}
	d.Points = append(d.Points, holding("nowhere", 140))
	over(t, []string{"tcp", "rtu"}, line.Request{Unit: 1, Table: line.Holding, Address: 100, Quantity: 1}, []string{program}, func(t *testing.T, s stranger) {
		d.URL = s.url
		s.holds(t, d, want)
	})
}
