package tank

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// The trend follows the true level from 20 minutes before to the decision, in 64 samples of
// few bytes.
func TestALoadKeepsItsTrend(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Trend == nil {
		t.Fatalf("loads %+v, want one with a trend", r.loads)
	}
	l := r.loads[0]
	n := len(l.Trend.Seconds)
	if n != len(l.Trend.Level) || n < 50 || n > trendMost {
		t.Fatalf("%d instants and %d levels, want at most %d", n, len(l.Trend.Level), trendMost)
	}
	for i, s := range l.Trend.Seconds {
		at := l.Start.Add(time.Duration(s) * time.Second).Sub(tanktest.Start).Seconds()
		if got, want := float64(l.Trend.Level[i])/100, aWell.Level(at); math.Abs(got-want) > 0.3 {
			t.Errorf("level %d s after the start is %.2f in, want %.2f", s, got, want)
		}
	}
	if first, last := l.Trend.Seconds[0], l.Trend.Seconds[n-1]; first > -1000 || float64(last) < aLoad.End()-aLoad.From+40*60 {
		t.Errorf("the trend is from %d s to %d s", first, last)
	}
	raw, err := json.Marshal(l.Trend)
	if err != nil || len(raw) > 900 {
		t.Errorf("the trend takes %d bytes (%v)", len(raw), err)
	}
}

func TestALoadNamesWhatSpeaksForIt(t *testing.T) {
	r := newRig(t, aWell, tanktest.Well{Level0: 60, Inflow: 50})
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Rivals == nil {
		t.Fatalf("loads %+v", r.loads)
	}
	l := r.loads[0]
	if v := l.Rivals; v.Others != 1 || math.Abs(v.RoseBbl) > 3 || math.Abs(v.BackIn) > 0.5 || v.Watched < 45*time.Minute || v.Watched > 50*time.Minute || v.WaterIn != nil {
		t.Errorf("rivals %+v", v)
	}
	if math.Abs(l.OpenBbl-l.Open*tanktest.PerInch) > 0.01 || math.Abs(l.CloseBbl-l.Close*tanktest.PerInch) > 0.01 || math.Abs(l.OpenBbl-l.CloseBbl-l.GaugeBbl) > 1e-9 {
		t.Errorf("%.2f bbl at %.2f in, %.2f bbl at %.2f in, %.2f bbl between", l.OpenBbl, l.Open, l.CloseBbl, l.Close, l.GaugeBbl)
	}
}

func TestFreeWaterIsKnownAtBothGauges(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].Interface = true
	r.side = func(r *rig, s float64) { r.feed(s, Input{Kind: Interface, Value: 6, Good: true}) }
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].OpenWater == nil || r.loads[0].CloseWater == nil || r.loads[0].Rivals.WaterIn == nil {
		t.Fatalf("loads %+v", r.loads)
	}
	if l := r.loads[0]; *l.OpenWater != 6 || *l.CloseWater != 6 || *l.Rivals.WaterIn != 0 {
		t.Errorf("water %v in and %v in, fell by %v in; want 6, 6, 0", *l.OpenWater, *l.CloseWater, *l.Rivals.WaterIn)
	}
}
