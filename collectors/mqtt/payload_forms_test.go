package mqtt

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// decodeAll is every reading of one message, and the errors that it would be kept with.
func decodeAll(t testing.TB, opts Point, payload string) (out []outcome) {
	t.Helper()
	opts.Name = "p"
	p, err := newPoint("d", opts)
	if err != nil {
		t.Fatal(err)
	}
	return p.decode(nil, &document{payload: []byte(payload)}, arrived)
}

// TestThingsBoardsForms are the three shapes that ThingsBoard's telemetry has, on a device and behind a gateway.
func TestThingsBoardsForms(t *testing.T) {
	device := Point{Value: "[*].values.level", Time: "[*].ts", Unit: "in"}
	gateway := Point{Value: `["Device A"][*].values.level`, Time: `["Device A"][*].ts`, Unit: "in"}
	cases := []struct {
		opts    Point
		payload string
		values  []float64
		after   []int // seconds after noon
	}{
		{device, `{"ts":1772366400000,"values":{"level":120}}`, []float64{120}, []int{0}},
		{device, `[{"ts":1772366400000,"values":{"level":120}},{"ts":1772366410000,"values":{"level":119.5}}]`, []float64{120, 119.5}, []int{0, 10}},
		{device, `[{"ts":1772366410000,"values":{"level":119.5}},{"ts":1772366400000,"values":{"level":120}}]`, []float64{120, 119.5}, []int{0, 10}}, // the newest first
		{device, `[{"ts":1772366400000,"values":{"level":120}},{"ts":1772366410000,"values":{"temp":60}}]`, []float64{120}, []int{0}},
		{gateway, `{"Device A":[{"ts":1772366400000,"values":{"level":1}},{"ts":1772366405000,"values":{"level":2}}],"Device B":[{"ts":1772366400000,"values":{"level":9}}]}`, []float64{1, 2}, []int{0, 5}},
		{Point{Value: "readings[*][1]", Time: "readings[*][0]"}, `{"readings":[["2026-03-01T12:00:00Z",5],["2026-03-01T12:00:20Z",6]]}`, []float64{5, 6}, []int{0, 20}},
		{Point{Value: "readings[*]", Time: "ts"}, `{"ts":1772366400,"readings":[5,6,7]}`, []float64{5, 6, 7}, []int{0, 0, 0}},
	}
	for _, c := range cases {
		var values []float64
		var after []int
		for _, o := range decodeAll(t, c.opts, c.payload) {
			if o.reading.Quality != collectors.Good || !o.deviceTime {
				t.Errorf("%s: %+v", c.payload, o.reading)
			}
			values = append(values, o.reading.Value)
			after = append(after, int(o.reading.At.Sub(arrived.Add(-30*time.Second)).Seconds()))
		}
		if !slices.Equal(values, c.values) || !slices.Equal(after, c.after) {
			t.Errorf("%s: %v after %v, want %v after %v", c.payload, values, after, c.values, c.after)
		}
	}
	for _, payload := range []string{`[]`, `{"Device B":[]}`, `[{"ts":1,"values":{}}]`, `"x"`} {
		for _, opts := range []Point{device, gateway} {
			if all := decodeAll(t, opts, payload); len(all) != 1 || !all[0].absent {
				t.Errorf("%s: %+v", payload, all)
			}
		}
	}
	if all := decodeAll(t, device, `[{"ts":1772366400000,"values":{"level":"5 in"}},{"ts":1772366410000,"values":{"level":"x"}},{"ts":1772366420000,"values":{"level":7}}]`); len(all) != 3 {
		t.Errorf("one of three is wrong: %+v", all)
	} else if all[0].reading.Value != 5 || all[1].undecodable == nil || all[2].reading.Value != 7 {
		t.Errorf("one of three is wrong: %v, %v (%v), %v; want 5, undecodable, 7", all[0].reading.Value, all[1].reading.Value, all[1].undecodable, all[2].reading.Value)
	}
}

func TestUnitsAndQualitiesOfTheMessage(t *testing.T) {
	level := Point{Value: "v", Quality: "q", UnitPath: "u", Unit: "in"}
	own := level
	own.GoodQuality = []string{"0", "Fine"}
	free := Point{Value: "v", UnitPath: "u"}
	cases := []struct {
		opts    Point
		payload string
		quality collectors.Quality
		why     string
	}{
		{level, `{"v":5,"q":"GOOD","u":"in"}`, collectors.Good, ""},
		{level, `{"v":5,"q":true,"u":"inches"}`, collectors.Good, ""},
		{level, `{"v":5,"q":192,"u":"\""}`, collectors.Good, ""},
		{level, `{"v":5,"q":0,"u":"in"}`, collectors.Bad, "calls it bad (quality 0)"},
		{level, `{"v":5,"q":64,"u":"in"}`, collectors.Uncertain, "uncertain (quality 64)"},
		{level, `{"v":5,"q":500,"u":"in"}`, collectors.Bad, "stale"},
		{level, `{"v":5,"q":"Uncertain","u":"in"}`, collectors.Uncertain, "uncertain"},
		{level, `{"v":5,"q":"low battery","u":"in"}`, collectors.Bad, `quality "low battery"`},
		{level, `{"v":5,"q":false,"u":"in"}`, collectors.Bad, "calls it bad"},
		{level, `{"v":5,"u":"in"}`, collectors.Uncertain, "quality q: not in the message"},
		{level, `{"v":5,"q":"good","u":"ft"}`, collectors.Bad, `unit u is "ft", and unit: in is configured`},
		{level, `{"v":5,"q":"good"}`, collectors.Bad, "unit u: not in the message"},
		{own, `{"v":5,"q":0,"u":"in"}`, collectors.Good, ""},
		{own, `{"v":5,"q":"fine","u":"in"}`, collectors.Good, ""},
		{own, `{"v":5,"q":"good","u":"in"}`, collectors.Bad, `quality "good"`},
		{free, `{"v":5,"u":"feet"}`, collectors.Good, ""},
		{Point{Unit: "degF"}, "61.5 °F", collectors.Good, ""},
		{Point{Unit: "in"}, "61.5in", collectors.Good, ""},
		{Point{Unit: "in"}, "61.5 ft", collectors.Bad, "something after it"},
		{Point{Unit: "in"}, "in", collectors.Bad, "not a number"},
	}
	for _, c := range cases {
		r := decodeOne(t, c.opts, c.payload).reading
		if r.Quality != c.quality || (r.Err == nil) != (c.why == "") || r.Err != nil && !strings.Contains(r.Err.Error(), c.why) {
			t.Errorf("%s: %s (%v), want %s (%s)", c.payload, r.Quality, r.Err, c.quality, c.why)
		}
	}
	if r := decodeOne(t, free, `{"v":5,"u":"feet"}`).reading; r.Unit != "ft" {
		t.Errorf("unit %s, want the message's", r.Unit)
	}
}

func TestRegistersInAMessage(t *testing.T) {
	bit := new(3)
	cases := []struct {
		opts    Point
		payload string
		value   float64
		why     string
	}{
		{Point{Encoding: "hex", Type: "float32"}, "42F70000", 123.5, ""},
		{Point{Encoding: "hex", Type: "float32", Order: "CDAB"}, "0x0000 0x42f7", 123.5, ""},
		{Point{Encoding: "hex", Type: "float32", Order: "DCBA"}, "00:00:F7:42", 123.5, ""},
		{Point{Encoding: "hex", Word: 1}, "0001 00FF", 255, ""},
		{Point{Encoding: "hex", Type: "int16"}, "FFFE", -2, ""},
		{Point{Encoding: "hex", Bit: bit}, "0008", 1, ""},
		{Point{Encoding: "hex", Bit: bit}, "FFF7", 0, ""},
		{Point{Encoding: "hex", Type: "bcd32"}, "12345678", 12345678, ""},
		{Point{Encoding: "base64", Type: "float32"}, "QvcAAA==", 123.5, ""},
		{Point{Encoding: "base64", Type: "float32"}, "QvcAAA", 123.5, ""},
		{Point{Encoding: "base64", Type: "uint16"}, "_-8=", 65519, ""},
		{Point{Encoding: "binary", Type: "int32"}, "\xff\xff\xff\xfb", -5, ""},
		{Point{Encoding: "hex", Value: "data", Scale: new(0.1), Offset: 1}, `{"data":"000A"}`, 2, ""},
		{Point{Encoding: "hex", Bad: []float64{65535}}, "FFFF", none, "means no value"},
		{Point{Encoding: "hex", Type: "float32", Bad: []float64{-9999.9}}, "C61C3F9A", none, "means no value"},
		{Point{Encoding: "hex", Type: "float32"}, "7FC00000", none, "NaN"},
		{Point{Encoding: "hex", Type: "bcd16"}, "00AF", none, "BCD"},
		{Point{Encoding: "hex"}, "00F", none, "not hex"},
		{Point{Encoding: "hex"}, "00F1F2", none, "3 bytes"},
		{Point{Encoding: "hex", Word: 2}, "00010002", none, "too few for a uint16 at word 2"},
		{Point{Encoding: "base64"}, "!!", none, "not base64"},
		{Point{Encoding: "hex", Value: "data"}, `{"data":{"a":1}}`, none, "object or a list"},
	}
	for _, c := range cases {
		o := decodeOne(t, c.opts, c.payload)
		r := o.reading
		if same := r.Value == c.value || math.IsNaN(r.Value) && math.IsNaN(c.value); !same || (r.Err == nil) != (c.why == "") || r.Err != nil && !strings.Contains(r.Err.Error(), c.why) {
			t.Errorf("%q: %v (%v), want %v (%s)", c.payload, r.Value, r.Err, c.value, c.why)
		}
		if c.why != "" && c.why != "means no value" && o.undecodable == nil {
			t.Errorf("%q is not kept", c.payload)
		}
	}
	if r := decodeOne(t, Point{Encoding: "hex", Type: "uint64"}, "FFFFFFFFFFFFFFFF").reading; r.Text != "18446744073709551615" {
		t.Errorf("all digits: %q", r.Text)
	}
}

func FuzzRegisters(f *testing.F) {
	f.Add("hex", "float32", "CDAB", "000042F7", 0)
	f.Add("base64", "uint16", "", "QvcAAA==", 1)
	f.Add("binary", "bcd16", "BA", "\x12\x34", 0)
	f.Fuzz(func(t *testing.T, encoding, kind, order, payload string, word int) {
		opts := Point{Name: "p", Topic: "t", Encoding: encoding, Type: kind, Order: order, Word: word}
		bad := false
		opts.check(func(string, string) { bad = true })
		p, err := newPoint("d", opts)
		if bad || err != nil {
			return
		}
		for _, o := range p.decode(nil, &document{payload: []byte(payload)}, arrived) {
			if (o.reading.Quality == collectors.Good) != (o.reading.Err == nil) || o.reading.Err == nil && !isFinite(o.reading.Value) {
				t.Fatalf("%+v", o.reading)
			}
		}
	})
}

func TestOnePointForEachNodeOfATopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		d := Device{Name: "radio", Brokers: Brokers{address}, ClientID: "gauger-test", Points: []Point{
			{Name: "{1}-level", Topic: "field/+/level", Unit: "in", ExpectEvery: time.Minute},
			{Name: "tk9-level", Topic: "field/tk9/level", Unit: "in", Offset: 100},
			{Name: "{2}-{1}", Topic: "lease/+/tank/+"},
		}}
		c := collect(t, Session{Dial: b.dial}, d)
		start(t, h, c)
		momentarily()
		for i := range 3 {
			b.publish(t, fmt.Sprintf("field/tk%d/level", i), fmt.Sprint(i))
		}
		b.publish(t, "field/tk9/level", "9")
		b.publish(t, "lease/north/tank/7", "5")
		b.publish(t, "field/tank 1/level", "5")
		b.publish(t, "field/tk1/level", "wrong")
		b.publish(t, "lease/2-b/tank/1", "5") // 1-2-b: is it 1 and 2-b, or 1-2 and b?
		b.publish(t, "lease/b/tank/1-2", "5")
		momentarily()
		for point, v := range map[string]float64{"tk0-level": 0, "tk2-level": 2, "tk9-level": 109, "7-north": 5, "1-2-b": 5} {
			if got := h.goods("radio/" + point); !slices.Equal(got, []float64{v}) {
				t.Errorf("%s: %v, want %v once", point, got, v)
			}
		}
		later(refusedWait)
		kept := h.kept()
		if len(kept) != 3 {
			t.Fatalf("kept %v, want three", kept)
		}
		for i, why := range []string{`"tank 1" of the topic cannot be part`, "radio/tk1-level", "another topic's point"} {
			if got := kept[i].Err.Error(); !strings.Contains(got, why) {
				t.Errorf("message %d was kept because %s; want %s", i, got, why)
			}
		}
		later(4 * time.Minute)
		if got := h.noticed("silent"); len(got) != 3 {
			t.Errorf("silent: %+v, want the three that the template made", got)
		}
		for i := range 2 * maxInstances {
			b.publish(t, fmt.Sprintf("field/n%d/level", i), "1")
		}
		later(refusedWait + time.Second)
		if n := len(h.kept()) - len(kept); n != maxInstances+3 {
			t.Errorf("%d refused, want all beyond the first %d", n, maxInstances)
		}
		if told := h.noticed("topics-too-many"); len(told) != 1 || !strings.Contains(told[0].Note, "already makes 256 points") || !strings.Contains(told[0].Note, "n253/level") {
			t.Errorf("told %+v, want the first topic that is not read, once", told)
		}
		b.cut()
		b.down()
		later(10 * time.Minute)
		for point := range map[string]bool{"tk0-level": true, "tk9-level": true, "n5-level": true} {
			all := h.all("radio/" + point)
			if last := all[len(all)-1]; last.Quality != collectors.Bad {
				t.Errorf("%s is %s without its broker", point, last.Quality)
			}
		}
		if got := h.all("radio/{1}-level"); len(got) > 0 {
			t.Errorf("the template has readings: %v", got)
		}
	})
}

func TestNamesThatATemplateMakes(t *testing.T) {
	cases := []struct{ name, topic, asked, want string }{
		{"{1}-level", "field/+/level", "tk3-level", "field/tk3/level"},
		{"{1}-level", "field/+/level", "north-tk3-level", "field/north-tk3/level"},
		{"{2}-{1}-x", "l/+/t/+", "7-north-x", "l/north/t/7"},
		{"t{1}", "a/+", "t5", "a/5"},
		{"{1}-{1}", "a/+", "5-5", "a/5"},
		{"{1}-{1}", "a/+", "5-6", ""},
		{"{1}-level", "field/+/level", "-level", ""},
		{"{1}-level", "field/+/level", "tk3-temp", ""},
		{"{1}-level", "field/+/level", "tk 3-level", ""},
		{"level", "field/+/level", "level", ""},
	}
	for _, c := range cases {
		got, ok := Point{Name: c.name, Topic: c.topic}.Named(c.asked)
		if ok != (c.want != "") || ok && (got.Topic != c.want || got.Name != c.asked) {
			t.Errorf("%s as %s: %+v, want %s", c.name, c.asked, got, c.want)
		}
	}
}

func FuzzTemplates(f *testing.F) {
	f.Add("{1}-level", "field/+/level", "field/tk3/level")
	f.Add("{2}-{1}", "a/+/+", "a/b/c-d")
	f.Fuzz(func(t *testing.T, name, filter, topic string) {
		template := Point{Name: name, Topic: filter}
		bad := !template.Template() || filterProblem(filter) != "" || wildcard(topic)
		template.checkTemplate(func(string, string) { bad = true })
		if bad || !matches(filter, topic) || strings.ContainsAny(name, "/") {
			return
		}
		p, err := newPoint("d", template)
		if err != nil {
			t.Fatal(err)
		}
		grown, err := newSession(nil, Device{Name: "d", ClientID: "x"}, Session{}).committer.points.instance(p, topic)
		if err != nil {
			return
		}
		if _, ok := template.Named(grown.Name); !ok {
			t.Fatalf("%s on %s makes %s, and does not know it", name, topic, grown.Name)
		}
	})
}
