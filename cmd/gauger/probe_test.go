package main

import (
	"io"
	"strings"
	"testing"
)

// Beside a reading that fits, those that are off by more than half are noise; without one they are all that there is. What a gauge wants is said.
func TestAProbeShowsNoNoise(t *testing.T) {
	a := probeRequest{}
	if err := a.readExpected("14ft3", "", 0); err != nil || a.Low != 171 {
		t.Fatal(a.Low, err)
	}
	if err := new(probeRequest).readExpected("14feat", "", 0); err == nil || !strings.Contains(err.Error(), "14'3 1/4") {
		t.Error(err)
	}
	p := probeResult{Guesses: []guess{{Type: "float32", Value: new(171.0), Inches: new(171.0), Fits: true}, {Type: "int16", Value: new(0.0), Inches: new(0.0)}, {Type: "uint16", Value: new(160.0), Inches: new(160.0)}}}
	if shown := p.printRows(newTable(io.Discard), a, 12); len(shown) != 2 || shown[1].Type != "uint16" {
		t.Errorf("%+v", shown)
	}
	p.Guesses = p.Guesses[1:]
	if shown := p.printRows(newTable(io.Discard), a, 12); len(shown) != 2 {
		t.Errorf("none fits: %+v", shown)
	}
	// What is built oddly is given no offset too, and the height is asked for where percent was not tried.
	if says := p.noneFits(a, a.otherKind()); !strings.Contains(says, "--height 20ft") || strings.Contains(says, "likeliest") {
		t.Error(says)
	}
	p.Guesses[1].Plain = true
	if says := p.noneFits(a, "input 7"); !strings.Contains(says, "The likeliest, uint16, is at 13-04-0") || strings.Contains(says, "--") {
		t.Error(says)
	}
}
