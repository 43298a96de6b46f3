package main

import (
	"fmt"
	"net"
	"time"

	"gauger/collectors/modbus/modbustest"
)

// lineReport of a station since the window was opened.
type lineReport struct {
	Requests    tally
	Units       []unitReport
	Registers   int
	Connections int // since the start
	Damaged     int
	Early       int
	Silence     time.Duration
}

// unitReport is one unit's part of it.
type unitReport struct {
	source
	tally
}

// loopback is any free port of an address that nobody else uses: a program that still asks for a port which another
// one had on 127.0.0.1 must not be taken for ours.
const loopback = "127.77.0.1:0"

// slaves is the child process that stands for the field: its CPU time is not ours.
type slaves struct{ stations []*station }

// startSlaves opens every line and returns their addresses: host:port, or the path of a serial port.
func startSlaves(specs []stationSpec) (worker, any, error) {
	all, addresses := &slaves{}, []string{}
	for _, spec := range specs {
		for range max(1, spec.Copies) {
			s := newStation(spec)
			address, err := s.start()
			if err != nil {
				return nil, nil, err
			}
			all.stations, addresses = append(all.stations, s), append(addresses, address)
		}
	}
	return all, addresses, nil
}

func (s *station) start() (address string, err error) {
	if s.Pty {
		pty, err := modbustest.OpenPty()
		if err != nil {
			return "", err
		}
		go s.serve(pty)
		return pty.Path, nil
	}
	l, err := net.Listen("tcp", loopback)
	if err != nil {
		return "", fmt.Errorf("a slave's socket: %w", err)
	}
	go s.accept(l)
	return l.Addr().String(), nil
}

// open begins a window on every line.
func (a *slaves) open() any {
	for _, s := range a.stations {
		s.open()
	}
	return struct{}{}
}

func (s *station) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.open()
	for _, t := range s.units {
		t.open()
	}
	s.registers, s.damaged, s.early, s.silence = 0, 0, 0, time.Hour
}

// report of the window.
func (a *slaves) report() any {
	lines := make([]lineReport, len(a.stations))
	for i, s := range a.stations {
		lines[i] = s.report(time.Now())
	}
	return lines
}

func (s *station) report(now time.Time) lineReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := lineReport{Requests: s.all, Registers: s.registers, Connections: s.connections, Damaged: s.damaged, Early: s.early, Silence: s.silence}
	for from, t := range s.units {
		r.Units = append(r.Units, unitReport{from, t.closed(now, s.Every)})
	}
	return r
}
