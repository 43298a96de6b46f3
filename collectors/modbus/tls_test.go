package modbus

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/modbustest"
)

var (
	longAgo = time.Unix(0, 0)
	farAway = time.Date(2098, 1, 1, 0, 0, 0, 0, time.UTC)
)

// pipeEnd is an end of a pipe as crypto/tls wants it.
type pipeEnd struct{ *modbustest.End }

func (pipeEnd) LocalAddr() net.Addr                { return &net.TCPAddr{} }
func (pipeEnd) RemoteAddr() net.Addr               { return &net.TCPAddr{} }
func (e pipeEnd) SetReadDeadline(time.Time) error  { return nil }
func (e pipeEnd) SetWriteDeadline(time.Time) error { return nil }

// siteTLS is what the device called site and its master show each other, made once.
var siteTLS = sync.OnceValues(func() (master, site *tls.Config) {
	dir, err := os.MkdirTemp("", "gauger-tls")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	authority, err := modbustest.NewAuthority(dir, "authority")
	if err != nil {
		panic(err)
	}
	if site, err = authority.Server("site", longAgo, farAway); err != nil {
		panic(err)
	}
	return &tls.Config{RootCAs: authority.Pool(), ServerName: "site"}, site
})

// pipeTLS is a secured stream over a pipe.
func pipeTLS(near, far *modbustest.End) (Stream, io.ReadWriteCloser) {
	master, site := siteTLS()
	return tlsStream{tls.Client(pipeEnd{near}, master)}, tls.Server(pipeEnd{far}, site)
}

func newAuthority(t *testing.T, name string) *modbustest.Authority {
	t.Helper()
	a, err := modbustest.NewAuthority(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serveTLS serves a slave with a certificate, and returns its address.
func serveTLS(t *testing.T, s *modbustest.Slave, config *tls.Config) string {
	t.Helper()
	server, err := s.StartTLS("127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Close() // a master that refuses the certificate is an error there, and meant
	})
	return server.Addr
}

func serverOf(t *testing.T, a *modbustest.Authority, host string, from, to time.Time) *tls.Config {
	t.Helper()
	config, err := a.Server(host, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func tlsSlave(t *testing.T, s *modbustest.Slave) string {
	a := newAuthority(t, "authority")
	return "tls://" + serveTLS(t, s, serverOf(t, a, "127.0.0.1", longAgo, farAway)) + "?ca_file=" + a.File
}

// mutual is a slave that wants a certificate of the master's, signed by the authority.
func mutual(t *testing.T, a *modbustest.Authority) (addr string) {
	config := serverOf(t, a, "127.0.0.1", longAgo, farAway)
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, a.Pool()
	return serveTLS(t, numberedSlave(), config)
}

func TestBothEndsShowACertificate(t *testing.T) {
	a := newAuthority(t, "authority")
	certFile, keyFile, err := a.Issue("gauger", longAgo, farAway)
	if err != nil {
		t.Fatal(err)
	}
	lines := &Lines{}
	defer closeLines(t, lines)
	line := openLine(t, lines, "tls://"+mutual(t, a)+"?ca_file="+a.File+"&cert_file="+certFile+"&key_file="+keyFile)
	for _, r := range conversation {
		if data, err := line.Read(t.Context(), r, time.Second); err != nil || !carries(data, r) {
			t.Errorf("%s: % x, %v", r, data, err)
		}
	}
	if s := line.Stats(); s.Opened != 1 {
		t.Errorf("%+v, want one connection", s)
	}
}

func TestWhatIsSaidOfACertificate(t *testing.T) {
	a, other := newAuthority(t, "authority"), newAuthority(t, "other")
	strangerCert, strangerKey, err := other.Issue("gauger", longAgo, farAway)
	if err != nil {
		t.Fatal(err)
	}
	yesterday, tomorrow := time.Now().AddDate(0, 0, -1), time.Now().AddDate(0, 0, 1)
	serve := func(host string, from, to time.Time) string {
		return "tls://" + serveTLS(t, numberedSlave(), serverOf(t, a, host, from, to)) + "?ca_file="
	}
	plain := listen(t, numberedSlave(), modbustest.TCP)
	for name, tt := range map[string]struct{ url, says string }{
		"another authority":     {serve("127.0.0.1", longAgo, farAway) + other.File, "name its authority with ca_file="},
		"another name":          {serve("plc.site", longAgo, farAway) + a.File, "is for plc.site; if that is the right device, say server_name="},
		"expired":               {serve("127.0.0.1", longAgo, yesterday) + a.File, "expired on"},
		"not yet valid":         {serve("127.0.0.1", tomorrow, farAway) + a.File, "one of the two is wrong"},
		"none of ours":          {"tls://" + mutual(t, a) + "?ca_file=" + a.File, "wants a certificate of ours"},
		"ours is a stranger's":  {"tls://" + mutual(t, a) + "?ca_file=" + a.File + "&cert_file=" + strangerCert + "&key_file=" + strangerKey, "of ours"},
		"no file":               {serve("127.0.0.1", longAgo, farAway) + "/none.pem", "ca_file: open /none.pem"},
		"a key for a authority": {serve("127.0.0.1", longAgo, farAway) + strangerKey, "holds no certificate"},
		"no TLS at all":         {"tls://" + plain + "?ca_file=" + a.File, "does the device speak TLS there?"},
	} {
		lines := &Lines{}
		_, err := openLine(t, lines, tt.url).Read(t.Context(), conversation[0], time.Second)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
		closeLines(t, lines)
	}
}

func TestANameBesidesTheHost(t *testing.T) {
	a := newAuthority(t, "authority")
	url := "tls://" + serveTLS(t, numberedSlave(), serverOf(t, a, "plc.site", longAgo, farAway)) + "?server_name=plc.site&ca_file=" + a.File
	lines := &Lines{}
	defer closeLines(t, lines)
	if data, err := openLine(t, lines, url).Read(t.Context(), conversation[0], time.Second); err != nil || !carries(data, conversation[0]) {
		t.Errorf("% x, %v", data, err)
	}
}

// TestAClockThatWasNeverSet shakes hands in a bubble, where it is the year 2000.
func TestAClockThatWasNeverSet(t *testing.T) {
	a := newAuthority(t, "authority")
	config := serverOf(t, a, "site", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), farAway)
	synctest.Test(t, func(t *testing.T) {
		near, far := modbustest.Pipe()
		server := tls.Server(pipeEnd{far}, config)
		ended := make(chan error, 1)
		go func() { ended <- server.HandshakeContext(t.Context()) }()
		at, err := ParseEndpoint("tls://site?ca_file=" + a.File)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := tlsHandshake(t.Context(), pipeEnd{near}, at)
		if err == nil || !strings.Contains(err.Error(), "not valid before 2026-01-01, because this box's clock is wrong (it says 2000-01-01); set the clock") {
			t.Errorf("%v, %v", stream, err)
		}
		if err := <-ended; err == nil {
			t.Error("the handshake succeeded")
		}
	})
}

// TestCertificatesAreReadAtEachDial replaces a wrong authority while the line is down.
func TestCertificatesAreReadAtEachDial(t *testing.T) {
	a, other := newAuthority(t, "authority"), newAuthority(t, "other")
	file := t.TempDir() + "/ca.pem"
	put := func(from string) {
		pem, err := os.ReadFile(from)
		if err := errors.Join(err, os.WriteFile(file, pem, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put(other.File)
	lines := &Lines{}
	defer closeLines(t, lines)
	line := openLine(t, lines, "tls://"+serveTLS(t, numberedSlave(), serverOf(t, a, "127.0.0.1", longAgo, farAway))+"?ca_file="+file)
	if _, err := line.Read(t.Context(), conversation[0], time.Second); !errors.Is(err, ErrDown) {
		t.Fatal(err)
	}
	put(a.File)
	if !line.Await(t.Context(), time.Now().Add(patience)) {
		t.Error("the line did not open again")
	}
	if data, err := line.Read(t.Context(), conversation[0], time.Second); err != nil || !carries(data, conversation[0]) {
		t.Errorf("% x, %v", data, err)
	}
}

func TestAnEnronDeviceOverTLSIsReadToo(t *testing.T) {
	slave := modbustest.NewSlave()
	slave.Unit(1).SetEnron(modbustest.Holding, 7001, 0x42F68000)
	lines := &Lines{}
	defer closeLines(t, lines)
	d := Device{Name: "d", URL: tlsSlave(t, slave), Enron: true, Points: []Point{holding("p", 7001, typed("float32", ""))}}
	if r := readings(t, lines, d)["d/p"]; r.Quality != collectors.Good || r.Value != 123.25 {
		t.Errorf("%+v", r)
	}
}
