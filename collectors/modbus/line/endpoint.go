package line

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/collectors"
)

// The ways to a unit, as they stand in front of a URL.
const (
	schemeTCP          = "tcp"
	schemeTLS          = "tls"
	schemeRTU          = "rtu"
	schemeRTUOverTCP   = "rtu+tcp"
	schemeASCII        = "ascii"
	schemeASCIIOverTCP = "ascii+tcp"
)

var schemes = []string{schemeTCP, schemeTLS, schemeRTU, schemeRTUOverTCP, schemeASCII, schemeASCIIOverTCP}

// defaultPorts are the numbers that a URL may leave out.
var defaultPorts = map[string]string{schemeTCP: "502", schemeTLS: "802"}

// Endpoint is a parsed device URL. Two devices share a line exactly when their endpoints are equal.
type Endpoint struct {
	scheme string
	Place  string // host:port, or the path of the serial port
	serial serialParams
	tls    tlsOptions

	pause        time.Duration // of silence before each request, on top of what the frames need
	connectPause time.Duration // after the socket or port was opened
}

// IsSerial says whether answers carry no number, as on a serial line, so that a late one looks like the right one.
func (e Endpoint) IsSerial() bool { return e.scheme != schemeTCP && e.scheme != schemeTLS }

// IsPort says whether the line is a serial port of this box.
func (e Endpoint) IsPort() bool { return e.scheme == schemeRTU || e.scheme == schemeASCII }

// isASCII says whether frames are ASCII.
func (e Endpoint) isASCII() bool { return e.scheme == schemeASCII || e.scheme == schemeASCIIOverTCP }

// codec of the frames; for a serial line only.
func (e Endpoint) codec() codec {
	if e.isASCII() {
		return ascii{}
	}
	return rtu{}
}

// FrameGap is the silence that ends a frame on a serial line; 0 on a socket.
func (e Endpoint) FrameGap() time.Duration {
	if !e.IsSerial() {
		return 0
	}
	return e.serial.frameGap()
}

// ParseEndpoint reads a device's URL.
func ParseEndpoint(raw string) (Endpoint, error) {
	u, err := url.Parse(raw)
	raw, _, _ = strings.Cut(collectors.WithoutUser(raw), "?") // what cannot be understood may hold a password
	if err != nil || u.Scheme == "" {
		return Endpoint{}, fmt.Errorf("%q is not a URL; write one such as tcp://host:502, rtu:///dev/serial/by-id/X?baud=19200 or rtu+tcp://host:4001", raw)
	}
	u.User = nil // Modbus knows none, and what people put there is no error's business
	e := Endpoint{scheme: u.Scheme}
	if !slices.Contains(schemes, e.scheme) {
		return Endpoint{}, fmt.Errorf("%q: unknown kind %q; tcp://, tls://, rtu://, rtu+tcp://, ascii:// or ascii+tcp://", raw, u.Scheme)
	}
	if e.IsSerial() {
		e.serial = defaultSerialParams(e.isASCII())
	}
	if e.IsPort() {
		e.Place, err = portPath(u)
	} else {
		e.Place, err = hostAndPort(u)
	}
	if err != nil {
		return Endpoint{}, err
	}
	return e, e.parseOptions(u)
}

func hostAndPort(u *url.URL) (string, error) {
	port := u.Port()
	if port == "" {
		port = defaultPorts[u.Scheme]
	}
	n, err := strconv.Atoi(port)
	if u.Hostname() == "" || err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("%q: a host and a port are needed: %s://10.20.0.5:502", u.String(), u.Scheme)
	}
	if strings.Contains(u.Hostname(), ":") && !strings.HasPrefix(u.Host, "[") {
		return "", fmt.Errorf("%q: an IPv6 address stands in brackets: %s://[fd00::5]:502", u.String(), u.Scheme)
	}
	if u.Path != "" && u.Path != "/" {
		return "", fmt.Errorf("%q: a path means nothing here; %s://%s", u.String(), u.Scheme, u.Host)
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}

func portPath(u *url.URL) (string, error) {
	if u.Host != "" || !path.IsAbs(u.Path) || path.Clean(u.Path) == "/" {
		return "", fmt.Errorf("%q: a serial port is named by its full path, after three slashes: %s:///dev/serial/by-id/X", u.String(), u.Scheme)
	}
	return path.Clean(u.Path), nil
}

// parseOptions reads the URL's query.
func (e *Endpoint) parseOptions(u *url.URL) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fmt.Errorf("%q: the part after the question mark is not key=value&key=value", u.String())
	}
	for key, values := range query {
		if len(values) != 1 {
			return fmt.Errorf("%q: %s is given twice", u.String(), key)
		}
		if err := e.set(key, values[0]); err != nil {
			return fmt.Errorf("%q: %w", u.String(), err)
		}
	}
	if err := cmp.Or(e.tls.validate(), e.serial.validate(e.isASCII())); err != nil {
		return fmt.Errorf("%q: %w", u.String(), err)
	}
	return nil
}

// set takes one option. Each belongs to some of the schemes.
func (e *Endpoint) set(key, value string) error {
	switch {
	case key == "pause":
		return setPause(&e.pause, key, value, 10*time.Second)
	case key == "connect_pause":
		return setPause(&e.connectPause, key, value, time.Minute)
	case e.scheme == schemeTLS && e.tls.set(key, value):
		return nil
	case e.IsPort() && slices.Contains(rs485Keys, key):
		return e.serial.rs485.set(key, value)
	case e.IsSerial() && slices.Contains(serialKeys, key):
		return e.serial.set(key, value)
	}
	return fmt.Errorf("%s has no option %q; it has %s", e.scheme, key, strings.Join(e.optionKeys(), ", "))
}

func (e Endpoint) optionKeys() []string {
	var keys []string
	if e.scheme == schemeTLS {
		keys = append(keys, tlsKeys...)
	}
	if e.IsSerial() {
		keys = append(keys, serialKeys...)
	}
	if e.IsPort() {
		keys = append(keys, rs485Keys...)
	}
	return append(keys, "pause", "connect_pause")
}

func setPause(pause *time.Duration, key, value string, most time.Duration) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 || d > most {
		return fmt.Errorf("%s=%s: a time from 0s to %s, such as 20ms", key, value, most)
	}
	*pause = d
	return nil
}

// String is the URL that a person would write for this endpoint.
func (e Endpoint) String() string {
	var said []string
	say := func(key string, value any) { said = append(said, fmt.Sprintf("%s=%v", key, value)) }
	if e.IsPort() || e.IsSerial() && e.serial != defaultSerialParams(e.isASCII()) {
		e.serial.listOptions(say, e.isASCII())
	}
	e.tls.listOptions(say)
	if e.pause != 0 {
		say("pause", e.pause)
	}
	if e.connectPause != 0 {
		say("connect_pause", e.connectPause)
	}
	raw := e.scheme + "://" + e.Place
	if len(said) > 0 {
		raw += "?" + strings.Join(said, "&")
	}
	return raw
}

// ConflictsWith is the error of two devices that talk to one place in two ways.
func (e Endpoint) ConflictsWith(other Endpoint) error {
	switch {
	case e == other:
		return nil
	case e.scheme != other.scheme:
		return fmt.Errorf("%s and %s are one place spoken to in two ways; it has one protocol: use one URL for both", e, other)
	}
	return fmt.Errorf("%s and %s are one line with different settings; it has one speed and parity: use one URL for both", e, other)
}
