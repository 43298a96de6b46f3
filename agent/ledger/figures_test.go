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
