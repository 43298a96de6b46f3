package mqtt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
)

// tree decodes a payload as the messages were read before they were walked over: it judges what the walk finds.
func tree(payload []byte) (root any, err error) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimRight(payload, "\x00")))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		return nil, fmt.Errorf("decode %s as JSON: %w", excerpt(string(payload)), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("decode %s as JSON: something follows the first value", excerpt(string(payload)))
	}
	return root, nil
}

// inTree follows a path through a tree; where it ends too early it gives what stands there.
func inTree(p path, at any) (found any, ok bool) {
	for _, s := range p {
		switch v := at.(type) {
		case []any:
			if !s.array || s.index >= len(v) {
				return at, false
			}
			at = v[s.index]
		case map[string]any:
			next, there := v[s.key]
			if s.array || !there {
				return at, false
			}
			at = next
		default:
			return at, false
		}
	}
	return at, true
}

// sameAsTree compares a value of the text with that of the tree, down to its last element.
func sameAsTree(v jsonText, want any) string {
	switch want := want.(type) {
	case map[string]any:
		if keys := slices.Sorted(maps.Keys(want)); !v.isObject() || !slices.Equal(v.keys(), keys) {
			return fmt.Sprintf("%s: want an object of %q", v, keys)
		}
		for k, inner := range want {
			found, ok := v.member(k)
			if said := sameAsTree(found, inner); !ok || said != "" {
				return fmt.Sprintf("%q (%v): %s", k, ok, said)
			}
		}
		return ""
	case []any:
		items := []jsonText(nil)
		if v.isList() {
			items = v.items(nil)
		}
		if len(items) != len(want) || !v.isList() {
			return fmt.Sprintf("%s: want a list of %d, not %d", v, len(want), len(items))
		}
		for i, inner := range want {
			found, ok := v.item(i)
			if said := sameAsTree(found, inner); !ok || said != "" || !bytes.Equal(found, items[i]) {
				return fmt.Sprintf("[%d] (%v): %s", i, ok, said)
			}
		}
		return ""
	}
	text, ok := v.scalar()
	if wanted := metricText(want); string(text) != wanted || ok != (want != nil) || v.isNull() != (want == nil) {
		return fmt.Sprintf("%s: %q, %v; want %q", v, text, ok, wanted)
	}
	return ""
}

// walkLikeTree holds the walk against the tree: the same errors, the same values, and the same word of what is missing.
func walkLikeTree(t *testing.T, payload []byte, p path) {
	t.Helper()
	want, wantErr := tree(payload)
	got, err := checkJSON(payload)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%q: %v; want %v", payload, err, wantErr)
	}
	if err != nil {
		return
	}
	if said := sameAsTree(got, want); said != "" {
		t.Fatalf("%q: %s", payload, said)
	}
	wantAt, ok := inTree(p, want)
	at, err := p.lookUp(got)
	if (err == nil) != ok || err != nil && !errors.Is(err, errAbsent) {
		t.Fatalf("%v in %q: %v; want one: %v", p, payload, err, !ok)
	}
	if ok {
		if said := sameAsTree(at, wantAt); said != "" {
			t.Fatalf("%v in %q: %s", p, payload, said)
		}
	}
}

// oddJSON is what a careless walk over the text gets wrong.
var oddJSON = []string{
	`{"a":1,"a":2}`, `{"a":{"b":1},"a":{"c":2}}`, `{"a":[1],"a":null}`, `{"\u0061":5}`, `{"a\"b":1,"c":"}"}`, `{"a":"\\","b":"]"}`, `{"a":"\\\"","b":1}`,
	"{\"a\":\"\xff\",\"\xff\":1}", `{"a":"\ud800"}`, `{"a":"\u00e9\n"}`, " {\t\"a\"\r\n:\n1 , \"b\" : [ ] } \n", `[]`, `[[],[[]],{}]`, `{}`, `{"":{"":7}}`,
	`-0.5e+10`, `"x"`, `true`, `null`, ``, "\x00", "5\x00\x00", "\x005", `01`, `1 2`, `{"a":1}{`, `[1,]`, `{"a"}`, `{"a":1,}`, "\"a\nb\"", `"\x"`, "\ufeff5", `nul`,
	`{"a":{"b":[1,{"c":"d"}]},"e":[true,false,null,-1.5,"\u2028"]}`, strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	`{"a":18446744073709551616,"b":1e999,"c":0.1}`,
}

func TestWalkFindsWhatATreeHolds(t *testing.T) {
	for _, payload := range oddJSON {
		for _, p := range []path{nil, {{key: "a"}}, {{key: "a"}, {key: "b"}}, {{array: true, index: 1}}, {{key: ""}, {key: ""}}, {{key: "\ufffd"}}, {{key: "\xff"}}} {
			walkLikeTree(t, []byte(payload), p)
		}
	}
}

func FuzzWalk(f *testing.F) {
	for _, payload := range oddJSON {
		if len(payload) < 100 {
			f.Add("a.b", []byte(payload))
			f.Add(`[1]["\xff"]`, []byte(payload))
		}
	}
	f.Fuzz(func(t *testing.T, text string, payload []byte) {
		p, err := parsePath(text)
		if list, _, split := p.split(); err != nil || list != nil || split != nil {
			return
		}
		walkLikeTree(t, payload, p)
	})
}

// TestReadingsMakeNoGarbage: from the payload to the reading nothing is allocated, whatever form the value and its time have. What
// the library makes of a packet is not ours.
func TestReadingsMakeNoGarbage(t *testing.T) {
	cases := map[string]struct {
		opts    Point
		payload string
		most    float64
	}{
		"a number alone":            {Point{Unit: "in"}, "120.25", 0},
		"with its unit":             {Point{Unit: "in"}, "120.25 in", 0},
		"a switch":                  {Point{}, "on", 0},
		"milliseconds":              {Point{Value: "level.in", Time: "ts"}, `{"ts":1772366400250,"level":{"in":120.25,"status":"ok"},"battery":3.61}`, 0},
		"a time with a zone":        {Point{Value: "v", Time: "ts"}, `{"ts":"2026-03-01T12:00:00.25Z","v":"5"}`, 0},
		"a time without one":        {Point{Value: "v", Time: "ts", TimeZone: "site"}, `{"ts":"2026-03-01 12:00:00","v":5}`, 0},
		"unit and quality":          {Point{Value: "v", Unit: "in", UnitPath: "u", Quality: "q"}, `{"v":5,"u":"inches","q":192}`, 0},
		"registers in hex":          {Point{Value: "r", Encoding: "hex", Type: "float32"}, `{"r":"0x42F7 0x0000"}`, 0},
		"registers in base64":       {Point{Value: "r", Encoding: "base64", Type: "float32"}, `{"r":"QvcAAA=="}`, 0},
		"an element of a list":      {Point{Value: "[*].v", Time: "[*].ts"}, `[{"ts":1772366400250,"v":5}]`, 0},
		"several, which are sorted": {Point{Value: "[*].v", Time: "[*].ts"}, `[{"ts":1772366400250,"v":5},{"ts":1772366401250,"v":6}]`, 3},
		"a text, which is kept":     {Point{Value: "v", Unit: "text"}, `{"v":"pump on"}`, 1},
	}
	for name, c := range cases {
		c.opts.Name, c.opts.Topic = "p", "t"
		g, err := newSessions([]Device{{Name: "d", Brokers: Brokers{address}, Points: []Point{c.opts}}}, Session{})
		if err != nil {
			t.Fatal(err)
		}
		m := handed{topic: "t", bare: bare{payload: []byte(c.payload)}, qos: 1}
		a, n, recent := arrival{at: arrived}, 0, g[0].committer.recent
		next := func() { // each message has another packet id, and a payload that came before is one that came twice
			n++
			m.id = uint16(n)
			a.Message = &m
			clear(recent.seen)
			if readings, why := g[0].committer.decodeMessage(a); why != nil || len(readings) == 0 || readings[0].Err != nil {
				t.Fatalf("%s: %v, %v", name, readings, why)
			}
		}
		for i := range uint64(recentItems) {
			recent.remember(i)
		}
		next()
		if got := testing.AllocsPerRun(100, next); got > c.most {
			t.Errorf("%s: %v allocations a message, want %v", name, got, c.most)
		}
	}
}
