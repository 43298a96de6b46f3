package cloud

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gauger/agent/cloud/keys"
)

// keyHeader carries the subscription key on every request.
const keyHeader = "Ocp-Apim-Subscription-Key"

// Limits of what an answer may cost this box.
const (
	headerLimit = 16 << 10
	saveLimit   = 64 << 10 // answers to renewals and logins, and errors
	echoLimit   = 1 << 20  // a success's answer to what was saved, which may repeat all of it
	pageLimit   = 4 << 20  // one page of devices or events
)

// Dial makes a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Options say where the service is and how to speak to it. URL and Keys are required.
type Options struct {
	URL       string         // base address; http only toward this box itself
	Segments  Segments       // the two literal path segments
	Wire      Wire           // the site's choices over DefaultWire; zero: DefaultWire
	Zone      *time.Location // the site's, when Wire has none; nil: UTC
	CAFile    string         // PEM file of the authorities that may sign the service's certificate; empty: the system's
	Keys      *keys.Ring
	Login     *Login            // nil: refused keys are not renewed by a login
	UserAgent string            // empty: gauger
	Transport http.RoundTripper // nil: HTTP/1.1 over Dial; tests give the reference service
	Dial      Dial              // nil: TCP; tests give a network of their own

	// SecretHeaders reads the headers whose values are secrets, for each request, since they are renewed while gauger runs. nil: there
	// are none.
	SecretHeaders func() (map[string]keys.Secret, error)

	// Meter is given each new connection, under its TLS, and returns what is used instead. nil: nobody counts.
	Meter func(net.Conn) net.Conn
}

// Client speaks to the service. Its methods may be called from any goroutine.
type Client struct {
	// Heard is told the Date of each answer, when it came and whether a verified TLS connection stands behind it; and one that a certificate
	// would be valid at which is not. It is set before the first request; nil: nobody asks.
	Heard func(now, date time.Time, verified bool)

	// Silence is a string: what was asked last, where, and what came instead of an answer of the service. Empty where it answered, if only with a
	// refusal. Records that are sent tell of themselves.
	Silence atomic.Value

	base      *url.URL
	segments  Segments
	wire      Wire
	ring      *keys.Ring
	userAgent string
	options   Options // of the transport
	scopes    scopes

	mu        sync.Mutex
	transport http.RoundTripper // nil: what it is made of is not there yet
	login     *Login            // nil: none is configured, or its secrets cannot be read yet
	idToken   keys.Secret       // of the last login; only Wire.Headers use it
	headers   []keys.Secret     // values of SecretHeaders as they were read last
}

// New checks the options and binds the key ring to the client: renewals go through it from then on. A CAFile that is
// missing or broken is no error, since the site must be read all the same: requests fail with it until it is there.
func New(o Options) (*Client, error) {
	base, err := baseURL(o.URL)
	if err != nil {
		return nil, err
	}
	if o.Keys == nil {
		return nil, errors.New("making the service's client: there is no key ring")
	}
	if reflect.ValueOf(o.Wire).IsZero() {
		o.Wire = DefaultWire()
	}
	if o.Wire.Zone == nil {
		o.Wire.Zone = o.Zone
	}
	if p := o.Wire.Check(); len(p) > 0 {
		return nil, fmt.Errorf("making the service's client: wire.%w", p[0])
	}
	if o.Wire.Proxy != "" && base.Scheme == "http" {
		return nil, errors.New("making the service's client: wire.proxy would carry the key through the network without TLS; use https or no proxy")
	}
	c := &Client{
		base: base, segments: o.Segments, wire: o.Wire, ring: o.Keys, login: o.Login,
		userAgent: o.UserAgent, transport: o.Transport, options: o,
	}
	c.userAgent = cmp.Or(c.userAgent, "gauger")
	c.ring.Bind(renewer{c}, o.Wire.RenewEvery)
	return c, nil
}

// Ready says why no request can be made: the file of the authorities is missing or broken. It looks again each time, as
// every request does, until it has found it sound, and after a certificate that was not believed by it.
func (c *Client) Ready() error {
	_, err := c.roundTripper()
	return err
}

// roundTripper is the transport, made as soon as that can be done.
func (c *Client) roundTripper() (http.RoundTripper, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.transport == nil {
		t, err := newTransport(c.options)
		if err != nil {
			return nil, err
		}
		c.transport = t
	}
	return c.transport, nil
}

// Reread has the next request read the file of the authorities again: it may be another one by now.
func (c *Client) Reread() {
	if c.options.CAFile == "" || c.options.Transport != nil {
		return
	}
	c.Close()
	c.mu.Lock()
	c.transport = nil
	c.mu.Unlock()
}

// SetLogin gives the client its login, or another one: its secrets may be there only after the client.
func (c *Client) SetLogin(l *Login) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.login = l
}

// Login is a copy of the configured login; empty when none is.
func (c *Client) Login() Login {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.login == nil {
		return Login{}
	}
	return *c.login
}

// Keys gives the key ring that the client uses.
func (c *Client) Keys() *keys.Ring { return c.ring }

// Wire gives the choices that the client uses, with the site's zone.
func (c *Client) Wire() Wire { return c.wire }

// Close ends the connections that are kept for later requests.
func (c *Client) Close() {
	c.mu.Lock()
	transport := c.transport
	c.mu.Unlock()
	if t, ok := transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// baseURL accepts https, and http only where no network is crossed, since the key travels in a header.
func baseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("service url: it is not an address; want https://host") // the cause would repeat it, with what may be a password
	}
	switch {
	case u.Host == "" || u.Opaque != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("service url: want https://host")
	case u.User != nil:
		return nil, errors.New("service url: it must not hold a user or password; the key goes into primary_key")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("service url: it must end with the path, without ? or #")
	case u.Scheme == "http" && !Loopback(u.Hostname()):
		return nil, fmt.Errorf("service url: http would show the key to the network; use https://%s", u.Host)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// Loopback says whether a host name means this box itself.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// newTransport is HTTP/1.1 only, whatever the program is built with: a connection that went silent then costs one request, while HTTP/2 would go on
// using it. Redirects cannot be followed, since requests go to the transport itself.
func newTransport(o Options) (*http.Transport, error) {
	roots, err := Authorities(o.CAFile)
	if err != nil {
		return nil, err
	}
	// No probes of idle connections: they would cost a metered link a packet each way every half minute, and every request
	// has a time limit of its own.
	dial := Dial((&net.Dialer{Timeout: o.Wire.ConnectTimeout, KeepAlive: -1}).DialContext)
	if o.Dial != nil {
		dial = o.Dial
	}
	if o.Meter != nil {
		plain := dial
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := plain(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return o.Meter(c), nil
		}
	}
	t := &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout:    o.Wire.ConnectTimeout,
		Protocols:              new(http.Protocols),
		MaxResponseHeaderBytes: headerLimit,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConns:           8,
		MaxIdleConnsPerHost:    8,
	}
	t.Protocols.SetHTTP1(true)
	if o.Wire.Proxy != "" {
		proxy, err := url.Parse(o.Wire.Proxy)
		if err != nil {
			return nil, fmt.Errorf("making the service's client: wire.proxy: %w", err)
		}
		t.Proxy = http.ProxyURL(proxy)
	}
	return t, nil
}

// mostAuthorities bounds the file of the authorities; a system's bundle is a sixteenth of it.
const mostAuthorities = 4 << 20

// Authorities reads the certificates that the service's may be signed by; an empty name means the system's, which are nil.
func Authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := readAuthorities(file)
	if err != nil {
		return nil, fmt.Errorf("reading the service's ca_file: %w; nothing leaves until it is there", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("reading the service's ca_file %s: there is no PEM certificate in it; nothing leaves until there is", file)
	}
	return pool, nil
}

// readAuthorities reads a regular file: a pipe would hold up whoever sends, and a device fill the memory.
func readAuthorities(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostAuthorities:
		return nil, fmt.Errorf("%s is no file of certificates", file)
	}
	return os.ReadFile(file)
}

// target is the full address of one request.
func (c *Client) target(r request) string {
	u := c.base.Scheme + "://" + c.base.Host + c.base.EscapedPath() + c.segments.fill(r.op, r.arg)
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	return u
}
