package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"gauger/agent/tank"
)

// timeLayouts are read in the site's zone where they have none of their own.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
}

// parseTime reads a time as a person writes it: with an offset, in the zone's own time, or as how long ago it was.
func parseTime(text string, zone *time.Location, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "now" {
		return now, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	if ago, ok := parseSpan(text); ok {
		return now.Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time; write \"2026-03-01 14:30\" (the site's time), 2026-03-01T14:30:00-06:00, 2026-03-01, now, or how long ago: 45m, 24h, 7d", text)
}

// onceOnly refuses a time without an offset that its day had twice or not at all, where clocks were set: a ticket would be booked an hour
// off, and nobody would have said so.
func onceOnly(text string, t time.Time) error {
	const rfc = time.RFC3339
	text = strings.TrimSpace(text)
	if _, err := time.Parse(rfc, text); err == nil {
		return nil
	}
	if wall, err := parseTime(text, time.UTC, time.Time{}); err == nil && wall.Year() > 1 && wall.Format(time.DateTime) != t.Format(time.DateTime) {
		return fmt.Errorf("%q was no time at the site: its clocks were set forward over it; look at the paper again, or write it with its offset, such as %s", text, t.Format(rfc))
	}
	_, own := t.Zone()
	begin, end := t.ZoneBounds()
	for _, beside := range []time.Time{begin.Add(-time.Second), end} {
		_, offset := beside.Zone()
		again := t.Add(time.Duration(own-offset) * time.Second)
		if _, has := again.Zone(); !beside.IsZero() && offset != own && has == offset && again.Format(time.DateTime) == t.Format(time.DateTime) {
			if again.Before(t) {
				t, again = again, t
			}
			return fmt.Errorf("%q was twice at the site that day, since clocks were set back; write which: %s or %s", text, t.Format(rfc), again.Format(rfc))
		}
	}
	return nil
}

// parseOnce reads a time of what is to be kept, which was once.
func parseOnce(text string, zone *time.Location, now time.Time) (time.Time, error) {
	t, err := parseTime(text, zone, now)
	if err == nil {
		err = onceOnly(text, t)
	}
	return t, err
}

// parseSpan reads a duration; 7d is seven days of 24 hours.
func parseSpan(text string) (time.Duration, bool) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// readMonth makes a period of the month of the flag --month, its first and its last date; without one it stays as it is.
func readMonth(month string, from, to *string) error {
	first, err := time.Parse("2006-01", month)
	switch {
	case month == "":
		return nil
	case *from+*to != "":
		return usageError{"--month is a whole month; leave the other days out"}
	case err != nil:
		return usageError{fmt.Sprintf("--month %s: write a month such as 2026-03", month)}
	}
	*from, *to = first.Format(time.DateOnly), first.AddDate(0, 1, -1).Format(time.DateOnly)
	return nil
}

// errBackwards: nothing lies in such a period, and an empty list would look as if it did not happen.
var errBackwards = usageError{"--from is after --to"}

func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("want a number such as 0.83, not %q%s", text, tank.DecimalPoint(text))
	}
	return v, nil
}

// moments reads the times of flags in the site's zone.
type moments struct {
	zone *time.Location
	now  time.Time
	err  error
}

// parse reads one flag's text; zero: there is none. The first mistake is kept.
func (ms *moments) parse(name, text string) (t time.Time) {
	if text == "" {
		return t
	}
	t, err := parseTime(text, ms.zone, ms.now)
	if err != nil && ms.err == nil {
		ms.err = usageError{dashed(name) + ": " + err.Error()}
	}
	return t
}

func siteTimes(zone *time.Location) *moments { return &moments{zone: zone, now: time.Now()} }

// timeWindow is what the flags --from and --to say; each may be left out.
type timeWindow struct{ from, to string }

func (w *timeWindow) addFlags(f *pflag.FlagSet, aboutFrom, aboutTo string) {
	f.StringVar(&w.from, "from", "", aboutFrom)
	f.StringVar(&w.to, "to", "", aboutTo)
}

// read gives the two times in a zone, zero where there is none.
func (w timeWindow) read(zone *time.Location) (from, to time.Time, err error) {
	times := siteTimes(zone)
	from, to = times.parse("from", w.from), times.parse("to", w.to)
	if times.err == nil && !from.IsZero() && !to.IsZero() && !from.Before(to) {
		times.err = usageError{"--to must be later than --from"}
	}
	return from, to, times.err
}

// readAtSite reads the times in the site's zone, for which nobody looks where there are none.
func (w timeWindow) readAtSite(c *call) (from, to time.Time, err error) {
	if w.from+w.to == "" {
		return from, to, nil
	}
	return w.read(findSite(c).zone())
}

// clockTime reads a time as parseTime does, and a time of day as the last one that was.
func clockTime(text string, zone *time.Location, now time.Time) (time.Time, error) {
	day, err := time.Parse("15:04", text)
	if err != nil {
		day, err = time.Parse(time.TimeOnly, text)
	}
	if err != nil {
		return parseTime(text, zone, now)
	}
	t := onDayOf(now.In(zone), day, 0)
	if t.After(now) {
		t = onDayOf(now.In(zone), day, -1)
	}
	return t, nil
}

// onDayOf is a time of day on the date of another time, or so many days after it.
func onDayOf(date, clock time.Time, later int) time.Time {
	y, month, d := date.Date()
	return time.Date(y, month, d+later, clock.Hour(), clock.Minute(), clock.Second(), 0, date.Location())
}

// parseComingTime reads a time to come; a time of day alone is the next one.
func parseComingTime(text string, zone *time.Location, now time.Time) (time.Time, error) {
	if of, err := time.ParseInLocation("15:04", text, zone); err == nil {
		t := onDayOf(now.In(zone), of, 0)
		if !t.After(now) {
			t = onDayOf(now.In(zone), of, 1)
		}
		return t, nil
	}
	t, err := parseTime(text, zone, now)
	if err == nil && !t.After(now) {
		err = fmt.Errorf("%s has passed; give a time to come, such as 17:00 or \"2026-03-02 17:00\"", timeText(t, zone))
	}
	return t, err
}

// backtestRange is the part of a backtest that is looked at more closely; zero: all of it.
type backtestRange struct {
	from, to time.Time
	tank     string
}

func (c backtestRange) contains(tank string, from, to time.Time) bool {
	return (c.tank == "" || c.tank == tank) && (c.from.IsZero() || !to.Before(c.from)) && (c.to.IsZero() || !from.After(c.to))
}

// gaugeOrNumber reads a number as the register has it, or a length, which becomes inches.
func gaugeOrNumber(text string) (v float64, isLength bool, err error) {
	if v, err = parseNumber(text); err == nil {
		return v, false, nil
	}
	length, lengthErr := tank.ParseLength(text)
	if lengthErr != nil {
		return 0, false, usageError{fmt.Sprintf("--expect: want a number as the register has it, such as 184.2, or a gauge: %s", lengthErr)}
	}
	return float64(length), true, nil
}
