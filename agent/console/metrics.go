package console

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/control"
)

// Page is what http.listen serves: /metrics for Prometheus, and a page, which takes forms or only shows. Few metrics are written at
// a time, and while some go out over a slow line the next are written.
func Page(server *control.Server, page http.Handler, forms bool, listen string, hosts ...string) http.Handler {
	mux, work := http.NewServeMux(), make(chan struct{}, pagesAtWork)
	mux.Handle("/", page)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		text, status, err := written(r.Context(), work, server, r.FormValue("names") == "old")
		if err != nil {
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Error(), status)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(text) // a client that has gone away is nobody's loss
	})
	return guard(pageNames(listen, hosts), forms, server.DenyHost, mux)
}

// written waits for its turn and writes the metrics down; old: with the names that go with the next version. The HTTP status goes
// with an error.
func written(ctx context.Context, work chan struct{}, server *control.Server, old bool) ([]byte, int, error) {
	turn := time.NewTimer(pageTurn)
	defer turn.Stop()
	select {
	case work <- struct{}{}:
		defer func() { <-work }()
	case <-turn.C:
		return nil, http.StatusServiceUnavailable, errors.New("the metrics are asked for more often than they can be written; try again in a moment")
	case <-ctx.Done():
		return nil, http.StatusServiceUnavailable, ctx.Err()
	}
	s, err := server.Status()
	if err != nil {
		return nil, http.StatusInternalServerError, err
	}
	m := metrics{}
	m.site(s)
	m.store(s)
	m.readings(s)
	m.box(s)
	m.put("gauger_clock_doubt_seconds", cmp.Or(server.Clock.Deviation(s.Now), -server.Clock.Contradiction(s.Now)).Seconds())
	if server.Client != nil {
		m.keys(server.Client.Keys().Status())
	}
	return m.text(old), 0, nil
}

// metrics are samples in Prometheus' text format, by their names. What nobody knows has no sample: a 0 would be taken for a figure.
type metrics map[string]*bytes.Buffer

// put adds a sample; labels are names and values in turn.
func (m metrics) put(name string, value float64, labels ...string) {
	b := m[name]
	if b == nil {
		b = &bytes.Buffer{}
		m[name] = b
	}
	b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(labels[i] + `="` + labelText.Replace(strings.ToValidUTF8(labels[i+1], "?")) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	b.WriteByte(' ')
	b.Write(strconv.AppendFloat(b.AvailableBuffer(), value, 'g', -1, 64))
	b.WriteByte('\n')
}

// labelText writes a label's value as the format wants it, which knows three escapes and no others.
var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (m metrics) putTime(name string, at time.Time, labels ...string) {
	if !at.IsZero() {
		m.put(name, float64(at.UnixMilli())/1000, labels...)
	}
}

// putOne adds a sample for each of some words: 1 for the one that it is.
func (m metrics) putOne(name, is string, words []string, label string, labels ...string) {
	for _, word := range words {
		m.put(name, bit(word == is), append([]string{label, word}, labels...)...)
	}
}

// bit is how Prometheus has a yes.
func bit(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (m metrics) text(old bool) []byte {
	var b bytes.Buffer
	for _, f := range families {
		if m[f.name] == nil || !old && strings.HasPrefix(f.help, deprecated) {
			continue
		}
		kind := "gauge"
		if strings.HasSuffix(f.name, "_total") {
			kind = "counter"
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s", f.name, f.help, f.name, kind, m[f.name])
	}
	return b.Bytes()
}

// deprecated begins the help of a name that goes with the next version. Only who asks for /metrics?names=old gets them.
const deprecated = "Deprecated: "

// families are the metrics and what each is, in the order in which they are written. A name that ends in _total is a counter, every
// other one a gauge.
var families = []struct{ name, help string }{
	{"gauger_info", "What runs where."},
	{"gauger_began_timestamp_seconds", "When this run of the program began."},
	{"gauger_problems", "Things that a person should look at, by what they may cost."},
	{"gauger_faults", "Faults that go on, by the rule of their event."},

	{"gauger_clock_grade", "1 for the grade that the clock has: unset, set, assumed or trusted."},
	{"gauger_clock_doubt_seconds", "By how much the clock was set away from where it was last believed, or is ahead of what the service says; 0 when it is not in doubt."},
	{"gauger_key_state", "1 for the state of each key: untried, proven or refused. Of several values of a slot the best counts."},
	{"gauger_key_expiry_timestamp_seconds", "When the key ends, as far as the service has said."},
	{"gauger_service_answered_timestamp_seconds", "When the service last accepted a key."},

	{"gauger_outbox_open", "0 while the outbox cannot be opened and nothing is stored."},
	{"gauger_records_accepted_total", "Records that were stored to be sent."},
	{"gauger_records_delivered_total", "Records that the service has."},
	{"gauger_records_evicted_total", "Records that gave way since the store was full."},
	{"gauger_records_dropped_total", "Records that a person gave up."},
	{"gauger_records_lost_total", "Records that a damaged file took."},
	{"gauger_records_lost_unknown", "1 when more records of the stream may be lost than are counted: damage took the counts as well."},
	{"gauger_records_waiting", "Records that have not left yet."},
	{"gauger_records_dead", "Records that were refused, or damaged on disk, and are kept for a person."},
	{"gauger_records", deprecated + "gauger_records_waiting, gauger_records_dead and the counters gauger_records_accepted_total and so on have each figure."},
	{"gauger_tickets_held", "Tickets that are held and not queued yet."},
	{"gauger_stream_held", "1 while the service takes nothing of the stream."},
	{"gauger_stream_parked", "Records that wait since the service may have them already."},
	{"gauger_stream_apart", "Devices, wells and records that wait by themselves, since they alone are not taken."},
	{"gauger_stream_oldest_age_seconds", "Age of the record that has waited longest, what waits by itself apart; 0 when none waits."},
	{"gauger_stream_last_success_timestamp_seconds", "When the service last took records of the stream, in this run of the program."},

	{"gauger_tank_good", "1 when the newest reading of the tank's level is good."},
	{"gauger_tank_level_meters", "Newest level of the tank that can be used."},
	{"gauger_tank_level_inches", deprecated + "use gauger_tank_level_meters; a metre is 39.37 in."},
	{"gauger_tank_barrels", "What is in the tank, by that level and its table."},
	{"gauger_tank_last_good_timestamp_seconds", "When the tank's level was last good."},
	{"gauger_tank_last_load_timestamp_seconds", "End of the tank's newest load that is not rejected."},
	{"gauger_point_good", "1 when the newest reading of the point is good."},
	{"gauger_readings_unused_total", "Readings without a device time that may have waited at the broker, and were not used."},
	{"gauger_undecoded_total", "Messages that could not be decoded and were not stored: one like it is, or beyond the budget."},
	{"gauger_undecoded_over_budget_bytes_total", "Bytes of those beyond the budget."},

	{"gauger_line_load", "Share of the last minute or two in which requests had the line."},
	{"gauger_line_busy_seconds_total", "How long requests had the line, their time-outs and silences included."},
	{"gauger_line_requests_total", "Requests that had the line."},
	{"gauger_line_timeouts_total", "Requests that got no answer in time."},
	{"gauger_line_exceptions_total", "Answers that were refusals."},
	{"gauger_line_bad_frames_total", "Requests whose answer came damaged."},
	{"gauger_line_late_total", "Answers dropped because they belonged to an earlier request."},
	{"gauger_line_cross_talk_total", "Answers dropped because another unit or function sent them."},
	{"gauger_line_reconnects_total", "Times that the socket or port was opened again."},
	{"gauger_line_mismatches_total", "Values that two requests did not agree on."},
	{"gauger_line_down_total", "Requests for which the line could not be opened, or went away."},
	{"gauger_device_round_seconds", "How long the requests of the device's last answered round had its line."},
	{"gauger_device_answered_timestamp_seconds", "When the device's last answered round was."},

	{"gauger_link_bytes", "Bytes that crossed the link in the local day, both ways."},
	{"gauger_link_max_bytes", "Bytes that may cross the link in a local day."},
	{"gauger_link_held", "1 when nothing of the stream leaves now because of link's settings."},
	{"gauger_written_bytes_total", "Bytes that this run has had written to disk."},
	{"gauger_written_bytes_per_day", "Bytes written in a day, at the rate of the last one; 0 in the first minutes."},
	{"gauger_flash_years", "Years that the configured flash lasts at that rate."},
	{"gauger_recorder_bytes", "Disk space that the recorded readings have."},
	{"gauger_recorder_readings_total", "Readings since the start: taken, and of those the lost, which could not be written."},
}

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
