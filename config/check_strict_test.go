package config

import (
	"strings"
	"testing"
	"time"

	"gauger/collectors/modbus"
)

// What earlier versions took gives a configuration that can be worked with; each value is told once, at its line, with
// what takes its place.
func TestWhatOnlyCheckRefuses(t *testing.T) {
	const segments, wire = "  segments: {alpha: vAlpha, beta: vBeta}\n", "  wire: {level_unit: in, batch: {events: 20}}\n"
	for _, m := range []mistake{
		{"no object anywhere", "object: 6f9619ff-8b86-d011-b42d-00c04fc964ff\n", "", 1, "object", "`gauger devices query` shows"},
		{"number limit", wire, "  wire: {number_max: 5}\n", 11, "service.wire.number_max", "works with 12"},
		{"time limit", wire, "  wire: {request_timeout: 99ms}\n", 11, "service.wire.request_timeout", "works with 30s"},
		{"proxy's port", wire, "  wire: {proxy: \"http://127.0.0.1:99999\"}\n", 11, "service.wire.proxy", "nothing leaves"},
		{"half a day", wire, "  wire: {time_layout: \"2006-01-02 03:04:05\"}\n", 11, "service.wire.time_layout", "half of the day"},
		{"segment", segments, "  segments: {alpha: \"..\", beta: vBeta}\n", 10, "service.segments.alpha", "refused, and kept"},
		{"header", wire, "  wire: {headers: {X-A: \"a\\nb\"}}\n", 11, "service.wire.headers", "leaves it out"},
		{"two headers that are one", wire, "  wire: {headers: {X-A: a, x-a: b}}\n", 11, "service.wire.headers", "are one header"},
		{"rate", "tickets: {hold", "link: {rate: 1e-12}\ntickets: {hold", 13, "link.rate", "one an hour"},
		{"hold", "hold: 45m", "hold: 8760h", 13, "tickets.hold", "as long as is written"},
		{"detector", "min_load: 20", "max_rate: 1e300", 14, "loads.max_rate", "works with 10000"},
		{"detector's time", "min_load: 20", "stuck: 8760h", 14, "loads.stuck", "works with 744h"},
		{"time-out", "    timeout: 1s\n", "    timeout: 1us\n", 20, "devices[0].timeout", "works with 1s"},
		{"interval", "    every: 5s\n", "    every: 1ns\n", 19, "devices[0].every", "works with 10ms"},
		{"level in feet with a blank", "time: ts, unit: in", "time: ts, unit: \" ft\"", 53, "tanks[1].level", "no level of it is good"},
		{"level in a mark of feet", "time: ts, unit: in", "time: ts, unit: \"'\"", 53, "tanks[1].level", "no level of it is good"},
		{"event of gauger's own", "rule: High level", "rule: silent", 63, "events[0].rule", "an event of gauger's own"},
		{"feet for inches", "height: 20ft\n    strapping: tk-1001.csv", "height: 20\n    diameter: 12ft", 46, "tanks[0].height", "write 20ft"},
	} {
		t.Run(m.name, func(t *testing.T) {
			cfg := edited(t, m.old, m.new)
			if len(cfg.Strict) != 1 {
				t.Fatalf("%d are told: %v", len(cfg.Strict), cfg.Strict)
			}
			if p := cfg.Strict[0]; p.Line != m.line || p.Path != m.path || !strings.Contains(p.Message, m.say) {
				t.Errorf("got  %v\nwant line %d, %s: ...%s...", p, m.line, m.path, m.say)
			}
		})
	}
}

// What takes the place of such a value is what the configuration has in force.
func TestWhatTakesThePlace(t *testing.T) {
	cfg := edited(t, "  wire: {level_unit: in, batch: {events: 20}}\n", "  wire: {number_max: 5, connect_timeout: 1ns, headers: {X-A: \"a\\nb\", X-B: c}}\n")
	if w := cfg.Service.Wire; w.NumberMax != 12 || w.ConnectTimeout != 10*time.Second || len(w.Headers) != 1 || w.Headers["X-B"] != "c" {
		t.Errorf("%d characters, %s, headers %v; want 12, 10s and X-B: c", w.NumberMax, w.ConnectTimeout, w.Headers)
	}
	if problems := cfg.Service.Wire.Check(); len(problems) > 0 {
		t.Errorf("it has mistakes: %v", problems)
	}
	if got := Options[modbus.Device](edited(t, "    every: 5s\n", "    every: 1ns\n").Devices[0]).Every; got != 10*time.Millisecond {
		t.Errorf("polled every %s", got)
	}
	l := edited(t, "loads: {min_load: 20}", "loads: {min_rate: 2000, max_rate: 1e300}").Loads
	if l.MaxRate <= l.MinRate || l.MaxRate != 1e4 {
		t.Errorf("the detector's settings do not go together any more: %+v", l)
	}
}

// What was refused before is refused, and then the file is no configuration, whatever else is wrong at the same place.
func TestAMistakeIsNoOldCustom(t *testing.T) {
	const two = "  segments: {alpha: vAlpha, beta: vBeta}\n  wire: {level_unit: in, batch: {events: 20}}\n"
	text := strings.Replace(good(t), two, "  segments: {alpha: \"a/%zz\", beta: vBeta}\n  wire: {number_max: 5, headers: {Host: \"a\\nb\"}}\n", 1)
	told := map[string]int{}
	for _, p := range problemsOf(t, text) {
		told[p.Path]++
	}
	for _, path := range []string{"service.segments.alpha", "service.wire.number_max", "service.wire.headers"} {
		if told[path] != 1 {
			t.Errorf("%s is told %d times: %v", path, told[path], told)
		}
	}
}

// A table up to the clouds, and one of numbers so large that a quarter of an inch is nothing, are read in no time.
func TestATableUpToTheClouds(t *testing.T) {
	for _, rows := range []string{"[[0, 0], [240, 402.87], [1e9, 1e9]]", "[[0, 0], [240, 402.87], [1e300, 1e9]]", "[[1e17, 0], [2e17, 402.87]]"} {
		cfg := edited(t, "[[0, 0], [240, 402.87]]", rows)
		if len(cfg.Strict) != 1 || cfg.Strict[0].Path != "tanks[2].height" || float64(cfg.Tanks[2].Height) != cfg.Tanks[2].Table.Top() {
			t.Errorf("%s: %v, the tank is %g in high", rows, cfg.Strict, float64(cfg.Tanks[2].Height))
		}
	}
}

// More tanks than the detector's stored state holds: the first of them work, where none could be stored before.
func TestMoreTanksThanTheStateHolds(t *testing.T) {
	root, flaw := parse([]byte("site: x\n"))
	if flaw != nil {
		t.Fatal(flaw.message)
	}
	cfg := defaultConfig()
	cfg.Tanks = make([]Tank, 5000)
	c := newChecker(&cfg, &decoder{file: "gauger.yaml", last: 1}, root, ".")
	c.mendTankCount()
	if told := c.strictProblems(); len(cfg.Tanks) != 4096 || len(told) != 1 || told[0].Path != "tanks[4096]" {
		t.Errorf("%d tanks, %v", len(cfg.Tanks), told)
	}
}

// A file that was cut off behind `tanks:` starts as before, and is no good one; who has no tanks says so.
func TestAFileThatEndsBehindTheTanksKey(t *testing.T) {
	head, _, _ := strings.Cut(string(Example), "\ntanks:\n")
	for tail, told := range map[string]int{"\ntanks:\n": 1, "\ntanks:   # all are away\n": 1, "\ntanks: []\n": 0, "\n": 0} {
		cfg, err := Parse("gauger.yaml", []byte(head+tail), t.TempDir())
		if err != nil || len(cfg.Tanks) > 0 {
			t.Fatalf("%q: %v", tail, err)
		}
		if n := len(cfg.Strict); n != told || n > 0 && cfg.Strict[0].Path != "tanks" {
			t.Errorf("%q: %v", tail, cfg.Strict)
		}
	}
}
