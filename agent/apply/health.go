package apply

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"

	"gauger/agent/control"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
)

// HealthOf is a site's status as a look at its health. service says why the service does not answer, where somebody has asked.
func HealthOf(s control.Status, service string) Health {
	h := Health{At: s.Now, Points: map[string]Point{}, Tanks: map[string]Tank{}, Lines: map[string]Line{}, Lacking: map[string]string{}, Service: service}
	for _, p := range s.Points {
		value := math.NaN()
		if json.Unmarshal(p.Value, &value) != nil || string(p.Value) == "null" {
			value = math.NaN()
		}
		h.Points[string(p.Point)] = Point{Good: p.Quality == "good", Value: value, Unit: string(p.Unit), At: p.At, Why: p.Error, Polled: !p.Asked.IsZero()}
	}
	for _, t := range s.Tanks {
		why := cmp.Or(t.Error, t.Quality)
		h.Tanks[t.ID] = Tank{Level: t.Level, At: t.At, Why: why, Moving: t.Phase != "idle"}
	}
	for _, l := range s.Lines {
		line := Line{Load: l.Load}
		for _, r := range l.Rounds {
			if r.Took > r.Every && r.Every > 0 {
				line.Late = append(line.Late, r.Device)
			}
		}
		h.Lines[l.Line] = line
	}
	for _, e := range s.Open {
		if e.Rule == eventrules.ServiceSettings {
			h.Lacking[e.Source] = strings.TrimPrefix(e.Note, "service ")
		}
	}
	h.Stuck = map[string]string{}
	for name, d := range s.Drains {
		if !d.Held.IsZero() && name != ledger.Refused {
			h.Stuck[name] = cmp.Or(d.Why, d.Answer, "no answer")
		}
	}
	for name, c := range s.Streams {
		if name != ledger.Refused {
			h.Dead += c.Dead
		}
	}
	return h
}
