package modbus

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The three ways to a unit, as they stand in front of a URL.
const (
	schemeTCP        = "tcp"
	schemeRTU        = "rtu"
	schemeRTUOverTCP = "rtu+tcp"
)

// endpoint is a parsed device URL. Two devices share a line exactly when their endpoints are equal.
type endpoint struct {
	scheme string
	place  string // host:port, or the path of the serial port
	serial serialOptions
}

// serialOptions are the settings of a serial port. For rtu+tcp they are the serial server's, and serve to compute
// how long frames and silences are.
type serialOptions struct {
	baud   int
	data   int
	parity byte // N, E or O
	stop   int
}

// The Modbus serial line specification asks for 19200 baud and even parity unless something else is agreed.
var defaultSerial = serialOptions{baud: 19200, data: 8, parity: 'E', stop: 1}

// char is the time of one character on the wire.
func (o serialOptions) char() time.Duration {
	bits := 1 + o.data + o.stop
	if o.parity != 'N' {
		bits++
	}
	return time.Duration(bits) * time.Second / time.Duration(o.baud)
}

// gap is the silence between two frames: 3.5 characters, and a fixed 1.75 ms above 19200 baud (Modbus over
// Serial Line V1.02, 2.5.1.1).
func (o serialOptions) gap() time.Duration {
	if o.baud > 19200 {
		return 1750 * time.Microsecond
	}
	return o.char() * 7 / 2
}

// serialLine says whether units behind this endpoint answer in RTU frames.
func (e endpoint) serialLine() bool { return e.scheme != schemeTCP }

// parseEndpoint reads a device's URL.
func parseEndpoint(raw string) (endpoint, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return endpoint{}, fmt.Errorf("%q is not a URL: tcp://host:502, rtu:///dev/serial/by-id/X?baud=19200 or rtu+tcp://host:4001", raw)
	}
	e := endpoint{scheme: u.Scheme, serial: defaultSerial}
	switch u.Scheme {
	case schemeTCP, schemeRTUOverTCP:
		e.place, err = socketPlace(u)
	case schemeRTU:
		e.place, err = portPlace(u)
	default:
		err = fmt.Errorf("%q: unknown kind %q; tcp://, rtu:// or rtu+tcp://", raw, u.Scheme)
	}
	if err != nil {
		return endpoint{}, err
	}
	return e, e.options(u)
}

func socketPlace(u *url.URL) (string, error) {
	port := u.Port()
	if port == "" && u.Scheme == schemeTCP {
		port = "502"
	}
	n, err := strconv.Atoi(port)
	if u.Hostname() == "" || err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("%q: a host and a port are needed: %s://10.20.0.5:502", u.String(), u.Scheme)
	}
	if u.Path != "" && u.Path != "/" {
		return "", fmt.Errorf("%q: a path means nothing here; %s://%s", u.String(), u.Scheme, u.Host)
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port), nil
}

func portPlace(u *url.URL) (string, error) {
	if u.Host != "" || !path.IsAbs(u.Path) || u.Path == "/" {
		return "", fmt.Errorf("%q: a serial port is named by its full path, after three slashes: rtu:///dev/serial/by-id/X", u.String())
	}
	return path.Clean(u.Path), nil
}

// options reads baud, data, parity and stop from the URL's query.
func (e *endpoint) options(u *url.URL) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return fmt.Errorf("%q: the part after the question mark is not key=value&key=value", u.String())
	}
	if e.scheme == schemeTCP && len(query) > 0 {
		return fmt.Errorf("%q: tcp has no options; baud and parity belong to rtu and rtu+tcp", u.String())
	}
	for key, values := range query {
		if len(values) != 1 {
			return fmt.Errorf("%q: %s is given twice", u.String(), key)
		}
		if err := e.serial.set(key, values[0]); err != nil {
			return fmt.Errorf("%q: %w", u.String(), err)
		}
	}
	return nil
}

func (o *serialOptions) set(key, value string) error {
	n, err := strconv.Atoi(value)
	switch key {
	case "baud":
		if err != nil || n < 300 || n > 4_000_000 {
			return fmt.Errorf("baud=%s: a number from 300 to 4000000", value)
		}
		o.baud = n
	case "data":
		if value != "8" {
			return fmt.Errorf("data=%s: RTU frames need 8 data bits", value)
		}
		o.data = n
	case "stop":
		if value != "1" && value != "2" {
			return fmt.Errorf("stop=%s: 1 or 2", value)
		}
		o.stop = n
	case "parity":
		return o.setParity(value)
	default:
		return fmt.Errorf("unknown option %q; baud, data, parity and stop are known", key)
	}
	return nil
}

func (o *serialOptions) setParity(value string) error {
	known := []string{"n", "none", "e", "even", "o", "odd"}
	i := slices.Index(known, strings.ToLower(value))
	if i < 0 {
		return fmt.Errorf("parity=%s: N, E or O", value)
	}
	o.parity = "NEO"[i/2]
	return nil
}

// String is the URL that a person would write for this endpoint.
func (e endpoint) String() string {
	if !e.serialLine() {
		return e.scheme + "://" + e.place
	}
	if e.scheme == schemeRTUOverTCP && e.serial == defaultSerial {
		return e.scheme + "://" + e.place
	}
	return fmt.Sprintf("%s://%s?baud=%d&parity=%c&stop=%d", e.scheme, e.place, e.serial.baud, e.serial.parity, e.serial.stop)
}
