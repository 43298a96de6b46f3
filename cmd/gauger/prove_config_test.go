package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gauger/config"
	stretches "gauger/deploy/proof"
)

// TestProveConfig writes odd but well-formed configurations: a site that works, in which some keys of the whole schema
// have values that somebody could write. What check calls good must work, and what run takes besides must start: the
// recording is played, nothing fails to be stored, and the load is a ticket that the service has, unless a key was changed
// on which that depends.
func TestProveConfig(t *testing.T) {
	stretch := stretches.Of(t, 6)
	leaves := leavesOf(t)
	good, taken, refused := 0, 0, 0
	for i, rng := range stretch.Cases() {
		text, changed := oddFile(t, rng, leaves)
		l := newPlayedSite(t, text)
		said, status := l.check()
		switch _, err := config.Load(l.config); {
		case err != nil && status == exitConfig:
			refused++
			continue
		case status == exitDone:
			good++
		default:
			taken++
		}
		if status == exitDone && !touches(changed, sending) {
			l.office = newOffice(t)
			l.write("gauger.yaml", strings.Replace(text, "http://127.0.0.1:9\"", "http://"+l.office.address+"\"", 1))
		}
		l.run()
		if wrong := l.wrong(!touches(changed, judging)); wrong != "" {
			t.Errorf("case %d, %s: %s\ncheck ended with %d: %s\n%s\n%s", i, changed, wrong, status, said, text, l.said())
		}
	}
	stretch.Tell(t, "check called %d good, and refused %d more that run takes; both worked. %d were no configuration", good, taken, refused)
}

// judging are the keys on which it depends whether the recorded load is a ticket: the tank, the detector, the recording,
// how long a ticket is held. sending are those on which it depends whether this service takes it.
var (
	judging = []string{"tanks", "loads", "tickets", "devices.0"}
	sending = []string{"service.url", "service.primary_key", "service.secondary_key", "service.ca_file", "service.segments", "service.wire.proxy", "link"}
)

// touches says that one of the changed keys is in one of the rooms.
func touches(changed, rooms []string) bool {
	return slices.ContainsFunc(changed, func(path string) bool {
		return slices.ContainsFunc(rooms, func(room string) bool { return strings.HasPrefix(path, room) })
	})
}

// leaf is a key of the schema that has a value of its own, by the way to it.
type leaf struct {
	path  []string
	shape map[string]any
}

// untouched are keys that a case does not change: where files and sockets are, and the log by which it is judged.
var untouched = []string{"log.level", "store.path", "devices.0.recording", "devices.0.name", "devices.0.points.0.name", "http.listen", "devices.0.every"}

// leavesOf lists the leaves. Lists are entered at their first element, devices at the one of each kind.
func leavesOf(t *testing.T) (all []leaf) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(config.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	var walk func(path []string, shape map[string]any)
	walk = func(path []string, shape map[string]any) {
		properties, _ := shape["properties"].(map[string]any)
		items, list := shape["items"].(map[string]any)
		switch kinds, devices := items["oneOf"].([]any); {
		case devices && len(path) == 1:
			for at, kind := range []string{"recording", "modbus", "mqtt", "host"} {
				for _, one := range kinds {
					if required, _ := one.(map[string]any)["required"].([]any); slices.Contains(required, any(kind)) {
						walk(append(slices.Clone(path), strconv.Itoa(at)), one.(map[string]any))
					}
				}
			}
		case list && !devices:
			walk(append(slices.Clone(path), "0"), items)
		case properties != nil:
			for key, one := range properties {
				walk(append(slices.Clone(path), key), one.(map[string]any))
			}
		case !slices.Contains(untouched, strings.Join(path, ".")):
			all = append(all, leaf{path, shape})
		}
	}
	walk(nil, root)
	slices.SortFunc(all, func(a, b leaf) int { return slices.Compare(a.path, b.path) })
	if len(all) < 200 {
		t.Fatalf("the schema has %d leaves", len(all))
	}
	return all
}

// oddFile is the site with some of its leaves changed. Nearly always only what leaves it a configuration is changed, so
// that most files are worth a run. JSON is YAML too.
func oddFile(t *testing.T, rng *rand.Rand, leaves []leaf) (text string, changed []string) {
	t.Helper()
	text = playedJSON
	for range 2 + rng.IntN(4) {
		for try := 0; ; try++ {
			one := leaves[rng.IntN(len(leaves))]
			next := with(t, text, one.path, oddValue(rng, one))
			_, err := config.Parse("gauger.yaml", []byte(next), ".")
			if err != nil && rng.IntN(40) > 0 && try < 20 {
				continue
			}
			text, changed = next, append(changed, strings.Join(one.path, "."))
			break
		}
	}
	return text, changed
}

// with is a document with one value set.
func with(t *testing.T, text string, path []string, value any) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(put(doc, path, value), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// put sets a value in a tree, and makes what is missing on the way.
func put(tree any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if at, err := strconv.Atoi(path[0]); err == nil {
		list, _ := tree.([]any)
		for len(list) <= at {
			list = append(list, nil)
		}
		list[at] = put(list[at], path[1:], value)
		return list
	}
	keys, ok := tree.(map[string]any)
	if !ok {
		keys = map[string]any{}
	}
	keys[path[0]] = put(keys[path[0]], path[1:], value)
	return keys
}

var (
	oddDurations = []any{"0s", "1ns", "1us", "999us", "10ms", "1s", "61s", "1h30m", "24h", "744h", "8760h", "2562047h47m16s"}
	oddNumbers   = []any{0, 1, -1, 0.5, 2, 12, 20, 47, 48, 100, 240, 241, 1e-12, 1e-300, 5e-324, 1e9, 1e17, 1e300, 1.7e308}
	oddIntegers  = []any{0, 1, -1, 2, 5, 11, 12, 39, 40, 125, 200, 255, 256, 3650, 65535, 65536, 1 << 31, 1 << 53, 1 << 62}
	oddTexts     = []any{"", " ", "x", "0", "true", "null", "~", "..", "%zz", "a/b", "rec/t0", "rec/none", "ä €", "a\nb", "\u202eabc", "\x7f",
		strings.Repeat("x", 127), strings.Repeat("y", 129), strings.Repeat("z", 600), strings.Repeat("w", 8000), "UTC", "text", "in", "#", "+", "$SYS/#"}
	oddSizes   = []any{"1MiB", "2MiB", "1023KiB", "100kB", "64MiB", "4000000GiB", "0"}
	oddLengths = []any{"20ft", "20", 20, "1in", "47.9", "240in", "6.1m", "1e9in", "1e300m", "14'3 1/4\"", "5e-324in", "-3in", "0"}
	// special are values of keys whose form the type alone does not tell.
	special = map[string][]any{
		"url":       {"http://127.0.0.1:99999", "http://127.0.0.1:0", "http://[::1]:9/a/b/", "http://127.0.0.1:9/%zz", "https://127.0.0.1", "http://localhost"},
		"modbus":    {"tcp://127.0.0.1:65536", "tcp://127.0.0.1:1", "rtu:///dev/null?baud=300", "rtu+tcp://127.0.0.1:9?pause=10s", "ascii+tcp://[::1]:9", "tls://127.0.0.1:9?ca_file=.", "tcp://0.0.0.0:1"},
		"mqtt":      {"mqtt://127.0.0.1:0", "mqtt://127.0.0.1:65536", "ws://127.0.0.1:9/x", "mqtts://127.0.0.1:9", []any{"mqtt://127.0.0.1:1", "mqtt://127.0.0.1:99999"}},
		"proxy":     {"http://127.0.0.1:9", "http://127.0.0.1:99999", "http://127.0.0.1"},
		"headers":   {map[string]any{"X-A": "b"}, map[string]any{"X-A": "a\r\nb"}, map[string]any{"X A": "b"}, map[string]any{"x-a": "1", "X-A": "2"}, map[string]any{"": ""}, map[string]any{"X-A": "{idToken}"}},
		"rate":      {"off", "6/min", 1e-12, "1e-300/min", 1e300, "0.001"},
		"windows":   {[]any{"22:00-06:00"}, []any{"00:00-24:00"}, []any{"23:59-00:00", "00:00-23:59"}},
		"strapping": {[]any{[]any{0, 0}, []any{240, 480}, []any{1e9, 1e9}}, []any{[]any{0, 0}, []any{1e-300, 1}, []any{240, 2}}, []any{[]any{0, 0}, []any{240, 1e300}}, []any{[]any{239.5, 0}, []any{240, 480}}, "none.csv"},
		"alpha":     {"%zz", "..", ".", "v1", "a b", "ä"},
		"layout":    {"2006-01-02T15:04:05Z07:00", "02/01/06 15:04", "2006-02T15:04", "Jan 2 2006 3:04PM"},
		"zone":      {"UTC", "America/Chicago", "Local", "Asia/Kathmandu", "America/Nowhere"},
		"topic":     {"a/+/b", "#", "a/#", "$share/g/a", "a//b", strings.Repeat("t/", 3000)},
		"paths":     {"a.b[0]|c", "a[65535].b", "a..b", "[0]"},
	}
)

// oddValue is a value that somebody could write at a leaf.
func oddValue(rng *rand.Rand, l leaf) any {
	one := func(from []any) any { return from[rng.IntN(len(from))] }
	key := l.path[len(l.path)-1]
	for name, values := range special {
		if (key == name || strings.HasSuffix(key, name)) && rng.IntN(4) > 0 {
			return one(values)
		}
	}
	if strings.HasPrefix(strings.Join(l.path, "."), "service.wire.devices") || strings.HasPrefix(strings.Join(l.path, "."), "service.wire.events") {
		return one(special["paths"])
	}
	if words, ok := l.shape["enum"].([]any); ok && rng.IntN(8) > 0 {
		return one(words)
	}
	pattern, _ := l.shape["pattern"].(string)
	switch kind := l.shape["type"]; {
	case strings.Contains(pattern, "ns|us"):
		return one(oddDurations)
	case strings.HasSuffix(key, "bytes") || key == "max_bytes_per_day":
		return one(oddSizes)
	case kind == "boolean":
		return rng.IntN(2) == 0
	case kind == "integer":
		return one(oddIntegers)
	case kind == "number":
		return one(oddNumbers)
	case kind == "object":
		return map[string]any{"a": one(oddTexts)}
	case slices.Contains([]string{"height", "diameter", "offset", "noise"}, key):
		return one(oddLengths)
	case rng.IntN(6) == 0:
		return one(oddNumbers)
	}
	return one(oddTexts)
}

// playedJSON is playedYAML once more, in a form that a program can change.
const playedJSON = `{"site": "Lived battery", "id": "LIVED", "object": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "time_zone": "America/Chicago",
"service": {"url": "http://127.0.0.1:9", "primary_key": {"file": "key"}, "secondary_key": {"file": "key2"}},
"store": {"path": "store", "max_bytes": "4MiB"},
"devices": [
 {"name": "rec", "recording": "readings.csv", "every": "20s", "points": [{"name": "t0", "unit": "in"}]},
 {"name": "plc", "modbus": "tcp://127.0.0.1:9", "points": [{"name": "level", "holding": 100, "type": "float32", "unit": "in"}]},
 {"name": "radio", "mqtt": "mqtt://127.0.0.1:9", "points": [{"name": "level", "topic": "t", "unit": "in"}]},
 {"name": "box", "host": "self", "points": [{"name": "load", "read": "load_1m"}]}],
"tanks": [{"id": "TK-1", "level": "rec/t0", "height": "20ft", "strapping": [[0, 0], [240, 480]], "purchaser": "Acme Crude"}],
"events": [{"rule": "High level", "point": "rec/t0", "above": 230, "note": "at {value} {unit}"}],
"wells": [{"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "tag_values": [{"code": "Production Target Oil", "point": "rec/t0"}]}]}`
