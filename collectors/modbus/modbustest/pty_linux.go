package modbustest

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Pty is a serial port without hardware: what is written to the pty comes out at the port at Path, and the other
// way round. Closing it is what pulling out a USB adapter is to whoever has the port open.
type Pty struct {
	*os.File
	Path string
	keep *os.File // without it the pty would end whenever nobody has the port open
}

// OpenPty makes a new pair.
func OpenPty() (*Pty, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	pty := &Pty{File: os.NewFile(uintptr(fd), "/dev/ptmx")}
	if err := pty.prepare(fd); err != nil {
		return nil, errors.Join(fmt.Errorf("make a pseudo-terminal: %w", err), pty.File.Close())
	}
	return pty, nil
}

func (p *Pty) prepare(fd int) error {
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return err
	}
	p.Path = fmt.Sprintf("/dev/pts/%d", n)
	p.keep, err = os.OpenFile(p.Path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	t, err := unix.IoctlGetTermios(int(p.keep.Fd()), unix.TCGETS)
	if err != nil {
		return err
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0 // raw from the start: nothing is echoed before the port is opened
	return unix.IoctlSetTermios(int(p.keep.Fd()), unix.TCSETS, t)
}

// Close ends both sides.
func (p *Pty) Close() error { return errors.Join(p.File.Close(), p.keep.Close()) }
