package mqtt

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/collectors"
)

var arrived = time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)

func decodeOne(t testing.TB, opts Point, payload string) outcome {
	t.Helper()
	opts.Name = "p"
	p, err := newPoint("d", opts)
	if err != nil {
		t.Fatal(err)
	}
	return p.decode(nil, &document{payload: []byte(payload)}, arrived)[0]
}

func TestValues(t *testing.T) {
	scale := 0.1
	cases := []struct {
		opts    Point
		payload string
		want    float64 // NaN: Bad without a value
		err     string  // part of it; empty: Good
		refused bool
	}{
		{Point{}, "120.5", 120.5, "", false},
		{Point{}, " -7\r\n", -7, "", false},
		{Point{}, "+1.5e2\x00", 150, "", false},
		{Point{}, "ON", 1, "", false},
		{Point{}, "off", 0, "", false},
		{Point{}, "true", 1, "", false},
		{Point{Unit: "bool"}, "true", 1, "", false},
		{Point{Unit: "inches", Value: "v"}, `{"v":true}`, math.NaN(), "a switch and no length", true},
		{Point{}, "False", 0, "", false},
		{Point{}, "12.5 in", math.NaN(), "number with something after it", true},
		{Point{}, "12,5", math.NaN(), "decimal point", true},
		{Point{}, "nan", math.NaN(), "not a number", true},
		{Point{}, "Infinity", math.NaN(), "not a number", true},
		{Point{}, "0x1F", math.NaN(), "number with something after it", true},
		{Point{}, "1_000", math.NaN(), "number with something after it", true},
		{Point{}, "1e999", math.NaN(), "too large", true},
		{Point{}, "error 5", math.NaN(), "not a number", true},
		{Point{}, "   ", math.NaN(), "is empty", true},
		{Point{}, "", math.NaN(), "null or empty", false},
		{Point{Value: "v"}, "", math.NaN(), "null or empty", false},
		{Point{Value: "level.in"}, `{"level":{"in":99.25}}`, 99.25, "", false},
		{Point{Value: "values[1].v"}, `{"values":[{"v":1},{"v":2}]}`, 2, "", false},
		{Point{Value: `["a.b"]`}, `{"a.b":3,"a":{"b":4}}`, 3, "", false},
		{Point{Value: `x["tank 1"][0]`}, `{"x":{"tank 1":[5]}}`, 5, "", false},
		{Point{Value: "[0]"}, `[6]`, 6, "", false},
		{Point{Value: "v"}, `{"v":" 7.5 "}`, 7.5, "", false},
		{Point{Value: "v"}, `{"v":true}`, 1, "", false},
		{Point{Value: "v"}, `{"v":"off"}`, 0, "", false},
		{Point{Value: "v"}, `{"v":null}`, math.NaN(), "null", false},
		{Point{Value: "v"}, `{"v":{"x":1}}`, math.NaN(), "object or a list", true},
		{Point{Value: "v"}, `{"v":"7 in"}`, math.NaN(), "something after it", true},
		{Point{Value: "v"}, `{"v":1e999}`, math.NaN(), "too large", true},
		{Point{Value: "v"}, `{"v":NaN}`, math.NaN(), "JSON", true},
		{Point{Value: "v"}, `{"v":1} x`, math.NaN(), "follows", true},
		{Point{Value: "v"}, `{"v":1`, math.NaN(), "JSON", true},
		{Point{Value: "v"}, strings.Repeat("[", 60_000), math.NaN(), "JSON", true},
		{Point{Scale: &scale, Offset: -2}, "1000", 98, "", false},
		{Point{Bad: []float64{-9999, 65535}}, "65535", math.NaN(), "means no value", false},
		{Point{Value: "s", Unit: "text"}, `{"s":" "}`, math.NaN(), "empty text", false},
		{Point{Range: []float64{0, 240}, Unit: "in"}, "240", 240, "", false},
		{Point{Range: []float64{0, 240}, Unit: "in"}, "240.1", 240.1, "outside its range 0 to 240 in", false},
		{Point{Scale: new(1e300)}, "1e300", math.NaN(), "too large after scale", false},
	}
	for _, c := range cases {
		t.Run(c.opts.Value+" "+c.payload[:min(len(c.payload), 20)], func(t *testing.T) {
			o := decodeOne(t, c.opts, c.payload)
			r := o.reading
			if r.Value != c.want && !(math.IsNaN(r.Value) && math.IsNaN(c.want)) {
				t.Errorf("value %v, want %v", r.Value, c.want)
			}
			if (r.Quality == collectors.Good) != (c.err == "") || (r.Err == nil) != (c.err == "") {
				t.Fatalf("quality %s, error %v, expected %q", r.Quality, r.Err, c.err)
			}
			if r.Err != nil && !strings.Contains(r.Err.Error(), c.err) {
				t.Errorf("error %q, expected %q", r.Err, c.err)
			}
			if (o.undecodable != nil) != c.refused || o.absent {
				t.Errorf("refused: %v, absent: %v", o.undecodable, o.absent)
			}
			if r.Err != nil && len(r.Err.Error()) > 200 {
				t.Errorf("the error has %d bytes", len(r.Err.Error()))
			}
		})
	}
}

func TestWordsAndLongIntegers(t *testing.T) {
	cases := []struct {
		opts          Point
		payload, text string
		value         float64
	}{
		{Point{Value: "s", Unit: "text"}, `{"s":"pump on\u0007"}`, "pump on\a", math.NaN()},
		{Point{Value: "s", Unit: "text"}, `{"s":5}`, "5", math.NaN()},
		{Point{Unit: "text"}, " open ", "open", math.NaN()},
		{Point{Unit: "text"}, "op\xffen", "op?en", math.NaN()},
		{Point{Value: "n"}, `{"n":9007199254740993}`, "9007199254740993", 9007199254740992},
		{Point{Value: "n"}, `{"n":9007199254740991}`, "", 9007199254740991},
		{Point{Value: "n", Scale: new(2.0)}, `{"n":9007199254740993}`, "", 2 * 9007199254740992},
	}
	for _, c := range cases {
		r := decodeOne(t, c.opts, c.payload).reading
		if r.Text != c.text || r.Quality != collectors.Good || r.Value != c.value && !(math.IsNaN(r.Value) && math.IsNaN(c.value)) {
			t.Errorf("%s: %+v, want %q %v", c.payload, r, c.text, c.value)
		}
	}
}

func TestTimes(t *testing.T) {
	want := time.Date(2026, 3, 1, 12, 0, 0, 250_000_000, time.UTC)
	cases := []struct {
		ts   string
		want time.Time
		err  string
	}{
		{`"2026-03-01T12:00:00.25Z"`, want, ""},
		{`"2026-03-01T06:00:00.250-06:00"`, want, ""},
		{`1772366400250`, want, ""},
		{`1772366400.25`, want, ""},
		{`"1772366400250"`, want, ""},
		{`"1772366400"`, want.Truncate(time.Second), ""},
		{`1.77236640025e12`, want, ""},
		{`1740787200`, time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC), ""}, // kept for a year
		{`1772366400250000`, want, ""},
		{`1772366400250000000`, want, ""},
		{`1420070400`, arrived, "more than a year behind"}, // a clock without a battery
		{`1420070400000`, arrived, "more than a year behind"}, {`1420070400000000`, arrived, "more than a year behind"},
		{`"2024-01-01T00:00:00Z"`, arrived, "more than a year behind"},
		{`1772366640`, want.Truncate(time.Second).Add(4 * time.Minute), ""},
		{`4102444799`, arrived, "ahead of this box's clock"},
		{`"2026-03-02T12:00:00Z"`, arrived, "24h0m0s ahead"},
		{`1420070399`, arrived, "outside the years"},
		{`4102444800`, arrived, "outside the years"},
		{`0`, arrived, "outside the years"},
		{`-1772366400`, arrived, "outside the years"},
		{`86400000`, arrived, "outside the years"}, // a clock that counts from its own start
		{`1772366400250000000000`, arrived, "outside the years"},
		{`1e300`, arrived, "outside the years"},
		{`"2026-03-01T12:00:00.25"`, want, ""}, // no zone: the configured one
		{`"2026-03-01 12:00:00.25"`, want, ""},
		{`"NaN"`, arrived, "no time"},
		{`null`, arrived, "no time"},
		{`[1]`, arrived, "no time"},
	}
	for _, c := range cases {
		o := decodeOne(t, Point{Value: "v", Time: "ts", TimeZone: "utc"}, `{"v":5,"ts":`+c.ts+`}`)
		r := o.reading
		if !r.At.Equal(c.want) || r.Value != 5 || o.deviceTime != (c.err == "") {
			t.Errorf("%s: at %s, want %s; timed %v", c.ts, r.At, c.want, o.deviceTime)
		}
		if r.Quality != collectors.Good { // a wrong clock does not make a level wrong
			t.Errorf("%s: %s, %v", c.ts, r.Quality, r.Err)
		}
		if c.err == "" != (o.timeErr == nil) || c.err != "" && !strings.Contains(o.timeErr.Error(), c.err) {
			t.Errorf("%s: the time is said to be wrong because: %v", c.ts, o.timeErr)
		}
	}
	if o := decodeOne(t, Point{Value: "v", Time: "ts"}, `{"v":5}`); o.timeErr == nil || !o.reading.At.Equal(arrived) {
		t.Errorf("without a time: %+v", o.reading)
	}
}

func TestPaths(t *testing.T) {
	for _, text := range []string{"", "$", "$.a", "a..b", ".a", "a.", "a[", "a[x]", "a[-1]", "a[1.5]", "a[9999999999]", `["a"`, `["a`, `a"b`, "a]b", "a[0]b", `[a]`} {
		if p, err := parsePath(text); err == nil {
			t.Errorf("%q was read as %v", text, p)
		}
	}
	absent := []struct{ text, payload string }{
		{"a", `{"b":1}`}, {"a", `[1]`}, {"a", `5`}, {"a.b", `{"a":5}`}, {"a[2]", `{"a":[1,2]}`}, {"[0]", `{"a":1}`}, {"a[0]", `{"a":{"0":1}}`},
	}
	for _, c := range absent {
		if o := decodeOne(t, Point{Value: c.text}, c.payload); !o.absent || o.reading.Err == nil {
			t.Errorf("%s in %s: %+v", c.text, c.payload, o)
		}
	}
}

func FuzzPayload(f *testing.F) {
	f.Add("level.in", "ts", `{"level":{"in":5},"ts":1772366400}`)
	f.Add(`["a.b"][0]`, "t", `{"a.b":[1e9],"t":"2026-03-01T12:00:00Z"}`)
	f.Add("", "", "12.5 in")
	f.Add("v", "t", `{"v":18446744073709551616,"t":"1e18"}`)
	f.Fuzz(func(t *testing.T, value, when, payload string) {
		p, err := newPoint("d", Point{Name: "p", Value: value, Time: when})
		if err != nil {
			return
		}
		o := p.decode(nil, &document{payload: []byte(payload)}, arrived)[0]
		r := o.reading
		if (r.Quality == collectors.Good) != (r.Err == nil) {
			t.Fatalf("%s with error %v", r.Quality, r.Err)
		}
		if r.Quality != collectors.Bad && !isFinite(r.Value) {
			t.Fatalf("%s with value %v", r.Quality, r.Value)
		}
		if r.At.Before(earliestTime) || !r.At.Before(latestTime) || !o.deviceTime && !r.At.Equal(arrived) {
			t.Fatalf("at %s, by the device %v; want it within the years of a clock, the arrival %s unless it is the device's", r.At, o.deviceTime, arrived)
		}
	})
}
