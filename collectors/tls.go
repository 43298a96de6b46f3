package collectors

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
)

// TLSFiles are the PEM files of a secured connection: who is believed to have signed the other end's certificate (CA, empty:
// the system's authorities), and a certificate of our own with its key (empty: none).
type TLSFiles struct{ CA, Cert, Key string }

// ErrNoCertificate: the file CA can be read, and holds no certificate in PEM form.
var ErrNoCertificate = errors.New("no certificate")

// Config is for a connection to the host of the given name. It reads the files anew, since certificates are renewed while
// gauger runs. The error is the bare cause; ours says whether Cert and Key are at fault, and not CA.
func (f TLSFiles) Config(host string) (c *tls.Config, ours bool, err error) {
	c = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host}
	if f.CA != "" {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, false, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, false, ErrNoCertificate
		}
	}
	if f.Cert != "" {
		own, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, true, err
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, false, nil
}
