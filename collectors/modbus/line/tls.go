package line

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"gauger/collectors"
)

// tlsOptions of a tls:// URL (Modbus/TCP Security, MB-TCP-Security-v21): whom to
// believe, and who we are. Empty: the system's authorities, no certificate of our own, the URL's host.
type tlsOptions struct {
	files      collectors.TLSFiles
	serverName string
}

var tlsKeys = []string{"ca_file", "cert_file", "key_file", "server_name"}

// field is the option behind a key; nil for an unknown one.
func (o *tlsOptions) field(key string) *string {
	switch key {
	case "ca_file":
		return &o.files.CA
	case "cert_file":
		return &o.files.Cert
	case "key_file":
		return &o.files.Key
	case "server_name":
		return &o.serverName
	}
	return nil
}

func (o *tlsOptions) set(key, value string) bool {
	field := o.field(key)
	if field == nil {
		return false
	}
	*field = value
	return true
}

func (o tlsOptions) listOptions(listOptions func(key string, value any)) {
	for _, key := range tlsKeys {
		if value := *o.field(key); value != "" {
			listOptions(key, strings.ReplaceAll(url.QueryEscape(value), "%2F", "/"))
		}
	}
}

// MapFiles gives each file that the URL names to f and puts what f returns in its place. A URL that cannot be read
// stays as it is.
func MapFiles(url string, f func(file string) string) string {
	at, err := ParseEndpoint(url)
	if err != nil || at.tls == (tlsOptions{}) {
		return url
	}
	for _, file := range []*string{&at.tls.files.CA, &at.tls.files.Cert, &at.tls.files.Key} {
		if *file != "" {
			*file = f(*file)
		}
	}
	return at.String()
}

// validate says what is missing for a certificate of our own.
func (o tlsOptions) validate() error {
	if (o.files.Cert == "") != (o.files.Key == "") {
		return errors.New("cert_file and key_file belong together; name both or none")
	}
	return nil
}

// config of a connection to a host.
func (o tlsOptions) config(host string) (*tls.Config, error) {
	c, ours, err := o.files.Config(cmp.Or(o.serverName, host))
	switch {
	case ours:
		return nil, fmt.Errorf("cert_file and key_file: %w", err)
	case errors.Is(err, collectors.ErrNoCertificate):
		return nil, fmt.Errorf("ca_file: %s holds no certificate in PEM form", o.files.CA)
	case err != nil:
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	return c, nil
}

// tlsHandshake shakes hands on a fresh connection, and closes it when that does not succeed.
func tlsHandshake(ctx context.Context, conn net.Conn, at Endpoint) (Stream, error) {
	host, _, err := net.SplitHostPort(at.Place)
	var config *tls.Config
	if err == nil {
		config, err = at.tls.config(host)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	client := tls.Client(conn, config)
	if err := client.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error says what happened
		return nil, explainTLSError(fmt.Errorf("%w: %w", errHandshake, err), time.Now())
	}
	return tlsStream{client}, nil
}

var errHandshake = errors.New("TLS handshake")

// tlsStream is a TLS stream that explains why the other end hung up: since TLS 1.3 a refused certificate of ours
// shows only then.
type tlsStream struct{ *tls.Conn }

// Read implements Stream.
func (s tlsStream) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if err != nil {
		err = explainTLSError(err, time.Now())
	}
	return n, err
}

// The alerts of RFC 8446, section 6.2, with which a server refuses a client's certificate.
const (
	alertHandshakeFailure    = tls.AlertError(40)
	alertBadCertificate      = tls.AlertError(42)
	alertCertificateExpired  = tls.AlertError(45)
	alertCertificateUnknown  = tls.AlertError(46)
	alertUnknownAuthority    = tls.AlertError(48)
	alertCertificateRequired = tls.AlertError(116)
)

// explainTLSError says for a failed handshake, seen at now, what a person can do.
func explainTLSError(err error, now time.Time) error {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return fmt.Errorf("%s: %w", explainValidity(invalid.Cert, now), err)
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Errorf("the device's certificate is for %s; if that is the right device, say server_name=...: %w", namesOf(wrong.Certificate), err)
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return fmt.Errorf("nobody known here has signed the device's certificate; name its authority with ca_file=...: %w", err)
	}
	if errors.Is(err, errHandshake) && (errors.Is(err, io.EOF) || errors.Is(err, context.DeadlineExceeded)) {
		return fmt.Errorf("%w; does the device speak TLS there? without it the kind is tcp://", err)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return fmt.Errorf("the device does not speak TLS there; without it the kind is tcp://: %w", err)
	}
	switch alertOf(err) {
	case alertCertificateRequired, alertHandshakeFailure, alertBadCertificate:
		return fmt.Errorf("the device wants a certificate of ours that it knows; name it with cert_file=... and key_file=...: %w", err)
	case alertCertificateExpired:
		return fmt.Errorf("the device finds our certificate (cert_file) expired, or its own clock is wrong: %w", err)
	case alertUnknownAuthority, alertCertificateUnknown:
		return fmt.Errorf("the device does not know who signed our certificate (cert_file): %w", err)
	}
	return err
}

// alertOf is the alert with which the other end has refused us; 0 for another error, or an alert of no concern
// here. The type of such an error is crypto/tls's own, so its words must do.
func alertOf(err error) tls.AlertError {
	remote, ok := errors.AsType[*net.OpError](err)
	if !ok || remote.Err == nil {
		return 0
	}
	for _, alert := range []tls.AlertError{alertCertificateRequired, alertHandshakeFailure, alertBadCertificate,
		alertCertificateExpired, alertCertificateUnknown, alertUnknownAuthority} {
		if remote.Err.Error() == alert.Error() {
			return alert
		}
	}
	return 0
}

// oldestPlausibleClock: this program is younger, so a clock before that is wrong.
var oldestPlausibleClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// explainValidity explains a certificate that is not valid at now.
func explainValidity(cert *x509.Certificate, now time.Time) string {
	day := func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	switch {
	case !now.Before(cert.NotBefore):
		return fmt.Sprintf("the device's certificate expired on %s (today is %s); renew it", day(cert.NotAfter), day(now))
	case now.Before(oldestPlausibleClock):
		return fmt.Sprintf("the device's certificate is not valid before %s, because this box's clock is wrong (it says %s); set the clock", day(cert.NotBefore), day(now))
	}
	return fmt.Sprintf("the device's certificate is not valid before %s, and this box's clock says %s; one of the two is wrong", day(cert.NotBefore), day(now))
}

func namesOf(cert *x509.Certificate) string {
	names := append([]string(nil), cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return fmt.Sprintf("nobody by name (%s)", cert.Subject)
	}
	return strings.Join(names, ", ")
}
