package modbus

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// placed is a device whose points are named after the place and hold it, asked for twice.
func placed(url string, unit int, addresses ...int) Device {
	d := Device{Name: fmt.Sprint(unit), URL: url, Unit: new(unit)}
	for _, a := range addresses {
		d.Points = append(d.Points, Point{Name: fmt.Sprint(place16(byte(unit), 3, a)), Holding: new(a), Verify: "twice"})
	}
	return d
}

// TestTwinsAreCaughtByAskingTwice has answers that come a second time when another request of the same form is
// waiting for its own, where no number tells the two apart. Points that are asked for twice must not take them.
func TestTwinsAreCaughtByAskingTwice(t *testing.T) {
	good, bad := 0, 0
	for _, l := range wraps {
		for _, s := range spoilings(l.wrap) {
			if !s.twin {
				continue
			}
			for first := 1; first < 30; first += 4 {
				for _, times := range []int{1, 2} {
					c := trial{url: l.url, wrap: l.wrap, spoils: []spoiling{s}, first: first, times: times}
					g, b := c.twice(t)
					good, bad = good+g, bad+b
				}
			}
		}
	}
	t.Logf("%d good values, %d bad ones", good, bad)
}

// twice polls a site whose points are verified, and counts the values.
func (c trial) twice(t *testing.T) (good, bad int) {
	t.Helper()
	var wrong []string
	synctest.Test(t, func(t *testing.T) {
		w := &witness{wrap: c.wrap, turnaround: thinks}
		w.spoil = c.spoil(w)
		lines := &Lines{Dial: w.dial}
		defer closeLines(t, lines)
		for range 6 {
			all, err := Read(t.Context(), lines, []Device{placed(c.url, 1, 0, 2, 400), placed(c.url, 2, 0, 2, 400), placed(c.url, 3, 0, 2, 400)})
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
		t.Errorf("%s: %s", c, w)
	}
	return good, bad
}
