package link

import (
	"fmt"
	"time"
)

// Window is a time of day, every day, on the local clock. To before From is a window over midnight.
type Window struct{ From, To time.Duration } // since local midnight

func (w Window) has(clock time.Duration) bool {
	if w.From < w.To {
		return w.From <= clock && clock < w.To
	}
	return w.From <= clock || clock < w.To
}

// shut is the time until a window opens; 0 while one is open, and where there are none or no clock to tell.
func (l *Link) shut(now time.Time) time.Duration {
	if len(l.o.Windows) == 0 || now.Round(0).Before(l.o.NotBefore) {
		return 0
	}
	local := now.In(l.o.Zone)
	h, m, _ := local.Clock() // windows begin and end with a minute
	clock := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	soonest := 24 * time.Hour
	for _, w := range l.o.Windows {
		if w.has(clock) {
			return 0
		}
		for days := range 2 {
			soonest = min(soonest, after(local.AddDate(0, 0, days), w.From, now))
		}
	}
	return max(soonest, time.Second)
}

// after is the time until the clock of a day shows a time of day; very long when that is over.
func after(day time.Time, clock time.Duration, now time.Time) time.Duration {
	y, m, d := day.Date()
	at := time.Date(y, m, d, int(clock/time.Hour), int(clock/time.Minute)%60, 0, 0, day.Location())
	if at.Before(now) {
		return 1 << 62
	}
	return at.Sub(now)
}

// heldFor says for how long and why a class is not to be sent; 0 when it may. The lock is held.
func (l *Link) heldFor(c Class, now time.Time) (time.Duration, string) {
	at := func(d time.Duration) string { return now.Add(d).In(l.o.Zone).Format("Mon 15:04") }
	if c >= Later {
		if d := l.shut(now); d > 0 {
			return d, "outside link.windows; leaves from " + at(d)
		}
	}
	if !l.spent(c, now) {
		return 0, ""
	}
	d := l.tomorrow(now)
	if c == Must {
		d = max(0, overdraft-now.Sub(l.drafted))
		if l.drafted.IsZero() || d == 0 {
			return 0, ""
		}
		return d, "the day's bytes (link.max_bytes_per_day) are spent; the next ticket leaves at " + at(d)
	}
	used := "the day's bytes (link.max_bytes_per_day) are spent"
	if l.day.Bytes < l.o.MaxBytes {
		used = fmt.Sprintf("%.0f %% of the day's bytes (link.max_bytes_per_day) are used, and the rest is kept for what is more urgent", 100*shares[c])
	}
	return d, used + "; leaves from " + at(d)
}

// Status of the link, for people and programs.
type Status struct {
	Date     string            `json:"date"`                        // local day that is counted
	Bytes    int64             `json:"bytes"`                       // that crossed the link that day, both ways
	MaxBytes int64             `json:"max_bytes_per_day,omitempty"` // absent: no limit
	Left     int64             `json:"bytes_left"`                  // 0 without a limit too
	Held     map[string]string `json:"held,omitempty"`              // streams that wait for the link, and why
}

// Status looks once. A stream is held also when it has nothing to send.
func (l *Link) Status(now time.Time) Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	s := Status{Date: l.day.Date, Bytes: l.day.Bytes, MaxBytes: l.o.MaxBytes, Held: map[string]string{}}
	s.Left = max(0, s.MaxBytes-s.Bytes)
	for stream, c := range l.o.Streams {
		if why := l.why(c, now); why != "" {
			s.Held[stream] = why
		}
	}
	return s
}

// why says in words why nothing of a class leaves now, and when it will; empty when the link holds nothing back. The lock is held.
func (l *Link) why(c Class, now time.Time) string {
	if d, why := l.heldFor(c, now); d > 0 {
		return why
	}
	switch {
	case l.o.Every > 0 && l.first && now.Before(l.hold):
		return fmt.Sprintf("a backlog begins to leave within a minute of the start; this one in %s", l.hold.Sub(now).Round(time.Second))
	case l.line[c] > 0 && l.o.Every >= time.Second:
		return fmt.Sprintf("link.rate lets a request leave every %s", l.o.Every.Round(time.Millisecond))
	}
	return ""
}
