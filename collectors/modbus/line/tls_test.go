package line

import (
	"crypto/tls"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// mutual is a slave that wants a certificate of the master's, signed by the authority.
func mutual(t *testing.T, a *modbustest.Authority) (addr string) {
	config := linetest.ServerOf(t, a, "127.0.0.1", linetest.LongAgo, linetest.FarAway)
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, a.Pool()
	return linetest.ServeTLS(t, linetest.NumberedSlave(), config)
}

func TestBothEndsShowACertificate(t *testing.T) {
	a := linetest.NewAuthority(t, "authority")
	certFile, keyFile, err := a.Issue("gauger", linetest.LongAgo, linetest.FarAway)
	if err != nil {
		t.Fatal(err)
	}
	lines := &Lines{}
	defer linetest.Close(t, lines)
	line := linetest.Open(t, lines, "tls://"+mutual(t, a)+"?ca_file="+a.File+"&cert_file="+certFile+"&key_file="+keyFile)
	for _, r := range conversation {
		if data, err := line.Read(t.Context(), r, time.Second); err != nil || !carries(data, r) {
			t.Errorf("%s: % x, %v", r, data, err)
		}
	}
	if s := line.Stats(); s.Opened != 1 {
		t.Errorf("%+v, want one connection", s)
	}
}

func TestWhatIsSaidOfACertificate(t *testing.T) {
	a, other := linetest.NewAuthority(t, "authority"), linetest.NewAuthority(t, "other")
	strangerCert, strangerKey, err := other.Issue("gauger", linetest.LongAgo, linetest.FarAway)
	if err != nil {
		t.Fatal(err)
	}
	yesterday, tomorrow := time.Now().AddDate(0, 0, -1), time.Now().AddDate(0, 0, 1)
	serve := func(host string, from, to time.Time) string {
		return "tls://" + linetest.ServeTLS(t, linetest.NumberedSlave(), linetest.ServerOf(t, a, host, from, to)) + "?ca_file="
	}
	plain := linetest.Listen(t, linetest.NumberedSlave(), modbustest.TCP)
	for name, tt := range map[string]struct{ url, says string }{
		"another authority":     {serve("127.0.0.1", linetest.LongAgo, linetest.FarAway) + other.File, "name its authority with ca_file="},
		"another name":          {serve("plc.site", linetest.LongAgo, linetest.FarAway) + a.File, "is for plc.site; if that is the right device, say server_name="},
		"expired":               {serve("127.0.0.1", linetest.LongAgo, yesterday) + a.File, "expired on"},
		"not yet valid":         {serve("127.0.0.1", tomorrow, linetest.FarAway) + a.File, "one of the two is wrong"},
		"none of ours":          {"tls://" + mutual(t, a) + "?ca_file=" + a.File, "wants a certificate of ours"},
		"ours is a stranger's":  {"tls://" + mutual(t, a) + "?ca_file=" + a.File + "&cert_file=" + strangerCert + "&key_file=" + strangerKey, "of ours"},
		"no file":               {serve("127.0.0.1", linetest.LongAgo, linetest.FarAway) + "/none.pem", "ca_file: open /none.pem"},
		"a key for a authority": {serve("127.0.0.1", linetest.LongAgo, linetest.FarAway) + strangerKey, "holds no certificate"},
		"no TLS at all":         {"tls://" + plain + "?ca_file=" + a.File, "does the device speak TLS there?"},
	} {
		lines := &Lines{}
		_, err := linetest.Open(t, lines, tt.url).Read(t.Context(), conversation[0], time.Second)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
		linetest.Close(t, lines)
	}
}

func TestANameBesidesTheHost(t *testing.T) {
	a := linetest.NewAuthority(t, "authority")
	url := "tls://" + linetest.ServeTLS(t, linetest.NumberedSlave(), linetest.ServerOf(t, a, "plc.site", linetest.LongAgo, linetest.FarAway)) + "?server_name=plc.site&ca_file=" + a.File
	lines := &Lines{}
	defer linetest.Close(t, lines)
	if data, err := linetest.Open(t, lines, url).Read(t.Context(), conversation[0], time.Second); err != nil || !carries(data, conversation[0]) {
		t.Errorf("% x, %v", data, err)
	}
}

// TestAClockThatWasNeverSet shakes hands in a bubble, where it is the year 2000.
func TestAClockThatWasNeverSet(t *testing.T) {
	a := linetest.NewAuthority(t, "authority")
	config := linetest.ServerOf(t, a, "site", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), linetest.FarAway)
	synctest.Test(t, func(t *testing.T) {
		near, far := modbustest.Pipe()
		server := tls.Server(linetest.PipeEnd{End: far}, config)
		ended := make(chan error, 1)
		go func() { ended <- server.HandshakeContext(t.Context()) }()
		at, err := ParseEndpoint("tls://site?ca_file=" + a.File)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := tlsHandshake(t.Context(), linetest.PipeEnd{End: near}, at)
		if err == nil || !strings.Contains(err.Error(), "not valid before 2026-01-01, because this box's clock is wrong (it says 2000-01-01); set the clock") {
			t.Errorf("%v, %v", stream, err)
		}
		if err := <-ended; err == nil {
			t.Error("the handshake succeeded")
		}
	})
}

// TestCertificatesAreReadAtEachDial replaces a wrong authority while the line is down.
func TestCertificatesAreReadAtEachDial(t *testing.T) {
	a, other := linetest.NewAuthority(t, "authority"), linetest.NewAuthority(t, "other")
	file := t.TempDir() + "/ca.pem"
	put := func(from string) {
		pem, err := os.ReadFile(from)
		if err := errors.Join(err, os.WriteFile(file, pem, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put(other.File)
	lines := &Lines{}
	defer linetest.Close(t, lines)
	line := linetest.Open(t, lines, "tls://"+linetest.ServeTLS(t, linetest.NumberedSlave(), linetest.ServerOf(t, a, "127.0.0.1", linetest.LongAgo, linetest.FarAway))+"?ca_file="+file)
	if _, err := line.Read(t.Context(), conversation[0], time.Second); !errors.Is(err, ErrDown) {
		t.Fatal(err)
	}
	put(a.File)
	if !line.Await(t.Context(), new(collectors.Timer), time.Now().Add(linetest.Patience)) {
		t.Error("the line did not open again")
	}
	if data, err := line.Read(t.Context(), conversation[0], time.Second); err != nil || !carries(data, conversation[0]) {
		t.Errorf("% x, %v", data, err)
	}
}
