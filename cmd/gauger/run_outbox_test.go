package main

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/agent/link"
	"gauger/config"
	"gauger/outbox"
)

// linkSite is a configuration without devices.
const linkSite = `site: Test battery
id: TEST
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service: {url: %s, primary_key: {env: GAUGER_LINK_KEY}}
store: {path: %s, max_bytes: 2MiB, linger: 0s}
link: %s
`

// openOnce opens at once or never.
func openOnce(open func() (*outbox.Box, error)) (*outbox.Box, error) { return open() }

// linkDaemon is the program's inside with a link as configured.
func linkDaemon(t *testing.T, url, settings string) *daemon {
	t.Helper()
	t.Setenv("GAUGER_LINK_KEY", primaryKey)
	dir := t.TempDir()
	cfg, err := config.Parse("gauger.yaml", fmt.Appendf(nil, linkSite, url, filepath.Join(dir, "store"), settings), dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := assemble(cfg, zerolog.Nop(), openOnce)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// queued puts a record into a stream.
func queued(t *testing.T, d *daemon, stream, well string, body []byte, err error) {
	t.Helper()
	if err == nil {
		err = d.box.Update(func(tx *outbox.Tx) error {
			tx.Append(stream, outbox.Record{Address: well, Body: body, At: time.Now().Round(0)})
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Outside its windows, and with the bytes of the day used, the program sends the ticket and keeps the value; it says so
// where people look, and a restart takes up the count.
func TestLinkHoldsValuesAndSendsTickets(t *testing.T) {
	office := newOffice(t)
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	local := time.Now().In(zone)
	later := local.Add(6*time.Hour).Format("15:04") + "-" + local.Add(7*time.Hour).Format("15:04")
	d := linkDaemon(t, "http://"+office.address, fmt.Sprintf(`{max_bytes_per_day: 1MB, windows: [%q]}`, later))
	wire, now := d.client.Wire(), time.Now()
	value, err := wire.EncodeTagValues(cloud.ValueSet{Code: wire.Codes[0], Values: []cloud.Value{{Value: 7, At: now}}})
	queued(t, d, ledger.TagValues, "well-1", value, err)
	ticket, err := wire.EncodeRunTicket(cloud.RunTicket{Number: "A-1", TankID: "TK-1", OpeningLevel: 170, ClosingLevel: 50, Start: now.Add(-time.Hour), End: now, Purchaser: "Acme"})
	queued(t, d, ledger.Tickets, "", ticket, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx, filepath.Join(t.TempDir(), "s")) }()
	wait(t, "the ticket is at the service", func() bool { return len(office.store.Tickets()) == 1 && d.box.Counts()[ledger.Tickets].Waiting == 0 })
	s, err := d.server.Status()
	if err != nil {
		t.Fatal(err)
	}
	if !s.WaitsForLinkOnly() || s.Link.Bytes < 500 || s.Link.Left != 1_000_000-s.Link.Bytes || s.Streams[ledger.TagValues].Waiting != 1 {
		t.Errorf("by plan %v, link %+v, streams %+v", s.WaitsForLinkOnly(), s.Link, s.Streams)
	}
	var text strings.Builder
	page := &statusPage{s: s, h: site{d.cfg}, t: newTable(&text), zone: d.cfg.Zone}
	page.write()
	if err := page.t.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sending by plan, 1 record waiting for the link", "of the day's 1.00 MB", "tagvalues wait: outside link.windows; leaves from "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	d.close()
	if len(office.store.TagValues()) != 0 {
		t.Error("a value left outside the windows")
	}
	again, err := assemble(d.cfg, zerolog.Nop(), openOnce)
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	if got := again.link.Status(time.Now()); got.Bytes < s.Link.Bytes && got.Date == s.Link.Date {
		t.Errorf("after a restart %+v, before %+v", got, s.Link)
	}
}

// The rate holds where it is configured, and toward the box itself only when it is written.
func TestLinkAsConfigured(t *testing.T) {
	for settings, want := range map[string]string{
		"{}": "", "{rate: 6/min}": "link.rate lets a request leave every 10s", "{max_bytes_per_day: 1MB}": "the day's bytes",
	} {
		d := linkDaemon(t, "http://127.0.0.1:9", settings)
		if err := d.link.Resume([]byte(`{"date":"2999-01-01","bytes":2000000}`)); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		held := make(chan error)
		go func() {
			var err error
			for range 5 {
				err = d.link.Wait(ctx, ledger.TagValues)
			}
			held <- err
		}()
		if want == "" {
			if err := <-held; err != nil {
				t.Errorf("%s: %v", settings, err)
			}
		} else {
			wait(t, settings+" holds back", func() bool { return strings.Contains(d.link.Status(time.Now()).Held[ledger.TagValues], want) })
			stop()
			<-held
		}
		stop()
		d.close()
	}
}

// counting counts what crosses the connections of a listener.
type counting struct {
	net.Listener
	bytes *atomic.Int64
}

func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.bytes}, err
}

type countingConn struct {
	net.Conn
	bytes *atomic.Int64
}

func (c countingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.bytes.Add(int64(n))
	return n, err
}

func (c countingConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}

// What is counted is what crosses the network: the far end of the TLS connections sees the same bytes, and on top come
// those of TCP and IP, about a third of what small requests take.
func TestLinkCountsWhatTheServiceSees(t *testing.T) {
	var crossed atomic.Int64
	server := httptest.NewUnstartedServer(&cloudtest.Service{PrimaryKey: primaryKey})
	server.Listener = counting{server.Listener, &crossed}
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := keys.Open("", keys.Seeds{Primary: primaryKey})
	if err != nil {
		t.Fatal(err)
	}
	l := link.New(link.Options{})
	client, err := cloud.New(cloud.Options{URL: server.URL, CAFile: ca, Keys: keys, Meter: l.Meter})
	if err != nil {
		t.Fatal(err)
	}
	const connections = 4
	for i := range connections * 10 {
		ticket := cloud.RunTicket{Number: fmt.Sprint("A-", i), TankID: "TK-1", OpeningLevel: 170, ClosingLevel: 50, Start: time.Now(), End: time.Now(), Purchaser: "Acme"}
		body, err := cloud.DefaultWire().EncodeRunTicket(ticket)
		if err != nil {
			t.Fatal(err)
		}
		if a := client.Post(t.Context(), cloud.SaveRunTickets, "", [][]byte{body}, 0, 0); a.Class != cloud.Stored {
			t.Fatal(a)
		}
		if i%10 == 9 {
			client.Close()
		}
	}
	wait(t, "both ends have seen all", func() bool {
		counted, seen := l.Status(time.Now()).Bytes, crossed.Load()
		return counted > seen && counted < seen*3/2
	})
	t.Logf("%d tickets over %d connections: %d bytes crossed, %d are counted", connections*10, connections, crossed.Load(), l.Status(time.Now()).Bytes)
}

// A kill costs seconds of the readings where there is a runtime directory; where there is none the start says what it costs.
func TestReadingsOutliveAKill(t *testing.T) {
	for _, folder := range []string{"", t.TempDir()} {
		t.Setenv("RUNTIME_DIRECTORY", folder)
		d := linkDaemon(t, "http://127.0.0.1:1", "")
		var said bytes.Buffer
		d.log = zerolog.New(&said)
		d.closeReadings()
		d.keepReadings(d.agent.Ledger)
		if warned := strings.Contains(said.String(), "a kill costs the readings of the last ten minutes"); warned != (folder == "") {
			t.Errorf("runtime directory %q: %s", folder, said.String())
		}
		if kept := refugeFile(d.cfg.Store.Path); kept != "" && filepath.Dir(kept) != folder || kept == "" && folder != "" {
			t.Errorf("runtime directory %q: kept in %q", folder, kept)
		}
	}
	os.Unsetenv("RUNTIME_DIRECTORY") // Setenv brings it back
	own := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", own)
	if kept := filepath.Dir(refugeFile(t.TempDir())); kept != own && kept != ownRuntime {
		t.Errorf("a user's own gauger keeps them in %q", kept)
	}
}
