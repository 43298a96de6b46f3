package config

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
)

// edited parses good.yaml after one edit, which must still load.
func edited(t *testing.T, old, new string) *Config {
	t.Helper()
	base := good(t)
	if !strings.Contains(base, old) {
		t.Fatalf("good.yaml does not hold %q", old)
	}
	cfg, err := Parse("gauger.yaml", []byte(strings.Replace(base, old, new, 1)), "testdata")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestDoubtfulThingsAreWarnings(t *testing.T) {
	for _, w := range []mistake{
		{"no time zone", "time_zone: America/Chicago\n", "", 1, "time_zone", "the box's own zone"},
		{"no second key", "  secondary_key: {file: /etc/gauger/secondary-key}\n", "", 7, "service.secondary_key", "add the second one"},
		{"login without a key", "  segments:", "  login: {user: a}\n  segments:", 10, "service.login.subscription_key", "gateway"},
		{"CA file that is not here", "  segments:", "  ca_file: nowhere.pem\n  segments:", 10, "service.ca_file", "nowhere.pem"},
		{"a port whose name changes", "/dev/serial/by-id/usb-A", "/dev/ttyUSB0", 27, "devices[1].modbus", "ls -l /dev/serial/by-id"},
		{"a device's CA that is not here", "tcp://10.20.0.5:502", "tls://10.20.0.5?ca_file=plc-ca.pem", 17, "devices[0].modbus", "plc-ca.pem"},
		{"a device shared with the network", "    unit: 3\n", "    unit: 3\n    share: 0.0.0.0:1502\n", 29, "devices[1].share", "no password"},
		{"a device shared where only root may", "    unit: 3\n", "    unit: 3\n    share: 127.0.0.1:502\n", 29, "devices[1].share", "below 1024"},
		{"geometry", "    strapping: tk-1001.csv\n", "    diameter: 12ft\n", 38, "tanks[0].strapping", "good to a percent"},
		{"table that begins above zero", "[[0, 0], [240, 402.87]]", "[[2, 3], [240, 402.87]]", 60, "tanks[2].strapping", "begins at 2 in"},
		{"group of one", "    sensor: radar", "    group: west", 45, "tanks[0].group", "no other tank"},
		{"target code of the site's own", "targets:\n      - {code: \"Production Target Oil\"", "targets:\n      - {code: \"Tank level\"", 74, "wells[0].targets[0].code", "known codes"},
		{"an offset that no gauge has", "    sensor: radar", "    offset: 11ft", 45, "tanks[0].offset", "more than half of the tank's height"},
		{"a temperature in Celsius", "top_temperature: battery-plc/tk1-top", "top_temperature: 20", 40, "tanks[0].top_temperature", "not 20 degC: that is 68"},
		{"page open to the network", "127.0.0.1:8480", "0.0.0.0:8480", 75, "http.listen", "127.0.0.1:8480"},
		{"recording toward a real service", "tanks:\n", "  - {name: rec, recording: good.yaml, points: [{name: a, unit: in}]}\ntanks:\n", 37, "devices[3].recording", "demonstrations"},
	} {
		t.Run(w.name, func(t *testing.T) {
			ws := besideTheKey(edited(t, w.old, w.new).Warnings)
			if len(ws) != 1 || ws[0].Line != w.line || ws[0].Path != w.path || !strings.Contains(ws[0].Message, w.say) {
				t.Errorf("got  %v\nwant line %d, %s: ...%s...", ws, w.line, w.path, w.say)
			}
		})
	}
}

func TestSomeObjectStandsInForTheSite(t *testing.T) {
	const own = "11111111-2222-3333-4444-555555555555"
	text := strings.Replace(good(t), "object: 6f9619ff-8b86-d011-b42d-00c04fc964ff\n", "", 1)
	text = strings.Replace(text, "    sensor: radar", "    object: "+own, 1)
	cfg, err := Parse("gauger.yaml", []byte(text), "testdata")
	if err != nil {
		t.Fatal(err)
	}
	if ws := besideTheKey(cfg.Warnings); cfg.Object != own || len(ws) != 1 || ws[0].Path != "object" || !strings.Contains(ws[0].Message, "tanks[0]") {
		t.Errorf("object %q, warnings %v; want %q and one at object that names tanks[0]", cfg.Object, ws, own)
	}
}

func TestObjectsAreInherited(t *testing.T) {
	const site, own = "6f9619ff-8b86-d011-b42d-00c04fc964ff", "11111111-2222-3333-4444-555555555555"
	cfg := edited(t, "    every: 5s\n", "    every: 5s\n    object: "+own+"\n    object_type: Well\n")
	for _, c := range [][2]string{
		{cfg.Devices[0].Object, own}, {cfg.Devices[0].ObjectType, "Well"},
		{cfg.Devices[1].Object, site}, {cfg.Devices[1].ObjectType, "Device"},
		{cfg.Tanks[0].Object, site}, {cfg.Tanks[0].ObjectType, "Device"},
		{cfg.Events[0].Object, own}, {cfg.Events[0].ObjectType, "Well"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
}

func TestDefaultsAndWhatFollowsFromOtherKeys(t *testing.T) {
	cfg := edited(t, "tickets: {hold: 45m, review: send}", "link: {rate: off}")
	if cfg.Tickets != (Tickets{45 * time.Minute, "send"}) || cfg.Link.Rate != 0 || cfg.Store.MaxBytes != 64<<20 {
		t.Errorf("tickets %+v, link %+v, store %+v", cfg.Tickets, cfg.Link, cfg.Store)
	}
	if got := edited(t, "tickets: {hold: 45m, review: send}\nloads: {min_load: 20}", "loads: {confirm: 1h}").Tickets.Hold; got != time.Hour {
		t.Errorf("hold follows confirm: got %s, want 1h", got)
	}
	if cfg.Zone.String() != "America/Chicago" || cfg.Service.Wire.Zone != cfg.Zone || time.Duration(cfg.ProductionDay) != 7*time.Hour {
		t.Errorf("zone %v, wire's %v, production day %v", cfg.Zone, cfg.Service.Wire.Zone, cfg.ProductionDay)
	}
	if got := Options[mqtt.Device](cfg.Devices[2]).ClientID; got != "gauger-COOPER12-7-radio" {
		t.Errorf("client id %q", got)
	}
	if b := cfg.Service.Wire.Batch; b.Events != 20 || b.Tickets != 1 || b.TagValues != nil {
		t.Errorf("a key of batch must leave the others: %+v", b)
	}
	first, second := cfg.Tanks[0], cfg.Tanks[1]
	if first.Loads.MinLoad != 20 || first.Loads.TruckMax != 200 || second.Loads.MinLoad != 20 || second.Loads.TruckMax != 215 {
		t.Errorf("tanks' loads over the site's: %+v, %+v; want least 20 and 20, trucks 200 and 215", first.Loads, second.Loads)
	}
	if first.Sales != "truck" || first.Temperatures != "in_tank" || first.Height != 240 {
		t.Errorf("tank %+v", first)
	}
	m := first.Model(5 * time.Second)
	if m.ID != "TK-1001" || !m.Valve || m.Interface || m.Lact || m.OpeningClosing || m.Every != 5*time.Second || m.Table.Top() != 240 {
		t.Errorf("model %+v, want TK-1001 with a valve alone, every 5s, up to 240 in", m)
	}
}

func TestStrappingFileIsRead(t *testing.T) {
	cfg := edited(t, "log: {level: info}", "log: {level: warn}")
	for in, want := range map[float64]float64{0: 0, 60: 100.71, 120: 201.43, 210: 352.51, 240: 402.87} {
		got, err := cfg.Tanks[0].Table.Barrels(in)
		if err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("%g in: %g bbl, %v; want %g", in, got, err, want)
		}
	}
	if name := cfg.Tanks[0].Table.Name(); name != "strap" {
		t.Errorf("table %q", name)
	}
}

// Whole has the rows of each strapping file, and everything else as it was, also where tanks share a file by name or by anchor.
func TestWholeNeedsNoStrappingFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte("0,0\n20ft,400.125\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `# a comment
site: s
id: TEST
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service: {url: "http://127.0.0.1:9", primary_key: {env: A}, secondary_key: {env: B}}
devices: [{name: plc, modbus: "tcp://127.0.0.1:9", points: [{name: a, holding: 100, unit: in}, {name: b, holding: 101, unit: in}, {name: c, holding: 102, unit: in}, {name: d, holding: 103, unit: in}]}]
tanks:
  - &b {id: T-2, level: plc/a, height: 20ft, purchaser: Acme, strapping: &f t.csv}
  - {<<: *b, id: T-3, level: plc/b}
  - {id: T-4, level: plc/c, height: 20ft, purchaser: Acme, strapping: *f}
  - {id: T-5, level: plc/d, height: 20ft, purchaser: Acme, strapping: [[0, 0], [240, 7]]}
`
	was, err := Parse("f", []byte(text), dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := was.Whole([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	is, err := Parse("f", whole, t.TempDir())
	if err != nil {
		t.Fatalf("%v:\n%s", err, whole)
	}
	for i := range was.Tanks {
		if !is.Tanks[i].Table.Same(was.Tanks[i].Table) || is.Tanks[i].ID != was.Tanks[i].ID || is.Tanks[i].Height != was.Tanks[i].Height {
			t.Errorf("tank %s is %+v, was %+v", was.Tanks[i].ID, is.Tanks[i], was.Tanks[i])
		}
	}
	if again, err := is.Whole(whole); err != nil || string(again) != string(whole) {
		t.Errorf("a text without files is changed: %v\n%s", err, again)
	}
}

func TestRelativeNamesBeginAtTheFile(t *testing.T) {
	dir := t.TempDir()
	text := strings.ReplaceAll(good(t), "tk-1001.csv", "tables/tk-1001.csv")
	text = strings.Replace(text, "{file: /etc/gauger/secondary-key}", "{file: second}", 1)
	text = strings.Replace(text, "/var/lib/gauger", "state", 1)
	table, err := os.ReadFile("testdata/tk-1001.csv")
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"gauger.yaml": []byte(text), "tables/tk-1001.csv": table} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, body, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := Load(filepath.Join(dir, "gauger.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		cfg.Store.Path: "state", cfg.Service.SecondaryKey.File: "second", cfg.Tanks[0].Strapping.File: "tables/tk-1001.csv",
	} {
		if got != filepath.Join(dir, want) {
			t.Errorf("got %q, want %q in %s", got, want, dir)
		}
	}
}

func TestLevelsAndPostedValuesOnASerialLineAreReadTwice(t *testing.T) {
	verify := func(cfg *Config, device, point int) string {
		return Options[modbus.Device](cfg.Devices[device]).Points[point].Verify
	}
	cfg := edited(t, "log: {level: info}", "log: {level: warn}")
	if got := verify(cfg, 1, 0); got != "twice" {
		t.Errorf("level on rtu: verify %q, want twice", got)
	}
	if got := verify(cfg, 0, 0) + verify(cfg, 0, 1); got != "" {
		t.Errorf("points over tcp: verify %q, want none", got)
	}
	if got := verify(edited(t, "rtu:///dev/serial/by-id/usb-A?baud=9600&parity=N", "rtu+tcp://10.20.0.7:4001"), 1, 0); got != "twice" {
		t.Errorf("level on rtu+tcp: verify %q, want twice", got)
	}
	if got := verify(edited(t, "input: 0, type: float32, unit: ft", "input: 0, type: float32, unit: ft, verify: once"), 1, 0); got != "once" {
		t.Errorf("once in the file: verify %q", got)
	}
	// What is posted of a well is one too many or too few at most.
	posted := edited(t, "modbus: tcp://", "modbus: rtu+tcp://")
	if got := verify(posted, 0, 3) + verify(posted, 0, 1); got != "twice" || Options[modbus.Device](posted.Devices[0]).Points[3].Agree != 1 {
		t.Errorf("a value and a temperature on rtu+tcp: verify %q, want twice and none", got)
	}
	// 15 bbl/min at 402.87/240 bbl/in for the time-out of one second, and 1.5 in of noise, in feet.
	want := (15/(402.87/240)/60 + 1.5) / 12
	if got := Options[modbus.Device](cfg.Devices[1]).Points[0].Agree; math.Abs(got-want) > 1e-9 {
		t.Errorf("agree %g ft, want %g", got, want)
	}
}

func TestPointsAreListedWithTheirUnits(t *testing.T) {
	cfg := edited(t, "unit: in}\ntanks", "unit: in, expect_every: 10m}\ntanks")
	got, ok := cfg.PointInfo("serial-plc/tk3-level")
	if want := (PointInfo{"serial-plc/tk3-level", "ft", 1, 0, 10 * time.Second}); !ok || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, _ := cfg.PointInfo("radio/tk2-level"); got.Every != 10*time.Minute {
		t.Errorf("expected every %s, want 10m", got.Every)
	}
	if _, ok := cfg.PointInfo(collectors.Point("radio/none")); ok {
		t.Error("found a point that is not there")
	}
}

func TestLoadOfNoFileIsNoProblemList(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "none.yaml"))
	if _, ok := errors.AsType[Problems](err); ok || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: got %v", err)
	}
}

func TestFilesOfATLSLineAreThoseBesideTheConfiguration(t *testing.T) {
	cfg := edited(t, "tcp://10.20.0.5:502", "tls://10.20.0.5?ca_file=a/ca.pem&cert_file=/etc/gauger/c.pem&key_file=k.pem&server_name=plc")
	want := "tls://10.20.0.5:802?ca_file=testdata/a/ca.pem&cert_file=/etc/gauger/c.pem&key_file=testdata/k.pem&server_name=plc"
	if got := Options[modbus.Device](cfg.Devices[0]).URL; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestALevelOverASCIIIsReadTwice(t *testing.T) {
	for _, url := range []string{"ascii:///dev/serial/by-id/usb-B", "ascii+tcp://10.20.0.5:4001", "rtu+tcp://10.20.0.5:4001"} {
		cfg := edited(t, "tcp://10.20.0.5:502", url)
		if p := Options[modbus.Device](cfg.Devices[0]).Points[0]; p.Verify != "twice" || p.Agree <= 0 {
			t.Errorf("%s: %+v", url, p)
		}
	}
	for _, url := range []string{"tcp://10.20.0.5", "tls://10.20.0.5"} {
		if p := Options[modbus.Device](edited(t, "tcp://10.20.0.5:502", url).Devices[0]).Points[0]; p.Verify != "" {
			t.Errorf("%s: %+v", url, p)
		}
	}
}

// TestCheckTakesLittleMemoryForAliases: 33 kB once took 420 MB. check refuses what run starts with, as the version before did.
func TestCheckTakesLittleMemoryForAliases(t *testing.T) {
	site := func(devices, points int) []byte {
		b := bytes.NewBufferString("site: s\nid: S\nobject: 6f9619ff-8b86-d011-b42d-00c04fc964ff\ntime_zone: UTC\n" +
			"service: {url: https://a.example.com, primary_key: {env: A}, secondary_key: {env: B}, segments: {alpha: a, beta: b}}\ndevices:\n" +
			"- name: d0\n  modbus: tcp://10.0.0.1\n  points: &p\n")
		for i := range points {
			fmt.Fprintf(b, "  - {name: p%d, holding: %d}\n", i, i)
		}
		for i := range devices {
			fmt.Fprintf(b, "- {name: e%d, modbus: \"tcp://10.0.1.1:%d\", points: *p}\n", i, i+1)
		}
		return b.Bytes()
	}
	file := filepath.Join(t.TempDir(), "gauger.yaml")
	for _, c := range []struct {
		devices, points int
		checked, runs   bool
	}{{100, 50, true, true}, {200, 100, false, true}, {600, 700, false, false}} {
		if err := os.WriteFile(file, site(c.devices, c.points), 0o600); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Look{}.Examine(file)
		runtime.ReadMemStats(&after)
		if (err == nil) != c.checked || err != nil && (!strings.Contains(err.Error(), "aliases (*name, <<) repeat values") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("check of %d devices with %d points: %v", c.devices, c.points, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; !c.checked && took > 20<<20 {
			t.Errorf("check of %d devices with %d points took %d bytes", c.devices, c.points, took)
		}
		cfg, err := Load(file)
		if (err == nil) != c.runs || c.runs && (len(cfg.Strict) == 1) != !c.checked {
			t.Errorf("run with %d devices with %d points: %v", c.devices, c.points, err)
		}
	}
}

// A ticket of a tank with a shorter confirm than the others' waits for the rest of the hold, and then there is time to change it.
func TestWhenTicketsLeaveAtOnce(t *testing.T) {
	const held = "tickets: {hold: 45m, review: send}\n"
	for text, want := range map[string]bool{held: true, "": true, "tickets: {hold: 46m}\n": false} {
		if got := edited(t, held, text).LeaveAtOnce(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if edited(t, "loads: {truck_max: 200}", "loads: {confirm: 30m}").LeaveAtOnce() {
		t.Error("a quarter of an hour is no time")
	}
}

// The store of a site is found in a file that says nothing else any more: its last good configuration lies there.
func TestTheStoreIsFoundInABrokenFile(t *testing.T) {
	def := StorePath("absent.yaml")
	for text, want := range map[string]string{
		"site: x\nstore: {path: /data/gauger}\n":                                               "/data/gauger",
		"site: [x\nstore: {path: /data/gauger}\n":                                              "/data/gauger",
		"site: \"x\nstore:\n  # where\n  max_bytes: 1GB\n  path: '/data/g' # here\nwells: {\n": "/data/g",
		"site: x\n\tid: y\nstore: {max_bytes: 1GB, path: \"/data/g\"}\n":                       "/data/g",
		"stroe: {path: /data/g}\n":                                                             "/data/g",
		"Store:\n  path: /data/g\n":                                                            "/data/g",
		"store {path: /data/g}\n":                                                              "/data/g",
		"store: {path: /data/g\nsite: x\n":                                                     "/data/g",
		"store:\n  path /data/g\n":                                                             "/data/g",
		"sote: [\nstore: {path: state}\n":                                                      "DIR/state",
		"":                                                                                     def,
		"site: [x\n":                                                                           def,
		"# store: {path: /data/g}\nsite: [x\n":                                                 def,
		"store:\n  #path: /data/g\nsite: [x\n":                                                 def,
		"site: [x\ntls: {path: /data/g}\n":                                                     def,
		"store: [x\nlogs:\n  path: /data/g\n":                                                  def,
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "gauger.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := StorePath(path); got != strings.Replace(want, "DIR", dir, 1) {
			t.Errorf("%q: the store is %s, want %s", text, got, want)
		}
	}
}
