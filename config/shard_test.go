package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shardSite is a site of so many leases with a device each of two tanks, one gateway of 40 tanks of which the first two share an
// equaliser, an event and a value of each tank, and the box itself.
func shardSite(leases int) string {
	var devices, tanks, events, values strings.Builder
	point := func(device, name string) {
		fmt.Fprintf(&tanks, "  - {id: %s-%s, level: %s/%s, height: 20ft, diameter: 12ft, purchaser: P%s}\n", device, name, device, name,
			map[bool]string{true: ", group: E"}[device == "gw" && (name == "t0" || name == "t1")])
		fmt.Fprintf(&events, "  - {rule: high, point: %s/%s, above: 200}\n", device, name)
		fmt.Fprintf(&values, "  - {id: w-%s-%s, tag_values: [{code: Oil Volume, point: %[1]s/%[2]s}]}\n", device, name)
	}
	for i := range leases {
		fmt.Fprintf(&devices, "  - {name: l%d, mqtt: mqtt://127.0.0.1, points: [{name: a, topic: l%[1]d/a, unit: in}, {name: b, topic: l%[1]d/b, unit: in}]}\n", i)
		point(fmt.Sprintf("l%d", i), "a")
		point(fmt.Sprintf("l%d", i), "b")
	}
	devices.WriteString("  - name: gw\n    mqtt: mqtt://127.0.0.1\n    points:\n")
	for i := range 40 {
		fmt.Fprintf(&devices, "      - {name: t%d, topic: gw/%[1]d, unit: in}\n", i)
		point("gw", fmt.Sprintf("t%d", i))
	}
	devices.WriteString("  - {name: box, host: self, points: [{name: load, read: load_1m}]}\n")
	return "site: S\nid: S\nobject: 6f9619ff-8b86-d011-b42d-00c04fc964ff\nservice: {url: \"http://127.0.0.1:1\", primary_key: {env: K}, wire: {codes: [Oil Volume]}}\nstore: {path: x}\ndevices:\n" + devices.String() +
		"tanks:\n" + tanks.String() + "events:\n" + events.String() + "wells:\n" + values.String()
}

// shardOf reads the site as one of several instances does.
func shardOf(t *testing.T, text, shard string) *Config {
	t.Helper()
	t.Setenv(ShardVariable, shard)
	cfg, err := Parse("site.yaml", []byte(text), ".")
	if err != nil {
		t.Fatalf("%s: %v", shard, err)
	}
	return cfg
}

// shardTanks are the tanks with which of three instances watches each.
func shardTanks(t *testing.T, text string) map[string]int {
	by := map[string]int{}
	for i := range 3 {
		for _, tk := range shardOf(t, text, fmt.Sprintf("%d/3", i)).Tanks {
			by[tk.ID] = i
		}
	}
	return by
}

// Every tank, event and value is watched by one instance, and what belongs together by the same; with a fourth one, tanks go to that
// one only; what is added to the configuration moves none.
func TestShardsShareASite(t *testing.T) {
	text := shardSite(60)
	owner := func(n int, text string) (by map[string]int, events, values int) {
		by = map[string]int{}
		for i := range n {
			cfg := shardOf(t, text, fmt.Sprintf("%d/%d", i, n))
			if len(cfg.Tanks) < 160/n/2 || len(cfg.Tanks) > 160/n*2 {
				t.Errorf("%d of %d watches %d of 160 tanks", i, n, len(cfg.Tanks))
			}
			for _, tk := range cfg.Tanks {
				if was, twice := by[tk.ID]; twice {
					t.Errorf("%s is watched by %d and %d of %d", tk.ID, was, i, n)
				}
				by[tk.ID] = i
				if _, there := cfg.PointInfo(tk.Level); !there {
					t.Errorf("%d of %d watches %s without its level", i, n, tk.ID)
				}
			}
			if !slices.ContainsFunc(cfg.Devices, func(d Device) bool { return d.Kind() == "host" }) {
				t.Errorf("%d of %d does not watch its own box", i, n)
			}
			events += len(cfg.Events)
			for _, w := range cfg.Wells {
				values += len(w.TagValues)
			}
			if n := cfg.CountPoints(); n != len(cfg.Tanks)+1 {
				t.Errorf("%d points for %d tanks", n, len(cfg.Tanks))
			}
		}
		return by, events, values
	}
	three, events, values := owner(3, text)
	if len(three) != 160 || events != 160 || values != 160 {
		t.Errorf("%d tanks, %d events, %d values of 160 each", len(three), events, values)
	}
	for i := range 60 {
		if a, b := fmt.Sprintf("l%d-a", i), fmt.Sprintf("l%d-b", i); three[a] != three[b] {
			t.Errorf("the battery of l%d is torn apart", i)
		}
	}
	if three["gw-t0"] != three["gw-t1"] {
		t.Error("tanks with an equaliser are torn apart")
	}
	four, _, _ := owner(4, text)
	moved := 0
	for id, was := range three {
		if four[id] != was {
			if moved++; four[id] != 3 {
				t.Errorf("with a fourth instance %s goes from %d to %d", id, was, four[id])
			}
		}
	}
	if moved < 20 || moved > 70 {
		t.Errorf("a fourth instance takes %d of 160 tanks", moved)
	}
	for id, now := range shardTanks(t, shardSite(61)) {
		if was, old := three[id]; old && was != now {
			t.Errorf("with another lease in the file %s goes from %d to %d", id, was, now)
		}
	}
}

// Each instance has a session of its own at the broker, whatever the number of instances; what cannot be shared is refused.
func TestShardsAtTheBrokerAndOnTheWire(t *testing.T) {
	cfg := shardOf(t, shardSite(2), "1/2")
	for _, d := range cfg.Devices {
		if e, ok := d.options.(*mqttEntry); ok && !strings.HasSuffix(e.Options.ClientID, "-1") {
			t.Errorf("the client id of %s is %s", d.Name, e.Options.ClientID)
		}
	}
	for shard, want := range map[string]string{"3/3": "counted from 0", "x": "counted from 0", "-1/2": "counted from 0", "0/9999": "counted from 0", "0/0": "counted from 0"} {
		t.Setenv(ShardVariable, shard)
		if _, err := Parse("site.yaml", []byte(shardSite(1)), "."); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", shard, err, want)
		}
	}
	t.Setenv(ShardVariable, "0/2")
	wired := strings.Replace(shardSite(1), "devices:\n", "devices:\n  - {name: plc, modbus: 'tcp://10.0.0.1', points: [{name: l, holding: 1, unit: in}]}\n", 1)
	if _, err := Parse("site.yaml", []byte(wired), "."); err == nil || !strings.Contains(err.Error(), "reads MQTT only") {
		t.Errorf("a Modbus device among shards: %v", err)
	}
}
