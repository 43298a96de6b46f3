package apply

import (
	"math"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// siteBefore is a healthy site a second before the change.
func siteBefore() Health {
	at := noon.Add(-time.Second)
	return Health{
		At: at,
		Points: map[string]Point{
			"plc/level":   {Good: true, Value: 100, Unit: "in", At: at, Polled: true},
			"plc/top":     {Good: true, Value: 70, Unit: "degF", At: at, Polled: true},
			"plc/dead":    {At: at, Value: math.NaN(), Why: "timeout", Polled: true},
			"radio/level": {Good: true, Value: 50, Unit: "in", At: at.Add(-20 * time.Second)},
			"radio/slow":  {Good: true, Value: 5, Unit: "in", At: at.Add(-40 * time.Minute)},
		},
		Tanks:   map[string]Tank{"TK-1": {Level: new(100.0), At: at}, "TK-2": {Level: new(50.0), At: at.Add(-20 * time.Second)}},
		Lines:   map[string]Line{"tcp://plc": {Load: 0.2}},
		Lacking: map[string]string{"service login": "away for long"},
		Dead:    2,
	}
}

// newWatch is one of five minutes, of a change of the device plc.
func newWatch() *Watch {
	return &Watch{
		Before: siteBefore(), Began: noon, Length: 5 * time.Minute,
		GoesOn:  func(device string) bool { return device == "radio" },
		Has:     func(string) bool { return true },
		Changed: func(point string) bool { return strings.HasPrefix(point, "plc/") },
	}
}

// siteAfter is the same site so long after the change.
func siteAfter(after time.Duration) Health {
	h := siteBefore()
	h.At = noon.Add(after)
	for _, name := range []string{"plc/level", "plc/top", "plc/dead"} {
		p := h.Points[name]
		p.At = h.At
		h.Points[name] = p
	}
	h.Tanks["TK-1"] = Tank{Level: new(100.0), At: h.At}
	return h
}

func TestWhatIsWorse(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(w *Watch, h *Health)
		want string // empty: nothing is worse
	}{
		"nothing changed": {func(*Watch, *Health) {}, ""},
		"a good point is bad": {func(_ *Watch, h *Health) {
			h.Points["plc/top"] = Point{At: h.At, Value: math.NaN(), Why: "exception 2", Polled: true}
		}, "plc/top was good and is not any more: exception 2"},
		"a good point of another device is bad": {func(_ *Watch, h *Health) {
			h.Points["radio/level"] = Point{At: h.At, Value: math.NaN(), Why: "silent"}
		}, "radio/level was good and is not any more"},
		"a point is uncertain that never was good": {func(_ *Watch, h *Health) { h.Points["plc/dead"] = Point{At: h.At} }, ""},
		"a polled point is not read":               {func(_ *Watch, h *Health) { delete(h.Points, "plc/top") }, "plc/top was good and is not heard of any more"},
		"a point was taken out": {func(w *Watch, h *Health) {
			delete(h.Points, "plc/top")
			w.Has = func(p string) bool { return p != "plc/top" }
		}, ""},
		"a device that spoke is started again and silent": {func(w *Watch, h *Health) {
			w.GoesOn = func(string) bool { return false }
			h.Points["radio/level"] = Point{At: noon.Add(-time.Hour), Why: "no message yet"}
			delete(h.Points, "radio/slow")
		}, "radio/level was good and is not heard of any more: no message yet"},
		"a number of another size": {func(_ *Watch, h *Health) {
			h.Points["plc/top"] = Point{Good: true, Value: 7e-12, Unit: "degF", At: h.At, Polled: true}
		}, "plc/top stepped from 70 to 7e-12 degF"},
		"a number of another size that is meant": {func(w *Watch, h *Health) {
			h.Points["plc/top"] = Point{Good: true, Value: 700, Unit: "degF", At: h.At, Polled: true}
			w.Moves = []string{"plc/top"}
		}, ""},
		"a number of a point that is made as before": {func(w *Watch, h *Health) {
			h.Points["plc/top"] = Point{Good: true, Value: 700, Unit: "degF", At: h.At, Polled: true}
			w.Changed = func(string) bool { return false }
		}, ""},
		"a tank a foot higher": {func(_ *Watch, h *Health) { h.Tanks["TK-1"] = Tank{Level: new(112.0), At: h.At} }, "tank TK-1 stepped by +12.00 in, from 100.00 to 112.00 in"},
		"a tank a foot higher that is meant": {func(w *Watch, h *Health) {
			h.Tanks["TK-1"], w.Moves = Tank{Level: new(112.0), At: h.At}, []string{"TK-1"}
		}, ""},
		"a tank with noise":         {func(_ *Watch, h *Health) { h.Tanks["TK-1"] = Tank{Level: new(100.9), At: h.At} }, ""},
		"a tank without a level":    {func(_ *Watch, h *Health) { h.Tanks["TK-1"] = Tank{Why: "outside the tank", At: h.At} }, "tank TK-1 had a level and has none: outside the tank"},
		"a tank that was taken out": {func(_ *Watch, h *Health) { delete(h.Tanks, "TK-1") }, ""},
		"a line whose rounds are late": {func(_ *Watch, h *Health) { h.Lines["tcp://plc"] = Line{Load: 0.5, Late: []string{"plc"}} },
			"the line tcp://plc is over its budget: a round of plc takes longer"},
		"a full line":                               {func(_ *Watch, h *Health) { h.Lines["tcp://plc"] = Line{Load: 0.99} }, "the line tcp://plc is over its budget: requests have it 99 %"},
		"the service is silent":                     {func(_ *Watch, h *Health) { h.Service = "no route" }, "the service is not reached any more: no route"},
		"it was silent before":                      {func(w *Watch, h *Health) { h.Service, w.Before.Service = "no route", "no route" }, ""},
		"a key is lacking":                          {func(_ *Watch, h *Health) { h.Lacking["service primary_key"] = "primary_key: no such file" }, "primary_key: no such file"},
		"events stay":                               {func(w *Watch, h *Health) { h.Stuck, w.Service = map[string]string{"events": "404"}, true }, "the service takes no events any more: 404"},
		"records are refused":                       {func(w *Watch, h *Health) { h.Dead, w.Service = 5, true }, "the service refused 3 records since"},
		"records are refused, whatever was changed": {func(_ *Watch, h *Health) { h.Dead = 5 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatch()
			for _, after := range []time.Duration{2 * time.Minute, 2*time.Minute + 30*time.Second, 3 * time.Minute} {
				h := siteAfter(after)
				c.edit(w, &h)
				worse, lasting := w.Look(h)
				got := strings.Join(worse, "; ")
				if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || len(worse) > 1 {
					t.Fatalf("after %s it says %q, want %q", after, got, c.want)
				}
				if is := len(lasting) > 0; is != (c.want != "" && after == 3*time.Minute) {
					t.Errorf("after %s lasting is %q", after, lasting)
				}
			}
		})
	}
}

// A finding that goes away before a fifth of the watch is over counts from its next beginning.
func TestTroubleThatPasses(t *testing.T) {
	w := newWatch()
	for i, bad := range []bool{true, true, false, true, true, true, true} {
		h := siteAfter(time.Duration(i) * 20 * time.Second)
		if bad {
			h.Service = "busy"
		}
		_, lasting := w.Look(h)
		if is := len(lasting) > 0; is != (i == 6) {
			t.Errorf("look %d: lasting %q", i, lasting)
		}
	}
}

// One false echo among the first levels is no step, and a truck that begins to load none either.
func TestWhatIsNoStep(t *testing.T) {
	for name, levels := range map[string][]float64{"an echo": {100, 140, 100, 100}, "the first is an echo": {140, 100, 100, 100}} {
		w := newWatch()
		var worse []string
		for i, in := range levels {
			h := siteAfter(time.Duration(i+1) * 5 * time.Second)
			h.Tanks["TK-1"] = Tank{Level: new(in), At: h.At}
			worse, _ = w.Look(h)
		}
		if len(worse) > 0 {
			t.Errorf("%s: %q", name, worse)
		}
	}
	w := newWatch()
	for i := range 20 {
		h := siteAfter(time.Duration(i+1) * 15 * time.Second)
		h.Tanks["TK-1"] = Tank{Level: new(100 - float64(i)), At: h.At, Moving: true}
		if worse, _ := w.Look(h); len(worse) > 0 {
			t.Fatalf("a truck: %q", worse)
		}
	}
}

// A point that was bad in one look before the change and good in the next one was good.
func TestLooksBeforeAreJoined(t *testing.T) {
	h, later := siteBefore(), siteBefore()
	h.Points["plc/top"], h.Tanks["TK-1"] = Point{Why: "timeout"}, Tank{Why: "timeout"}
	later.Points["plc/level"], later.Tanks["TK-2"] = Point{Why: "timeout"}, Tank{Why: "timeout"}
	h.Add(later)
	for _, name := range []string{"plc/top", "plc/level"} {
		if !h.Points[name].Good {
			t.Errorf("%s is not good", name)
		}
	}
	for _, id := range []string{"TK-1", "TK-2"} {
		if h.Tanks[id].Level == nil {
			t.Errorf("%s has no level", id)
		}
	}
	if h.AllGood() {
		t.Error("plc/dead is good")
	}
}

// An offset by a foot is found while a truck loads, too: what the pump may have moved meanwhile does not hide what the file says.
func TestAnOffsetIsFoundBesideADraw(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	level := func(in float64, after time.Duration) Health {
		return Health{At: at.Add(after), Tanks: map[string]Tank{"TK-1": {Level: &in, At: at.Add(after), Moving: true}}}
	}
	for by, found := range map[float64]bool{12: true, -12: true, 0.9: false, 0: false} {
		for _, meant := range [][]string{nil, {"TK-1"}} {
			w := Watch{Before: level(100, 0), Began: at, Length: 5 * time.Minute, Speed: 60, Offsets: map[string]float64{"TK-1": by}, Moves: meant}
			worse, _ := w.Look(level(100+by, 10*time.Second))
			if (len(worse) > 0) != (found && meant == nil) {
				t.Errorf("moved by %g, meant %q: %q", by, meant, worse)
			}
		}
	}
}

// What tickets are made of is told first, however the others are named.
func TestTheCostliestIsToldFirst(t *testing.T) {
	w, h := newWatch(), siteAfter(time.Second)
	h.Tanks["TK-1"] = Tank{Level: new(80.0), At: h.At}
	h.Points["plc/level"] = Point{At: h.At, Value: math.NaN(), Why: "timeout", Polled: true}
	h.Lacking = map[string]string{"a key": "a key is missing"}
	worse, _ := w.Look(h)
	if len(worse) != 3 || !strings.HasPrefix(worse[0], "tank TK-1 stepped") || !strings.HasPrefix(worse[1], "plc/level was good") {
		t.Errorf("%q", worse)
	}
}
