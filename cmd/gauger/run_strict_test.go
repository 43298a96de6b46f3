package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/ledger"
)

// playedYAML is a site on a recording of one load, with a device of each other kind that does not answer.
const playedYAML = `site: Lived battery
id: LIVED
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service:
  url: http://127.0.0.1:9
  primary_key: {file: key}
  secondary_key: {file: key2}
store: {path: store, max_bytes: 4MiB}
devices:
  - name: rec
    recording: readings.csv
    every: 20s
    points: [{name: t0, unit: in}]
  - name: plc
    modbus: tcp://127.0.0.1:9
    points: [{name: level, holding: 100, type: float32, unit: in}]
  - name: radio
    mqtt: mqtt://127.0.0.1:9
    points: [{name: level, topic: t, unit: in}]
  - name: box
    host: self
    points: [{name: load, read: load_1m}]
tanks:
  - {id: TK-1, level: rec/t0, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}
events:
  - {rule: High level, point: rec/t0, above: 230, note: "at {value} {unit}"}
wells:
  - id: 3fa85f64-5717-4562-b3fc-2c963f66afa6
    tag_values:
      - {code: Production Target Oil, point: rec/t0}
`

// playedSite is a configuration that is run in this process, on a recording of two and a half hours with one load.
type playedSite struct {
	t            *testing.T
	dir, config  string
	mu           sync.Mutex
	log          strings.Builder
	office       *office // where the ticket must arrive; nil: nowhere
	status       control.Status
	asked, ended error
}

// Write takes the log.
func (l *playedSite) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(b)
}

func (l *playedSite) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}

func newPlayedSite(t *testing.T, text string) *playedSite {
	t.Helper()
	dir := t.TempDir()
	l := &playedSite{t: t, dir: dir, config: filepath.Join(dir, "gauger.yaml")}
	l.write("gauger.yaml", text)
	l.write("key", primaryKey)
	l.write("key2", secondaryKey)
	one := scenario{every: 20, noise: 0.05, inflow: 0.1, draws: []haul{{0, 2400, 160, 8, nil}}, hours: 2.5}
	rows := &strings.Builder{}
	fmt.Fprintln(rows, "ts,mono_s,boot,point,value,quality")
	one.tanks = 1
	one.play(rows, rand.New(rand.NewPCG(3, 7)))
	l.write("readings.csv", rows.String())
	return l
}

func (l *playedSite) write(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// main is a call of the program whose every word goes to the log.
func (l *playedSite) main() *call {
	return &call{in: strings.NewReader(""), out: l, err: l, getenv: func(string) string { return "" }}
}

// check calls gauger check: what it says of the file, and its exit status.
func (l *playedSite) check() (said string, status int) {
	out := &strings.Builder{}
	m := &call{in: strings.NewReader(""), out: io.Discard, err: out, getenv: os.Getenv}
	status = execute(l.t.Context(), m, []string{"check", "-c", l.config, "--allow-slow"})
	return out.String(), status
}

// run lets the site work until the recording has been played, asks for its status, and stops it.
func (l *playedSite) run() {
	l.t.Helper()
	l.mu.Lock()
	l.log.Reset()
	l.mu.Unlock()
	ctx, stop := context.WithCancel(l.t.Context())
	defer stop()
	socket := filepath.Join(l.dir, "s")
	ended := make(chan error, 1)
	root := newRoot(l.main())
	root.SetArgs([]string{"run", "-c", l.config, "--socket", socket})
	go func() { ended <- root.ExecuteContext(ctx) }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(time.Minute); ; <-tick.C {
		select {
		case l.ended = <-ended:
			l.asked = errors.New("it had ended by itself")
			return
		default:
		}
		if played := l.said(); strings.Contains(played, "the recording has been played") || strings.Contains(played, `"device":"rec"`) || time.Now().After(limit) {
			break
		}
	}
	for limit := time.Now().Add(10 * time.Second); !l.delivered() && time.Now().Before(limit); <-tick.C {
	}
	l.status, l.asked = statusAt(ctx, socket)
	stop()
	l.ended = <-ended
}

// delivered says that a ticket which was queued is where it must arrive.
func (l *playedSite) delivered() bool {
	return l.office == nil || !strings.Contains(l.said(), "ticket queued") || len(l.office.store.Tickets()) == 1
}

// statusAt asks the daemon on a socket.
func statusAt(ctx context.Context, socket string) (s control.Status, err error) {
	client, err := console.Dial(socket)
	if err == nil {
		err = client.Call(ctx, "status", nil, &s)
	}
	return s, err
}

// wrong names what a run must not leave behind: an end of its own, a tank without a level, something that could not be
// stored. ticket: the load of the recording must have become one.
func (l *playedSite) wrong(ticket bool) string {
	said := l.said()
	switch {
	case l.ended != nil || l.asked != nil:
		return fmt.Sprintf("it ended with %v, and status said %v", l.ended, l.asked)
	case !strings.Contains(said, "the recording has been played"):
		return "the recording was not played"
	case strings.Contains(said, "cannot be stored") || strings.Contains(said, "storing what the clock changed") || strings.Contains(said, "could not be stored"):
		return "something could not be stored"
	case ticket && !strings.Contains(said, "ticket queued"):
		return "the load made no ticket"
	case !l.delivered():
		return fmt.Sprintf("the ticket does not leave: %s", l.status.Drains[ledger.Tickets].Why)
	case ticket && (len(l.status.Tanks) == 0 || l.status.Tanks[0].Level == nil):
		return "the tank has no level"
	}
	return ""
}

// oddity is a value that earlier versions took.
type oddity struct {
	name, old, new string
	path           string // of what check refuses
	ticket         bool   // the load makes its ticket all the same
}

var oddities = []oddity{
	{"a number limit that no number fits", "http://127.0.0.1:9\n", "http://127.0.0.1:9\n  wire: {number_max: 5}\n", "service.wire.number_max", true},
	{"a well's id that no request takes", "id: 3fa85f64-5717-4562-b3fc-2c963f66afa6", "id: " + strings.Repeat("w", 300), "wells[0].id", true},
	{"a value's name under which nothing can be stored", "code: Production Target Oil", "code: &c " + strings.Repeat("c", 600), "wells[0].tag_values[0].code", true},
	{"a tank's id that is longer than any", "id: TK-1", "id: " + strings.Repeat("t", 700), "tanks[0].id", true},
	{"a device's name that is longer than any", "name: plc", "name: " + strings.Repeat("d", 700), "devices[1].name", true},
	{"a header's name in two lines", "http://127.0.0.1:9\n", "http://127.0.0.1:9\n  wire: {headers: {\"X-A\\r\\nX-B\": c}}\n", "service.wire.headers", true},
	{"a header's value in two lines", "http://127.0.0.1:9\n", "http://127.0.0.1:9\n  wire: {headers: {X-A: \"b\\r\\nX-B: c\"}}\n", "service.wire.headers", true},
	{"segments that are none", "http://127.0.0.1:9\n", "http://127.0.0.1:9\n  segments: {alpha: \"%zz\", beta: \"..\"}\n", "service.segments.alpha", true},
	{"a port that is none", "http://127.0.0.1:9\n", "http://127.0.0.1:99999\n", "service.url", true},
	{"a broker's port that is none", "mqtt://127.0.0.1:9", "mqtt://127.0.0.1:99999", "devices[2].mqtt", true},
	{"a proxy that would show the key", "http://127.0.0.1:9\n", "http://127.0.0.1:9\n  wire: {proxy: \"http://127.0.0.1:8\"}\n", "service.wire.proxy", true},
	{"a time limit of a nanosecond", "http://127.0.0.1:9\n", "http://127.0.0.1:9\n  wire: {request_timeout: 1ns}\n", "service.wire.request_timeout", true},
	{"a device's time limit of a nanosecond", "modbus: tcp://127.0.0.1:9\n", "modbus: tcp://127.0.0.1:9\n    timeout: 1ns\n", "devices[1].timeout", true},
	{"an interval of a nanosecond", "host: self\n", "host: self\n    every: 1ns\n", "devices[3].every", true},
	{"a rate of nothing", "devices:\n", "link: {rate: 1e-12}\ndevices:\n", "link.rate", true},
	{"a height in feet without its unit", "height: 20ft", "height: 20", "tanks[0].height", true},
	{"a strapping table up to the clouds", "[240, 480]]", "[240, 480], [1e9, 1e9]]", "tanks[0].height", false},
	{"an unheard-of number of days", "devices:\n", "recorder: {days: 9000000000}\ndevices:\n", "recorder.days", true},
	{"a rate of the detector beyond all numbers", "devices:\n", "loads: {max_rate: 1e300, min_rate: 20}\ndevices:\n", "loads.max_rate", false},
	{"silence after a nanosecond", "topic: t,", "topic: t, expect_every: 1ns,", "devices[2].points[0].expect_every", true},
	{"a folder in the place of the authorities", "http://127.0.0.1:9\n", "http://127.0.0.1:9\n  ca_file: .\n", "service.ca_file", true},
	{"a name in two lines", "site: Lived battery", "site: \"Lived\\nSTOPPING=1\"", "site", true},
}

// edited is the site with one value changed.
func (o oddity) edited(t *testing.T) string {
	t.Helper()
	if !strings.Contains(playedYAML, o.old) {
		t.Fatalf("the site has no %q", o.old)
	}
	text := strings.Replace(playedYAML, o.old, o.new, 1)
	if strings.HasPrefix(o.new, "code: &c") { // the code must be one of the service's
		text = strings.Replace(text, "secondary_key: {file: key2}", "secondary_key: {file: key2}\n  wire: {codes: ["+strings.Repeat("c", 600)+"]}", 1)
	}
	return text
}

// What an earlier version took starts in run as before, is said there, and only check refuses it. The last good copy of it
// says the same, and starts.
func TestWhatAnEarlierVersionTookStarts(t *testing.T) {
	for _, o := range oddities {
		t.Run(o.name, func(t *testing.T) {
			l := newPlayedSite(t, o.edited(t))
			l.refusedAndStarted(o)
			l.write("gauger.yaml", o.edited(t)+"\nnonsense: 1\n")
			if err := os.Remove(filepath.Join(l.dir, "store", "outbox.db")); err != nil {
				t.Fatal(err)
			}
			l.started(o, "last-good.yaml")
		})
	}
}

// A site whose device nobody knows yet is refused by check, which says where the GUID is found; its tickets are made and its levels read.
func TestASiteWithoutItsObjectMakesTickets(t *testing.T) {
	l := newPlayedSite(t, strings.Replace(playedYAML, "object: 6f9619ff-8b86-d011-b42d-00c04fc964ff\n", "", 1))
	if said, status := l.check(); status != exitConfig || !strings.Contains(said, ": object: missing") || !strings.Contains(said, "`gauger devices query` shows") {
		t.Errorf("check ended with %d and said:\n%s", status, said)
	}
	l.run()
	if wrong := l.wrong(true); wrong != "" {
		t.Errorf("%s:\n%s", wrong, l.said())
	}
	if problems := strings.Join(l.status.Problems, "\n"); !strings.Contains(problems, "object: missing") {
		t.Errorf("status says nothing of it:\n%s", problems)
	}
}

// A strapping file that is gone is one mistake of the configuration; the last good one has the table in it, and loads go on
// becoming tickets.
func TestTheLastGoodConfigurationHoldsItsTables(t *testing.T) {
	l := newPlayedSite(t, strings.Replace(playedYAML, "[[0, 0], [240, 480]]", "tk1.csv", 1))
	l.write("tk1.csv", "height,barrels\n0,0\n20ft,480\n")
	l.run()
	if wrong := l.wrong(true); wrong != "" {
		t.Fatalf("with the table: %s:\n%s", wrong, l.said())
	}
	for _, name := range []string{"tk1.csv", "store/outbox.db"} {
		if err := os.Remove(filepath.Join(l.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, start := range []string{"first", "second"} {
		l.run()
		if wrong := l.wrong(start == "first"); wrong != "" {
			t.Errorf("%s start without the table: %s:\n%s", start, wrong, l.said())
		}
		if said := strings.Join(l.status.Problems, "\n"); !strings.Contains(said, "tk1.csv") || !strings.Contains(said, "the last good one is at work") {
			t.Errorf("%s start: status does not name the file:\n%s", start, said)
		}
	}
}

// refusedAndStarted looks at both verdicts on the file.
func (l *playedSite) refusedAndStarted(o oddity) {
	l.t.Helper()
	said, status := l.check()
	if status != exitConfig || !strings.Contains(said, ": "+o.path+": ") {
		l.t.Errorf("check ended with %d and said of %s:\n%s", status, o.path, said)
	}
	l.started(o, "gauger.yaml")
}

// started runs the site, and looks for what it says of the value in its log and its status.
func (l *playedSite) started(o oddity, file string) {
	l.t.Helper()
	l.run()
	if wrong := l.wrong(o.ticket); wrong != "" {
		l.t.Errorf("%s: %s:\n%s", file, wrong, l.said())
	}
	problems := strings.Join(l.status.Problems, "\n")
	for place, text := range map[string]string{"log": l.said(), "status": problems} {
		if !strings.Contains(text, o.path+": ") || !strings.Contains(text, file+":") {
			l.t.Errorf("%s: the %s says nothing of %s:\n%s", file, place, o.path, text)
		}
	}
	if !strings.Contains(l.said(), `"rule":"config-changed"`) {
		l.t.Errorf("%s: no event tells of %s", file, o.path)
	}
}
