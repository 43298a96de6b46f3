package mqtt

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/addresstest"
)

// mosquitto is a broker in a process of its own, with its sessions on disk.
type mosquitto struct {
	port    string
	config  string
	process *exec.Cmd
	done    chan struct{}
}

// newMosquitto starts a broker with a listener on a free port and further lines of configuration.
func newMosquitto(t testing.TB, lines ...string) *mosquitto {
	t.Helper()
	if _, err := exec.LookPath("/usr/sbin/mosquitto"); err != nil {
		t.Skip("needs Mosquitto in /usr/sbin/mosquitto; install the package mosquitto to run this test")
	}
	dir := t.TempDir()
	m := &mosquitto{config: filepath.Join(dir, "mosquitto.conf"), port: addresstest.Port(t)}
	text := fmt.Sprintf("listener %s 127.0.0.1\npersistence true\npersistence_location %s/\nautosave_interval 1\nlog_dest stderr\nuser root\nmax_queued_messages 0\n%s\n",
		m.port, dir, strings.Join(lines, "\n"))
	if err := os.WriteFile(m.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.up(t)
	t.Cleanup(m.down)
	return m
}

// up starts the process and waits until it says that it runs.
func (m *mosquitto) up(t testing.TB) {
	t.Helper()
	m.process = exec.Command("/usr/sbin/mosquitto", "-c", m.config)
	m.done = make(chan struct{})
	stderr, err := m.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.process.Start(); err != nil {
		t.Fatal(err)
	}
	running := make(chan string, 1)
	go func(done chan struct{}) {
		defer close(done)
		var said []string
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			said = append(said, lines.Text())
			if strings.HasSuffix(lines.Text(), " running") {
				running <- ""
			}
		}
		select {
		case running <- strings.Join(said, "\n"):
		default:
		}
	}(m.done)
	select {
	case trouble := <-running:
		if trouble != "" {
			t.Fatalf("mosquitto did not start: %s", trouble)
		}
	case <-time.After(patienceOfTests):
		t.Fatal("mosquitto does not run")
	}
}

// down ends the process in order, so that it saves its sessions.
func (m *mosquitto) down() {
	if m.process == nil {
		return
	}
	_ = m.process.Process.Signal(syscall.SIGTERM)
	<-m.done
	_ = m.process.Wait()
	m.process = nil
}

func (m *mosquitto) url(scheme string) string { return scheme + "://127.0.0.1:" + m.port }

func TestMosquittoKeepsWhatComesWhileWeAreAway(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true")
	h := newMemo()
	device := timed("field/tk1")
	device.Brokers = Brokers{m.url("mqtt")}
	c := collect(t, Session{}, device)
	stop := start(t, h, c)
	out := publisher(t, m.url("mqtt"))
	connected(t, c)
	waitFor(t, out.Publish("field/tk1", 1, false, sample(0, noon)))
	h.values(t, "radio/level", 1)
	stop()
	for i := 1; i <= 2000; i++ {
		waitFor(t, out.Publish("field/tk1", 1, false, sample(float64(i), noon.Add(time.Duration(i)*time.Second))))
	}
	out.Disconnect(100)
	m.down() // the broker restarts too, in between
	m.up(t)
	start(t, h, collect(t, Session{}, device))
	got := h.values(t, "radio/level", 2001)
	for i, v := range got {
		if v != float64(i) {
			t.Fatalf("reading %d is %v", i, v)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := h.told("session-lost"); len(n) > 0 {
		t.Errorf("told: %+v", n)
	}
}

func TestMosquittoRestartsWhileMessagesFlow(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true")
	h := newMemo()
	device := timed("field/tk1")
	device.Brokers = Brokers{m.url("mqtt")}
	c := collect(t, Session{}, device)
	start(t, h, c)
	connected(t, c)
	var want []float64
	for i := range 300 {
		if i%100 == 0 && i > 0 {
			m.down()
			m.up(t)
		}
		out := publisher(t, m.url("mqtt"))
		waitFor(t, out.Publish("field/tk1", 1, false, sample(float64(i), noon.Add(time.Duration(i)*time.Second))))
		out.Disconnect(10)
		want = append(want, float64(i))
	}
	got := h.values(t, "radio/level", 300)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d readings of 300", len(got))
	}
}

func TestMosquittoWithAnOldSubscription(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true", "max_inflight_messages 20")
	h := newMemo()
	c := collect(t, Session{}, at(m.url("mqtt"), "field/old"))
	stop := start(t, h, c)
	connected(t, c)
	out := publisher(t, m.url("mqtt"))
	waitFor(t, out.Publish("field/old", 1, false, "0"))
	h.values(t, "radio/field-old", 1)
	stop()
	for range 30 {
		waitFor(t, out.Publish("field/old", 1, false, "1"))
	}
	h = newMemo() // the memory is gone as well
	c = collect(t, Session{}, at(m.url("mqtt"), "field/new"))
	start(t, h, c)
	connected(t, c)
	h.until(t, "the unknown topic is told", func() bool { return len(h.told("unknown-topic")) > 0 })
	for i := range 100 {
		waitFor(t, out.Publish("field/new", 1, false, fmt.Sprint(i)))
	}
	if got := h.values(t, "radio/field-new", 100); len(got) != 100 {
		t.Errorf("%d of 100", len(got))
	}
}

func TestMosquittoPassword(t *testing.T) {
	passwords := filepath.Join(t.TempDir(), "passwords")
	if err := exec.Command("mosquitto_passwd", "-b", "-c", passwords, "gauger", "right").Run(); err != nil {
		t.Skipf("needs mosquitto_passwd of the package mosquitto: %v", err)
	}
	m := newMosquitto(t, "allow_anonymous false", "password_file "+passwords)
	device := at(m.url("mqtt"), "field/tk1")
	device.Username = "gauger"
	var mu sync.Mutex
	secret, trouble := "wrong", error(nil)
	device.Password = func() (string, error) {
		mu.Lock()
		defer mu.Unlock()
		return secret, trouble
	}
	read := func() error {
		return firstReading(t, Session{}, device).Err
	}
	if err := read(); err == nil || !strings.Contains(err.Error(), "check username, password") {
		t.Errorf("with a wrong password: %v", err)
	}
	trouble = errors.New("no such credential")
	if err := read(); err == nil || !strings.Contains(err.Error(), "no such credential") {
		t.Errorf("without a password: %v", err)
	}
	h := newMemo()
	trouble = nil
	c := collect(t, Session{}, device)
	start(t, h, c)
	mu.Lock()
	secret = "right" // somebody corrects it; no restart
	mu.Unlock()
	connected(t, c)
}

func TestMosquittoWithCertificates(t *testing.T) {
	dir := t.TempDir()
	authority := certify(t, dir, "ca", nil)
	certify(t, dir, "server", authority)
	certify(t, dir, "client", authority)
	certify(t, dir, "other-ca", nil)
	file := func(name string) string { return filepath.Join(dir, name) }
	m := newMosquitto(t, "allow_anonymous true", "require_certificate true", "cafile "+file("ca.pem"),
		"certfile "+file("server.pem"), "keyfile "+file("server.key"))
	device := at(m.url("mqtts"), "field/tk1")
	device.CAFile, device.CertFile, device.KeyFile = file("ca.pem"), file("client.pem"), file("client.key")
	c := collect(t, Session{}, device)
	start(t, newMemo(), c)
	connected(t, c)

	cases := []struct {
		name  string
		spoil func(d *Device)
		want  string
	}{
		{"no client certificate", func(d *Device) { d.CertFile, d.KeyFile = "", "" }, "set cert_file and key_file"},
		{"unknown authority", func(d *Device) { d.CAFile = file("other-ca.pem") }, "unknown authority"},
		{"file is missing", func(d *Device) { d.CAFile = file("none.pem") }, "none.pem"},
		{"no certificate in it", func(d *Device) { d.CAFile = file("ca.key") }, "no certificate in it"},
		{"key of another", func(d *Device) { d.KeyFile = file("server.key") }, "key_file"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spoilt := device
			c.spoil(&spoilt)
			if r := firstReading(t, Session{}, spoilt); r.Quality != collectors.Bad || r.Err == nil || !strings.Contains(r.Err.Error(), c.want) {
				t.Errorf("%v, expected %q", r.Err, c.want)
			}
		})
	}
}

// signer is a certificate that can sign others.
type signer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// certify writes NAME.pem and NAME.key; without an authority the certificate is one itself.
func certify(t *testing.T, dir, name string, by *signer) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: by == nil,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	own := &signer{cert, key}
	if by == nil {
		by = own
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, by.cert, &key.PublicKey, by.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for ext, block := range map[string]*pem.Block{".pem": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name+ext), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return own
}
