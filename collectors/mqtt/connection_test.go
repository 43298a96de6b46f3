package mqtt

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refusalOf is the error that a person reads when nobody lets us in.
func refusalOf(t *testing.T, d Device) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patienceOfTests)
	defer cancel()
	_, _, err := Discover(ctx, d, "#", Session{})
	if err == nil {
		t.Fatal("somebody let us in")
	}
	return err.Error()
}

// TestWhatIsNoBrokerIsSaidToBeNone: a web server at the address answers in its own way, or waits for the rest of a
// question.
func TestWhatIsNoBrokerIsSaidToBeNone(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n\r\n": "this is no MQTT broker",
		"":                                 "no answer; perhaps this is no MQTT broker, or one that wants TLS",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patienceOfTests)
		dial := func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				if _, err := far.Read(make([]byte, 512)); err != nil {
					return
				}
				if answer == "" {
					cancel()
				}
				_, _ = far.Write([]byte(answer)) // the other end may be gone
				_, _ = far.Read(make([]byte, 1))
			}()
			return near, nil
		}
		_, _, err := Discover(ctx, Device{Name: "d", Brokers: Brokers{"mqtt://broker"}}, "#", Session{Dial: dial})
		if cancel(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("after %q told is: %v", answer, err)
		}
	}
}

// TestACertificateThatIsNotBelievedSaysWhatToSet names the key that is missing or wrong.
func TestACertificateThatIsNotBelievedSaysWhatToSet(t *testing.T) {
	server := httptest.NewTLSServer(nil) // its certificate is for example.com and some addresses
	defer server.Close()
	address := "mqtts://" + server.Listener.Addr().String()
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := refusalOf(t, Device{Name: "d", Brokers: Brokers{address}}); !strings.Contains(got, "set ca_file") {
		t.Errorf("an unknown authority: %s", got)
	}
	if got := refusalOf(t, Device{Name: "d", Brokers: Brokers{address}, CAFile: caFile, Server: "broker.field"}); !strings.Contains(got, "set server_name to one of them: example.com, *.example.com, 127.0.0.1, ::1") {
		t.Errorf("another name: %s", got)
	}
	late := &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired, Detail: "current time 1970"}}
	if got := tlsAdvice(late); !strings.Contains(got, time.Now().UTC().Format(time.DateOnly)) {
		t.Errorf("an untimely one: %s", got)
	}
}
