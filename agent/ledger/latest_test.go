package ledger

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"gauger/collectors"
)

// TestTheNewestReadingsAreKeptWhole gives batches in which readings have much, little and nothing in common.
func TestTheNewestReadingsAreKeptWhole(t *testing.T) {
	at := time.Now()
	why := errors.New("why")
	batch := []collectors.Reading{
		{Point: "a/1", Value: 1, Unit: "in", Quality: collectors.Good, At: at},
		{Point: "a/2", Value: 2, Unit: "in", Quality: collectors.Good, At: at},
		{Point: "a/3", Value: 3, Unit: "ft", Quality: collectors.Good, At: at},
		{Point: "a/4", Value: 4, Unit: "ft", Quality: collectors.Uncertain, At: at, Err: why},
		{Point: "a/5", Value: 5, Unit: "ft", Quality: collectors.Uncertain, At: at, Err: errors.New("another")},
		{Point: "a/6", Value: 6, Quality: collectors.Good, At: at.Add(time.Second), Text: "six"},
	}
	want := slices.Clone(batch)
	n := latestReadings{}
	n.store(batch)
	for i := range batch {
		batch[i] = collectors.Reading{Point: "x", Err: why} // a collector may use its batch again
	}
	for _, w := range want {
		if got, ok := n.get(w.Point); !ok || got != w {
			t.Errorf("%s: %+v, want %+v", w.Point, got, w)
		}
	}
	if len(n.all()) != len(want) {
		t.Errorf("%d points, want %d", len(n.all()), len(want))
	}
	n.store([]collectors.Reading{{Point: "a/1", Value: math.NaN(), At: at, Err: why}})
	if got, _ := n.get("a/1"); !math.IsNaN(got.Value) || got.Err != why || got.Unit != "" {
		t.Errorf("%+v after a bad one", got)
	}
	if got, _ := n.get("a/2"); got != want[1] {
		t.Errorf("%+v: the next reading of its neighbour changed it", got)
	}
	for _, p := range []collectors.Point{"a/7", "b/1"} {
		if _, ok := n.get(p); ok {
			t.Errorf("%s never was, and has a reading", p)
		}
	}
}

// TestALateReadingIsNotTheNewest: a message of two hours ago behind one of now; and a clock that was ahead goes back.
func TestALateReadingIsNotTheNewest(t *testing.T) {
	now := time.Now().Round(0)
	for _, c := range []struct {
		first, then time.Duration
		want        float64
	}{{0, -2 * time.Hour, 1}, {-2 * time.Hour, 0, 2}, {time.Hour, 0, 2}, {-time.Minute, -time.Minute, 2}} {
		n := latestReadings{}
		n.store([]collectors.Reading{{Point: "a/1", Value: 1, At: now.Add(c.first)}, {Point: "a/2", Value: 7, At: now.Add(c.first)}})
		n.store([]collectors.Reading{{Point: "a/1", Value: 2, At: now.Add(c.then)}, {Point: "a/3", Value: 8, At: now.Add(c.then)}})
		if got, _ := n.get("a/1"); got.Value != c.want {
			t.Errorf("%s, then %s: %g, want %g", c.first, c.then, got.Value, c.want)
		}
		for p, want := range map[collectors.Point]float64{"a/2": 7, "a/3": 8} {
			if got, _ := n.get(p); got.Value != want {
				t.Errorf("%s, then %s: %s has %g, want %g", c.first, c.then, p, got.Value, want)
			}
		}
	}
}

// TestTheNewestReadingsInAnyOrder lets points of several devices come as messages do, with more or less in common; some have the
// device's name and nothing behind it.
func TestTheNewestReadingsInAnyOrder(t *testing.T) {
	n, want := latestReadings{}, map[collectors.Point]collectors.Reading{}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		var batch []collectors.Reading
		for range 1 + random.IntN(6) {
			device := fmt.Sprint("d", random.IntN(12))
			r := collectors.Reading{Point: collectors.PointOf(device, fmt.Sprint("p", random.IntN(1+i/20))), Value: random.Float64(), Quality: collectors.Good}
			switch random.IntN(20) {
			case 0:
				r.Point = collectors.Point(device)
			case 1:
				r.Point = collectors.PointOf(device, "")
			}
			r.Text = []string{"", "", "open", "shut"}[random.IntN(4)]
			r.At = time.Unix(int64(random.IntN(3)), 0)
			if w, ok := want[r.Point]; !ok || !r.At.Before(w.At) {
				want[r.Point] = r
			}
			batch = append(batch, r)
		}
		n.store(batch)
	}
	if got := n.all(); len(got) != len(want) {
		t.Fatalf("%d points, want %d", len(got), len(want))
	}
	for _, got := range n.all() {
		if got != want[got.Point] {
			t.Errorf("among all: %+v, want %+v", got, want[got.Point])
		}
	}
	for p, w := range want {
		if got, ok := n.get(p); !ok || got != w {
			t.Errorf("%s: %+v, want %+v", p, got, w)
		}
	}
	for device, s := range n.devices {
		used, points := len(s.rests)-1-len(s.free), 0
		for _, r := range s.rests {
			if r != nil {
				used, points = used-1, points+r.users
			}
		}
		if used != 0 || points != len(s.points) || len(s.rests) > len(s.points)+2 {
			t.Errorf("%s: %d points of %d have a reading, in %d places (%d too many)", device, points, len(s.points), len(s.rests), used)
		}
	}
}

// TestReadingsThatDifferAreNotAlike in any field but point and value, of which a new one must not be forgotten.
func TestReadingsThatDifferAreNotAlike(t *testing.T) {
	for i := range reflect.TypeFor[collectors.Reading]().NumField() {
		var a collectors.Reading
		name, field := reflect.TypeOf(a).Field(i).Name, reflect.ValueOf(&a).Elem().Field(i)
		switch field.Interface().(type) {
		case time.Time:
			field.Set(reflect.ValueOf(time.Now()))
		case bool:
			field.SetBool(true)
		case error, nil:
			field.Set(reflect.ValueOf(errors.New("why")))
		default:
			switch {
			case field.CanFloat():
				field.SetFloat(1)
			case field.CanInt():
				field.SetInt(1)
			case field.CanUint():
				field.SetUint(1)
			default:
				field.SetString("x")
			}
		}
		if same := alike(&a, &collectors.Reading{}); same != (name == "Point" || name == "Value") {
			t.Errorf("with another %s they are alike: %v", name, same)
		}
	}
}
