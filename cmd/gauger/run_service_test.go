package main

import (
	"encoding/pem"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gauger/agent/cloud/cloudtest"
	"gauger/config"
)

// The site is read and its ticket is queued while nothing of the service's settings can be used: no authorities, no key,
// no secret of the login. Each is said in log and status. When they are there a reload lets everything leave, and an event
// tells of each.
func TestTheSiteIsReadWhateverTheServiceLacks(t *testing.T) {
	for name, broken := range map[string]string{"missing": "", "broken": "no certificate\n"} {
		t.Run(name, func(t *testing.T) { readWithout(t, broken) })
	}
}

func readWithout(t *testing.T, broken string) {
	store := &cloudtest.Service{PrimaryKey: primaryKey, SecondaryKey: secondaryKey}
	service := httptest.NewTLSServer(store)
	t.Cleanup(service.Close)
	settings := service.URL + "\n  ca_file: ca.pem\n  login: {user: ann, password_hash: {file: hash}, subscription_key: {file: key}}\n"
	text := strings.Replace(playedYAML, "http://127.0.0.1:9\n", settings, 1)
	l := newPlayedSite(t, strings.Replace(text, "devices:\n", "link: {rate: off}\ndevices:\n", 1))
	l.remove("key", "key2")
	if broken != "" {
		l.write("ca.pem", broken)
	}
	program, err := exec.LookPath("gauger") // this test binary, by the name under which it is gauger
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(l.dir, "s")
	p := launch(t, nil, program, "run", "-c", l.config, "--socket", socket)
	wait(t, "the load is a ticket", func() bool { return strings.Contains(p.said(), "ticket queued") || ended(p) })
	s, err := statusAt(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Streams["tickets"].Waiting; n != 1 {
		t.Errorf("%d tickets wait, want 1", n)
	}
	if why := s.Drains["tickets"].Why; !strings.Contains(why, "ca_file") {
		t.Errorf("the ticket waits because %q", why)
	}
	problems := strings.Join(s.Problems, "\n")
	for _, key := range []string{"ca_file", "primary_key", "secondary_key", "login"} {
		if !strings.Contains(problems, "service-settings: service "+key+" since") || !strings.Contains(p.said(), `"key":"service.`+key+`"`) {
			t.Errorf("nothing is said of %s:\n%s", key, problems)
		}
	}
	l.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: service.Certificate().Raw})))
	l.write("key", primaryKey)
	l.write("key2", secondaryKey)
	l.write("hash", "hash-of-ann")
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	wait(t, "the ticket and what was lacking are at the service", func() bool {
		return len(store.Tickets()) == 1 && strings.Count(fmt.Sprint(rulesAt(store)), "service-settings") >= 4
	})
	if s, err = statusAt(t.Context(), socket); err != nil || strings.Contains(strings.Join(s.Problems, "\n"), "service-settings") {
		t.Errorf("%v, and status still says %q", err, s.Problems)
	}
	p.stop(syscall.SIGTERM)
}

func (l *playedSite) remove(names ...string) {
	l.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(l.dir, name)); err != nil {
			l.t.Fatal(err)
		}
	}
}

// rulesAt are the rules of the events that the service has.
func rulesAt(store *cloudtest.Service) (rules []string) {
	for _, e := range store.Events() {
		rules = append(rules, e.RuleName)
	}
	return rules
}

// ended says that a program is over.
func ended(p *process) bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// What was lacking is found by looking again, without anybody's word; what is lacking still is not told twice.
func TestWhatIsLackingIsLookedForAgain(t *testing.T) {
	l := newPlayedSite(t, strings.Replace(playedYAML, "secondary_key: {file: key2}", "secondary_key: {file: key2}\n  ca_file: ca.pem\n  login: {user: ann, token: {file: token}}", 1))
	l.remove("key")
	cfg, err := config.Load(l.config)
	if err != nil {
		t.Fatal(err)
	}
	d, err := assemble(cfg, newLogger(l.main(), "info"), openOnce)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	look := func(want ...string) {
		t.Helper()
		d.retryLacking(t.Context(), false)
		if got := slices.Sorted(maps.Keys(d.lacking)); !slices.Equal(got, want) {
			t.Errorf("%v is lacking, want %v", got, want)
		}
		s, err := d.server.Status()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(strings.Join(s.Problems, "\n"), "service-settings"); n != len(want) {
			t.Errorf("status tells of %d, want %d: %q", n, len(want), s.Problems)
		}
	}
	look("ca_file", "login", "primary_key")
	look("ca_file", "login", "primary_key")
	if n := strings.Count(l.said(), "the site is read and queued without it"); n != 3 {
		t.Errorf("the log tells of it %d times, want 3:\n%s", n, l.said())
	}
	l.write("key", primaryKey)
	l.write("token", "one-token")
	look("ca_file")
	if got := d.client.Login(); got.Token != "one-token" {
		t.Error("the login was not taken")
	}
	if keys := d.client.Keys().Status(); len(keys) != 2 {
		t.Errorf("the ring has %d keys, want the one that was there and the one that came", len(keys))
	}
	if err := os.Remove(filepath.Join(l.dir, "token")); err != nil {
		t.Fatal(err)
	}
	look("ca_file", "login")
	if got := d.client.Login(); got.Token != "one-token" {
		t.Error("a login that was read once is forgotten while its file is away")
	}
}
