package plot

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestThinningLosesNoPeak gives a series two years at a reading a minute: its memory is bounded, and a spike of one
// reading is still there.
func TestThinningLosesNoPeak(t *testing.T) {
	var s Series
	const n = 2 * 365 * 1440
	for i := range n {
		v := 100.0
		if i == 123_456 {
			v = 237
		}
		at := time.Duration(i) * time.Minute
		s.Add(begin.Add(at), 1, at, v, i%10 != 0)
	}
	if len(s.good.list) > spansMost || cap(s.good.list) > 2*spansMost || len(s.bad.list) > spansMost {
		t.Errorf("%d pieces, room for %d", len(s.good.list), cap(s.good.list))
	}
	peak := 0.0
	for _, p := range s.good.between(0, math.Inf(1)) {
		if p.hi > peak {
			peak = p.hi
		}
		if want := seconds(begin.Add(123_456 * time.Minute)); p.hi == 237 && (p.from > want || p.to < want) {
			t.Errorf("the peak lies from %f to %f, want %f in it", p.from, p.to, want)
		}
	}
	if peak != 237 {
		t.Errorf("the peak is %g", peak)
	}
}

func TestManyBootsStayBounded(t *testing.T) {
	var s Series
	for i := range 100_000 {
		s.Add(begin.Add(time.Duration(i)*time.Minute), int64(i), time.Second, 100, true)
	}
	if len(s.good.list) > spansMost {
		t.Errorf("%d pieces", len(s.good.list))
	}
}

// levels gives a series a reading every ten seconds of its boot; the wall clock is off by what wrong says of the i-th.
func levels(n int, wrong func(i int) time.Duration) *Series {
	s := &Series{}
	for i := range n {
		mono := time.Duration(i) * 10 * time.Second
		s.Add(begin.Add(mono+wrong(i)), 1, mono, 100, true)
	}
	return s
}

func TestAClockThatIsSetDatesWhatCameBefore(t *testing.T) {
	ends := func(s *Series) (float64, float64) {
		all := s.good.between(math.Inf(-1), math.Inf(1))
		return all[0].from - seconds(begin), all[len(all)-1].to - seconds(begin)
	}
	unset := levels(360, func(i int) time.Duration {
		if i < 180 {
			return -time.Duration(begin.Unix()) * time.Second // the clock says 1970
		}
		return 0
	})
	if from, to := ends(unset); from != 0 || to != 3590 {
		t.Errorf("after 1970 the readings go from %g to %g s, want 0 to 3590", from, to)
	}
	stepped := levels(10*360, func(i int) time.Duration {
		if i < 9*360 {
			return 0
		}
		return 55 * time.Minute
	})
	if from, to := ends(stepped); from != 0 || to != 10*3600-10+55*60 {
		t.Errorf("with a step the readings go from %g to %g s", from, to)
	}
	// from six hours before the step on everything is dated by the new clock, as a load that was under way is
	if got := stepped.good.between(seconds(begin)+3*3600+51, seconds(begin)+3*3600+54*60); len(got) != 0 || !stepped.clockSteppedIn(seconds(begin)+3*3600-20, seconds(begin)+3*3600+3300) {
		t.Errorf("%d pieces within the step, seams %v", len(got), stepped.steps)
	}
	forth := levels(10*360, func(i int) time.Duration {
		if i < 9*360 || i >= 9*360+20 {
			return 0
		}
		return -40 * time.Minute // for three minutes
	})
	if from, to := ends(forth); from != 0 || to != 10*3600-10 {
		t.Errorf("with a step back and forth the readings go from %g to %g s", from, to)
	}
	for last, all := 0.0, forth.good.between(0, math.Inf(1)); len(all) > 0; all = all[1:] {
		if last != 0 && all[0].from != last+10 {
			t.Fatalf("with a step back and forth a reading is %g s behind the one before", all[0].from-last)
		}
		last = all[0].to
	}
	late := levels(360, func(i int) time.Duration {
		if i%50 == 7 {
			return -20 * time.Minute // a single delivery with an old time
		}
		return 0
	})
	if from, to := ends(late); from != 0 || to != 3590 {
		t.Errorf("late deliveries stretch the readings from %g to %g s", from, to)
	}
}

func TestAGapIsMeasuredByTheUsualInterval(t *testing.T) {
	for _, c := range []struct {
		every    time.Duration
		from, to float64
	}{{time.Second, 600, 600}, {time.Minute, 600, 600}, {15 * time.Minute, 3600, 4 * 1024}} {
		var s Series
		for i := range 200 {
			at := time.Duration(i) * c.every
			s.Add(begin.Add(at), 1, at, 100, true)
		}
		if got := s.shownGap(); got < c.from || got > c.to {
			t.Errorf("every %s: a gap is %g s, want %g to %g", c.every, got, c.from, c.to)
		}
	}
}

func TestTheAxisOfADayThatHas23Or25Hours(t *testing.T) {
	zone := chicago(t)
	for _, c := range []struct {
		day  time.Time
		want string
	}{
		{time.Date(2026, 3, 8, 0, 0, 0, 0, zone), "00:00 04:00 06:00 08:00 10:00 12:00 14:00 16:00 18:00 20:00 22:00 00:00"},
		{time.Date(2026, 11, 1, 0, 0, 0, 0, zone), "00:00 02:00 04:00 06:00 08:00 10:00 12:00 14:00 16:00 18:00 20:00 22:00 00:00"},
	} {
		v := &view{wide: pageWidth, from: seconds(c.day), to: seconds(c.day.AddDate(0, 0, 1)), zone: zone, day: 7 * time.Hour}
		ticks, days := v.ticks()
		var got []string
		for _, at := range ticks {
			got = append(got, at.Format("15:04"))
		}
		if strings.Join(got, " ") != c.want || days {
			t.Errorf("%s: the axis shows %v, want %s", c.day.Format(time.DateOnly), got, c.want)
		}
		if day := v.daily(7 * time.Hour); day[len(day)-1].Hour() != 7 {
			t.Errorf("the production day of %s begins at %s", c.day.Format(time.DateOnly), day[len(day)-1])
		}
	}
}
