package main

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gauger/collectors/modbus/modbustest"
)

// stationSpec is a line with units behind it, or many alike.
type stationSpec struct {
	Copies int    // lines of this kind, each with an address of its own
	Pty    bool   // a serial port instead of a socket
	Serial *wire  // RTU frames at true character times; nil: Modbus TCP
	Dead   byte   // unit that has the fault; 0: none
	Fault  string // silent, busy, close, refuse
	// Turnaround of a unit behind Modbus TCP.
	Turnaround time.Duration
	Every      time.Duration // the interval that each unit is to be asked at; 0: none
}

// faultPause of a gateway before it says that a unit is dead.
const faultPause = time.Second

// source tells one unit's requests from another's. Units that share one address are told apart by their registers.
type source struct {
	Unit    byte
	Address uint16
}

// station answers on one line and keeps the times of what it is asked. Each register holds its own address.
type station struct {
	stationSpec

	mu          sync.Mutex
	all         tally
	units       map[source]*tally
	registers   int
	connections int
	damaged     int           // requests with a wrong checksum
	early       int           // requests that came before 3.5 characters of silence
	silence     time.Duration // the least silence before a request
}

func newStation(spec stationSpec) *station {
	return &station{stationSpec: spec, units: map[source]*tally{}, silence: time.Hour}
}

// hear takes note of a request.
func (s *station) hear(from source, registers int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.hear(at, 0)
	t := s.units[from]
	if t == nil {
		t = &tally{}
		s.units[from] = t
	}
	t.hear(at, s.Every)
	s.registers += registers
}

// connected counts a connection.
func (s *station) connected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections++
}

// serve answers on a stream until it ends.
func (s *station) serve(stream io.ReadWriteCloser) {
	s.connected()
	if s.Serial != nil {
		s.serveRTU(stream)
	} else {
		s.serveTCP(stream)
	}
	_ = stream.Close() // nothing is lost: whoever asked has left, or is to be left
}

func (s *station) serveTCP(stream io.ReadWriter) {
	var request [12]byte
	answer := make([]byte, 0, 9+250)
	for {
		if _, err := io.ReadFull(stream, request[:]); err != nil {
			return
		}
		at := time.Now()
		from := source{request[6], binary.BigEndian.Uint16(request[8:])}
		registers := int(binary.BigEndian.Uint16(request[10:]))
		s.hear(from, registers, at)
		answer = append(answer[:0], request[:7]...)
		pdu, last := s.reply(from, registers, at, answer[7:])
		if pdu == nil && last {
			return
		}
		if pdu == nil {
			continue
		}
		answer = answer[:7+len(pdu)]
		binary.BigEndian.PutUint16(answer[4:], uint16(1+len(pdu)))
		if _, err := stream.Write(answer); err != nil {
			return
		}
	}
}

// reply is the answer behind a socket, after the unit's time; nil: none. last: the connection is closed instead.
func (s *station) reply(from source, registers int, at time.Time, into []byte) (pdu []byte, last bool) {
	if s.Turnaround > 0 {
		sleepUntil(at.Add(s.Turnaround))
	}
	if s.Dead == 0 || from.Unit != s.Dead {
		return appendData(into, from.Address, registers), false
	}
	switch s.Fault {
	case "busy":
		sleepUntil(at.Add(faultPause))
		return append(into, 0x83, 0x0B), false
	case "refuse":
		return append(into, 0x83, 2), false
	case "close":
		return nil, true
	}
	return nil, false
}

// appendData appends an answer of function 3.
func appendData(b []byte, from uint16, registers int) []byte {
	b = append(b, 3, byte(2*registers))
	for i := range registers {
		b = binary.BigEndian.AppendUint16(b, from+uint16(i))
	}
	return b
}

// serveRTU is a serial line: the request's characters take their time, then comes the silence that ends the frame,
// then the unit thinks, then the answer comes character by character.
func (s *station) serveRTU(stream io.ReadWriter) {
	var request [requestChars]byte
	var ended time.Time
	for have := 0; ; {
		if _, err := io.ReadFull(stream, request[have:]); err != nil {
			return
		}
		at := time.Now()
		if modbustest.Checksum(request[:]) != 0 {
			s.noise()
			have = copy(request[:], request[1:])
			continue
		}
		have = 0
		from := source{request[0], binary.BigEndian.Uint16(request[2:])}
		registers := int(binary.BigEndian.Uint16(request[4:]))
		s.hear(from, registers, at)
		s.quiet(ended, at)
		ended = at.Add(s.Serial.chars(requestChars))
		if s.Dead != 0 && from.Unit == s.Dead {
			continue
		}
		frame := appendData([]byte{from.Unit}, from.Address, registers)
		frame = binary.LittleEndian.AppendUint16(frame, modbustest.Checksum(frame))
		if s.emit(stream, frame, ended.Add(s.Serial.gap()+s.Serial.Turnaround)) != nil {
			return
		}
		ended = time.Now()
	}
}

// emit writes each character when it has passed.
func (s *station) emit(w io.Writer, frame []byte, start time.Time) error {
	for sent := 0; sent < len(frame); {
		sleepUntil(start.Add(s.Serial.chars(sent + 1)))
		passed := int(time.Since(start) / s.Serial.chars(1))
		upTo := min(max(passed, sent+1), len(frame))
		if _, err := w.Write(frame[sent:upTo]); err != nil {
			return err
		}
		sent = upTo
	}
	return nil
}

func (s *station) noise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.damaged++
}

// quiet judges the silence before a request.
func (s *station) quiet(ended, at time.Time) {
	if ended.IsZero() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silence = min(s.silence, at.Sub(ended))
	if at.Sub(ended) < s.Serial.gap() {
		s.early++
	}
}

// sleepUntil waits in the kernel: the Go runtime rounds its timers up to a millisecond when it is idle, and that
// is ten characters at 115200 baud.
func sleepUntil(t time.Time) {
	for {
		left := time.Until(t)
		if left <= 0 {
			return
		}
		pause := unix.NsecToTimespec(left.Nanoseconds())
		_ = unix.Nanosleep(&pause, nil) // interrupted or not, the clock is looked at again
	}
}

// accept serves every connection of a listener.
func (s *station) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // closed: the process ends
		}
		go s.serve(conn)
	}
}
