package modbus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// TestManyFaultsAtOnce mixes faults at random under devices whose points are verified: one fault can then no
// longer hide another.
func TestManyFaultsAtOnce(t *testing.T) {
	good := 0
	for seed := range uint64(60) {
		for framing, urls := range linetest.URLsByFraming {
			good += verifiedUnderFaults(t, urls[0], seed, framing)
		}
	}
	if good == 0 {
		t.Error("no value came through at all")
	}
	t.Logf("%d good values", good)
}

func verifiedUnderFaults(t *testing.T, url string, seed uint64, framing modbustest.Framing) (good int) {
	random := rand.New(rand.NewPCG(seed, 1))
	kinds := linetest.EveryFault(framing)
	names := linetest.SortedKeys(kinds)
	var faults []modbustest.Fault
	for range 25 {
		f := kinds[names[random.IntN(len(names))]]
		f.Skip, f.Times = random.IntN(100), 1+random.IntN(2)
		faults = append(faults, f)
	}
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(faults...)
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		for range 12 {
			all, err := Read(t.Context(), lines, verifiedSite(url))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if r.Quality == collectors.Good {
					good++
				}
				if want := expected(r.Point); r.Quality == collectors.Good && r.Value != want {
					t.Errorf("seed %d, %s: %v for %s, want %v", seed, url, r.Value, r.Point, want)
				}
			}
		}
	})
	return good
}

// verifiedSite has three units with two levels each; the point's name says what is expected.
func verifiedSite(url string) []Device {
	var all []Device
	for unit := 1; unit <= 3; unit++ {
		d := Device{Name: fmt.Sprintf("u%d", unit), URL: url, Unit: new(unit)}
		for _, a := range []int{0, 40} {
			d.Points = append(d.Points, holding(fmt.Sprint(linetest.Word(byte(unit), line.Holding, a)), a, func(p *Point) { p.Verify = "twice" }))
		}
		all = append(all, d)
	}
	return all
}

func expected(p collectors.Point) (v float64) {
	var unit int
	if _, err := fmt.Sscanf(string(p), "u%d/%g", &unit, &v); err != nil {
		return -1
	}
	return v
}

// placed is a device whose points are named after the place and hold it, asked for twice.
func placed(url string, unit int, addresses ...int) Device {
	d := Device{Name: fmt.Sprint(unit), URL: url, Unit: new(unit)}
	for _, a := range addresses {
		d.Points = append(d.Points, Point{Name: fmt.Sprint(linetest.Place16(byte(unit), 3, a)), Holding: new(a), Verify: "twice"})
	}
	return d
}

// TestTwinsAreCaughtByAskingTwice has answers that come a second time when another request of the same form is
// waiting for its own, where no number tells the two apart. Points that are asked for twice must not take them.
func TestTwinsAreCaughtByAskingTwice(t *testing.T) {
	good, bad := 0, 0
	for _, l := range linetest.Wires {
		for _, s := range linetest.Spoilings(l.Envelope) {
			if !s.Twin {
				continue
			}
			for first := 1; first < 30; first += 4 {
				for _, times := range []int{1, 2} {
					g, b := twice(t, l, linetest.Sequence{Spoilings: []linetest.Spoiling{s}, First: first, Times: times})
					good, bad = good+g, bad+b
				}
			}
		}
	}
	t.Logf("%d good values, %d bad ones", good, bad)
}

// twice polls a site whose points are verified, and counts the values.
func twice(t *testing.T, l linetest.Wire, spoilt linetest.Sequence) (good, bad int) {
	t.Helper()
	var wrong []string
	synctest.Test(t, func(t *testing.T) {
		w := &linetest.Witness{Envelope: l.Envelope, Turnaround: linetest.Thinks}
		w.Spoil = spoilt.Of(w)
		lines := linesTo(w)
		defer linetest.Close(t, lines)
		for range 6 {
			all, err := Read(t.Context(), lines, []Device{placed(l.URL, 1, 0, 2, 400), placed(l.URL, 2, 0, 2, 400), placed(l.URL, 3, 0, 2, 400)})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if r.Quality != collectors.Good {
					bad++
					continue
				}
				good++
				if _, name, _ := strings.Cut(string(r.Point), "/"); name != fmt.Sprint(r.Value) {
					wrong = append(wrong, fmt.Sprintf("%v at %s", r.Value, r.Point))
				}
			}
			collectors.Wait(t.Context(), 500*time.Millisecond)
		}
	})
	for _, w := range wrong {
		t.Errorf("%s, %s: %s", l.URL, spoilt, w)
	}
	return good, bad
}

func TestVerifyBelievesOnlyWhatTwoRequestsAgreeOn(t *testing.T) {
	level := func(p *Point) { p.Type, p.Verify, p.Agree, p.Unit = "float32", "twice", 0.5, "in" }
	d := Device{Name: "d", URL: "rtu+tcp://site:4001", Points: []Point{holding("level", 0, level), holding("other", 2)}}
	for _, tt := range []struct {
		second float32
		good   bool
	}{{100, true}, {100.5, true}, {99.5, true}, {100.75, false}, {12, false}} {
		synctest.Test(t, func(t *testing.T) {
			slave := linetest.NumberedSlave()
			slave.Unit(1).SetFloat32(modbustest.Holding, 0, 100, modbustest.ABCD)
			lines := pipeLines(t, linetest.Only(slave))
			changed := &change{after: 1, do: func() { slave.Unit(1).SetFloat32(modbustest.Holding, 0, tt.second, modbustest.ABCD) }}
			lines.Dial = changed.under(lines.Dial)
			got := readings(t, lines, d)
			level, other := got["d/level"], got["d/other"]
			if other.Quality != collectors.Good {
				t.Errorf("the point that is read once: %+v", other)
			}
			if tt.good && (level.Quality != collectors.Good || level.Value != float64(tt.second)) {
				t.Errorf("then %v: %v (%v), want the second value", tt.second, level.Value, level.Err)
			}
			mismatches := linetest.Open(t, lines, d.URL).Stats().Mismatches
			if !tt.good && (level.Quality != collectors.Bad || !strings.Contains(level.Err.Error(), "do not agree") || mismatches != 1) {
				t.Errorf("then %v: %s %v (%v), %d counted", tt.second, level.Quality, level.Value, level.Err, mismatches)
			}
			if n := slave.Requests(1); n != 2 {
				t.Errorf("%d requests, want two", n)
			}
			linetest.Close(t, lines)
		})
	}
}

// change does something between two requests.
type change struct {
	line.Stream
	after int
	do    func()
}

func (c *change) under(dial func(context.Context, string) (line.Stream, error)) func(context.Context, string) (line.Stream, error) {
	return func(ctx context.Context, url string) (s line.Stream, err error) {
		c.Stream, err = dial(ctx, url)
		return c, err
	}
}

func (c *change) Write(b []byte) (int, error) {
	if c.after--; c.after == -1 {
		c.do()
	}
	return c.Stream.Write(b)
}
