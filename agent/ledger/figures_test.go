package ledger

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// TestAFigureThatIsNotFiniteStopsNothing: whatever a point or a constant says beside the level, the load of this tank and
// of its neighbour are ticketed, rules and silences go on, and the stored state is read again.
func TestAFigureThatIsNotFiniteStopsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		observed bool
		top      Source
		bottom   Source
		gravity  Source
		water    float64 // of the interface; 0: none
		says     string  // what the volumes miss
		ticket   string  // what the ticket must not have
	}{
		"a gravity that was observed and is none": {observed: true, top: Source{Constant: new(90.0)}, bottom: Source{Constant: new(90.0)},
			gravity: Source{Constant: new(0.00094)}, says: "gravity"},
		"a gravity that API 11.1 cannot have": {top: Source{Constant: new(90.0)}, bottom: Source{Constant: new(90.0)},
			gravity: Source{Constant: new(1e-320)}, says: "gravity"},
		"temperatures whose mean is none": {top: Source{Constant: new(math.MaxFloat64)}, bottom: Source{Constant: new(math.MaxFloat64)},
			gravity: Source{Constant: new(0.83)}, says: "temperature"},
		"a temperature that was read": {top: Source{Point: "plc/top"}, bottom: Source{Point: "plc/top"},
			gravity: Source{Constant: new(0.83)}, says: "temperature", ticket: "topTemperature"},
		"a gravity that was read":    {observed: true, top: Source{Constant: new(90.0)}, gravity: Source{Point: "plc/top"}, says: "gravity", ticket: "specificGravity"},
		"an interface that was read": {water: math.MaxFloat64},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(s *Site) {
					neighbour := s.Tanks[0]
					neighbour.ID, neighbour.Level = "TK-2", "plc/level2"
					odd := &s.Tanks[0]
					odd.Top, odd.Bottom, odd.Gravity = c.top, c.bottom, c.gravity
					if c.water != 0 {
						odd.Interface = "plc/water"
					}
					if c.observed {
						s.Wire.Gravity = "observed"
					}
					s.Tanks = append(s.Tanks, neighbour)
					s.Rules = []Rule{{Name: "low", Point: "plc/level2", Below: new(100.0)}}
				})
				b.haulBeside(func() {
					b.emit("top", 1.7e308, func(r *collectors.Reading) { r.Unit = "degF" })
					b.emit("water", c.water)
				})
				b.again()
				if b.state.tanks.Mark() == 0 {
					t.Error("the state of the tanks was not read again")
				}
				var tanks []string
				for _, body := range b.bodies(Tickets) {
					tanks = append(tanks, body["tank"].(map[string]any)["externalID"].(string))
					if _, has := body[c.ticket]; has {
						t.Errorf("the ticket says %v", body)
					}
				}
				slices.Sort(tanks)
				if !slices.Equal(tanks, []string{"TK-1", "TK-2"}) {
					t.Errorf("tickets of %v", tanks)
				}
				if len(b.state.held.all) != 0 || !slices.Contains(b.rules(), "low") {
					t.Errorf("%d loads are held, events %v", len(b.state.held.all), b.rules())
				}
				all, err := b.Tickets()
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(all, func(x TicketRecord) bool { return x.Tank == "TK-1" })
				if i < 0 || all[i].Seq == 0 || all[i].Volumes == nil || !strings.Contains(strings.Join(all[i].Volumes.Missing, "; "), c.says) {
					t.Errorf("what is kept of it: %+v", all)
				}
			})
		})
	}
}

// TestWhatCannotBeIsLeftOutAndAsks: a figure that no oil has, read from a point, is left out of the ticket, which asks a person.
func TestWhatCannotBeIsLeftOutAndAsks(t *testing.T) {
	top := func(t *Tank) { t.Top = Source{Point: "plc/top"} }
	for name, c := range map[string]struct {
		wire  func(*Tank)
		value float64
		unit  collectors.Unit
		field string  // of the ticket
		sent  float64 // there; 0: the field must not be there
		says  string  // why a person is asked; empty: nobody is
	}{
		"swapped bytes":             {top, -1407.8, "degF", "topTemperature", 0, "top temperature was read as -1407.8: that cannot be and is left out"},
		"colder than API 11.1":      {top, -50.1, "degC", "topTemperature", 0, "top temperature was read as -58.18"},
		"as cold as API 11.1":       {top, -50, "degC", "topTemperature", -58, ""},
		"hotter than API 11.1":      {top, 302.1, "", "topTemperature", 0, "top temperature was read as 302.1"},
		"degrees API as SG":         {func(t *Tank) { t.Gravity = Source{Point: "plc/top"} }, 38.5, "", "specificGravity", 0, "gravity was read as 38.5"},
		"degrees API said":          {func(t *Tank) { t.Gravity = Source{Point: "plc/top"} }, 38.5, "API", "specificGravity", 0.8324, ""},
		"a percentage of 140":       {func(t *Tank) { t.BSW = Source{Point: "plc/top"} }, 140, "percent", "bsw", 0, "bsw was read as 140"},
		"a probe whose zero is off": {func(t *Tank) { t.BSW = Source{Point: "plc/top"} }, -0.04, "percent", "bsw", 1e-9, ""},
		"water above the oil":       {func(t *Tank) { t.Interface, t.Tank.Interface = "plc/top", true; t.BSW.Constant = new(0.3) }, 200, "in", "bsw", 0.3, "the oil/water interface was read above the level"},
		"water as far as it can":    {func(t *Tank) { t.Interface, t.Tank.Interface = "plc/top", true; t.BSW.Constant = new(0.3) }, 80.5, "in", "bsw", 0.3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(s *Site) { c.wire(&s.Tanks[0]) })
				b.haulBeside(func() { b.emit("top", c.value, func(r *collectors.Reading) { r.Unit = c.unit }) })
				tickets := b.bodies(Tickets)
				if len(tickets) != 1 {
					t.Fatalf("%d tickets", len(tickets))
				}
				v, has := tickets[0][c.field].(float64)
				if has != (c.sent != 0) || math.Abs(v-c.sent) > 1e-6 {
					t.Errorf("the ticket has %s %v (%v), want %v", c.field, v, has, c.sent)
				}
				all, err := b.Tickets()
				if err != nil {
					t.Fatal(err)
				}
				asks := strings.Join(all[0].Load.Review, "; ")
				if c.says == "" && asks != "" || !strings.Contains(asks, c.says) || (c.says != "") != slices.Contains(b.rules(), "load-needs-review") {
					t.Errorf("asks %q, want %q; events %v", asks, c.says, b.rules())
				}
				if w := all[0].Volumes; w.OpenWaterBbl > w.OpenBbl || w.CloseWaterBbl > w.CloseBbl {
					t.Errorf("more water than there is in the tank: %+v", w)
				}
			})
		})
	}
}

// haulBeside plays the same load in two tanks, and something beside it, until the tickets have left.
func (b *bench) haulBeside(beside func()) {
	begin := time.Now()
	for elapsed := time.Duration(0); elapsed < 170*time.Minute; elapsed = time.Since(begin) {
		pumped := min(max(elapsed-time.Hour, 0), 25*time.Minute)
		b.emit("level", 180-4*pumped.Minutes())
		refill := min(max(elapsed-140*time.Minute, 0), 20*time.Minute)
		b.emit("level2", 180-4*pumped.Minutes()+1.5*refill.Minutes())
		beside()
		pass(10 * time.Second)
		if err := b.Tick(time.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

// TestALoadWhoseLevelsAreNoNumbersIsRejected: it cannot be a ticket, says so, and holds nothing up; another figure that is
// none is left out and marks the load.
func TestALoadWhoseLevelsAreNoNumbersIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		pass(time.Hour)
		begin := time.Now().Round(0).Add(-50 * time.Minute)
		load := func(minutes int) tank.Load {
			start := begin.Add(time.Duration(minutes) * time.Minute)
			return tank.Load{Tank: "TK-1", Began: start, Start: start, End: start.Add(time.Minute), Open: 100, Close: 50, GaugeBbl: 90}
		}
		odd, doubtful := load(0), load(5)
		odd.Open = math.NaN()
		doubtful.ErrorBbl, doubtful.Rate, doubtful.CloseWater = math.Inf(1), math.NaN(), new(math.Inf(-1))
		tx := b.begin(time.Now())
		for _, l := range []tank.Load{odd, doubtful, load(10)} {
			tx.holdLoad(l)
		}
		err := b.commit(tx, "")
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			pass(time.Minute)
			if err := b.Tick(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		all, err := b.Tickets()
		if err != nil || len(all) != 3 {
			t.Fatalf("%+v, %v", all, err)
		}
		if !strings.Contains(all[0].Rejected, "Open") || all[0].Ticket != nil {
			t.Errorf("the first is %+v", all[0])
		}
		if r := strings.Join(all[1].Load.Review, "; "); all[1].Ticket == nil || !strings.Contains(r, "ErrorBbl, Rate, CloseWater") && !strings.Contains(r, "Rate, ErrorBbl, CloseWater") {
			t.Errorf("the second is %+v, review %q", all[1], r)
		}
		if all[2].Ticket == nil || len(all[2].Load.Review) != 0 || len(b.bodies(Tickets)) != 2 {
			t.Errorf("the third is %+v", all[2])
		}
		if got := b.rules(); !slices.Contains(got, "ticket-unwritable") {
			t.Errorf("events %v", got)
		}
	})
}

// TestWhatCannotBeWrittenIsItsOwnProblem: a well's id that no request takes, a figure that JSON has no word for and a load
// of a tank that nobody knows are left out and told, once each; the rest of the batch is stored.
func TestWhatCannotBeWrittenIsItsOwnProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) {
			s.Values = []Value{{Well: guid, Code: "Production Target Gas", Point: "plc/level", Every: time.Hour}}
		})
		for range 3 {
			tx := b.begin(time.Now())
			tx.queue(TagValues, strings.Repeat("w", 300), []byte("{}"))
			tx.putJSON("odd", math.NaN())
			tx.holdLoad(tank.Load{Tank: "TK-9", Open: 100, Close: 50})
			tx.apply(&collectors.Reading{Point: "plc/level", Value: 180, Unit: "in", Quality: collectors.Good, At: time.Now()})
			err := b.commit(tx, "plc")
			if err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
		}
		if n := len(b.bodies(TagValues)); n != 1 {
			t.Errorf("%d values, want the one that can be stored", n)
		}
		told := map[string]string{}
		for _, e := range b.state.episodes {
			told[e.Rule+" "+e.Source[:min(len(e.Source), 40)]] = e.Note
		}
		if len(told) != 3 || told["record-unwritable what is kept as odd"] == "" || told["record-unwritable what is kept as a load of TK-9"] == "" ||
			!strings.Contains(fmt.Sprint(told), "has 300 characters") {
			t.Errorf("told: %v", told)
		}
		if err := b.CloseInherited(UnwritableSource); err != nil || len(b.rules()) != 0 {
			t.Errorf("this run's are over: %v, %v", b.rules(), err)
		}
		b.again()
		if err := b.CloseInherited(UnwritableSource); err != nil || len(b.state.episodes) != 0 || len(b.rules()) != 3 {
			t.Errorf("after the next start %v are open, events %v, %v", b.state.episodes, b.rules(), err)
		}
	})
}
