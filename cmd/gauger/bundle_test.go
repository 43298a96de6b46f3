package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gauger/agent/bundle"
)

// bundleYAML stands below secretsYAML: secrets of brokers and of the page, and one that stands where it must not.
const bundleYAML = `
  tokens: {ann: {file: page-token}}
devices:
  - {name: radio, mqtt: "mqtt://127.0.0.1:1", username: gauger, password: {credential: broker}, points: [{name: level, topic: a, unit: in}]}
`

// newBundleSite has a secret wherever one can stand, and a log that shows each of them in a form of its own.
func newBundleSite(t *testing.T) *secretsSite {
	s := newSecretsSite(t)
	s.values["page"], s.values["broker"] = "pageQ7xw2Zp0tokenK3vJ5m", "brokerT4yR8dLw1passU6n"
	s.values["clear"], s.values["pem"], s.values["stray"] = "clearM9cX3bV7nB1standsHere", "MIIEpemH2gF6dS0aP4oI8uY", "strayE5rT1yU9iO3pA7s"
	s.write("page-token", s.values["page"]+"\n")
	s.write("broker", s.values["broker"]+"\n")
	s.write("client.pem", "-----BEGIN PRIVATE KEY-----\n"+s.values["pem"]+"\n-----END PRIVATE KEY-----\n")
	b, err := os.ReadFile(filepath.Join(s.dir, "gauger.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	at := strings.Index(text, "http: {listen: ")
	line, rest, _ := strings.Cut(text[at:], "\n")
	listen := strings.TrimSuffix(strings.TrimPrefix(line, "http: {listen: "), "}")
	s.write("gauger.yaml", text[:at]+"http:\n  listen: "+listen+bundleYAML+rest)
	var log strings.Builder
	for what, value := range s.values {
		if what == "clear" || what == "stray" {
			continue // the first stands in a file of later, the second is on the box in one place alone
		}
		fmt.Fprintf(&log, "a line about %s: %s, %s, %s\n", what, value, url.QueryEscape("x"+value), base64.StdEncoding.EncodeToString([]byte("ann:"+value)))
	}
	s.write("log", log.String()+"mqtt://someone:"+s.values["stray"]+"@10.0.0.1 and the token="+s.values["stray"]+"\n")
	return s
}

// bundle makes one, searches all of it, and gives its parts by name.
func (s *secretsSite) bundle(when string) map[string]string {
	s.t.Helper()
	file := filepath.Join(s.dir, when+".tgz")
	s.gauger("bundle", "-o", file, "--log", "log", "--trace", "100ms")
	b, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.said.String())
	}
	if len(b) > bundle.MaxBytes {
		s.t.Errorf("%s: %d bytes", when, len(b))
	}
	zip, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string]string{}
	for files := tar.NewReader(zip); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		text, readErr := io.ReadAll(files)
		if err = errors.Join(err, readErr); err != nil {
			s.t.Fatal(err)
		}
		s.search(when+": "+head.Name, text)
		for what, value := range s.values {
			if code := base64.StdEncoding.EncodeToString([]byte("ann:" + value)); bytes.Contains(text, []byte(code[8:24])) {
				s.t.Errorf("%s: %s shows the %s in base64", when, head.Name, what)
			}
		}
		all[filepath.Base(head.Name)] = string(text)
	}
	return all
}

func (s *secretsSite) holds(when string, parts map[string]string, want map[string]string) {
	s.t.Helper()
	for name, text := range want {
		if !strings.Contains(parts[name], text) {
			s.t.Errorf("%s: %s lacks %q:\n%s", when, name, text, parts[name])
		}
	}
}

// TestBundleAnswersSupportAndHoldsNoSecret beside a gauger that runs, one that is frozen, one that is dead, and one with a file that
// nobody can parse.
func TestBundleAnswersSupportAndHoldsNoSecret(t *testing.T) {
	s := newBundleSite(t)
	t.Chdir(s.dir)
	gauger := launch(t, nil, s.program, "run", "-c", "gauger.yaml", "--socket", filepath.Join(s.dir, "s"))
	wait(t, "gauger is at work", func() bool { return strings.Contains(gauger.said(), "gauger is at work") })
	s.gauger("memo", "add", "1", "the key is "+s.values["primary"], "--no-wait")
	s.gauger("memo", "add", "1", "poison "+s.values["token"], "--no-wait")
	s.gauger("keys", "renew", "primary")
	s.holds("running", s.bundle("running"), map[string]string{
		"CONTENTS.txt": "gauger runs and answers", "gauger.yaml": "{credential: broker}", "status.txt": "Test battery", "status.json": `"memos"`,
		"outbox.json": `"memos"`, "audit.json": `"queue"`, "log.txt": "a line about broker: (hidden)", "keys.txt": "primary", "box.txt": "wchan",
		"last-good.yaml": "Test battery", "readings.txt": "radio/level",
	})
	if err := gauger.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.holds("frozen", s.bundle("frozen"), map[string]string{
		"CONTENTS.txt": "it is stopped or hangs", "status.txt": "Test battery", "outbox.json": `"memos"`, "audit.json": `"queue"`, "box.txt": "State:\tT",
	})
	gauger.stop(syscall.SIGKILL)
	s.holds("dead", s.bundle("dead"), map[string]string{"CONTENTS.txt": "no gauger is running", "status.json": `"memos"`, "outbox.txt": "memos",
		"status.txt": "the store in " + filepath.Join(s.dir, "store") + " began"})

	s.write("gauger.yaml", "site: Test battery\nstore: {path: store}\nservice:\n  primary_key: "+s.values["clear"]+"\n  url: \"https://u:"+s.values["clear"]+"@x\"\n")
	s.holds("bad", s.bundle("bad"), map[string]string{"CONTENTS.txt": "with the last good one", "gauger.yaml": "Test battery", "check.txt": "primary_key", "outbox.txt": "memos"})
	s.write("gauger.yaml", "site: [Test battery\nservice:\n  primary_key: |\n    "+s.values["clear"]+"\n  headers: {x: "+s.values["clear"]+"\n")
	s.holds("torn", s.bundle("torn"), map[string]string{"gauger.yaml": "Test battery"})
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "gauger-bundle-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
