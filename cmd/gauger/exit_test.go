package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Whatever ends a command, its message says so in words, and not in those of Go.
func TestACommandThatIsEndedSaysSoInWords(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dir := t.TempDir()
	cfg := strings.NewReplacer("SERVICE", silent.Addr().String(), "DEAD", silent.Addr().String(),
		"KEY", filepath.Join(dir, "key"), "STORE", filepath.Join(dir, "store")).Replace(stopYAML)
	for name, text := range map[string]string{"gauger.yaml": cfg, "key": "some-key\n", "readings.csv": "time,point,value\n2026-03-01T10:00:00Z,plc/level,12\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := "tcp://" + silent.Addr().String()
	for _, args := range [][]string{
		{"scan", url}, {"scan", url, "--trace"}, {"scan", "--format", "json", url}, {"probe", url, "1", "100"}, {"read"}, {"read", "--watch"}, {"read", "--trace"},
		{"discover", "mqtt", "mqtt://" + silent.Addr().String()},
		{"status"}, {"tickets", "list"}, {"tanks", "list"}, {"proof"}, {"book"}, {"outbox", "list"}, {"outbox", "export"},
		{"export", "readings"}, {"backtest", "--readings", filepath.Join(dir, "readings.csv")},
		{"keys", "show"}, {"keys", "renew", "primary"}, {"keys", "set", "primary"}, {"login", "--user", "pat"},
		{"devices", "query"}, {"memo", "add", "1", "text"}, {"events", "get", "alarm", "--start", "2026-03-01", "--end", "2026-03-02"},
	} {
		for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
			ctx, cancel := context.WithCancel(t.Context())
			if wait == 0 {
				cancel()
			} else {
				time.AfterFunc(wait, cancel)
			}
			var out, errs bytes.Buffer
			in, typed := net.Pipe() // a person who does not type
			m := &call{in: in, out: &out, err: &errs, getenv: func(string) string { return "" }}
			status := execute(ctx, m, append(args, "-c", filepath.Join(dir, "gauger.yaml"), "--socket", filepath.Join(dir, "none")))
			cancel()
			typed.Close()
			said := out.String() + errs.String()
			if strings.Contains(said, "context ") || status == exitUsage {
				t.Errorf("%s, ended after %s, status %d:\n%s", strings.Join(args, " "), wait, status, said)
			}
		}
	}
}

// The errors keep what they are beside the words.
func TestWordsForTheEndOfAContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want string
	}{
		{ended, fmt.Errorf("scan tcp://x: %w", context.Canceled), "scan tcp://x: interrupted"},
		{t.Context(), context.Canceled, "stopped before it was done"},
		{t.Context(), fmt.Errorf("ask: %w", context.DeadlineExceeded), "ask: it took longer than its time limit"},
		{ended, usageError{"what?"}, "what?"},
	} {
		got := inWords(c.ctx, c.err)
		if got.Error() != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if status := exitStatus(&call{err: &bytes.Buffer{}}, got); status != exitStatus(&call{err: &bytes.Buffer{}}, c.err) {
			t.Errorf("%q: status %d", got, status)
		}
	}
	if inWords(ended, nil) != nil {
		t.Error("words for nothing")
	}
}
