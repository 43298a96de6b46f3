package sim

import (
	"math"
	"testing"
	"time"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within {
		t.Errorf("%s is %.6f, want %.6f", what, got, want)
	}
}

func TestBarrelsPerInch(t *testing.T) {
	for diameter, want := range map[float64]float64{10: 1.1657, 12: 1.6786, 15.5: 2.8006, 21.5: 5.3885} {
		near(t, "barrels per inch", BarrelsPerInch(diameter), want, 0.00005)
	}
}

// full is a 12 ft tank, 180 inches of oil, 1 bbl/min running in; 180 bbl go out at 6 bbl/min with two pauses.
func full(t *testing.T) *Tank {
	tank := &Tank{PerInch: 1.5, Height: 240, Heel: 10, Inflow: 1}
	tank.Fill(180)
	tank.Advance(10 * time.Minute)
	if _, ok := tank.Begin(Draw{Barrels: 180, Rate: 6, Pauses: []Pause{{60, 6 * time.Minute}, {120, 2 * time.Minute}}}); !ok {
		t.Fatal("the draw did not begin")
	}
	return tank
}

func TestALoadWithPauses(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, time.Minute, 7 * time.Second, 333 * time.Millisecond} {
		tank := full(t)
		var changes []Change
		for tank.Now() < 70*time.Minute {
			changes = append(changes, tank.Advance(min(step, 70*time.Minute-tank.Now()))...)
		}
		want := []Change{
			{20 * time.Minute, Paused, (280 + 10 - 60) / 1.5, 60},
			{26 * time.Minute, Resumed, (280 + 16 - 60) / 1.5, 60},
			{36 * time.Minute, Paused, (280 + 26 - 120) / 1.5, 120},
			{38 * time.Minute, Resumed, (280 + 28 - 120) / 1.5, 120},
			{48 * time.Minute, Stopped, (280 + 38 - 180) / 1.5, 180},
		}
		if len(changes) != len(want) {
			t.Fatalf("step %s: %d changes, want %d: %+v", step, len(changes), len(want), changes)
		}
		for i, w := range want {
			c := changes[i]
			if c.What != w.What || (c.At-w.At).Abs() > time.Microsecond {
				t.Errorf("step %s: %s at %s, want %s at %s", step, c.What, c.At, w.What, w.At)
			}
			near(t, "level", c.Level, w.Level, 1e-4)
			near(t, "removed", c.Removed, w.Removed, 1e-4)
		}
		near(t, "level at the end", tank.Level(), (280+60-180)/1.5, 1e-4)
		loads := tank.Loads()
		if len(loads) != 1 || tank.Drawing() {
			t.Fatalf("step %s: loads %+v, drawing %t", step, loads, tank.Drawing())
		}
		l := loads[0]
		near(t, "opening", l.Opening, 280/1.5, 1e-9)
		near(t, "gauge difference", (l.Opening-l.Closing)*1.5, l.Removed-l.Inflow, 1e-6)
		near(t, "inflow", l.Inflow, 38, 1e-4)
		if l.Start != 10*time.Minute || l.Pauses != 2 {
			t.Errorf("load %+v", l)
		}
	}
}

func TestAPumpLosesSuctionAtTheHeel(t *testing.T) {
	tank := &Tank{PerInch: 2, Height: 240, Heel: 10, Inflow: 1}
	tank.Fill(40)
	tank.Begin(Draw{Barrels: 500, Rate: 6})
	changes := tank.Advance(time.Hour)
	if len(changes) != 1 || changes[0].What != LostSuction {
		t.Fatalf("changes %+v", changes)
	}
	near(t, "level", changes[0].Level, 10, 1e-5)
	near(t, "minutes", changes[0].At.Minutes(), 60.0/5, 1e-6)
	near(t, "removed", changes[0].Removed, 72, 1e-4)
}

func TestAFullTankTakesNoMore(t *testing.T) {
	tank := &Tank{PerInch: 2, Height: 100, Inflow: 10}
	tank.Fill(95)
	tank.Advance(time.Hour)
	near(t, "level", tank.Level(), 100, 1e-9)
	tank.Begin(Draw{Barrels: 20, Rate: 5})
	tank.Advance(time.Hour)
	l := tank.Loads()[0]
	near(t, "what ran in", l.Inflow, l.Removed, 1e-6)
}

func TestOneDrawAtATime(t *testing.T) {
	tank := full(t)
	if _, ok := tank.Begin(Draw{Barrels: 10, Rate: 1}); ok {
		t.Error("a second draw began")
	}
	tank.Advance(2 * time.Hour)
	for _, d := range []Draw{{Barrels: 10}, {Rate: 1}, {Barrels: math.NaN(), Rate: 1}} {
		if _, ok := tank.Begin(d); ok {
			t.Errorf("%+v began", d)
		}
	}
	if c, ok := tank.Begin(Draw{Barrels: 10, Rate: 1, Pauses: []Pause{{5, 0}, {3, time.Minute}}}); !ok || c.What != Started || c.Removed != 0 {
		t.Errorf("a draw with pauses out of order: %+v %t", c, ok)
	}
	tank.Advance(time.Hour)
	if n := len(tank.Loads()); n != 2 {
		t.Errorf("%d loads, want 2", n)
	}
}
