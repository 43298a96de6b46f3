//go:build !linux

package line

import "fmt"

// openPort says that serial ports are Linux's here; sockets work everywhere.
func openPort(path string, _ serialParams) (Stream, error) {
	return nil, fmt.Errorf("serial port %s: serial ports are supported on Linux only", path)
}
