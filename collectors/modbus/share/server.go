// Package share lets other masters read the devices of this box over Modbus TCP, each under its own unit id: from the last
// answers of the units (cache.go), to a few connections at a time, of which one address has half (server.go). Nothing is asked for on a master's behalf,
// and nothing can be written. An answer that is too old is no answer: the master is told that the unit is silent.
package share

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/doors"
	"gauger/collectors/modbus/line"
)

// server answers second masters over Modbus TCP for the units whose devices name its address, each under its own
// unit id, from what the units answered last. Nothing is asked for on their behalf, and nothing can be written.
type server struct {
	address     string
	caches      map[byte]*Cache
	masters     []netip.Prefix // who may ask; empty: everybody
	noticeSince time.Time      // since when people know that the address cannot be had; zero: they do not
}

const (
	MaxMasters       = 32               // connections at a time
	maxOfMaster      = 16               // of those, from one address other than the box's own
	giveWay          = 10 * time.Second // a connection that has been silent for this long gives way to a new one
	idleTimeout      = time.Minute      // after which a silent connection is closed
	requestTimeout   = 5 * time.Second  // that the rest of a request, or taking its answer, may last
	listenRetryPause = 10 * time.Second // between two attempts to have the address
)

// What one address may do: some masters open a connection for every request.
var (
	newOfMaster      = doors.Rate{Every: 50 * time.Millisecond, Burst: 40}
	requestsOfMaster = doors.Rate{Every: 4 * time.Millisecond, Burst: 500}
)

// Servers makes one server for each address that the units are shared at, for those masters; none means everybody.
func Servers(caches []*Cache, masters []netip.Prefix) (all []collectors.Collector) {
	made := map[string]*server{}
	for _, c := range caches {
		if made[c.address] == nil {
			made[c.address] = &server{address: c.address, caches: map[byte]*Cache{}, masters: masters}
			all = append(all, made[c.address])
		}
		made[c.address].caches[c.unit] = c
	}
	return all
}

// CheckAddress says what is wrong with an address to be shared at.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	n, portErr := strconv.Atoi(port)
	if err != nil || portErr != nil || host == "" || n < 1 || n > 65535 {
		return fmt.Errorf("%q: an address of this box and a port, such as 127.0.0.1:1502", address)
	}
	return nil
}

// IsReachable says whether a shared device can be read from other machines.
func IsReachable(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && host != "localhost" && (ip == nil || !ip.IsLoopback())
}

// IsPrivilegedPort says whether only root may listen at an address.
func IsPrivilegedPort(address string) bool {
	_, port, err := net.SplitHostPort(address)
	n, portErr := strconv.Atoi(port)
	return err == nil && portErr == nil && n < 1024
}

// String names the collector by its address.
func (s *server) String() string { return "modbus share " + s.address }

// Run implements collectors.Collector: it has no readings of its own. An address that cannot be had is a notice, and
// tried again.
func (s *server) Run(ctx context.Context, host collectors.Host) error {
	for ctx.Err() == nil {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
		s.reportListening(ctx, host, err)
		if err == nil {
			s.serve(ctx, listener)
		}
		collectors.Wait(ctx, listenRetryPause)
	}
	return nil
}

func (s *server) reportListening(ctx context.Context, host collectors.Host, err error) {
	n := collectors.Notice{Rule: eventrules.ShareDown, Source: s.address, Since: s.noticeSince}
	switch {
	case ctx.Err() != nil:
	case err != nil && s.noticeSince.IsZero():
		n.Since = time.Now()
		n.Note = fmt.Sprintf("other masters cannot read the shared devices: %v; stop what has this address, or choose another one (share:)", err)
		if host.Notice(ctx, n) == nil {
			s.noticeSince = n.Since
		}
	case err == nil && !s.noticeSince.IsZero():
		n.Until = time.Now()
		n.Note = fmt.Sprintf("other masters can read the shared devices again at %s", s.address)
		if host.Notice(ctx, n) == nil {
			s.noticeSince = time.Time{}
		}
	}
}

// serve accepts connections until ctx ends or the listener fails, and returns when all of them are closed.
func (s *server) serve(parent context.Context, tcp net.Listener) {
	ctx, cancel := context.WithCancel(parent)
	stop := context.AfterFunc(ctx, func() { _ = tcp.Close() })
	defer stop()
	var guests sync.WaitGroup
	defer guests.Wait()
	defer cancel()
	listener, requests := doors.Listen(tcp, doors.Limits{
		All: MaxMasters, Each: maxOfMaster, Silence: giveWay, Write: requestTimeout, Newly: newOfMaster, Admits: s.admits,
	}), doors.NewMeter(requestsOfMaster)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return // the listener was closed, or comes again after a pause
		}
		guests.Go(func() { s.answerMaster(ctx, conn.(*doors.Conn), requests) })
	}
}

func (s *server) admits(a net.Addr) bool {
	at, ok := a.(*net.TCPAddr)
	return len(s.masters) == 0 || ok && slices.ContainsFunc(s.masters, func(p netip.Prefix) bool { return p.Contains(at.AddrPort().Addr().Unmap()) })
}

// answerMaster answers one master until it leaves, talks nonsense or is slow. One that asks too often waits.
func (s *server) answerMaster(ctx context.Context, conn *doors.Conn, requests *doors.Meter) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	for {
		request, err := readMBAPRequest(conn)
		if err != nil {
			return
		}
		conn.Working(true)
		for early := requests.Take(conn.Peer); early > 0; early = requests.Take(conn.Peer) {
			if !collectors.Wait(ctx, early) {
				return
			}
		}
		unit, pdu := request[6], request[line.MBAPHeaderSize:]
		answer := []byte{pdu[0] | 0x80, targetSilent}
		if cache := s.caches[unit]; cache != nil {
			answer = cache.Answer(pdu, time.Now())
		}
		if _, err := conn.Write(appendMBAP(request[:2], unit, answer)); err != nil {
			return
		}
		conn.Working(false)
	}
}

var errNoRequest = errors.New("no Modbus TCP")

// readMBAPRequest reads one whole request: it may begin when it likes, but must then come at once.
func readMBAPRequest(conn net.Conn) ([]byte, error) {
	frame := make([]byte, line.MBAPHeaderSize+1, line.MBAPHeaderSize-1+line.MBAPMaxLength)
	if err := conn.SetReadDeadline(time.Now().Add(idleTimeout)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, frame[:1]); err != nil {
		return nil, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(requestTimeout)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(conn, frame[1:]); err != nil {
		return nil, err
	}
	if !line.ValidMBAP(frame) {
		return nil, errNoRequest
	}
	frame = slices.Grow(frame, line.MBAPMaxLength)[:6+int(binary.BigEndian.Uint16(frame[4:]))]
	_, err := io.ReadFull(conn, frame[line.MBAPHeaderSize+1:])
	return frame, err
}

// appendMBAP puts the header of Modbus TCP before an answer.
func appendMBAP(id []byte, unit byte, pdu []byte) []byte {
	b := append([]byte{id[0], id[1], 0, 0}, byte((len(pdu)+1)>>8), byte(len(pdu)+1))
	return append(append(b, unit), pdu...)
}
