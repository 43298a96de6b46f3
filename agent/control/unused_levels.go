package control

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/ledger"
)

// unusedLevels are the tanks whose level is not good for longer than one missed round, those with the same reason as one. A level of
// which an event tells is a problem already.
func (d *Server) unusedLevels(s Status) (all []Problem) {
	at := map[string]int{}
	for _, t := range s.Tanks {
		since := t.GoodAt
		if since.Before(s.Began) { // what was not read before is no fault
			since = s.Began
		}
		i := slices.IndexFunc(d.Site.Tanks, func(x ledger.Tank) bool { return x.ID == t.ID })
		if t.Quality == "good" || t.Error != "" || i < 0 || !s.Daemon || s.Now.Sub(since) < max(overdue, time.Duration(2*t.Every*float64(time.Second))) {
			continue
		}
		for _, p := range s.Points {
			if p.Point != d.Site.Tanks[i].Level || p.Error == "" || s.toldOf(string(p.Point)) {
				continue
			}
			n, ok := at[p.Error]
			if !ok {
				n, at[p.Error] = len(all), len(all)
				all = append(all, Problem{Cost: Tickets, Text: fmt.Sprintf(": no good level since %s, %s is %s (%s)", d.localMinute(since), p.Point, p.Quality, p.Error),
					Do: "mend it, or correct the point or the device in the configuration; until then the level is not used, and no load is seen"})
			}
			before, text, _ := strings.Cut(all[n].Text, ":")
			all[n].Count, all[n].Text = all[n].Count+1, strings.TrimPrefix(before+", "+t.ID, ", ")+":"+text
		}
	}
	return all
}

// toldOf says that an event tells why a point, or its whole device, gives no value. One of a whole session names all its devices.
func (s Status) toldOf(point string) bool {
	device, _, _ := strings.Cut(point, "/")
	return slices.ContainsFunc(s.Open, func(e ledger.Episode) bool {
		names, _, _ := strings.Cut(e.Source, " ")
		return eventCost(e.Rule) == Readings && e.Rule != eventrules.DeviceTime && (e.Source == point || slices.Contains(strings.Split(names, ","), device))
	})
}
