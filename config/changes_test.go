package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const changedYAML = `site: Changed
id: CHANGED
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: UTC
service: {url: "http://127.0.0.1:1", primary_key: {env: A}, secondary_key: {env: B}}
devices:
  - name: plc
    modbus: tcp://10.0.0.5
    points:
      - {name: level, holding: 100, type: float32, unit: in}
      - {name: top, holding: 102, type: int16, unit: degF}
  - {name: twin, modbus: "tcp://10.0.0.5:502", unit: 2, points: [{name: level, holding: 100, type: float32, unit: in}]}
  - {name: far, modbus: tcp://10.0.0.6, points: [{name: level, holding: 100, type: float32, unit: in}]}
  - {name: radio, mqtt: mqtt://10.0.0.7, points: [{name: level, topic: t, value: in, unit: in}]}
  - {name: radio2, mqtt: mqtt://10.0.0.8, points: [{name: level, topic: t, value: in, unit: in}]}
tanks:
  - {id: TK-1, level: plc/level, height: 20ft, diameter: 12ft, purchaser: Acme}
  - {id: TK-2, level: far/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme}
`

func withEdits(t *testing.T, edits ...string) *Config {
	t.Helper()
	text := changedYAML
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("there is no %q to replace", edits[i])
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	cfg, err := Parse("gauger.yaml", []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestChangesInWords(t *testing.T) {
	for name, c := range map[string]struct {
		edits []string
		want  []string
	}{
		"nothing":   {nil, nil},
		"a comment": {[]string{"site: Changed", "site: Changed # the same"}, nil},
		"a setting": {[]string{"http://127.0.0.1:1", "http://127.0.0.1:2"}, []string{"service.url is http://127.0.0.1:2 (was http://127.0.0.1:1)"}},
		"a point":   {[]string{"name: level, holding: 100, type: float32", "name: level, holding: 110, type: float32"}, []string{"devices plc points level holding is 110 (was 100)"}},
		"a tank's offset": {[]string{"id: TK-1, level: plc/level,", "id: TK-1, level: plc/level, offset: 1ft,"},
			[]string{"tanks TK-1 offset is 12in (was not set)"}},
		"a tank that is gone": {[]string{"  - {id: TK-2, level: far/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme}\n", ""},
			[]string{"tanks TK-2 is taken out"}},
		"a device more":          {[]string{"tanks:\n", "  - {name: box, host: self, points: [{name: load, read: load_1m}]}\ntanks:\n"}, []string{"devices box is added"}},
		"a diameter":             {[]string{"diameter: 12ft", "diameter: 15.5ft"}, []string{"tanks TK-1 diameter is 186in (was 144in)"}},
		"a role that nobody has": {[]string{"devices:\n", "control: {keys: []}\ndevices:\n"}, []string{"control.keys is [] (was not set)"}},
		"a table":                {[]string{"[240, 480]", "[240, 481]"}, []string{"tanks TK-2 strapping is another one: 2 rows to 481.00 bbl (was 2 rows to 480.00 bbl)"}},
		"a table at last": {[]string{"id: TK-2, level: far/level, height: 20ft, strapping: [[0, 0], [240, 480]]", "id: TK-2, level: far/level, height: 20ft, diameter: 12ft"},
			[]string{"tanks TK-2 diameter is 144in (was not set)", "tanks TK-2 strapping is another one: none, by the diameter of 144in (was 2 rows to 480.00 bbl)"}},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := withEdits(t, c.edits...).ChangesFrom(withEdits(t))
			var got []string
			for _, x := range all {
				got = append(got, x.String())
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestAnotherHiddenHeaderIsNamedAndNotShown(t *testing.T) {
	with := func(value string) *Config {
		return withEdits(t, "secondary_key: {env: B}", "secondary_key: {env: B}, wire: {headers: {Authorization: Bearer "+value+"}}")
	}
	all, err := with("second-secret").ChangesFrom(with("first-secret"))
	if err != nil || len(all) != 1 || !strings.HasPrefix(all[0].String(), "service.wire.headers.Authorization is ") || strings.Contains(all[0].String(), "-secret") {
		t.Errorf("%v, %v", all, err)
	}
}

func TestGroups(t *testing.T) {
	names := func(c *Config) (all []string, keys []string) {
		for _, g := range c.Groups() {
			var in []string
			for _, d := range g.Devices {
				in = append(in, d.Name)
			}
			all, keys = append(all, strings.Join(in, "+")), append(keys, g.Key)
		}
		return all, keys
	}
	was, before := names(withEdits(t))
	if want := []string{"plc+twin", "far", "radio+radio2"}; !slices.Equal(was, want) {
		t.Errorf("groups %q, want %q", was, want)
	}
	for changed, edits := range map[string][]string{
		"":             {"purchaser: Acme", "purchaser: Other"},
		"plc+twin":     {"name: top, holding: 102", "name: top, holding: 103"},
		"far":          {"tcp://10.0.0.6", "tcp://10.0.0.9"},
		"radio+radio2": {"mqtt://10.0.0.8", "mqtt://10.0.0.9"},
	} {
		now, after := names(withEdits(t, edits...))
		for i := range now {
			if same := before[i] == after[i]; same == (now[i] == changed) {
				t.Errorf("%q: the key of %s is the same: %v", edits, now[i], same)
			}
		}
	}
}

// manyPoints is a site with so many devices, each with so many points.
func manyPoints(t testing.TB, devices, points int) *Config {
	t.Helper()
	var b strings.Builder
	b.WriteString(changedYAML[:strings.Index(changedYAML, "devices:")] + "devices:\n")
	for d := range devices {
		fmt.Fprintf(&b, "  - {name: d%d, modbus: \"tcp://10.1.%d.%d\", points: ", d, d/200, d%200+1)
		if d > 0 {
			b.WriteString("*points}\n")
			continue
		}
		b.WriteString("&points [")
		for p := range points {
			fmt.Fprintf(&b, "{name: p%d, holding: %d},", p, p)
		}
		b.WriteString("]}\n")
	}
	cfg, err := Parse("gauger.yaml", []byte(b.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestPartingDoesNotEncodeTheDevicesAgain: each was encoded when the file was read; what a group takes does not depend on its points.
func TestPartingDoesNotEncodeTheDevicesAgain(t *testing.T) {
	few, many := manyPoints(t, 3, 2), manyPoints(t, 3, 100)
	if a, b := testing.AllocsPerRun(10, func() { few.Groups() }), testing.AllocsPerRun(10, func() { many.Groups() }); b > a+10 { // each point encoded is dozens; the runtime has a few of its own
		t.Errorf("%v allocations with 2 points a device, %v with 100", a, b)
	}
	if a, b := testing.AllocsPerRun(10, func() { _, _ = few.ChangesFrom(few) }), testing.AllocsPerRun(10, func() { _, _ = many.ChangesFrom(many) }); b > a+10 {
		t.Errorf("to find no changes: %v allocations with 2 points a device, %v with 100", a, b)
	}
}

// BenchmarkGroups parts a large site as a start does.
func BenchmarkGroups(b *testing.B) {
	cfg := manyPoints(b, 500, 100)
	b.ReportAllocs()
	for b.Loop() {
		cfg.Groups()
	}
}

// Another height of a tank without a strapping table is one change: its barrels go by the diameter as before.
func TestAnotherHeightIsNoOtherStrapping(t *testing.T) {
	by := func(height string) *Config {
		return withEdits(t, "id: TK-2, level: far/level, height: 20ft, strapping: [[0, 0], [240, 480]]", "id: TK-2, level: far/level, height: "+height+", diameter: 12ft")
	}
	all, err := by("19ft").ChangesFrom(by("20ft"))
	if err != nil || len(all) != 1 || all[0].Path != "tanks TK-2 height" {
		t.Errorf("%v, %v; want the height alone", all, err)
	}
}
