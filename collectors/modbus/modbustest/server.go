package modbustest

import (
	"context"
	"fmt"
	"net"
)

// Server is a slave that listens on a socket.
type Server struct {
	Addr   string // host:port
	cancel context.CancelFunc
	ended  chan error
}

// Start serves the slave at an address, such as 127.0.0.1:0 for any free port, until Close.
func (s *Slave) Start(address string, framing Framing) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("modbus slave: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := &Server{Addr: listener.Addr().String(), cancel: cancel, ended: make(chan error, 1)}
	go func() { server.ended <- s.Serve(ctx, listener, framing) }()
	return server, nil
}

// Close closes the socket and every connection, and returns when nothing of the server is left.
func (s *Server) Close() error {
	s.cancel()
	return <-s.ended
}
