package main

import (
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 3}, 2.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

func TestTableSaysWhatWasNotMet(t *testing.T) {
	var out strings.Builder
	all := []finding{{row: 7, what: "a", judged: true}, {row: 8, what: "b", judged: true, met: true, ratio: 0.5}, {row: 9, what: "c"}}
	if err := printTable(&out, all); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, end := range []string{"NOT MET", "met", "-"} {
		if !strings.HasSuffix(rows[i+1], end) {
			t.Errorf("%q does not end with %q", rows[i+1], end)
		}
	}
}

func TestRowsAreNamed(t *testing.T) {
	if all, err := parseRows(""); err != nil || !all["3"] || !all["10"] {
		t.Errorf("%v, %v", all, err)
	}
	if some, err := parseRows("6, 8"); err != nil || len(some) != 2 {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := parseRows("12"); err == nil {
		t.Error("row 12 is not measured here")
	}
}

// One core takes 0.3 of itself for a million registers: all of it would do 3.3 million.
func TestThroughputIsScaledByItsCPU(t *testing.T) {
	o := outcome{window: 10 * time.Second, used: usage{CPU: 3 * time.Second}, self: pollReport{Batches: 100_000}}
	for range throughputDevices {
		o.lines = append(o.lines, lineReport{Units: []unitReport{{tally: tally{Mean: time.Second}}}})
	}
	found := throughputFindings(o, o)
	if !found[0].met || found[0].measured != "1000000, 0 polls missed, 0 bad values; 0.00 s waited for the core" {
		t.Errorf("%+v", found[0])
	}
	if want := "3333333 (30.0 % of a core)"; found[1].measured != want || found[1].ratio != 1 {
		t.Errorf("%+v, want %s", found[1], want)
	}
	o.lines[0].Units[0].Missed = 1
	if throughputFindings(o, o)[0].met {
		t.Error("a missed second was let pass")
	}
}

func TestDeadUnitIsNotCountedAmongTheLiving(t *testing.T) {
	l := lineReport{Connections: 1}
	for unit := range byte(10) {
		l.Units = append(l.Units, unitReport{source{Unit: unit + 1}, tally{Count: 60}})
	}
	l.Units[deadUnit-1].Count = 3
	if f := deadFinding("x", "refuse", l); !f.met || f.ratio != 1 {
		t.Errorf("%+v", f)
	}
	l.Connections, l.Units[0].Count = 2, 56
	if f := deadFinding("x", "refuse", l); f.met {
		t.Errorf("a reconnect and four lost polls were let pass: %+v", f)
	}
}
