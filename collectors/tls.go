package collectors

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
)

// TLSFiles are the PEM files of a secured connection: who is believed to have signed the other end's certificate (CA, empty:
// the system's authorities), and a certificate of our own with its key (empty: none).
type TLSFiles struct{ CA, Cert, Key string }

// mostPEM bounds a file of certificates, in bytes; a system's bundle is a sixteenth of it.
const mostPEM = 4 << 20

// ErrNoCertificate: the file CA can be read, and holds no certificate in PEM form.
var ErrNoCertificate = errors.New("no certificate")

// Config is for a connection to the host of the given name. It reads the files anew, since certificates are renewed while
// gauger runs. The error is the bare cause; ours says whether Cert and Key are at fault, and not CA.
func (f TLSFiles) Config(host string) (c *tls.Config, ours bool, err error) {
	c = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if f.CA != "" {
		pem, err := ReadFile(f.CA, mostPEM)
		if err != nil {
			return nil, false, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, false, ErrNoCertificate
		}
	}
	if f.Cert != "" {
		cert, err1 := ReadFile(f.Cert, mostPEM)
		key, err2 := ReadFile(f.Key, mostPEM)
		if err := errors.Join(err1, err2); err != nil {
			return nil, true, err
		}
		own, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, true, err
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, false, nil
}

// DialCause is why a connection did not come about, without the address: whoever dials names the place as the configuration does.
func DialCause(err error) error {
	o, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return err
	}
	if s, ok := errors.AsType[*os.SyscallError](o.Err); ok {
		return s.Err
	}
	return o.Err
}

// ReadFile reads a file of at most limit bytes. Anything but a regular file is refused: a pipe or a device could
// hold the start up for ever.
func ReadFile(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // else opening it says the same
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return b, nil
}
