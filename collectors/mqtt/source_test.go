package mqtt

import "testing"

// What finds the same number is the same source, however it comes; what finds another is another.
func TestTheSourceOfAPointIsWhatIsFound(t *testing.T) {
	d := Device{Name: "radio"}
	same := Point{Name: "tk1", Topic: "field/tk1", Value: "level"}
	if got, want := d.Source(same), "radio, topic field/tk1, value level"; got != want {
		t.Fatalf("source %q, want %q", got, want)
	}
	for _, p := range []Point{
		{Name: "other", Topic: "field/tk1", Value: "level", Unit: "ft", Offset: 2, Time: "ts"},
		{Name: "tk1", Topic: "$share/boxes/field/tk1", Value: "level"},
	} {
		if d.Source(p) != d.Source(same) {
			t.Errorf("%+v is another source: %q", p, d.Source(p))
		}
	}
	seen := map[string]bool{d.Source(same): true}
	for _, p := range []Point{
		{Topic: "field/tk2", Value: "level"}, {Topic: "field/tk1", Value: "height"}, {Topic: "field/tk1"},
		{Sparkplug: "g/n", Metric: "level"}, {Topic: "field/tk1", Encoding: "hex", Type: "float32"},
		{Topic: "field/tk1", Encoding: "hex", Type: "float32", Order: "CDAB"}, {Topic: "field/tk1", Encoding: "hex", Type: "float32", Word: 2},
	} {
		if s := d.Source(p); seen[s] {
			t.Errorf("%+v is a source that there was: %q", p, s)
		}
		seen[d.Source(p)] = true
	}
}
