package modbustest

import (
	"context"
	"crypto/tls"
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
	return s.start(listener, framing), nil
}

// StartTLS serves Modbus TCP inside TLS.
func (s *Slave) StartTLS(address string, config *tls.Config) (*Server, error) {
	listener, err := tls.Listen("tcp", address, config)
	if err != nil {
		return nil, fmt.Errorf("modbus slave: %w", err)
	}
	return s.start(listener, TCP), nil
}

func (s *Slave) start(listener net.Listener, framing Framing) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	server := &Server{Addr: listener.Addr().String(), cancel: cancel, ended: make(chan error, 1)}
	go func() { server.ended <- s.Serve(ctx, listener, framing) }()
	return server
}

// Close closes the socket and every connection, and returns when nothing of the server is left.
func (s *Server) Close() error {
	s.cancel()
	return <-s.ended
}
