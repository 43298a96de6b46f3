package cloud_test

import (
	"strings"
	"testing"

	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
)

// set is a record of one code: values and their times in pairs.
func set(code string, pairs ...string) []byte {
	var values []string
	for i := 0; i < len(pairs); i += 2 {
		values = append(values, `{"value":`+pairs[i]+`,"timestamp":"`+pairs[i+1]+`"}`)
	}
	return []byte(`{"dataClassificationCode":"` + code + `","values":[` + strings.Join(values, ",") + `]}`)
}

// TestOneSetOfEachCode: what waited for the service comes in one set per code, its values in the order of their times and
// those of one second as they were queued; each value's bytes are what was stored, and so is a set that stands alone. What
// cannot be read as a set is sent as it is.
func TestOneSetOfEachCode(t *testing.T) {
	const oil, gas = "Production Target Oil", "Production Target Gas"
	const seven, eight, nine = "2026-11-01T01:30:00-05:00", "2026-11-01T01:10:00-06:00", "2026-11-01T02:10:00-06:00" // the clocks change between
	backlog := [][]byte{
		set(oil, "8", eight), set(gas, "70", seven), set(oil, "9", nine), set(oil, "7", seven), // told afterwards
		set(oil, "10", nine, "11", nine),
	}
	for op, list := range map[cloud.Operation]string{cloud.SaveObjectTagValues: `"objectType":"Well","tagValues"`, cloud.SaveProductionTargets: `"targets"`} {
		for _, c := range []struct {
			name   string
			bodies [][]byte
			want   []string
		}{
			{"an outage", backlog, []string{string(set(oil, "7", seven, "8", eight, "9", nine, "10", nine, "11", nine)), string(set(gas, "70", seven))}},
			{"codes once each", backlog[:2], []string{string(backlog[0]), string(backlog[1])}},
			{"in order in one zone", [][]byte{set(oil, "8", eight), set(oil, "9", nine, "10", nine), set(oil, "9", nine)}, []string{string(set(oil, "8", eight, "9", nine, "10", nine, "9", nine))}},
			{"out of order in one zone", [][]byte{set(oil, "10", nine, "8", eight), set(oil, "9", nine)}, []string{string(set(oil, "8", eight, "10", nine, "9", nine))}},
			{"one as a person wrote it", [][]byte{set(oil, "9", nine, "7", seven)}, []string{string(set(oil, "9", nine, "7", seven))}},
			{"times that nobody can read", [][]byte{set(oil, "2", "noon"), set(oil, "1", seven)}, []string{string(set(oil, "2", "noon", "1", seven))}},
			{"a code with quotes", [][]byte{set(`\"a\\\"`, "9", nine), set(`\"a\\\"`, "7", seven)}, []string{string(set(`\"a\\\"`, "7", seven, "9", nine))}},
			{"one of another shape", [][]byte{set(oil, "1", seven), []byte(`{"dataClassificationCode":"` + oil + `","values":[],"unit":"bbl"}`), set(oil, "2", eight)},
				[]string{string(set(oil, "1", seven, "2", eight)), `{"dataClassificationCode":"` + oil + `","values":[],"unit":"bbl"}`}},
		} {
			s := &cloudtest.Service{}
			a := site(t, s).Post(t.Context(), op, "w", c.bodies, 0, 0)
			got, want := string(s.Calls()[0].Body), `{"objectId":"w",`+list+`:[`+strings.Join(c.want, ",")+`]}`
			if got != want {
				t.Errorf("%s, %s:\ngot  %s\nwant %s", op, c.name, got, want)
			}
			if c.name == "an outage" && a.Class != cloud.Stored {
				t.Errorf("%s: %+v", op, a)
			}
		}
	}
}

// TestCodeOfASet: it is what JSON says, or nothing.
func TestCodeOfASet(t *testing.T) {
	const at = "2026-11-01T02:10:00-06:00"
	for body, want := range map[string]string{
		string(set("Production Target Oil", "1", at)): "Production Target Oil",
		string(set("Öl", "1", at, "2", at)):           "Öl",
		string(set(`\"a`, "1", at)):                   "",
		`{"ticketNumber":"7"}`:                        "",
		`{"dataClassificationCode":"Oil"}`:            "",
		"":                                            "",
	} {
		if code, ok := cloud.SetCode([]byte(body)); code != want || ok != (want != "") {
			t.Errorf("%s: %q, %t; want %q", body, code, ok, want)
		}
	}
}
