package line

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

func TestAPortIsSetAsTheURLSays(t *testing.T) {
	pty := linetest.OpenPty(t)
	defer pty.Close()
	port, err := openPort(pty.Path, serialParams{baud: 31250, data: 8, parity: 'O', stop: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	raw, err := port.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var got *unix.Termios
	if err := raw.Control(func(fd uintptr) { got, err = unix.IoctlGetTermios(int(fd), unix.TCGETS2) }); err != nil || got == nil {
		t.Fatal(err)
	}
	if got.Ospeed != 31250 || got.Ispeed != 31250 || got.Cflag&unix.CSTOPB == 0 {
		t.Errorf("%d and %d baud, flags %o; want 31250 and two stop bits", got.Ospeed, got.Ispeed, got.Cflag)
	}
	if got.Lflag != 0 || got.Iflag != 0 || got.Oflag != 0 {
		t.Errorf("flags %o, %o, %o; want a raw port", got.Lflag, got.Iflag, got.Oflag)
	}
}

func TestCharacterFlags(t *testing.T) {
	const always = unix.CREAD | unix.CLOCAL | unix.CS8 | unix.BOTHER
	for o, want := range map[serialParams]uint32{
		{parity: 'N', stop: 1}: always, {parity: 'E', stop: 1}: always | unix.PARENB,
		{parity: 'O', stop: 2}:          always | unix.PARENB | unix.PARODD | unix.CSTOPB,
		{data: 7, parity: 'E', stop: 1}: always&^unix.CSIZE | unix.CS7 | unix.PARENB,
	} {
		if got := termiosFlags(o); got != want {
			t.Errorf("%+v: %o, want %o", o, got, want)
		}
	}
}

// TestTheKernelsRS485Struct compares with struct serial_rs485 of linux/serial.h: eight words of 32 bits, the flags
// first, then the two delays.
func TestTheKernelsRS485Struct(t *testing.T) {
	for d, want := range map[rs485Direction][8]uint32{
		{rtsWhileSending: "high", before: 3, after: 5}: {0b011, 3, 5},
		{rtsWhileSending: "low"}:                       {0b101},
	} {
		r := kernelRS485Of(d)
		if unsafe.Sizeof(r) != 32 || *(*[8]uint32)(unsafe.Pointer(&r)) != want {
			t.Errorf("%+v: %d bytes, %v, want 32 bytes, %v", d, unsafe.Sizeof(r), r, want)
		}
	}
}

func TestADriverWithoutRS485(t *testing.T) {
	pty := linetest.OpenPty(t)
	defer pty.Close()
	at, err := ParseEndpoint("rtu://" + pty.Path + "?rs485=high")
	if err != nil {
		t.Fatal(err)
	}
	if port, err := openPort(at.Place, at.serial); err == nil || !strings.Contains(err.Error(), "use an adapter that turns by itself") {
		t.Errorf("%v, %v", port, err)
	}
	if port, err := openPort(at.Place, standardSerialParams); err != nil {
		t.Errorf("without it: %v", err)
	} else if err := port.Close(); err != nil {
		t.Error(err)
	}
}

func TestAPortIsTakenOnce(t *testing.T) {
	pty := linetest.OpenPty(t)
	defer pty.Close()
	port, err := openPort(pty.Path, standardSerialParams)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := openPort(pty.Path, standardSerialParams); err == nil || !strings.Contains(err.Error(), "another program has") {
		t.Errorf("opened twice: %v %v", second, err)
	}
	if err := port.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := openPort(pty.Path, standardSerialParams)
	if err != nil {
		t.Fatalf("after it was closed: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// reserved says whether a port is in exclusive mode: then nobody but root can open it.
func reserved(t *testing.T, port interface {
	SyscallConn() (syscall.RawConn, error)
}) (yes bool) {

	t.Helper()
	raw, err := port.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const tiocgexcl = 0x80045440
	n, failed := 0, error(nil)
	err = raw.Control(func(fd uintptr) { n, failed = unix.IoctlGetInt(int(fd), tiocgexcl) })
	if err != nil || failed != nil {
		t.Skipf("this kernel does not tell: %v, %v", err, failed)
	}
	return n != 0
}

// The other end of a pseudo-terminal stays open, and with it whatever was reserved: after a kill nobody could open it.
func TestAPseudoTerminalIsNotReserved(t *testing.T) {
	pty := linetest.OpenPty(t)
	defer pty.Close()
	port, err := openPort(pty.Path, standardSerialParams)
	if err != nil {
		t.Fatal(err)
	}
	if reserved(t, port.(syscall.Conn)) {
		t.Error("a kill now would leave it reserved for ever")
	}
	if err := port.Close(); err != nil {
		t.Error(err)
	}
}

// Somebody else may have the port open when it is closed. It is given back all the same.
func TestAClosedPortIsGivenBack(t *testing.T) {
	pty := linetest.OpenPty(t)
	defer pty.Close()
	another, err := os.OpenFile(pty.Path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	port, err := openPort(pty.Path, standardSerialParams)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetInt(int(another.Fd()), unix.TIOCEXCL, 0); err != nil { // as on a line of copper
		t.Fatal(err)
	}
	if !reserved(t, another) {
		t.Fatal("the test does not reserve it")
	}
	if err := port.Close(); err != nil {
		t.Fatal(err)
	}
	if reserved(t, another) {
		t.Error("it was left reserved")
	}
	if err := port.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestWhichDevicesArePseudoTerminals(t *testing.T) {
	for device, want := range map[uint64]bool{
		unix.Mkdev(136, 0): true, unix.Mkdev(143, 255): true, unix.Mkdev(135, 0): false, unix.Mkdev(144, 0): false,
		unix.Mkdev(4, 64): false, unix.Mkdev(188, 0): false, // ttyS0, ttyUSB0
	} {
		if got := isPseudoTerminal(device); got != want {
			t.Errorf("%d:%d: %v, want %v", unix.Major(device), unix.Minor(device), got, want)
		}
	}
}

func TestAPortThatIsNotThere(t *testing.T) {
	_, err := openPort("/dev/serial/by-id/none", standardSerialParams)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "plugged in") {
		t.Error(err)
	}
	if _, err := openPort("/dev/null", standardSerialParams); err == nil {
		t.Error("/dev/null was taken for a serial port")
	}
}

// BenchmarkSerialLine reads 30 registers back to back over a pseudo-terminal whose slave takes the time that the
// characters take. Besides the time it reports how much of what such a line can do that is.
func BenchmarkSerialLine(b *testing.B) {
	for _, baud := range []string{"9600", "19200", "115200"} {
		b.Run(baud, func(b *testing.B) { serialBenchmark(b, baud) })
	}
}

func serialBenchmark(b *testing.B, baud string) {
	at, err := ParseEndpoint("rtu:///dev/x?baud=" + baud)
	if err != nil {
		b.Fatal(err)
	}
	pty, err := modbustest.OpenPty()
	if err != nil {
		b.Skipf("no pseudo-terminals here: %v", err)
	}
	slave := modbustest.NewSlave()
	slave.Unit(1)
	slave.Turnaround, slave.Char = 5*time.Millisecond, at.serial.charTime()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- slave.ServeStream(ctx, pty, modbustest.RTU) }()
	lines := &Lines{}
	line, err := lines.Open("rtu://" + pty.Path + "?baud=" + baud)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := line.Read(ctx, Request{1, Holding, 0, 30}, time.Second); err != nil {
			b.Fatal(err)
		}
	}
	frames := 8 + 5 + 60
	least := at.serial.charTime()*time.Duration(frames) + at.serial.frameGap() + slave.Turnaround
	b.ReportMetric(100*float64(least)*float64(b.N)/float64(b.Elapsed()), "%possible")
	cancel()
	if err := errors.Join(lines.Close(), <-ended); err != nil {
		b.Error(err)
	}
}
