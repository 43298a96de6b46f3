package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gauger/collectors"
)

func TestAFractionIsCutForTheEye(t *testing.T) {
	for value, want := range map[string]string{
		"36.80711364746094": "36.80711", "171.25": "171.25", "-0.5": "-0.5", "9.438855233854214e-32": "9.438855e-32",
		"1234567.891": "1234568", "123456789.5": "123456790", "-3.4e+38": "-3.4e+38", "18446744073709551615": "18446744073709551615", "2147483647": "2147483647", "null": "null", `"v1.23456789"`: `"v1.23456789"`,
	} {
		if got := shortValue(value); got != want {
			t.Errorf("%s shows as %s, want %s", value, got, want)
		}
	}
}

// TestReadDoesNotTakeThePastForNow: what a device kept and tells afterwards is not what it measures.
func TestReadDoesNotTakeThePastForNow(t *testing.T) {
	var out bytes.Buffer
	ended := false
	r := &readingPrinter{out: &out, awaited: map[collectors.Point]bool{"radio/n": true}, done: func() { ended = true }}
	for _, x := range []collectors.Reading{{Value: 1, Past: true}, {Value: 2}, {Value: 3}} {
		x.Point, x.Quality, x.At = "radio/n", collectors.Good, time.Now()
		if err := r.Emit(t.Context(), []collectors.Reading{x}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Fields(out.String()); len(got) != 4 || got[2] != "2" || !ended {
		t.Errorf("printed: %q, ended: %t; want the 2 alone", got, ended)
	}
}

// TestReadPrefersALiveValue: a message that the broker has kept comes first, and is printed where no other comes.
func TestReadPrefersALiveValue(t *testing.T) {
	var out bytes.Buffer
	r := &readingPrinter{out: &out, awaited: map[collectors.Point]bool{"radio/n": true}, done: func() {}}
	for _, x := range []collectors.Reading{{Value: 1, At: time.Now().AddDate(0, 0, -42)}, {Value: 2, At: time.Now(), AgeUnknown: true}, {Value: 3, At: time.Now()}} {
		x.Point, x.Quality = "radio/n", collectors.Good
		if err := r.Emit(t.Context(), []collectors.Reading{x}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Fields(out.String()); len(got) != 4 || got[2] != "3" || r.bad {
		t.Errorf("printed: %q, bad: %t; want the 3 alone", got, r.bad)
	}
}
