package agent

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gauger/outbox"
)

// script is what the service does to one request that it has read; when it returns the connection is closed. It says
// whether the whole head of a 2xx went out: nothing else may delete a record.
type script func(net.Conn) (stored bool)

// scene is one way in which the service, or what stands between, can fail.
type scene struct {
	what   string
	stream string
	plain  bool // http, as toward the box itself; else https
	hasty  bool // nothing in it waits: it may go over a socket, in real time
	page   bool // the answer is a page for browsers
	late   bool // a 2xx that comes to its end, later than a first request waits; each one after a lost answer waits longer
	socket bool // it does; else in memory, in virtual time

	answers []script                       // to the requests of the first Send, the second, and so on; then it is well
	early   func(net.Conn)                 // instead of TLS
	wire    func(net.Conn) net.Conn        // under TLS
	tls     func(certificates) *tls.Config // the service's; nil: a sound one
	keep    bool                           // the connection is kept after the answer
	alien   bool                           // the client knows none of our authorities
	warm    bool                           // the connection has served one request well before
	idle    func(net.Conn)                 // what happens on the connection after that

	allowed func(send int, c outbox.Class) bool
	wait    time.Duration // before the next Send; 0: as it comes
}

// certificates are those that a service may show; all but the odd ones are signed by the authority in file.
type certificates struct {
	file                                           string
	sound, expired, early, misnamed, foreign, self tls.Certificate
}

func newCertificates(t *testing.T) certificates {
	t.Helper()
	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	make := func(ca *tls.Certificate, name string, ip net.IP, from, until int) tls.Certificate {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		tmpl := &x509.Certificate{SerialNumber: big.NewInt(int64(from)), Subject: pkix.Name{CommonName: name}, NotBefore: year(from), NotAfter: year(until),
			IsCA: ip == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
		if ip != nil {
			tmpl.IPAddresses = []net.IP{ip}
		}
		parent, signer := tmpl, key
		if ca != nil {
			parent, signer = ca.Leaf, ca.PrivateKey.(*ecdsa.PrivateKey)
		}
		der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
	}
	here := net.IPv4(127, 0, 0, 1)
	ours, theirs := make(nil, "our authority", nil, 1990, 2090), make(nil, "their authority", nil, 1990, 2090)
	c := certificates{
		file: filepath.Join(t.TempDir(), "ca.pem"), sound: make(&ours, "sound", here, 1991, 2089), expired: make(&ours, "expired", here, 1991, 1995),
		early: make(&ours, "early", here, 2080, 2089), misnamed: make(&ours, "misnamed", net.IPv4(127, 0, 0, 2), 1991, 2089),
		foreign: make(&theirs, "foreign", here, 1991, 2089), self: make(nil, "self", here, 1991, 2089),
	}
	if err := os.WriteFile(c.file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// wellSite is the service's end of the wire: it does what the scene says until it is well.
type wellSite struct {
	scene
	certs    certificates
	listener net.Listener // nil: in memory

	wg       sync.WaitGroup
	mu       sync.Mutex
	sends    int // that have ended
	dialled  map[string]int
	open     map[net.Conn]bool
	requests int             // read while it was ill
	taken    map[string]bool // bodies that were answered by the whole head of a 2xx
}

func newWellSite(sc scene, certs certificates) (*wellSite, error) {
	s := &wellSite{scene: sc, certs: certs, dialled: map[string]int{}, open: map[net.Conn]bool{}, taken: map[string]bool{}}
	if !sc.socket {
		return s, nil
	}
	var err error
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.wg.Go(func() {
		for {
			c, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.begin(c)
		}
	})
	return s, nil
}

// url is the service's address.
func (s *wellSite) url() string {
	address := "127.0.0.1"
	if s.listener != nil {
		address = s.listener.Addr().String()
	}
	if s.plain {
		return "http://" + address
	}
	return "https://" + address
}

// dial is the client's way to it.
func (s *wellSite) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	s.dialled[address]++
	s.mu.Unlock()
	if s.listener != nil {
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}
	near, far := newPipe()
	s.begin(far)
	return near, nil
}

func (s *wellSite) begin(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = true
	s.wg.Go(func() {
		defer func() {
			c.Close()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.open, c)
		}()
		s.serve(c)
	})
}

// close ends every connection and waits.
func (s *wellSite) close() {
	if s.listener != nil {
		s.listener.Close()
	}
	s.mu.Lock()
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

// next is told that a Send has ended.
func (s *wellSite) next() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sends++
}

// now is how the service answers at the moment, and whether it is ill at all.
func (s *wellSite) now() (script, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sends < len(s.answers) {
		return s.answers[s.sends], true
	}
	return nil, false
}

// serve is one connection.
func (s *wellSite) serve(c net.Conn) {
	config := &tls.Config{Certificates: []tls.Certificate{s.certs.sound}}
	if _, ill := s.now(); ill {
		if s.early != nil {
			s.early(c)
			return
		}
		if s.wire != nil {
			c = s.wire(c)
		}
		if s.scene.tls != nil {
			config = s.scene.tls(s.certs)
		}
	}
	raw := c
	if !s.plain {
		t := tls.Server(c, config)
		if t.Handshake() != nil {
			return
		}
		c = t
	}
	defer raw.Close() // without TLS's farewell
	r := bufio.NewReader(c)
	for served := 0; ; served++ {
		body, err := readRequest(r)
		if err != nil {
			return
		}
		if answer, ill := s.now(); ill && (!s.warm || served > 0) {
			if s.keep {
				s.count(body, answer(c))
				continue
			}
			// What still comes is read, as a socket's buffer would take it; TLS's farewell for one.
			h := heldOpen{c, make(chan struct{})}
			s.wg.Go(func() { defer close(h.gone); io.Copy(io.Discard, c) })
			s.count(body, answer(h))
			return
		}
		if _, err := io.WriteString(c, soundAnswer); err != nil {
			return
		}
		s.took(body)
		if _, ill := s.now(); ill && s.idle != nil {
			s.idle(c)
			return
		}
	}
}

// soundAnswer is a 200 with an empty object; a renewal is answered by it too, and renews nothing.
const soundAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

func (s *wellSite) count(body string, stored bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if stored {
		s.taken[body] = true
	}
}

func (s *wellSite) took(body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[body] = true
}

func readRequest(r *bufio.Reader) (string, error) {
	q, err := http.ReadRequest(r)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(q.Body)
	return string(b), err
}

// heldOpen is a connection that somebody reads.
type heldOpen struct {
	net.Conn
	gone chan struct{} // closed when the client has ended it
}

// hold leaves it to the client to end the connection.
func hold(c net.Conn) {
	if h, ok := c.(heldOpen); ok {
		<-h.gone
		return
	}
	io.Copy(io.Discard, c)
}

// cutter closes the wire after so many bytes of the service.
type cutter struct {
	net.Conn
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) <= c.left {
		c.left -= len(p)
		return c.Conn.Write(p)
	}
	n, err := c.Conn.Write(p[:c.left])
	c.left = 0
	c.Conn.Close()
	if err == nil {
		err = io.ErrClosedPipe
	}
	return n, err
}
