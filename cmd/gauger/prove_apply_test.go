package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/apply"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/eventrules"
	stretches "gauger/deploy/proof"
)

// changedSite is a running agent with two tanks and a number of each reading that is a record.
const changedSiteYAML = `site: Changed battery
id: CHANGED
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service:
  url: http://SERVICE
  primary_key: {file: key}
  secondary_key: {file: key2}
store: {path: store, max_bytes: 2MiB}
recorder: {max_bytes: 1MiB}
link: {rate: off}
log: {level: error}
devices:
  - name: plc
    modbus: tcp://PLC-1
    every: 1s
    timeout: 20s
    retries: 0
    points:
      - {name: level, holding: 100, type: float32, unit: in, range: [0, 240]}
      - {name: number, holding: 102, type: int32}
  - name: twin
    modbus: tcp://PLC-2
    every: 1s
    timeout: 20s
    retries: 0
    points:
      - {name: level, holding: 100, type: float32, unit: in, range: [0, 240]}
      - {name: number, holding: 102, type: int32}
tanks:
  - {id: TK-1, level: plc/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}
  - {id: TK-2, level: twin/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}
wells:
  - {id: 3fa85f64-5717-4562-b3fc-2c963f66afa6, tag_values: [{code: Production Target Oil, point: plc/number, every: 0s}]}
  - {id: 3fa85f64-5717-4562-b3fc-2c963f66afa7, tag_values: [{code: Production Target Oil, point: twin/number, every: 0s}]}
`

// badFiles are what people get wrong: what is replaced, by what.
var badFiles = []struct{ name, old, new string }{
	{"wrong port", "tcp://PLC-1", "tcp://127.0.0.1:1"},
	{"wrong port of the other", "tcp://PLC-2", "tcp://127.0.0.1:2"},
	{"wrong address", "tcp://PLC-1", "tcp://127.0.0.99:502"},
	{"unknown name", "tcp://PLC-1", "tcp://no-such-plc.invalid"},
	{"wrong framing", "tcp://PLC-1", "rtu+tcp://PLC-1"},
	{"wrong framing, ASCII", "tcp://PLC-1", "ascii+tcp://PLC-1"},
	{"TLS where there is none", "tcp://PLC-1", "tls://PLC-1"},
	{"words swapped", "type: float32, unit: in", "type: float32, order: CDAB, unit: in"},
	{"bytes swapped", "type: float32, unit: in", "type: float32, order: BADC, unit: in"},
	{"words and bytes swapped", "type: float32, unit: in", "type: float32, order: DCBA, unit: in"},
	{"half a number", "type: float32, unit: in", "type: int16, unit: in"},
	{"an integer", "type: float32, unit: in", "type: int32, unit: in"},
	{"a longer number", "type: float32, unit: in", "type: float64, unit: in"},
	{"one register on", "holding: 100, type: float32", "holding: 101, type: float32"},
	{"one register back", "holding: 100, type: float32", "holding: 99, type: float32"},
	{"another number", "holding: 100, type: float32", "holding: 102, type: float32"},
	{"a register that is not there", "holding: 100, type: float32", "holding: 500, type: float32"},
	{"another table", "holding: 100, type: float32", "input: 100, type: float32"},
	{"feet", "type: float32, unit: in", "type: float32, unit: ft"},
	{"metres", "type: float32, unit: in", "type: float32, unit: m"},
	{"centimetres", "type: float32, unit: in", "type: float32, unit: cm"},
	{"percent", "type: float32, unit: in", "type: float32, unit: percent"},
	{"scaled up", "type: float32, unit: in", "type: float32, scale: 10, unit: in"},
	{"scaled down", "type: float32, unit: in", "type: float32, scale: 0.1, unit: in"},
	{"a point's offset", "type: float32, unit: in", "type: float32, offset: 12, unit: in"},
	{"a foot too high", "level: plc/level,", "level: plc/level, offset: 1ft,"},
	{"a foot too low", "level: twin/level,", "level: twin/level, offset: -1ft,"},
	{"tanks swapped", "level: plc/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}\n  - {id: TK-2, level: twin/level", "level: twin/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}\n  - {id: TK-2, level: plc/level"},
	{"one gauge for two tanks", "level: twin/level", "level: plc/level"},
	{"a lower tank", "level: plc/level, height: 20ft, strapping: [[0, 0], [240, 480]]", "level: plc/level, height: 10ft, strapping: [[0, 0], [120, 240]]"},
	{"a range too small", "unit: in, range: [0, 240]", "unit: in, range: [0, 100]"},
	{"a mark of bad values that is none", "unit: in, range: [0, 240]", "unit: in, bad: [152]"},
	{"the service's port", "url: http://SERVICE", "url: http://127.0.0.1:3"},
	{"the service's segments", "  primary_key:", "  segments: {alpha: vGamma, beta: vDelta}\n  primary_key:"},
	{"a key's place", "primary_key: {file: key}", "primary_key: {file: keys/primary}"},
	{"the other key's place", "secondary_key: {file: key2}", "secondary_key: {file: keys/secondary}"},
	{"authorities' place", "  primary_key:", "  ca_file: nowhere.pem\n  primary_key:"},
	{"a login's place", "  primary_key:", "  login: {user: ann, password_hash: {file: nowhere}}\n  primary_key:"},
	{"a line too slow", "modbus: tcp://PLC-1\n    every: 1s", "modbus: rtu+tcp://PLC-1?baud=300\n    every: 100ms"},
	{"a device too many for the line", "    modbus: tcp://PLC-2\n    every: 1s", "    modbus: tcp://PLC-1?pause=900ms\n    unit: 2\n    every: 1s"},
	{"a key that does not exist", "purchaser: Acme Crude}\n  - {id: TK-2", "buyer: Acme Crude}\n  - {id: TK-2"},
	{"a tank twice", "id: TK-2", "id: TK-1"},
	{"another store", "path: store", "path: elsewhere"},
	{"a faster clock", "log: {level: error}", "loads: {speed: 10}"},
}

// changedSite is one of them.
type changedSite struct {
	dir, socket, text string
	plcs              [2]*numbers
	office            *cloudtest.Service
	server            *httptest.Server
	stop              context.CancelFunc
	ended             chan error
}

func startChangedSite(dir, yaml string, still ...float64) (*changedSite, error) {
	s := &changedSite{dir: dir, socket: filepath.Join(dir, "s"), ended: make(chan error, 1), office: &cloudtest.Service{PrimaryKey: primaryKey, SecondaryKey: secondaryKey}}
	s.server = httptest.NewServer(s.office)
	for i := range s.plcs {
		var err error
		if s.plcs[i], err = newNumbers(); err != nil {
			return nil, err
		}
		if i < len(still) {
			s.plcs[i].still = still[i]
		} else {
			s.plcs[i].speed = keysSpeed
		}
	}
	s.text = strings.NewReplacer("SERVICE", s.server.Listener.Addr().String(), "PLC-1", s.plcs[0].Addr().String(), "PLC-2", s.plcs[1].Addr().String()).Replace(yaml)
	for name, text := range map[string]string{"gauger.yaml": s.text, "key": primaryKey, "key2": secondaryKey} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	c := &call{in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: func(string) string { return "" }, config: filepath.Join(dir, "gauger.yaml"), socket: s.socket, format: "text"}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	v, book, err := chooseConfig(c, c.config, true)
	if err != nil {
		return nil, err
	}
	go func() { s.ended <- runSite(ctx, c, v, book, zerolog.Nop()) }()
	return s, nil
}

// ask asks the agent, and again while it changes its configuration.
func (s *changedSite) ask(name string, args, result any) error {
	for deadline := time.Now().Add(2 * time.Minute); ; {
		gauger, err := console.Dial(s.socket)
		if err == nil {
			return gauger.Call(context.Background(), name, args, result)
		}
		if time.Now().After(deadline) {
			return err
		}
		<-time.After(20 * time.Millisecond)
	}
}

// until asks for something until it is so.
func (s *changedSite) until(what string, within time.Duration, so func() bool) error {
	for deadline := time.Now().Add(within); !so(); {
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s in vain: %s", within, what)
		}
		<-time.After(max(100*time.Millisecond, within/300)) // a hundred sites that all look ten times a second leave no time to work
	}
	return nil
}

func (s *changedSite) status() (st control.Status) {
	_ = s.ask("status", control.None{}, &st) // the next look tells
	return st
}

func (s *changedSite) good() bool {
	st := s.status()
	return len(st.Tanks) == 2 && st.Tanks[0].Level != nil && st.Tanks[1].Level != nil
}

// trial is the newest that is over, of so many.
func (s *changedSite) trial(n int) (t apply.Trial, ok bool) {
	var state applyState
	if s.ask("apply.show", control.None{}, &state) != nil || state.Now != nil || len(state.Past) < n {
		return t, false
	}
	return state.Past[n-1], true
}

// account closes the site, and says which records are missing at the service: each number that the agent went on after is there once.
func (s *changedSite) account() error {
	for _, p := range s.plcs {
		p.hangUp()
	}
	err := s.until("everything has left", 2*time.Minute, func() bool {
		st := s.status()
		return st.Daemon && st.Waiting() == 0 // no answer is no status
	})
	st := s.status()
	for name, c := range st.Streams {
		if !c.Balanced() || c.Dead+c.Evicted+c.Dropped+c.Lost > 0 {
			err = errors.Join(err, fmt.Errorf("%s: %+v", name, c))
		}
	}
	there := map[string]map[int64]int{}
	for _, v := range s.office.TagValues() {
		if there[v.ObjectID] == nil {
			there[v.ObjectID] = map[int64]int{}
		}
		there[v.ObjectID][v.Value]++
	}
	for i, well := range []string{"3fa85f64-5717-4562-b3fc-2c963f66afa6", "3fa85f64-5717-4562-b3fc-2c963f66afa7"} {
		for number := range s.plcs[i].acked {
			if n := there[well][number]; n != 1 {
				err = errors.Join(err, fmt.Errorf("number %d of PLC %d is %d times at the service", number, i+1, n))
			}
		}
	}
	if d := s.office.Duplicates(); len(d) > 0 {
		err = errors.Join(err, fmt.Errorf("tickets twice: %s", d))
	}
	return err
}

func (s *changedSite) close() error {
	s.stop()
	err := <-s.ended
	s.server.Close()
	return errors.Join(err, s.plcs[0].Close(), s.plcs[1].Close())
}

// TestProveApply gives each of N running agents one of the files that people get wrong: the one before is back within a fifth more than the
// watch, nothing is lost, no ticket is made, and the failure is on record and at the service. GAUGER_WATCH is the watch, 5m in the long form.
func TestProveApply(t *testing.T) {
	s := stretches.Of(t, 4)
	watch := time.Minute
	if s.Long {
		watch = usualWatch
	}
	if given := os.Getenv("GAUGER_WATCH"); given != "" {
		var err error
		if watch, err = time.ParseDuration(given); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	outcomes, slowest, records := map[string]int{}, time.Duration(0), 0
	for i := range s.Cases() {
		dir := t.TempDir()
		all.Go(func() {
			bad := badFiles[i%len(badFiles)]
			end, took, n, err := proveBadFile(dir, bad.old, bad.new, watch)
			mu.Lock()
			defer mu.Unlock()
			if outcomes[end.Outcome]++; err != nil {
				t.Errorf("case %d, %s: %v (%s: %s)", i, bad.name, err, end.Outcome, strings.Join(end.Reasons, "; "))
			}
			slowest, records = max(slowest, took), records+n
		})
	}
	all.Wait()
	zerolog.SetGlobalLevel(zerolog.TraceLevel)
	s.Tell(t, "%d went back, %d were refused; a watch of %s, the slowest was back after %s; %d records, none lost", outcomes[apply.Back], outcomes[apply.Refused], watch, slowest.Round(time.Second/10), records)
}

// startOfSites lets few sites start at a time: a hundred that start at once on two cores are no site's life.
var startOfSites = make(chan struct{}, 8)

func proveBadFile(dir, old, new string, watch time.Duration) (end apply.Trial, took time.Duration, records int, err error) {
	startOfSites <- struct{}{}
	s, err := startChangedSite(dir, changedSiteYAML, 152, 77)
	if err == nil {
		defer func() { err = errors.Join(err, s.close()) }()
		err = s.until("both tanks have levels", 3*time.Minute, s.good)
	}
	<-startOfSites
	if err != nil {
		return end, 0, 0, err
	}
	address := strings.NewReplacer("SERVICE", s.server.Listener.Addr().String(), "PLC-1", s.plcs[0].Addr().String(), "PLC-2", s.plcs[1].Addr().String())
	text := strings.Replace(s.text, address.Replace(old), address.Replace(new), 1)
	if text == s.text {
		return end, 0, 0, fmt.Errorf("there is no %q", old)
	}
	var before applyState
	if err := s.ask("apply.show", control.None{}, &before); err != nil {
		return end, 0, 0, err
	}
	began := time.Now()
	var plan applyPlan
	asked := s.ask("apply.load", applyOrder{Text: []byte(text), URL: "bad.yaml", Watch: watch}, &plan) // one with mistakes is answered with them
	var after applyState
	err = s.until("the trial is over and the tanks are read", watch*6/5, func() bool {
		var over bool
		end, over = s.trial(1)
		return over && s.ask("apply.show", control.None{}, &after) == nil && after.Hash == before.Hash && s.good()
	})
	took = time.Since(began)
	switch {
	case after.Hash != before.Hash:
		err = errors.Join(err, errors.New("the one before is not at work"))
	case end.Outcome == apply.Refused && asked == nil && len(plan.Refused) == 0, end.Outcome != apply.Refused && end.Outcome != apply.Back, len(end.Reasons) == 0, end.Kept == "":
		err = errors.Join(err, fmt.Errorf("the record is %+v", end))
	}
	err = errors.Join(err, s.until("the event is at the service", time.Minute, func() bool { return slices.Contains(rulesAt(s.office), eventrules.ConfigFailed) }), s.account())
	if n := len(s.office.Tickets()); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d tickets of no load", n))
	}
	return end, took, len(s.plcs[0].acked) + len(s.plcs[1].acked), err
}
