package modbustest

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Slave is a number of units behind one line. Its methods may be called while it serves.
type Slave struct {
	// Turnaround of a unit before it answers. Set it before serving.
	Turnaround time.Duration
	// Char is the time of one character on the simulated wire: each answer then takes the time of its request's
	// and its own characters. 0: no such wire. Set it before serving.
	Char time.Duration

	mu       sync.Mutex
	units    map[byte]*Bank
	faults   []*active
	requests int
	asked    map[byte]int
	late     []lateAnswer
}

// lateAnswer waits for so many more requests.
type lateAnswer struct {
	frame []byte
	after int
}

// NewSlave has no units: whoever is asked stays silent.
func NewSlave() *Slave {
	return &Slave{units: map[byte]*Bank{}, asked: map[byte]int{}}
}

// Unit is the bank of a unit, which exists from now on.
func (s *Slave) Unit(id byte) *Bank {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.units[id] == nil {
		s.units[id] = newBank()
	}
	return s.units[id]
}

// Remove makes a unit silent, as if it had lost its power.
func (s *Slave) Remove(id byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.units, id)
}

// SetFaults replaces the faults. None: the line is healthy again, and answers that were held back are forgotten.
func (s *Slave) SetFaults(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.late = nil, nil
	for _, f := range faults {
		s.faults = append(s.faults, &active{Fault: f})
	}
}

// Requests counts those that have come, whatever became of them; to one unit, or to all when unit is 0.
func (s *Slave) Requests(unit byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if unit == 0 {
		return s.requests
	}
	return s.asked[unit]
}

// Serve answers on every connection of the listener until ctx ends, and returns nil then, with all of them closed.
func (s *Slave) Serve(ctx context.Context, listener net.Listener, framing Framing) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() }) // closed twice at worst
	defer stop()
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close() // it came in the last moment
			}
			return nil
		}
		if err != nil {
			cancel()
			return fmt.Errorf("accept at %s: %w", listener.Addr(), err)
		}
		connections.Go(func() {
			_ = s.ServeStream(ctx, conn, framing) // a master that hangs up or talks nonsense is its own affair
		})
	}
}

// ServeStream answers on one open stream until it ends or ctx does, and closes it.
func (s *Slave) ServeStream(ctx context.Context, stream io.ReadWriteCloser, framing Framing) error {
	stop := context.AfterFunc(ctx, func() { _ = stream.Close() })
	defer func() {
		if stop() {
			_ = stream.Close()
		}
	}()
	in := bufio.NewReader(stream)
	for {
		r, err := framing.next(in)
		if err != nil {
			return ended(ctx, err)
		}
		if err := s.answer(ctx, stream, framing, r); err != nil {
			return ended(ctx, err)
		}
	}
}

// ended turns the usual ends of a stream into nil.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed) ||
		errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

// answer does what the unit and the faults make of one request.
func (s *Slave) answer(ctx context.Context, w io.Writer, framing Framing, r request) error {
	fault, due, bank := s.meet(r)
	if bank == nil {
		return send(ctx, w, due)
	}
	frame := fault.frame(framing, r, bank)
	if !wait(ctx, s.Turnaround+fault.Delay+s.Char*time.Duration(framing.requestSize()+len(frame))) {
		return ctx.Err()
	}
	switch {
	case fault.Silent:
		frame = nil
	case fault.Late > 0:
		s.hold(lateAnswer{frame, fault.Late})
		frame = nil
	case fault.Doubled:
		frame = append(frame, frame...)
	}
	frame = append(slices.Clone(due), append(slices.Clone(fault.Garbage), frame...)...)
	return fault.deliver(ctx, w, frame)
}

// deliver sends the frame, or what the fault leaves of it.
func (f Fault) deliver(ctx context.Context, w io.Writer, frame []byte) error {
	rest := []byte(nil)
	if n := max(f.Torn, 0); f.Torn != 0 && n < len(frame) {
		frame, rest = frame[:n], frame[n:]
	}
	if f.Reset && f.Torn == 0 {
		return io.EOF
	}
	if err := send(ctx, w, frame); err != nil {
		return err
	}
	if f.Reset {
		return io.EOF
	}
	if f.Rest == 0 {
		return nil
	}
	if !wait(ctx, f.Rest) {
		return ctx.Err()
	}
	return send(ctx, w, rest)
}

// meet counts a request and finds what is to become of it: the fault, the late answers that are due before it,
// and the unit's bank.
func (s *Slave) meet(r request) (fault Fault, due []byte, bank *Bank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.asked[r.unit]++
	for _, f := range s.faults {
		if f.meets(r) {
			fault = f.Fault
			break
		}
	}
	s.late = slices.DeleteFunc(s.late, func(l lateAnswer) bool { return l.after == 0 })
	for i := range s.late {
		if s.late[i].after--; s.late[i].after == 0 {
			due = append(due, s.late[i].frame...)
		}
	}
	return fault, due, s.units[r.unit]
}

func (s *Slave) hold(l lateAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, l)
}

// frame is the answer as the fault leaves it.
func (f Fault) frame(framing Framing, r request, bank *Bank) []byte {
	table := Table(0)
	exception := f.Exception
	switch r.function {
	case 3:
	case 4:
		table = Input
	case 1:
		table = Coil
	case 2:
		table = Discrete
	default:
		exception = 1
	}
	var data []byte
	if exception == 0 {
		data, exception = bank.read(table, r.address, r.quantity)
	}
	pdu := []byte{r.function | 0x80, exception}
	if exception == 0 {
		data = data[:max(0, len(data)-f.Short)]
		pdu = append([]byte{r.function, byte(len(data))}, data...)
	}
	if f.Function != 0 {
		pdu[0] = f.Function
	}
	frame := framing.frame(r.id+f.Idshift, r.unit+f.Unitshift, pdu)
	if f.Flip > 0 && f.Flip <= len(frame) {
		frame[f.Flip-1] ^= 0xFF
	}
	return frame
}

func send(ctx context.Context, w io.Writer, b []byte) error {
	if len(b) == 0 {
		return ctx.Err()
	}
	_, err := w.Write(b)
	return err
}

func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

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
