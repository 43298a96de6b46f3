package sites

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSameSeedSameBytes makes a few sites twice, and once with another number.
func TestSameSeedSameBytes(t *testing.T) {
	text := func(s *Site) string {
		var out bytes.Buffer
		if err := s.WriteReadings(&out); err != nil {
			t.Fatal(err)
		}
		if err := WriteTruth(&out, []*Site{s}); err != nil {
			t.Fatal(err)
		}
		return s.Config() + out.String()
	}
	for _, name := range []string{"a bad day with two trucks", "battery of four", "lightning", "swinging door"} {
		for _, k := range append(Kinds(true), Kinds(false)...) {
			if k.Name != name {
				continue
			}
			first := text(siteOfEach()[name])
			if first != text(k.Make(7, 0)) {
				t.Errorf("%s: not the same twice", name)
			}
			if first == text(k.Make(7, 1)) || first == text(k.Make(8, 0)) {
				t.Errorf("%s: another number or seed is the same site", name)
			}
		}
	}
}

// TestReadingsLieOnTheSensorsGrid asks that every value a transmitter offers is a whole number of its resolution.
func TestReadingsLieOnTheSensorsGrid(t *testing.T) {
	forEach(t, func(t *testing.T, s *Site) {
		for i, tk := range s.plan.tanks {
			grid := tk.gauge.resolution
			for second, x := range s.heard[i].value {
				if off := math.Abs(x/grid - math.Round(x/grid)); grid > 0 && off > 1e-6 {
					t.Fatalf("tank %d at second %d: %.6f in is not on a grid of %g", i+1, second, x, grid)
				}
			}
		}
	})
}

// noisy is a recording before compression: a plateau, a fall, a plateau.
func noisy() []reading {
	r := rand.New(rand.NewPCG(1, 2))
	var rows []reading
	for s := 0; s < 4*hour; s += 7 {
		x := 180 - math.Min(100, math.Max(0, float64(s-hour)/20)) + 0.2*r.NormFloat64()
		rows = append(rows, reading{second: s, value: onGrid(x, 0.01)})
	}
	return rows
}

// TestCompressedRecordingReproduces draws each compressed recording out again, and holds it against every reading left out.
func TestCompressedRecordingReproduces(t *testing.T) {
	all := noisy()
	for _, c := range []recorder{{deadband: 0.3, beat: 900}, {door: 0.3, beat: 900}, {door: 0.8, beat: 7200}} {
		kept := c.compress(all, 1)
		if len(kept) >= len(all)/2 || len(kept) < 3 {
			t.Errorf("%+v keeps %d of %d", c, len(kept), len(all))
		}
		at := 0
		for _, row := range all {
			for at+1 < len(kept) && kept[at+1].second <= row.second {
				at++
			}
			drawn := kept[at].value // by exception: the last one stands
			if c.door > 0 && at+1 < len(kept) {
				part := float64(row.second-kept[at].second) / float64(kept[at+1].second-kept[at].second)
				drawn += part * (kept[at+1].value - kept[at].value)
			}
			if off := math.Abs(drawn - row.value); off > c.door+c.deadband+1e-9 {
				t.Fatalf("%+v: %.3f in drawn for %.3f at second %d", c, drawn, row.value, row.second)
			}
		}
	}
}

// TestBoxThatStartsAgain asks for boots that rise, a clock that begins anew with each, and rows in order.
func TestBoxThatStartsAgain(t *testing.T) {
	s := siteOfEach()["box starts again within the load"]
	for i, row := range s.rows[1:] {
		last := s.rows[i]
		if row.second < last.second || row.boot < last.boot || row.boot == last.boot && row.mono < last.mono {
			t.Fatalf("row %d: %+v after %+v", i+1, row, last)
		}
		if row.boot > last.boot && row.mono > s.plan.recorder.poll*2 {
			t.Fatalf("boot %d begins at %d s", row.boot, row.mono)
		}
	}
	if last := s.rows[len(s.rows)-1]; last.boot != len(s.plan.recorder.boots) {
		t.Errorf("%d boots, %d restarts", last.boot, len(s.plan.recorder.boots))
	}
}
