package modbus

import "testing"

func TestPointsTreatedAlikeShareTheirManner(t *testing.T) {
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
	if points[0].scale != 1 || points[3].scale != 0.1 || points[3].limits != nil || points[4].limits == nil {
		t.Errorf("%+v, %+v, %+v", points[0].conversion, points[3].conversion, points[4].conversion)
	}
}
