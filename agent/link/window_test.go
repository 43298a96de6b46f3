package link

import (
	"testing"
	"testing/synctest"
	"time"
)

func clock(h, m int) time.Duration { return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute }

func TestWindows(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	night := []Window{{clock(22, 0), clock(6, 0)}}
	for _, c := range []struct {
		windows []Window
		at      string
		shut    time.Duration
	}{
		{nil, "2026-07-01T12:00:00-05:00", 0},
		{night, "2026-07-01T12:00:00-05:00", 10 * time.Hour},
		{night, "2026-07-01T21:59:59-05:00", time.Second},
		{night, "2026-07-01T22:00:00-05:00", 0},
		{night, "2026-07-02T00:00:00-05:00", 0},
		{night, "2026-07-02T05:59:59-05:00", 0},
		{night, "2026-07-02T06:00:00-05:00", 16 * time.Hour},
		{[]Window{{clock(1, 0), clock(2, 0)}, {clock(9, 30), clock(9, 45)}}, "2026-07-01T08:00:00-05:00", 90 * time.Minute},
		{[]Window{{clock(1, 0), clock(2, 0)}, {clock(9, 30), clock(9, 45)}}, "2026-07-01T09:45:00-05:00", clock(15, 15)},
		{[]Window{{clock(9, 30), clock(9, 45)}}, "2026-07-01T09:29:59-05:00", time.Second},
		{[]Window{{clock(9, 30), clock(9, 45)}}, "2026-07-01T09:30:00-05:00", 0},
		{[]Window{{clock(9, 30), clock(9, 45)}}, "2026-07-01T09:44:59-05:00", 0},
		{[]Window{{clock(6, 0), clock(6, 0)}}, "2026-07-01T12:00:00-05:00", 0}, // from six to six is the whole day
		{[]Window{{clock(18, 0), clock(0, 0)}}, "2026-07-01T23:59:00-05:00", 0},
		{[]Window{{clock(18, 0), clock(0, 0)}}, "2026-07-02T00:00:00-05:00", 18 * time.Hour},
		// The clocks go forward on the 8th of March at 2, and back on the 1st of November at 2.
		{[]Window{{clock(3, 0), clock(4, 0)}}, "2026-03-08T01:00:00-06:00", time.Hour},
		{[]Window{{clock(2, 0), clock(3, 0)}}, "2026-03-08T03:00:00-05:00", 23 * time.Hour},
		{[]Window{{clock(3, 0), clock(4, 0)}}, "2026-11-01T00:00:00-05:00", 4 * time.Hour},
		{[]Window{{clock(1, 0), clock(2, 0)}}, "2026-11-01T01:30:00-06:00", 0},
		{night, "1970-01-01T12:00:00-06:00", 0}, // nobody set the clock
	} {
		now, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		l := New(Options{Windows: c.windows, Zone: zone, NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
		if got := l.shut(now); got != c.shut {
			t.Errorf("%s with %v: shut for %s, want %s", c.at, c.windows, got, c.shut)
		}
	}
}

// Values and targets wait for the window; what somebody waits for does not.
func TestOutsideTheWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // midnight
		l := New(Options{Windows: []Window{{clock(4, 0), clock(5, 0)}}, Streams: streams})
		for stream, want := range map[string]time.Duration{"tickets": 0, "events": 0} {
			if got := took(t, l, stream, 2); got != want {
				t.Errorf("%s waited %s, want %s", stream, got, want)
			}
		}
		if why := why(l, "targets"); why != "outside link.windows; leaves from Sat 04:00" {
			t.Errorf("the reason is %q", why)
		}
		if got := took(t, l, "tagvalues", 5); got != 4*time.Hour {
			t.Errorf("values waited %s, want 4h", got)
		}
		<-time.After(time.Hour)
		if got := took(t, l, "targets", 1); got != 23*time.Hour {
			t.Errorf("a target after the window waited %s, want 23h", got)
		}
	})
}
