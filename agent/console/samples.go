package console

import (
	"maps"
	"slices"

	"gauger/agent/control"
)

// inch in metres, which Prometheus wants.
const inch = 0.0254

// site is what goes on at the site as a whole.
func (m metrics) site(s control.Status) {
	m.put("gauger_info", 1, "site", s.ID, "version", s.Version, "clock", s.Clock)
	m.putTime("gauger_began_timestamp_seconds", s.Began)
	costs, rules := map[string]int{control.Tickets: 0, control.Readings: 0, control.Rest: 0}, map[string]int{}
	for _, p := range s.Found {
		costs[p.Cost]++
	}
	for _, e := range s.Open {
		rules[e.Rule]++
	}
	for _, cost := range slices.Sorted(maps.Keys(costs)) {
		m.put("gauger_problems", float64(costs[cost]), "cost", cost)
	}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		m.put("gauger_faults", float64(rules[rule]), "rule", rule)
	}
	m.putOne("gauger_clock_grade", s.Clock, []string{"unset", "set", "assumed", "trusted"}, "grade")
	m.putTime("gauger_service_answered_timestamp_seconds", s.Reached)
}

// keys are those of the service.
func (m metrics) keys(all []control.Key) {
	best := control.BestKeys(all)
	for _, slot := range slices.Sorted(maps.Keys(best)) {
		m.putOne("gauger_key_state", best[slot].State, []string{"untried", "proven", "refused"}, "state", "slot", slot)
		m.putTime("gauger_key_expiry_timestamp_seconds", best[slot].Expires, "slot", slot)
	}
}

// store is what became of records.
func (m metrics) store(s control.Status) {
	m.put("gauger_outbox_open", bit(s.Shut == ""))
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		c := s.Streams[name]
		for _, x := range []struct {
			state, name string
			n           uint64
		}{
			{"accepted", "gauger_records_accepted_total", c.Accepted}, {"delivered", "gauger_records_delivered_total", c.Delivered},
			{"waiting", "gauger_records_waiting", c.Waiting}, {"dead", "gauger_records_dead", c.Dead},
			{"evicted", "gauger_records_evicted_total", c.Evicted}, {"dropped", "gauger_records_dropped_total", c.Dropped},
			{"lost", "gauger_records_lost_total", c.Lost},
		} {
			m.put(x.name, float64(x.n), "stream", name)
			m.put("gauger_records", float64(x.n), "stream", name, "state", x.state)
		}
		m.put("gauger_records_lost_unknown", bit(c.LostUnknown), "stream", name)
	}
	if s.Shut == "" {
		m.put("gauger_tickets_held", float64(len(s.Held)))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Drains)) {
		d, age := s.Drains[name], 0.0
		if !d.Oldest.IsZero() {
			age = s.Now.Sub(d.Oldest).Seconds()
		}
		m.put("gauger_stream_held", bit(!d.Held.IsZero()), "stream", name)
		m.put("gauger_stream_parked", float64(d.Parked), "stream", name)
		m.put("gauger_stream_apart", float64(len(d.Isolated)), "stream", name)
		m.put("gauger_stream_oldest_age_seconds", age, "stream", name)
		m.putTime("gauger_stream_last_success_timestamp_seconds", d.Taken, "stream", name)
		if s.Link != nil {
			m.put("gauger_link_held", bit(s.Link.Held[name] != ""), "stream", name)
		}
	}
}

// readings are tanks, points and what could not be read.
func (m metrics) readings(s control.Status) {
	for _, t := range s.Tanks {
		m.put("gauger_tank_good", bit(t.Quality == "good"), "tank", t.ID)
		if t.Level != nil {
			m.put("gauger_tank_level_meters", *t.Level*inch, "tank", t.ID)
			m.put("gauger_tank_level_inches", *t.Level, "tank", t.ID)
		}
		if t.Barrels != nil {
			m.put("gauger_tank_barrels", *t.Barrels, "tank", t.ID)
		}
		m.putTime("gauger_tank_last_good_timestamp_seconds", t.GoodAt, "tank", t.ID)
		m.putTime("gauger_tank_last_load_timestamp_seconds", t.LoadEnd, "tank", t.ID)
	}
	for _, p := range s.Points {
		m.put("gauger_point_good", bit(p.Quality == "good"), "point", string(p.Point))
	}
	for _, u := range s.Unused {
		m.put("gauger_readings_unused_total", float64(u.Count), "point", string(u.Point))
	}
	for _, u := range s.Spared {
		m.put("gauger_undecoded_total", float64(u.Equal), "device", u.Device, "why", "equal")
		m.put("gauger_undecoded_total", float64(u.Over), "device", u.Device, "why", "budget")
		m.put("gauger_undecoded_over_budget_bytes_total", float64(u.OverBytes), "device", u.Device)
	}
	for _, l := range s.Lines {
		m.put("gauger_line_load", l.Load, "line", l.Line)
		m.put("gauger_line_busy_seconds_total", l.Busy, "line", l.Line)
		for _, x := range []struct {
			what string
			n    uint64
		}{
			{"requests", l.Requests}, {"timeouts", l.Timeouts}, {"exceptions", l.Exceptions}, {"bad_frames", l.BadFrames}, {"late", l.Late},
			{"cross_talk", l.CrossTalk}, {"reconnects", l.Reconnects}, {"mismatches", l.Mismatches}, {"down", l.Down},
		} {
			m.put("gauger_line_"+x.what+"_total", float64(x.n), "line", l.Line)
		}
		for _, r := range l.Rounds {
			m.put("gauger_device_round_seconds", r.Took, "device", r.Device, "line", l.Line)
			m.putTime("gauger_device_answered_timestamp_seconds", r.At, "device", r.Device, "line", l.Line)
		}
	}
}

// box is what link and disk have to bear.
func (m metrics) box(s control.Status) {
	if l := s.Link; l != nil {
		m.put("gauger_link_bytes", float64(l.Bytes))
		if l.MaxBytes > 0 {
			m.put("gauger_link_max_bytes", float64(l.MaxBytes))
		}
	}
	if f := s.Flash; f != nil {
		m.put("gauger_written_bytes_total", float64(f.Bytes))
		m.put("gauger_written_bytes_per_day", float64(f.Day))
		if f.Years > 0 {
			m.put("gauger_flash_years", f.Years)
		}
	}
	if r := s.Recorder; r != nil {
		m.put("gauger_recorder_bytes", float64(r.Bytes))
		m.put("gauger_recorder_readings_total", float64(r.Rows), "state", "taken")
		m.put("gauger_recorder_readings_total", float64(r.Lost), "state", "lost")
	}
}
