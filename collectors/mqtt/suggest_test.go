package mqtt

import (
	"testing"
	"time"
)

// A unit beside the only number of its object is that of the number; of several nobody knows.
func TestTheUnitInTheMessageIsSuggested(t *testing.T) {
	for payload, want := range map[string][2]string{
		`{"lvl":142.5,"u":"in","ts":"2026-03-02T09:00:00Z"}`: {"in", "u"}, `{"tank":{"level":11.5,"uom":"Feet"}}`: {"ft", "tank.uom"}, `{"lvl":5,"name":"West"}`: {}, `{"lvl":142.5,"temp":71,"u":"in"}`: {}, `{"lvl":5,"u":""}`: {},
	} {
		p := Heard{Topic: "field/tk1", Payload: []byte(payload)}.Suggest()[0].Point
		if p.Unit != want[0] || p.UnitPath != want[1] {
			t.Errorf("%s: unit %q at %q, want %q", payload, p.Unit, p.UnitPath, want)
		}
	}
}

// A topic whose messages come regularly is suggested with what its silence means; of another nobody knows.
func TestSuggestedPointsSayHowLongSilenceIsNormal(t *testing.T) {
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		payload string
		after   []float64 // s
		want    time.Duration
	}{
		{"118.25", []float64{0, 1, 2, 3, 4}, 10 * time.Second},
		{`{"level":{"in":118.2}}`, []float64{0, 10.2, 20, 29.9, 40.3, 50}, 30 * time.Second},
		{"5", []float64{0, 60, 120, 181, 240}, 3 * time.Minute},
		{"5", []float64{0, 899, 1800, 2700, 3600}, 45 * time.Minute},
		{"5", []float64{0, 10, 20, 70, 80}, 0},
		{"5", []float64{0, 10, 20}, 100 * time.Second},
		{"5", []float64{0, 10}, 0},
		{"5", []float64{0, 0.2, 0.4, 0.6, 0.8, 1}, 0}, // and then nothing: a burst
	} {
		e := listener{heard: map[string]*Heard{}}
		for i, s := range c.after {
			e.hear(bare{payload: []byte(c.payload), retained: i == 0}, begin.Add(time.Duration(s*float64(time.Second))))
		}
		end := begin.Add(80 * time.Second)
		if n := len(c.after); c.after[n-1] != 1 {
			end = begin.Add(time.Duration(c.after[n-1]*float64(time.Second)) + time.Second)
		}
		found := e.topics(end)[0].Suggest()
		if len(found) != 1 || found[0].Point.ExpectEvery != c.want {
			t.Errorf("messages at %v: %+v, want one point with expect_every %s", c.after, found, c.want)
		}
	}
}
