package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent/ledger"
)

// problems says in sentences what a person should look at, the worst first.
func (d *Server) problems(s Status) []string {
	out := []string{}
	if err := d.Box.Err(); err != nil {
		out = append(out, "the outbox is out of service: "+err.Error())
	} else if err := d.Box.Room(); err != nil {
		out = append(out, fullProblem(err))
	}
	if s.ClockUnset() {
		out = append(out, "the clock is not set: tickets, events and values wait; set it, or say `gauger clock trust` once it is right")
	} else if off := d.Clock.Deviation(time.Now()); off != 0 {
		out = append(out, fmt.Sprintf("the clock was set by %s and nothing has confirmed it: tickets, events and values wait, a quarter of an hour at most if it is not set again; set it if it is wrong, or say `gauger clock trust` if it is right", off.Round(time.Second)))
	}
	out = append(out, d.ConfigDoubts...)
	if d.Client != nil {
		out = append(out, d.Client.Keys().Endings()...)
	}
	out = append(out, d.Ledger.EvictionWarnings(s.Now)...)
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		if s.Streams[name].LostUnknown {
			out = append(out, "nobody knows how many records of "+name+" are lost: the outbox was damaged and its counts with it; compare what the service has with the site's own papers")
		}
		if c := s.Streams[name]; c.Dead > 0 {
			out = append(out, ledger.Plural(int(c.Dead), "record")+" of "+name+" were refused, or damaged on disk, and are kept: see `gauger outbox dead`")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Drains)) {
		all := s.Drains[name].Isolated
		for _, a := range all[:min(len(all), isolatedNamed)] {
			out = append(out, a.Why)
		}
		if more := len(all) - isolatedNamed; more > 0 {
			out = append(out, fmt.Sprintf("and so for %d other ids of %s", more, name))
		}
	}
	if s.Recorder != nil && s.Recorder.Error != "" {
		out = append(out, "readings are not being recorded: "+s.Recorder.Error)
	}
	for _, e := range s.Open {
		out = append(out, e.Rule+": "+e.Source+" since "+e.Since.In(d.Site.Zone).Format("2006-01-02 15:04")+strings.TrimSuffix(" ("+e.Note+")", " ()"))
	}
	for _, t := range s.Tanks {
		if t.Waits != "" {
			out = append(out, t.ID+": "+t.Waits)
		}
		if t.Error != "" {
			out = append(out, t.ID+": "+t.Error+"; compare the unit and scale of its level point and its height in the configuration with the gauge: no load is seen from such levels")
		}
	}
	for _, h := range s.Held {
		if len(h.Load.Review) > 0 {
			out = append(out, "a load of "+h.Load.Tank+" is held: "+strings.Join(h.Load.Review, ", "))
		}
	}
	return out
}

// unknownTanks are hints: the tanks that the service does not know as devices, where it knows at least one of the site's,
// so that tanks are devices there.
func unknownTanks(all []ledger.TankStatus) []string {
	out := []string{}
	i := slices.IndexFunc(all, func(t ledger.TankStatus) bool { return t.Known == ledger.Known })
	if i < 0 {
		return out
	}
	for _, t := range all {
		if t.Known == ledger.Unknown {
			out = append(out, fmt.Sprintf("the service knows %s as a device, but none has the external id %s; tickets are sent all the same: compare tanks.id with `gauger devices query`", all[i].ID, t.ID))
		}
	}
	return out
}
