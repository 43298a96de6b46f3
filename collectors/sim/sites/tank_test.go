package sites

import (
	"math"
	"testing"
)

func TestStrapping(t *testing.T) {
	v := vessel{diameter: 12, height: 240, knee: 31.5, deadwood: 0.1}
	if got := v.perInch(); math.Abs(got-1.6786) > 0.0001 {
		t.Errorf("12 ft: %.5f bbl/in", got)
	}
	for _, inches := range []float64{0, 12, 31.5, 32, 200} {
		if back := v.level(v.volume(inches)); math.Abs(back-inches) > 1e-9 {
			t.Errorf("%.2f in come back as %.6f", inches, back)
		}
	}
	rows := v.strapping()
	knees := 0
	for i, row := range rows {
		if i > 0 && (row[0] <= rows[i-1][0] || row[1] <= rows[i-1][1]) {
			t.Errorf("row %d %v does not rise above %v", i, row, rows[i-1])
		}
		if row[0] == 31.5 {
			knees++
		}
	}
	near := vessel{diameter: 12, height: 60, knee: 35.99999, deadwood: 0.1}
	if rows := near.strapping(); len(rows) != 6 {
		t.Errorf("a knee right below a foot's mark: %v", rows)
	}
	if knees != 1 || rows[len(rows)-1][0] != 240 {
		t.Errorf("%d rows at the knee, the last row %v", knees, rows[len(rows)-1])
	}
}
