package modbus

import "testing"

func TestPointsTreatedAlikeShareTheirConversion(t *testing.T) {
	scaled := func(p *Point) { p.Scale = new(0.1) }
	d := Device{Name: "d", Points: []Point{
		holding("a", 1), holding("b", 2), holding("c", 3, scaled), holding("d", 4, scaled), holding("e", 5, scaled, func(p *Point) { p.Range = []float64{0, 1} }),
	}}
	points, err := compile(d)
	if err != nil {
		t.Fatal(err)
	}
	for i, alike := range []bool{true, false, true, false} {
		if (points[i].conversion == points[i+1].conversion) != alike {
			t.Errorf("points %d and %d: shared is %v", i, i+1, !alike)
		}
	}
	if points[0].scale != 1 || points[3].scale != 0.1 {
		t.Errorf("scales %v and %v, want 1 and 0.1", points[0].scale, points[3].scale)
	}
	if points[3].limits != nil || points[4].limits == nil {
		t.Errorf("limits %v and %v, want none and some", points[3].limits, points[4].limits)
	}
}
