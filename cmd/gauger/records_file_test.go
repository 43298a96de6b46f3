package main

import (
	"bytes"
	"strings"
	"testing"
)

// readTickets reads text as a file of tickets.
func readTickets(text string) ([]ticketBody, error) {
	return recordsOf[ticketBody](&call{in: strings.NewReader(text)}, "-")
}

func TestRecordsOf(t *testing.T) {
	good := `{"ticketNumber": "A", "openingLevel": {"level": 1}}`
	for text, want := range map[string]int{good: 1, " [" + good + ",\n" + good + "] ": 2} {
		all, err := readTickets(text)
		if err != nil || len(all) != want {
			t.Errorf("%s: %d records, %v, want %d", text, len(all), err, want)
			continue
		}
		if number, level := all[0].Number, *all[0].Opening.Level; number != "A" || level != 1 {
			t.Errorf("%s: ticket %q from level %v, want A from 1", text, number, level)
		}
	}
	for text, want := range map[string]string{
		"":                              "it is no JSON",
		"[]":                            "0 records; want 1 to 1000",
		"[" + good + ",]":               "line 1",
		"{\n\"ticketNumber\": \"A\"\n]": "line 3",
		good + good:                     "something follows",
		`"A"`:                           "a string stands where an object is wanted",
		`{"ticketNumber": 4}`:           "ticketNumber: a number stands where a text is wanted",
		`{"openingLevel": {"levl": 4}}`: "no field levl (did you mean level?)",
		`{"tank": []}`:                  "tank: a array stands where an object is wanted",
		"[" + strings.Repeat("{},", 1000) + "{}]": "1001 records",
		strings.Repeat(" ", maxFile+1):            "larger than 4 MB",
	} {
		if _, err := readTickets(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// FuzzRecordsOf: whatever a file holds, it is records or an error of one line, never a panic.
func FuzzRecordsOf(f *testing.F) {
	for _, seed := range []string{`{"ticketNumber":"A"}`, `[{"tank":{"externalID":"T"}}]`, `[`, `{"x":1}`, `[{},{}]`, "\x00", `{"openingLevel":{"level":1e999}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := recordsOf[ticketBody](&call{in: bytes.NewReader(b)}, "-")
		if (err == nil) != (len(all) > 0) {
			t.Errorf("%d records and %v", len(all), err)
		}
	})
}
