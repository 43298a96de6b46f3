package ledger

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// TestWhatADeviceKeptIsNotNow: an edge node that was cut off tells two hours of levels afterwards, with a draw in them.
func TestWhatADeviceKeptIsNotNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) {
			s.Values = []Value{
				{Well: guid, Code: "Production Target Oil", Point: "plc/level"},
				{Well: guid, Code: "Production Target Gas", Point: "plc/level", Every: time.Hour},
			}
			s.Rules = []Rule{{Name: "low", Point: "plc/level", Below: new(100.0), Urgent: true}}
		})
		for range 120 {
			b.emit("level", 180)
			pass(30 * time.Second)
		}
		kept := time.Now().Add(-50 * time.Minute).Round(0)
		for i := range 60 {
			b.emit("level", 170-2*float64(i), func(r *collectors.Reading) { r.At, r.Past = kept.Add(time.Duration(i)*30*time.Second), true })
		}
		if last := b.Latest("plc/level"); len(last) != 1 || last[0].Value != 180 {
			t.Errorf("the newest reading is %+v, want the 180 from before", last)
		}
		var past []float64
		for _, set := range b.bodies(TagValues) {
			v := set["values"].([]any)[0].(map[string]any)["value"].(float64)
			if v == 180 {
				continue
			}
			if set["dataClassificationCode"] == "Production Target Gas" {
				t.Errorf("a value of every hour has %v of the past", v)
			}
			past = append(past, v)
		}
		if len(past) != 60 || !slices.IsSortedFunc(past, func(a, b float64) int { return int(b - a) }) {
			t.Errorf("%d values of the past, want all 60 in order: %v", len(past), past)
		}
		for range 720 {
			b.emit("level", 180)
			pass(10 * time.Second)
			if err := b.Tick(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if got := b.bodies(Tickets); len(got) > 0 {
			t.Errorf("a ticket was made of the past: %v", got)
		}
		if got := b.rules(); len(got) > 0 {
			t.Errorf("events %v of the past", got)
		}
	})
}
