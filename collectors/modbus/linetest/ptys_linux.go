package linetest

import (
	"context"
	"testing"

	"gauger/collectors/modbus/modbustest"
)

// Transports are the ways to a slave, each started as the site would have it.
var Transports = map[string]func(t *testing.T, s *modbustest.Slave) (url string){
	"tcp":       func(t *testing.T, s *modbustest.Slave) string { return "tcp://" + Listen(t, s, modbustest.TCP) },
	"rtu+tcp":   func(t *testing.T, s *modbustest.Slave) string { return "rtu+tcp://" + Listen(t, s, modbustest.RTU) },
	"ascii+tcp": func(t *testing.T, s *modbustest.Slave) string { return "ascii+tcp://" + Listen(t, s, modbustest.ASCII) },
	"tls":       TLSSlave,
	"rtu":       func(t *testing.T, s *modbustest.Slave) string { return "rtu://" + serialSlave(t, s, modbustest.RTU) },
	"ascii": func(t *testing.T, s *modbustest.Slave) string {
		return "ascii://" + serialSlave(t, s, modbustest.ASCII)
	},
}

// OpenPty is a pseudo-terminal; where there are none the test is skipped.
func OpenPty(t *testing.T) *modbustest.Pty {
	t.Helper()
	pty, err := modbustest.OpenPty()
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	return pty
}

// serialSlave is the path and the settings of a port with a slave behind it.
func serialSlave(t *testing.T, s *modbustest.Slave, framing modbustest.Framing) string {
	pty := OpenPty(t)
	ServePty(t, s, pty, framing)
	return pty.Path + "?baud=115200&parity=N"
}

// ServePty has a slave serve a pseudo-terminal until the test ends.
func ServePty(t *testing.T, s *modbustest.Slave, pty *modbustest.Pty, framing modbustest.Framing) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStream(ctx, pty, framing) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("slave: %v", err)
		}
	})
}
