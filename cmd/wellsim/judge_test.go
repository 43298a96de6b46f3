package main

import (
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func sec(n float64) time.Time { return noon.Add(time.Duration(n * float64(time.Second))) }

// day is a truth with one load, one alarm and two targets, and a service that has it all.
func day() (truth, received) {
	rows := [][2]float64{{0, 0}, {240, 400}}
	t := truth{
		hauls:   []haul{{tank: "TK-1", start: sec(4), end: sec(19), opening: 184, closing: 76, gauged: 180, rows: rows}},
		alarms:  []alarm{{rule: "Low battery", start: sec(20), end: sec(24), told: "battery low"}},
		targets: []float64{410, 425},
		downs:   []span{{sec(7), sec(10)}},
	}
	r := received{
		tickets: []ticket{{number: "A-1", tank: "TK-1", opening: 184.1, closing: 76, start: sec(3), end: sec(20), sent: 1}},
		events:  []event{{rule: "Low battery", start: sec(20), end: sec(24)}, {rule: "power-restart", start: sec(7), end: sec(10)}},
		targets: []value{{410, sec(1)}, {425, sec(16)}},
	}
	for _, at := range []float64{0, 5, 13, 18, 23, 28} {
		n := 410.0
		if at > 15 {
			n = 425
		}
		r.tagValues = append(r.tagValues, value{n, sec(at)})
	}
	return t, r
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*truth, *received)
		want   string // in a line that is not right; empty: all is right
	}{
		{"as it was", func(*truth, *received) {}, ""},
		{"the same ticket twice over the wire", func(_ *truth, r *received) { r.tickets[0].sent = 2 }, ""},
		{"values in another order", func(_ *truth, r *received) {
			r.tagValues[0], r.tagValues[5] = r.tagValues[5], r.tagValues[0]
		}, ""},
		{"1.5 % off", func(_ *truth, r *received) { r.tickets[0].opening = 184 + 2.7/400*240 }, "A-1"},
		{"outside the table", func(_ *truth, r *received) { r.tickets[0].closing = -1 }, "A-1"},
		{"no ticket", func(_ *truth, r *received) { r.tickets = nil }, "no ticket"},
		{"split in two", func(_ *truth, r *received) {
			r.tickets = append(r.tickets, ticket{number: "A-2", tank: "TK-1", opening: 130, closing: 76, start: sec(12), end: sec(19)})
		}, "A-2"},
		{"one ticket for two loads", func(t *truth, _ *received) {
			h := t.hauls[0]
			h.start, h.end = sec(19), sec(25)
			t.hauls = append(t.hauls, h)
		}, "A-1"},
		{"another tank", func(_ *truth, r *received) { r.tickets[0].tank = "TK-2" }, "no ticket"},
		{"another time", func(_ *truth, r *received) { r.tickets[0].start, r.tickets[0].end = sec(60), sec(70) }, "no ticket"},
		{"a ticket for nothing", func(_ *truth, r *received) {
			r.tickets = append(r.tickets, ticket{number: "A-9", tank: "TK-3", start: sec(12), end: sec(19)})
		}, "A-9"},
		{"no event", func(_ *truth, r *received) { r.events = r.events[1:] }, "no event Low battery"},
		{"two events", func(_ *truth, r *received) { r.events = append(r.events, r.events[0]) }, "2 events"},
		{"an alarm that is not over", func(t *truth, _ *received) { t.alarms[0].end = time.Time{} }, "no event"},
		{"a target that did not arrive", func(_ *truth, r *received) { r.targets = r.targets[:1] }, "production targets 410 x1"},
		{"a wrong value", func(_ *truth, r *received) { r.tagValues[2].number = 0 }, "tag values 410 x2, 0 x1"},
		{"a value twice", func(_ *truth, r *received) { r.tagValues[2].at = r.tagValues[1].at }, "tag values"},
		{"a hole in the values", func(_ *truth, r *received) { r.tagValues = append(r.tagValues[:4], r.tagValues[5]) }, "none for 10s"},
		{"no values", func(_ *truth, r *received) { r.tagValues = nil }, "tag values"},
	} {
		tr, r := day()
		c.change(&tr, &r)
		lines := compare(tr, r)
		var wrong []string
		for _, l := range lines {
			if !l.ok {
				wrong = append(wrong, l.right)
			}
		}
		if got := strings.Join(wrong, "\n"); agreed(lines) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: wrong lines %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheTableFits(t *testing.T) {
	tr, r := day()
	tr.hauls[0].from, tr.hauls[0].to = "07:06", "07:36"
	r.tickets[0].number = "A-DEMO-TK-1-20260302T0706Z"
	r.events[0].note = strings.Repeat("ä long note ", 20)
	var out strings.Builder
	(&teller{out: &out}).table(compare(tr, r), summary(tr, r))
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"07:06-07:36", "A-DEMO-TK-1-20260302T0706Z", "180.2 bbl", " ok\n", "loads: 1, 180.0 bbl left the tanks; tickets: 1, 180.2 bbl.\nArrived: 2 events, 6 tag values, 2 targets", "\nEverything agrees."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("colours, and this is no terminal")
	}
	var painted strings.Builder
	(&teller{out: &painted, colour: true}).table([]resultLine{{"a", "b", false}}, "")
	if !strings.Contains(painted.String(), red+"NO"+reset) || !strings.Contains(painted.String(), "do NOT agree") {
		t.Errorf("no colours on a terminal: %q", painted.String())
	}
	(&teller{out: io.Discard}).say("07:00", red, "nothing %d", 1)
}
