package linetest

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"gauger/collectors/modbus/modbustest"
)

// Every certificate that is not about its dates is valid between these.
var (
	LongAgo = time.Unix(0, 0)
	FarAway = time.Date(2098, 1, 1, 0, 0, 0, 0, time.UTC)
)

// PipeEnd is an end of a pipe as crypto/tls wants it.
type PipeEnd struct{ *modbustest.End }

// LocalAddr is no place: TLS wants one to name.
func (PipeEnd) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr is no place.
func (PipeEnd) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// SetReadDeadline does nothing: the wire in memory is never silent for long.
func (e PipeEnd) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (e PipeEnd) SetWriteDeadline(time.Time) error { return nil }

// siteTLS are the certificates of the device called site and of its master, made once.
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
	if site, err = authority.Server("site", LongAgo, FarAway); err != nil {
		panic(err)
	}
	return &tls.Config{RootCAs: authority.Pool(), ServerName: "site"}, site
})

// pipeTLS is a secured stream over a pipe.
func pipeTLS(near, far *modbustest.End) (Conn, io.ReadWriteCloser) {
	master, site := siteTLS()
	return tls.Client(PipeEnd{near}, master), tls.Server(PipeEnd{far}, site)
}

// NewAuthority is one with files of its own, which the test takes away.
func NewAuthority(t *testing.T, name string) *modbustest.Authority {
	t.Helper()
	a, err := modbustest.NewAuthority(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ServeTLS serves a slave with a certificate, and returns its address.
func ServeTLS(t *testing.T, s *modbustest.Slave, config *tls.Config) string {
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

// ServerOf is a server with a certificate of the authority.
func ServerOf(t *testing.T, a *modbustest.Authority, host string, from, to time.Time) *tls.Config {
	t.Helper()
	config, err := a.Server(host, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TLSSlave serves a slave behind TLS, and returns the URL for its master.
func TLSSlave(t *testing.T, s *modbustest.Slave) string {
	a := NewAuthority(t, "authority")
	return "tls://" + ServeTLS(t, s, ServerOf(t, a, "127.0.0.1", LongAgo, FarAway)) + "?ca_file=" + a.File
}
