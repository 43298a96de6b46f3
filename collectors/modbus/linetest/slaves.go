package linetest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gauger/collectors/modbus/modbustest"
)

// NumberFrom is a number of the environment, for long runs of what is short otherwise.
func NumberFrom(t testing.TB, name string, otherwise int) int {
	t.Helper()
	given := os.Getenv(name)
	if given == "" {
		return otherwise
	}
	n, err := strconv.Atoi(given)
	if err != nil {
		t.Fatalf("%s=%s: a number is needed", name, given)
	}
	return n
}

// Listen serves a slave on a socket of its own until the test ends, and returns its address.
func Listen(t *testing.T, s *modbustest.Slave, framing modbustest.Framing) string {
	t.Helper()
	server, err := s.Start("127.0.0.1:0", framing)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("slave: %v", err)
		}
	})
	return server.Addr
}

// Conn is the master's end of a line in memory.
type Conn interface {
	io.ReadWriteCloser
	SetDeadline(t time.Time) error
}

// connect is a line in memory to a slave that serves it, for tests in virtual time.
func connect(t *testing.T, s *modbustest.Slave, url string) Conn {
	near, far := modbustest.Pipe()
	master, served := Conn(near), io.ReadWriteCloser(far)
	if strings.HasPrefix(url, "tls:") {
		master, served = pipeTLS(near, far)
	}
	go func() {
		if err := s.ServeStream(t.Context(), served, FramingOf(url)); err != nil {
			t.Errorf("slave: %v", err)
		}
	}()
	return master
}

// Dial connects to slaves that live in memory, for tests in virtual time: what line.Lines dials instead of the network. S is
// line.Stream, which this room must not know. slave may refuse.
func Dial[S Conn](t *testing.T, slave func(url string) (*modbustest.Slave, error)) func(context.Context, string) (S, error) {
	return func(_ context.Context, url string) (stream S, err error) {
		s, err := slave(url)
		if err != nil {
			return stream, err
		}
		return Conn(connect(t, s, url)).(S), nil
	}
}

// Only is a site with one slave behind every URL.
func Only(s *modbustest.Slave) func(string) (*modbustest.Slave, error) {
	return func(string) (*modbustest.Slave, error) { return s, nil }
}

// Open opens the line behind a URL.
func Open[L any](t *testing.T, lines interface{ Open(url string) (L, error) }, url string) L {
	t.Helper()
	l, err := lines.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Close closes lines whose sockets and ports must all close without an error.
func Close(t *testing.T, lines io.Closer) {
	t.Helper()
	if err := lines.Close(); err != nil {
		t.Errorf("close lines: %v", err)
	}
}

// FramingOf is the framing that a URL asks of the slave behind it.
func FramingOf(url string) modbustest.Framing {
	switch {
	case strings.HasPrefix(url, "rtu"):
		return modbustest.RTU
	case strings.HasPrefix(url, "ascii"):
		return modbustest.ASCII
	}
	return modbustest.TCP
}

// Patience is the longest wait for something in real time.
const Patience = 5 * time.Second

// SortedKeys puts what a seed picks from in one order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Await lets virtual time go on.
func Await(t *testing.T, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

// MemoryURLs is one URL of each kind, for slaves in memory.
var MemoryURLs = []string{"tcp://site", "tls://site", SerialURL, "rtu+tcp://site:4001", ASCIIURL, "ascii+tcp://site:4002"}

// SerialURL and ASCIIURL are slow ports.
const (
	SerialURL = "rtu:///dev/port?baud=9600&parity=N" // 10 bits: a character is 1.0417 ms, the gap 3.646 ms
	ASCIIURL  = "ascii:///dev/port?baud=9600"        // 7E1, 10 bits: a character is 1.0417 ms
)

// Eventually tries until it succeeds or the test's patience is over.
func Eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	patience := time.NewTimer(15 * time.Second)
	defer patience.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-patience.C:
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// Word of register a of a table of a unit: no two registers of the site hold the same.
func Word[T ~uint8](unit byte, t T, a int) uint16 { return uint16(int(unit)*10000 + int(t)*5000 + a) }

// NumberedSlave has units 1 to 3 whose registers hold their own address.
func NumberedSlave() *modbustest.Slave {
	s := modbustest.NewSlave()
	s.Turnaround = 5 * time.Millisecond
	for unit := byte(1); unit <= 3; unit++ {
		for _, t := range []modbustest.Table{modbustest.Holding, modbustest.Input} {
			for a := range 64 {
				s.Unit(unit).Set(t, uint16(a), Word(unit, t, a))
			}
		}
	}
	return s
}

// EveryFault is each kind of fault at each byte and each lateness where that makes a difference.
func EveryFault(framing modbustest.Framing) map[string]modbustest.Fault {
	length, unprotected := 9, 99 // RTU: unit, function, count, four bytes of data, checksum
	switch framing {
	case modbustest.TCP:
		length, unprotected = 13, 9 // the data itself is TCP's to protect
	case modbustest.ASCII:
		length = 19 // the same in text: a colon, two characters a byte, a checksum of one byte, and the end
	}
	faults := map[string]modbustest.Fault{
		"silent": {Silent: true}, "doubled": {Doubled: true}, "reset": {Reset: true}, "short": {Short: 2}, "odd": {Short: 1},
		"exception": {Exception: 4}, "torn at 0": {Torn: -1},
	}
	for k := 1; k < length; k++ {
		faults[fmt.Sprintf("torn at %d", k)] = modbustest.Fault{Torn: k}
		faults[fmt.Sprintf("reset at %d", k)] = modbustest.Fault{Torn: k, Reset: true}
		for _, rest := range []time.Duration{3, 30, 400, 995, 1005, 1500, 2100} {
			faults[fmt.Sprintf("torn at %d, rest after %d ms", k, rest)] = modbustest.Fault{Torn: k, Rest: rest * time.Millisecond}
		}
	}
	for k := 1; k <= length && k <= unprotected; k++ {
		faults[fmt.Sprintf("byte %d inverted", k)] = modbustest.Fault{Flip: k}
	}
	for ms := 100; ms <= 6000; ms += 100 {
		late := modbustest.Fault{Delay: time.Duration(ms) * time.Millisecond}
		faults[fmt.Sprintf("%d ms late", ms)] = late
		late.Exception = 2
		faults[fmt.Sprintf("a refusal %d ms late", ms)] = late
	}
	for n := 1; n <= 6; n++ {
		faults[fmt.Sprintf("%d requests late", n)] = modbustest.Fault{Late: n}
	}
	for _, shift := range []byte{1, 2, 255} {
		faults[fmt.Sprintf("unit %d more", shift)] = modbustest.Fault{Unitshift: shift}
		faults[fmt.Sprintf("transaction %d more", shift)] = modbustest.Fault{Idshift: uint16(shift)}
	}
	for _, f := range []byte{1, 2, 4, 16, 131, 132} {
		faults[fmt.Sprintf("function %d", f)] = modbustest.Fault{Function: f}
	}
	for name, garbage := range map[string]string{"one zero": "\x00", "three bytes": "\xff\x00\xff", "a header": "\x01\x03\x04", "half a frame": "\x01\x03\x04\x27\x10\x27"} {
		faults["garbage: "+name] = modbustest.Fault{Garbage: []byte(garbage)}
	}
	return faults
}

// lines under test, by framing. The serial options only set how long characters and gaps are.
var URLsByFraming = map[modbustest.Framing][]string{
	modbustest.TCP:   {"tcp://site:502", "tls://site:802"},
	modbustest.RTU:   {"rtu:///dev/port?baud=9600", "rtu+tcp://site:4001?baud=115200"},
	modbustest.ASCII: {"ascii:///dev/port?baud=9600", "ascii+tcp://site:4001?baud=115200"},
}
