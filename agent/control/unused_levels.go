package control

import (
	"slices"
	"strings"
	"time"

	"gauger/agent/eventrules"
)

// unusedLevels are the tanks whose level is not good for longer than one missed round, those with the same reason as one. A level of
// which an event tells is a problem already.
func (s *Status) unusedLevels(minute func(time.Time) string) (all []Problem) {
	for i := range s.Tanks {
		t := &s.Tanks[i]
		since := t.GoodAt
		if since.Before(s.Began) { // what was not read before is no fault
			since = s.Began
		}
		late := s.Now.Sub(since) >= max(overdue, time.Duration(2*t.Every*float64(time.Second)))
		if t.Quality == "good" || t.Doubt == "" || t.Error != "" || !s.Daemon || !late || s.toldOf(string(t.Point)) {
			continue
		}
		why := " (" + t.Doubt + ")"
		n := 0
		for n < len(all) && !strings.HasSuffix(all[n].Text, why) {
			n++
		}
		if n == len(all) {
			all = append(all, Problem{Cost: Tickets, Text: ": no good level since " + minute(since) + ", " + string(t.Point) + " is " + t.Quality + why,
				Do: "mend it, or correct the point or the device in the configuration; until then the level is not used, and no load is seen"})
		} else {
			all[n].Text = ", " + all[n].Text
		}
		all[n].Count, all[n].Text = all[n].Count+1, t.ID+all[n].Text
	}
	return all
}

// toldOf says that an event tells why a point, or its whole device, gives no value. One of a whole session names all its devices.
func (s *Status) toldOf(point string) bool {
	device, _, _ := strings.Cut(point, "/")
	for i := range s.Open {
		e := &s.Open[i]
		names, _, _ := strings.Cut(e.Source, " ")
		if eventCost(e.Rule) == Readings && e.Rule != eventrules.DeviceTime && (e.Source == point || slices.Contains(strings.Split(names, ","), device)) {
			return true
		}
	}
	return false
}
