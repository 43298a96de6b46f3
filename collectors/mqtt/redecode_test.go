package mqtt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// decoderOf is the Decoder of a collector with these devices.
func decoderOf(t *testing.T, devices ...Device) func(collectors.Refusal) ([]collectors.Reading, error) {
	t.Helper()
	c, err := New(devices, Session{})
	if err != nil {
		t.Fatal(err)
	}
	return c.(collectors.Decoder).Decoder()
}

// TestDecodedAgain: what was kept is read with the options of now, as values of the past, under the device's time or
// that of their arrival; what still cannot be read says why.
func TestDecodedAgain(t *testing.T) {
	radio := Device{Name: "radio", Brokers: Brokers{"mqtt://127.0.0.1:1"}, Points: []Point{
		{Name: "level", Topic: "field/tk2", Value: "level.in", Time: "ts", Unit: "in"},
		{Name: "temp", Topic: "field/tk2", Value: "temp", Time: "ts", Unit: "degF"},
		{Name: "{1}-rate", Topic: "well/+/rate"},
		{Name: "narrow", Topic: "narrow", Range: []float64{0, 10}},
		{Name: "twice", Topic: "both"},
		{Name: "oil", Sparkplug: "Lease/N1", Metric: "Tank 1/Level", Unit: "in"},
	}}
	other := Device{Name: "other", Brokers: Brokers{"mqtt://127.0.0.2:1"}, Points: []Point{{Name: "twice", Topic: "both", Scale: new(10.0)}}}
	decode := decoderOf(t, radio, other)
	birth := "\x12\x1b\x0a\x0cTank 1/Level\x10\x01\x20\x0a\x69\x00\x00\x00\x00\x00\x20\x56\x40\x18\x00"
	alias := "\x12\x0d\x10\x01\x20\x0a\x69\x00\x00\x00\x00\x00\x20\x56\x40\x18\x03"
	at := arrived
	cases := []struct {
		name string
		r    collectors.Refusal
		want string // point=value, and @ where the time is the device's; or what the error says
	}{
		{"whole", collectors.Refusal{Source: "field/tk2", Raw: []byte(`{"level":{"in":55.5},"temp":60,"ts":"2026-03-01T11:00:00Z"}`)}, "radio/level=55.5@ radio/temp=60@"},
		{"one was given", collectors.Refusal{Source: "field/tk2", Raw: []byte(`{"level":{"in":55.5},"temp":60,"ts":"2026-03-01T11:00:00Z"}`), Given: []collectors.Point{"radio/temp"}}, "radio/level=55.5@"},
		{"all were given", collectors.Refusal{Source: "narrow", Raw: []byte("5"), Given: []collectors.Point{"radio/narrow"}}, "nothing that a point reads"},
		{"still half", collectors.Refusal{Source: "field/tk2", Raw: []byte(`{"level":{"in":"deep"},"temp":60,"ts":"2026-03-01T11:00:00Z"}`)}, "value level.in"},
		{"by arrival", collectors.Refusal{Source: "well/a/rate", Raw: []byte("7")}, "radio/a-rate=7"},
		{"by arrival, which is not its time", collectors.Refusal{Source: "well/a/rate", Raw: []byte("7"), Old: true}, "its age is not known"},
		{"out of range", collectors.Refusal{Source: "narrow", Raw: []byte("11")}, "outside its range"},
		{"nobody reads it", collectors.Refusal{Source: "field/tk3", Raw: []byte("1")}, "no point reads this topic"},
		{"its session", collectors.Refusal{Device: "other", Source: "both", Raw: []byte("2")}, "other/twice=20"},
		{"one of its devices", collectors.Refusal{Device: "gone,radio", Source: "both", Raw: []byte("2")}, "radio/twice=2"},
		{"whose it was is not known", collectors.Refusal{Device: "gone", Source: "both", Raw: []byte("2")}, "several brokers"},
		{"its device was renamed", collectors.Refusal{Device: "gone", Source: "narrow", Raw: []byte("2")}, "radio/narrow=2"},
		{"cut", collectors.Refusal{Source: "narrow", Raw: []byte(strings.Repeat(" ", maxBirth-len("narrow")-5) + "1")}, "only its beginning"},
		{"a birth", collectors.Refusal{Source: "spBv1.0/Lease/NBIRTH/N1", Raw: []byte(birth)}, "radio/oil=88.5"},
		{"data by name", collectors.Refusal{Source: "spBv1.0/Lease/NDATA/N1", Raw: []byte(birth)}, "radio/oil=88.5"},
		{"data by alias", collectors.Refusal{Source: "spBv1.0/Lease/NDATA/N1", Raw: []byte(alias)}, "the birth that it followed is over"},
	}
	for range 2 { // a message is decoded without memory of those before
		for _, c := range cases {
			c.r.At = at
			readings, err := decode(c.r)
			var got []string
			for _, r := range readings {
				text := fmt.Sprintf("%s=%v", r.Point, r.Value)
				if !r.At.Equal(at) {
					text += "@"
				}
				if !r.Past || r.Quality != collectors.Good {
					t.Errorf("%s: %+v is not a good one of the past", c.name, r)
				}
				got = append(got, text)
			}
			if err != nil && (len(got) > 0 || !strings.Contains(err.Error(), c.want)) || err == nil && strings.Join(got, " ") != c.want {
				t.Errorf("%s: %v, %v; want %s", c.name, got, err, c.want)
			}
		}
	}
}

// TestWhatIsKeptSaysWhatWasGiven: of a message that was read in part, only the rest may be read again.
func TestWhatIsKeptSaysWhatWasGiven(t *testing.T) {
	g, err := newSessions([]Device{{Name: "d", Brokers: Brokers{"mqtt://127.0.0.1:1"}, Points: []Point{
		{Name: "a", Topic: "x", Value: "a"}, {Name: "b", Topic: "x", Value: "b"}, {Name: "c", Topic: "x", Value: "c[*]"},
	}}}, Session{})
	if err != nil {
		t.Fatal(err)
	}
	s := g[0]
	a := arrival{Message: storedMessage{"x", []byte(`{"a":1,"b":"?","c":[1,"?"]}`)}, at: arrived, waited: false}
	readings, why := s.committer.decodeMessage(a)
	r := newRefusal(s.label, a, readings, why)
	if r.Device != "d" || r.Old {
		t.Errorf("kept of %s, old %v; want d, not old", r.Device, r.Old)
	}
	if !slices.Equal(r.Given, []collectors.Point{"d/a"}) {
		t.Errorf("given %v, want d/a alone", r.Given)
	}
	if a.waited = true; !newRefusal(s.label, a, nil, why).Old {
		t.Error("a message that waited may be old")
	}
}

// TestATimeWithoutAZoneIsTheSites: gateways write the local time of the site, while the box mostly keeps UTC.
func TestATimeWithoutAZoneIsTheSites(t *testing.T) {
	decode := decoderOf(t, Device{Name: "d", Brokers: Brokers{"mqtt://127.0.0.1:1"}, Zone: time.FixedZone("site", -5*3600), Points: []Point{
		{Name: "n", Topic: "x", Value: "n", Time: "t"}, {Name: "{1}", Topic: "y/+", Value: "n", Time: "t"},
	}})
	for _, topic := range []string{"x", "y/a"} {
		for _, text := range []string{"2026-03-01T12:00:00", "2026-03-01 07:00:00"} { // in UTC, and as people at the site have it
			got, err := decode(collectors.Refusal{Source: topic, Raw: fmt.Appendf(nil, `{"n":1,"t":%q}`, text), At: arrived})
			if err != nil || len(got) != 1 || !got[0].At.Equal(arrived.Truncate(time.Minute)) {
				t.Errorf("%s on %s is %+v, %v", text, topic, got, err)
			}
		}
	}
}

// TestAShareThatCannotBeDecodedIsToldOf: between good messages the bad ones leave no Bad point behind. A single one is nothing.
func TestAShareThatCannotBeDecodedIsToldOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		momentarily()
		publish := func(n int, every int) {
			for i := range n {
				text := "150"
				if every > 0 && i%every == every-1 {
					text = "1,150"
				}
				b.publish(t, "field/tk1", text)
				later(3 * time.Second)
			}
		}
		publish(200, 0)
		publish(120, 30)
		if n := h.noticed("unreadable"); len(n) != 0 {
			t.Fatalf("one in thirty: %+v", n)
		}
		from := time.Now()
		publish(64, 2)
		n := h.noticed("unreadable")
		if len(n) != 1 || n[0].Source != "radio/field-tk1" || !n[0].Until.IsZero() || n[0].Since.Before(from.Add(-5*time.Minute)) || !strings.Contains(n[0].Note, "messages on topic field/tk1 could not be decoded, the newest for this reason: ") || !strings.Contains(n[0].Note, "1,150") {
			t.Fatalf("every other one: %+v", n)
		}
		b.publish(t, "field/tk1", "broken")
		later(3 * time.Second)
		if n = h.noticed("unreadable"); len(n) != 2 || !n[1].Until.IsZero() || !n[1].Since.Equal(n[0].Since) || !strings.Contains(n[1].Note, "the newest for this reason: ") || !strings.Contains(n[1].Note, "broken") {
			t.Fatalf("another reason: %+v", n[1:])
		}
		publish(64, 0)
		if n = h.noticed("unreadable"); len(n) != 3 || n[2].Until.IsZero() || !n[2].Since.Equal(n[0].Since) {
			t.Errorf("good again: %+v", n)
		}
	})
}
