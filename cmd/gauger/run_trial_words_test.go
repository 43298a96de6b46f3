package main

import (
	"testing"
	"time"

	"gauger/agent/apply"
)

// When a configuration was tried is said by the site's clock, as everything else is.
func TestATrialIsToldByTheSitesClock(t *testing.T) {
	zone := time.FixedZone("CST", -6*3600)
	trial := &apply.Trial{Began: time.Date(2026, 11, 28, 4, 56, 0, 0, time.UTC), Outcome: apply.Back, Reasons: []string{"x"}}
	if got := failureText(trial, zone); got != "it was tried 2026-11-27 22:56 and went back: x" {
		t.Error(got)
	}
}
