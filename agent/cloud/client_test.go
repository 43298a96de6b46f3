package cloud

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gauger/agent/cloud/keys"
)

const testKey = "primary-0123456789abcdef"

func clientOf(t *testing.T, url string, change ...func(*Options)) *Client {
	t.Helper()
	ring, err := keys.Open("", keys.Seeds{Primary: testKey})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{URL: url, Wire: siteWire(), Keys: ring}
	for _, c := range change {
		c(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func post(t *testing.T, c *Client) Answer {
	t.Helper()
	return c.Post(t.Context(), SaveRunTickets, "", [][]byte{[]byte(`{}`)}, 0, 0)
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		elsewhere.Add(1)
	}))
	defer other.Close()
	for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
		home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", other.URL)
			w.WriteHeader(status)
		}))
		a := post(t, clientOf(t, home.URL))
		if a.Class != WrongAddress || a.Status != status || !strings.Contains(a.Message, other.URL) {
			t.Errorf("%d: %+v", status, a)
		}
		if _, err := clientOf(t, home.URL).QueryDevices(t.Context(), DeviceQuery{}); err == nil {
			t.Errorf("%d: a query followed the redirect", status)
		}
		home.Close()
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("the key went elsewhere %d times", n)
	}
}

// TestAnswerCutAtEveryByte cuts the answer at each of its bytes: until its end it may have been anything, and the service may have
// the record or not.
func TestAnswerCutAtEveryByte(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"saved\":1}"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cut := make(chan int)
	done := make(chan error)
	go func() {
		for n := range cut {
			done <- serveCut(l, answer[:n])
		}
	}()
	c := clientOf(t, "http://"+l.Addr().String())
	for n := range len(answer) + 1 {
		cut <- n
		a := post(t, c)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		want := Ambiguous
		if n == len(answer) {
			want = Stored
		}
		if a.Class != want {
			t.Errorf("cut after %d bytes: %+v", n, a)
		}
	}
	close(cut)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// A client of its own: the first may still have a connection that was opened before the listener went.
	if a := post(t, clientOf(t, "http://"+l.Addr().String())); a.Class != Wait {
		t.Errorf("nobody listens: %+v", a)
	}
}

// serveCut takes one connection, reads one request and answers with what is left of the answer.
func serveCut(l net.Listener, answer string) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	buf, got := make([]byte, 4096), ""
	for !strings.HasSuffix(got, "[{}]") {
		n, err := conn.Read(buf)
		if err != nil {
			return err
		}
		got += string(buf[:n])
	}
	_, err = io.WriteString(conn, answer)
	return err
}

func TestAnswerLimits(t *testing.T) {
	big := "[\"" + strings.Repeat("x", 6<<20) + "\"]"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "renew") {
			w.Header().Set("X-Large", strings.Repeat("x", 32<<10))
		}
		if _, err := io.WriteString(w, big); err != nil {
			return // the client has enough
		}
	}))
	defer s.Close()
	c := clientOf(t, s.URL)
	if a := post(t, c); a.Class != WrongAddress || !a.Foreign || len(a.Body) != 2<<10 { // no service says so much to a ticket
		t.Errorf("save: %s, %d bytes kept", a.Class, len(a.Body))
	}
	if _, err := c.QueryDevices(t.Context(), DeviceQuery{}); err == nil || !strings.Contains(err.Error(), "larger than 4096 KB") {
		t.Errorf("query: %v", err)
	}
	if _, err := c.RenewAPIKey(t.Context(), keys.Primary); err == nil || !strings.Contains(err.Error(), "header") {
		t.Errorf("headers: %v", err)
	}
}

// authority signs certificates for 127.0.0.1.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(50, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return authority{cert, key, file}
}

func (a authority) serve(t *testing.T, ip string, from, until time.Time, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(2), NotBefore: from, NotAfter: until, IPAddresses: []net.IP{net.ParseIP(ip)}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: a.key}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// TestHTTP2StaysOff asks a server that offers h2: another client takes it, ours says HTTP/1.1 already in its hello.
func TestHTTP2StaysOff(t *testing.T) {
	a, now := newAuthority(t), time.Now()
	var proto, offered atomic.Value
	s := a.serve(t, "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour), func(_ http.ResponseWriter, r *http.Request) {
		proto.Store(r.Proto)
	})
	s.TLS.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		offered.Store(strings.Join(hello.SupportedProtos, " "))
		return nil, nil
	}
	roots, err := Authorities(a.file)
	if err != nil {
		t.Fatal(err)
	}
	eager := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	defer eager.CloseIdleConnections()
	answer, err := eager.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if proto.Load() != "HTTP/2.0" {
		t.Fatalf("the server does not speak HTTP/2 with those who want it, but %v", proto.Load())
	}
	if got := post(t, clientOf(t, s.URL, func(o *Options) { o.CAFile = a.file })); got.Class != Stored {
		t.Fatalf("%+v", got)
	}
	if proto.Load() != "HTTP/1.1" || strings.Contains(offered.Load().(string), "h2") {
		t.Errorf("the service was asked over %v, after an offer of %q", proto.Load(), offered.Load())
	}
}

func TestTLS(t *testing.T) {
	a, now := newAuthority(t), time.Now()
	var proto atomic.Value
	var served atomic.Int32
	h := func(_ http.ResponseWriter, r *http.Request) { proto.Store(r.Proto); served.Add(1) }
	good := a.serve(t, "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour), h)
	ours := func(o *Options) { o.CAFile = a.file }

	var heard []time.Time
	allowed := time.Duration(0) // by a certificate that is untimely, from now
	hears := func(c *Client) *Client {
		c.Heard = func(_, date time.Time, verified bool) {
			if verified {
				heard = append(heard, date)
			} else {
				allowed = time.Until(date).Round(time.Hour)
			}
		}
		return c
	}
	got := post(t, hears(clientOf(t, good.URL, ours)))
	if got.Class != Stored || proto.Load() != "HTTP/1.1" {
		t.Fatalf("%+v over %v", got, proto.Load())
	}
	if len(heard) != 1 || heard[0].Sub(now).Abs() > time.Hour {
		t.Errorf("the service's clock says %v", heard)
	}
	page, err := hears(clientOf(t, good.URL, ours)).QueryDevices(t.Context(), DeviceQuery{ExternalID: "TK-1"})
	if len(heard) != 2 {
		t.Errorf("a query's answer (%+v, %v) is no witness: %v", page, err, heard)
	}
	plain := httptest.NewServer(http.HandlerFunc(h))
	defer plain.Close()
	old := a.serve(t, "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour), h)
	old.TLS.MaxVersion = tls.VersionTLS11
	cases := []struct {
		name, url, says string
		change          func(*Options)
	}{
		{"expired", a.serve(t, "127.0.0.1", now.AddDate(-2, 0, 0), now.AddDate(-1, 0, 0), h).URL, "this box's clock says", ours},
		{"not yet valid", a.serve(t, "127.0.0.1", now.AddDate(1, 0, 0), now.AddDate(2, 0, 0), h).URL, "this box's clock says", ours},
		{"wrong name", a.serve(t, "127.0.0.2", now.Add(-time.Hour), now.Add(time.Hour), h).URL, "127.0.0.2", ours},
		{"unknown authority", good.URL, "unknown authority", func(*Options) {}},
		{"no TLS there", strings.Replace(plain.URL, "http:", "https:", 1), "does not speak TLS", ours},
		{"TLS 1.1", old.URL, "protocol version", ours},
	}
	before := served.Load()
	for _, c := range cases {
		if a := post(t, hears(clientOf(t, c.url, c.change))); a.Class != Wait || !strings.Contains(a.Message, c.says) || len(heard) != 2 {
			t.Errorf("%s: %+v", c.name, a)
		}
		want := map[string]time.Duration{"expired": now.AddDate(-1, 0, 0).Sub(now), "not yet valid": now.AddDate(1, 0, 0).Sub(now)}[c.name]
		if (allowed-want).Abs() > 25*time.Hour || (allowed == 0) != (want == 0) {
			t.Errorf("%s: the certificate allows a time %s from now, want %s", c.name, allowed, want)
		}
		allowed = 0
	}
	if served.Load() != before {
		t.Error("a request went through a connection that must not be trusted")
	}
}

func TestAddressOfTheService(t *testing.T) {
	good := []string{"https://api.example.com", "https://api.example.com:8443/base/", "http://127.0.0.1:8480", "http://localhost", "http://[::1]:80"}
	for _, url := range good {
		if _, err := baseURL(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	bad := []string{"", "api.example.com", "ftp://x", "https://", "http://api.example.com", "http://10.0.0.1", "http://127.0.0.1.example.com",
		"https://user:pw@api.example.com", "https://api.example.com/?key=1", "https://x/#a", "https:api", "https://%zz", ":"}
	for _, url := range bad {
		if _, err := baseURL(url); err == nil || strings.Contains(err.Error(), "pw") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestTransportSettings(t *testing.T) {
	o := Options{Wire: siteWire()}
	tr, err := newTransport(o)
	if err != nil {
		t.Fatal(err)
	}
	for what, right := range map[string]bool{
		"no proxy":         tr.Proxy == nil,
		"no HTTP/2":        !tr.Protocols.HTTP2(),
		"HTTP/1.1":         tr.Protocols.HTTP1(),
		"TLS 1.2":          tr.TLSClientConfig.MinVersion == tls.VersionTLS12,
		"16 KB of headers": tr.MaxResponseHeaderBytes == 16<<10,
	} {
		if !right {
			t.Errorf("%s: %+v", what, tr)
		}
	}
	o.Wire.Proxy = "http://10.0.0.1:3128"
	if tr, err = newTransport(o); err != nil || tr.Proxy == nil {
		t.Errorf("proxy: %v", err)
	}
	ring, err := keys.Open("", keys.Seeds{Primary: testKey})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{URL: "http://127.0.0.1", Wire: o.Wire, Keys: ring}); err == nil || !strings.Contains(err.Error(), "without TLS") {
		t.Errorf("http through a proxy: %v", err)
	}
	if c, err := New(Options{URL: "http://127.0.0.1", Keys: ring}); err != nil || c.Wire().LevelUnit != "in" {
		t.Errorf("no wire: %v", err)
	}
	if _, err := New(Options{URL: "http://127.0.0.1"}); err == nil {
		t.Error("a client without keys was made")
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, empty + ".none"} {
		if _, err := newTransport(Options{Wire: siteWire(), CAFile: file}); err == nil || !strings.Contains(err.Error(), "ca_file") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A file of authorities that is missing, broken, or none at all stops no client from being made: requests wait for it, say
// so, and look again each time.
func TestRequestsWaitForTheAuthorities(t *testing.T) {
	a, now := newAuthority(t), time.Now()
	sound, err := os.ReadFile(a.file)
	if err != nil {
		t.Fatal(err)
	}
	s := a.serve(t, "127.0.0.1", now.Add(-time.Hour), now.Add(time.Hour), func(http.ResponseWriter, *http.Request) {})
	for name, put := range map[string]func(file string) error{
		"missing":  func(string) error { return nil },
		"broken":   func(file string) error { return os.WriteFile(file, []byte("no certificate"), 0o600) },
		"a folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"a pipe":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
	} {
		file := filepath.Join(t.TempDir(), "ca.pem")
		if err := put(file); err != nil {
			t.Fatal(err)
		}
		c := clientOf(t, s.URL, func(o *Options) { o.CAFile = file })
		got := post(t, c)
		if got.Class != Wait || c.Ready() == nil {
			t.Errorf("%s: %+v, ready: %v", name, got, c.Ready())
		}
		if !strings.Contains(got.Message, "ca_file") || !strings.Contains(got.Message, file) {
			t.Errorf("%s: the message does not name the file: %s", name, got.Message)
		}
		if err := errors.Join(os.RemoveAll(file), os.WriteFile(file, sound, 0o600)); err != nil {
			t.Fatal(err)
		}
		if got := post(t, c); got.Class != Stored || c.Ready() != nil {
			t.Errorf("%s, and then there: %+v, ready: %v", name, got, c.Ready())
		}
	}
}
