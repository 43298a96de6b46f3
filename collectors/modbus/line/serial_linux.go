package line

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openPort opens a serial port for this process alone. It is opened non-blocking, so that Go's poller gives real
// deadlines and a close wakes whoever reads; a port that is pulled out ends reads with io.EOF or EIO at once.
func openPort(path string, o serialParams) (Stream, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, explainOpenError(&os.PathError{Op: "open", Path: path, Err: err})
	}
	if err := preparePort(fd, o); err != nil {
		return nil, errors.Join(fmt.Errorf("serial port %s: %w", path, err), unix.Close(fd))
	}
	return &serialPort{os.NewFile(uintptr(fd), path)}, nil
}

// serialPort is an open serial port.
type serialPort struct{ *os.File }

// Close gives the port back, also where somebody else has it open: the driver forgets who reserved it only with the last of them.
func (p *serialPort) Close() error {
	if raw, err := p.SyscallConn(); err == nil { // else it is closed already, which the close says too
		_ = raw.Control(func(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TIOCNXCL, 0) }) // a port that was pulled out has nothing to give back
	}
	return p.File.Close()
}

func explainOpenError(err error) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w; add the user to the group that owns the port (dialout)", err)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w; is the adapter plugged in? ls /dev/serial/by-id shows those that are", err)
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("%w; a program has the port, or has left it reserved: fuser names it; where none does, make the pseudo-terminal anew or reboot", err)
	}
	return err
}

// preparePort takes the port for this process and sets it raw with the given speed and character. Speeds outside the
// classic list work where the driver can do them.
func preparePort(fd int, o serialParams) error {
	if err := reserve(fd); err != nil {
		return err
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS2)
	if err != nil {
		return fmt.Errorf("read its settings: %w", err)
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = termiosFlags(o)
	t.Ispeed, t.Ospeed = uint32(o.baud), uint32(o.baud)
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS2, t); err != nil {
		return fmt.Errorf("set %d baud %d%c%d: %w", o.baud, o.data, o.parity, o.stop, err)
	}
	if err := setRS485Direction(fd, o.rs485); err != nil {
		return err
	}
	if err := unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIOFLUSH); err != nil {
		return fmt.Errorf("empty its buffers: %w", err)
	}
	return nil
}

// reserve keeps other programs out: flock those that ask, TIOCEXCL all others. The driver forgets TIOCEXCL when nobody has
// the port open any more, after a kill too. A pseudo-terminal never forgets it, since its other end stays open: nobody but
// root could open it again. There flock must do.
func reserve(fd int) error {
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("another program has it: %w", err)
	}
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return fmt.Errorf("see what it is: %w", err)
	}
	if isPseudoTerminal(is.Rdev) {
		return nil
	}
	if err := unix.IoctlSetInt(fd, unix.TIOCEXCL, 0); err != nil {
		return fmt.Errorf("take it exclusively: %w", err)
	}
	return nil
}

// isPseudoTerminal says that a device is a pseudo-terminal's port: Linux gives those the numbers 136 to 143.
func isPseudoTerminal(device uint64) bool {
	major := unix.Major(device)
	return major >= 136 && major <= 143
}

func termiosFlags(o serialParams) uint32 {
	flags := uint32(unix.CREAD | unix.CLOCAL | unix.CS8 | unix.BOTHER)
	if o.data == 7 {
		flags = flags&^unix.CSIZE | unix.CS7
	}
	if o.parity != 'N' {
		flags |= unix.PARENB
	}
	if o.parity == 'O' {
		flags |= unix.PARODD
	}
	if o.stop == 2 {
		flags |= unix.CSTOPB
	}
	return flags
}

// kernelRS485 is the kernel's struct serial_rs485 (include/uapi/linux/serial.h), which is the same on every machine.
type kernelRS485 struct {
	flags         uint32
	before, after uint32 // ms
	_             [5]uint32
}

// The flags of struct serial_rs485 that are of use here.
const (
	rs485Enabled      = 1 << 0
	rs485RTSOnSend    = 1 << 1
	rs485RTSAfterSend = 1 << 2
)

func kernelRS485Of(d rs485Direction) kernelRS485 {
	r := kernelRS485{flags: rs485Enabled | rs485RTSOnSend, before: uint32(d.before), after: uint32(d.after)}
	if d.rtsWhileSending == "low" {
		r.flags = rs485Enabled | rs485RTSAfterSend
	}
	return r
}

// setRS485Direction has the kernel turn the line's direction, where the URL says so. A driver that cannot either refuses or
// clears the flag.
func setRS485Direction(fd int, d rs485Direction) error {
	if d.rtsWhileSending == "" {
		return nil
	}
	r := kernelRS485Of(d)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSRS485, uintptr(unsafe.Pointer(&r)))
	if errno == 0 && r.flags&rs485Enabled != 0 {
		return nil
	}
	if errno == 0 {
		errno = unix.ENOTTY
	}
	return fmt.Errorf("turn the RS-485 direction by RTS: the driver of this port cannot; leave out rs485= and use an adapter that turns by itself: %w", errno)
}
