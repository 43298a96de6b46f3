package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mixedTopics as brokers at wells hold them, with the values that a person sees there.
var mixedTopics = []struct {
	topic, payload string
	values         []string
}{
	{"field/tk1", "118.25", []string{"118.25"}},
	{"field/tk5", `{"level":{"in":118.2,"ft":9.85},"ts":TS000,"q":"good"}`, []string{"9.85", "118.2"}},
	{"field/tk3", `{"Time":"DATE","SENSOR":{"Level":77.1,"Temp":"60.2"}}`, []string{"77.1", "60.2"}},
	{"v1/gateway/telemetry", `{"Device A":[{"ts":TS000,"values":{"level":42}}]}`, []string{"42"}},
	{"v1/devices/me/telemetry", `{"ts":TS000,"values":{"level":44.5}}`, []string{"44.5"}},
	{"list/x", `[{"ts":TS,"v":1.5},{"ts":TS,"v":2.5}]`, []string{"1.5", "2.5"}},
	{"pump/1", "on", []string{"1"}},
	{"odd names/{a},b: x", "5", []string{"5"}},
	{"text/only", "hello # world", nil},
	{"bin/x", "\x01\x02\xff", nil},
	{"lines/x", "1\n- {name: trap}", nil},
	{"a.b/c", `{"a.b":3,"x y":4,"":6,"q\"q":7}`, []string{"6", "3", "7", "4"}},
	{"deep/1", `{"a":{"b":{"c":{"d":8.5}}}}`, []string{"8.5"}},
	{"null/1", `{"level":null}`, nil},
	{"empty/1", `{}`, nil},
	{"flag/1", `{"open":false}`, []string{"0"}},
	{"s/1/level", "11", []string{"11"}},
	{"t/1/level", "12", []string{"12"}},
	{"z/s/1/level", "13", []string{"13"}},
	{"öl/stand", "14", []string{"14"}},
	{"spBv1.0/Lease/NBIRTH/Edge", "\x12\x1b\x0a\x0cTank 1/Level\x10\x01\x20\x0a\x69\x00\x00\x00\x00\x00\x20\x56\x40\x18\x00", []string{"88.5"}},
	{"count/ts", `{"ts":17,"n":18}`, []string{"18", "17"}},
}

// TestDiscoveredLinesAreAConfiguration: what discover prints is accepted by check, and read reads with it what is there.
func TestDiscoveredLinesAreAConfiguration(t *testing.T) {
	s, err := newTestSite()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	g, err := newGateway(s.broker)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- keepPublishing(ctx, g) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	dir := t.TempDir()
	gauger := func(args ...string) (status int, out string) {
		var buffer, other bytes.Buffer
		m := &call{in: strings.NewReader(""), out: &buffer, err: &other, getenv: func(string) string { return "" }}
		status = execute(t.Context(), m, append(args, "-c", filepath.Join(dir, "gauger.yaml"), "--socket", filepath.Join(dir, "none")))
		if status != exitDone {
			t.Errorf("gauger %s: status %d\n%s%s", strings.Join(args, " "), status, buffer.String(), other.String())
		}
		return status, buffer.String()
	}
	_, found := gauger("discover", "mqtt", "mqtt://"+s.broker, "--for", "700ms")
	head, _, _ := strings.Cut(siteYAML, "devices:\n")
	text := strings.ReplaceAll(head, "SERVICE", s.address) + found
	if err := os.WriteFile(filepath.Join(dir, "gauger.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	gauger("check")
	_, read := gauger("read", "--format", "json")
	got := map[string]int{}
	for line := range strings.Lines(read) {
		var r struct{ Value json.Number }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		got[r.Value.String()]++
	}
	delete(got, "55.5") // the broker of every test site keeps this one
	n := 0
	for _, topic := range mixedTopics {
		if !strings.Contains(found, "# "+topic.topic+": ") {
			t.Errorf("nothing is said of %s", topic.topic)
		}
		for _, v := range topic.values {
			if n++; got[v] != 1 {
				t.Errorf("%s: the value %s was read %d times, want once", topic.topic, v, got[v])
			}
		}
	}
	if len(got) != n {
		t.Errorf("%d different values were read, want %d: %v", len(got), n, got)
	}
	if t.Failed() {
		t.Log(found)
	}
}

// keepPublishing sends every message again and again.
func keepPublishing(ctx context.Context, g *gateway) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		now := time.Now()
		fill := strings.NewReplacer("TS", fmt.Sprint(now.Unix()), "DATE", now.UTC().Format(time.RFC3339))
		for _, m := range mixedTopics {
			if err := g.publish(m.topic, fill.Replace(m.payload)); err != nil {
				return fmt.Errorf("publish on %s: %w", m.topic, err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
