package mqtt

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"gauger/collectors"
)

const (
	// dialTimeout bounds the opening of a connection, TLS and websocket included.
	dialTimeout = 20 * time.Second
	// upgradeLimit bounds what a broker may send, in bytes, before it has taken up the websocket: its certificates, and the
	// head of its answer. Real ones need a tenth of it.
	upgradeLimit = 64 << 10
)

// dialFunc makes a connection, as net.Dialer.DialContext does.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// defaultPorts are the usual ones of each scheme.
var defaultPorts = map[string]string{"mqtt": "1883", "mqtts": "8883", "ws": "80", "wss": "443"}

// encrypted tells whether an endpoint is reached over TLS.
func encrypted(u *url.URL) bool { return u.Scheme == "mqtts" || u.Scheme == "wss" }

// endpoint reads a broker's address and fills in the usual port.
func endpoint(text string) (*url.URL, error) {
	if text == "" {
		return nil, errors.New("missing; give the broker's address, like mqtt://10.20.0.9:1883")
	}
	u, err := url.Parse(text)
	if err == nil && u.User != nil {
		return nil, errors.New("has a user name in it; use the keys username and password")
	}
	shown, query, _ := strings.Cut(collectors.WithoutUser(text), "?") // a password has stood in both
	if query != "" {
		shown += "?..."
	}
	if err != nil || defaultPorts[u.Scheme] == "" {
		return nil, fmt.Errorf("%s is no broker's address; write mqtt://, mqtts://, ws:// or wss:// and then the host", excerpt(shown))
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("%s names no host; write it like %s://10.20.0.9:%s", excerpt(shown), u.Scheme, defaultPorts[u.Scheme])
	}
	plain := u.Scheme == "mqtt" || u.Scheme == "mqtts"
	if u.RawQuery != "" || u.Fragment != "" || plain && u.Path != "" && u.Path != "/" {
		return nil, fmt.Errorf("%s has something after the host that means nothing there; write %s://%s", excerpt(shown), u.Scheme, u.Host)
	}
	if plain {
		u.Path = ""
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), defaultPorts[u.Scheme])
	}
	return u, nil
}

// endpoints are the brokers' addresses, in the order in which they are tried.
func (b Brokers) endpoints() ([]*url.URL, error) {
	if len(b) == 0 {
		b = Brokers{""}
	}
	var all []*url.URL
	for _, text := range b {
		u, err := endpoint(text)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// dialBroker makes the network connection to the broker. Certificates are read anew each time, so that renewed ones count.
func (s *settings) dialBroker(ctx context.Context, broker *url.URL) (net.Conn, error) {
	var config *tls.Config
	if encrypted(broker) {
		var err error
		if config, err = s.credentials.tlsConfig(broker.Hostname()); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	dial := s.dial
	if dial == nil {
		dial = tcpDial
	}
	if broker.Scheme == "ws" || broker.Scheme == "wss" {
		return dialWebsocket(ctx, broker, config, dial)
	}
	conn, err := dial(ctx, "tcp", broker.Host)
	if err != nil || config == nil {
		return conn, err
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the handshake's error says more
		return nil, fmt.Errorf("TLS with %s: %w%s", broker.Host, err, tlsAdvice(err))
	}
	return secure, nil
}

// errUpgrade ends a broker's answer that has no end.
var errUpgrade = fmt.Errorf("it sent %d KB and had not taken up the websocket: this is no MQTT broker, or what stands before it answers in its place", upgradeLimit>>10)

// dialWebsocket opens a websocket for MQTT. The libraries read an answer's head to its end, however long it is; so the limit
// stands below them.
func dialWebsocket(ctx context.Context, broker *url.URL, config *tls.Config, dial dialFunc) (net.Conn, error) {
	var below *upgradeConn
	d := websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, Subprotocols: []string{"mqtt"},
		NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			below = &upgradeConn{Conn: conn, left: upgradeLimit}
			return below, nil
		},
	}
	ws, answer, err := d.DialContext(ctx, broker.String(), nil)
	switch {
	case err == nil:
		below.left = -1
		return &websocketConn{Conn: ws, messages: websocket.JoinMessages(ws, "")}, nil
	case below != nil && below.left == 0:
		return nil, errUpgrade
	case answer != nil:
		return nil, fmt.Errorf("%w: it answered %q; look at the path after the host, and at what stands before the broker", err, excerpt(answer.Status))
	}
	return nil, err
}

// upgradeConn lets only so many bytes in until left is below zero.
type upgradeConn struct {
	net.Conn
	left int
}

func (c *upgradeConn) Read(p []byte) (int, error) {
	if c.left < 0 {
		return c.Conn.Read(p)
	}
	if c.left == 0 {
		return 0, errUpgrade
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// websocketConn is the stream of bytes that binary messages carry. The packets on it are written one at a time (packetConn).
type websocketConn struct {
	*websocket.Conn
	messages io.Reader
}

func (c *websocketConn) Read(p []byte) (int, error) { return c.messages.Read(p) }

func (c *websocketConn) Write(p []byte) (int, error) {
	if err := c.WriteMessage(websocket.BinaryMessage, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *websocketConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// tlsAdvice says what to do about a certificate that is not believed; empty where nothing is known to help.
func tlsAdvice(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "; set ca_file to the PEM file of the authority that signed the broker's certificate"
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		names := e.Certificate.DNSNames
		for _, ip := range e.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		return "; these names stand in the broker's certificate, set server_name to one of them: " + strings.Join(names, ", ")
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return "; the box's clock says " + time.Now().UTC().Format(time.RFC3339) + ": set it if that is wrong, else the broker needs a new certificate"
	}
	return ""
}

// tcpDial opens a TCP connection. The system's own keep-alive probes are off: on a cellular link they cost more than
// MQTT's pings, and find nothing that those do not.
func tcpDial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAlive: -1}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, collectors.DialCause(err)
	}
	return conn, nil
}

// tlsConfig prepares the encryption toward a host.
func (a credentials) tlsConfig(host string) (*tls.Config, error) {
	config, ours, err := a.files.Config(cmp.Or(a.server, host))
	switch {
	case ours:
		return nil, fmt.Errorf("read cert_file %s and key_file %s: %w", a.files.Cert, a.files.Key, err)
	case errors.Is(err, collectors.ErrNoCertificate):
		return nil, fmt.Errorf("read ca_file %s: no certificate in it; it must be a PEM file", a.files.CA)
	case err != nil:
		return nil, fmt.Errorf("read ca_file: %w", err)
	}
	return config, nil
}
