package sites

import (
	"math"
	"testing"
)

// TestKinds asks that names are apart, that a third or so is held out, and that no kind is on both lists.
func TestKinds(t *testing.T) {
	tuning, held := Kinds(true), Kinds(false)
	seen := map[string]bool{}
	for _, k := range append(append([]Kind(nil), tuning...), held...) {
		if seen[k.Name] {
			t.Errorf("%s: twice", k.Name)
		}
		seen[k.Name] = true
	}
	if share := float64(len(held)) / float64(len(seen)); share < 0.25 || share > 0.45 {
		t.Errorf("%d of %d held out", len(held), len(seen))
	}
}

// TestTruthIsWithinTheRecording asks for classes that are known, ends after starts, and barrels that a truck can take.
func TestTruthIsWithinTheRecording(t *testing.T) {
	forEach(t, func(t *testing.T, s *Site) {
		if len(s.Movements) == 0 {
			t.Error("no movement")
		}
		for _, m := range s.Movements {
			if !m.End.After(m.Start) || m.Tol <= 0 || math.IsNaN(m.Gauge) {
				t.Errorf("%+v", m)
			}
			switch m.Class {
			case Hard, Review:
				if m.Gauge < 20 || m.Gauge > 420 {
					t.Errorf("a load of %.1f bbl", m.Gauge)
				}
				if off := m.Left - m.Gauge; m.Class == Hard && (off < -0.05*m.Left-3 || off > 0.05*m.Left+80) {
					t.Errorf("%.1f bbl left, gauge %.1f", m.Left, m.Gauge)
				}
			case No, Free:
			default:
				t.Errorf("class %q", m.Class)
			}
		}
	})
}

// TestSaturatedGaugeHidesOil asks of the blind kinds that the gauge is short of what left, by what cannot be seen.
func TestSaturatedGaugeHidesOil(t *testing.T) {
	for _, name := range []string{"blind at the top", "blind at the bottom"} {
		for _, m := range siteOfEach()[name].Movements {
			if m.Left-m.Gauge < 2 {
				t.Errorf("%s: %.1f bbl left, %.1f seen", name, m.Left, m.Gauge)
			}
		}
	}
}
