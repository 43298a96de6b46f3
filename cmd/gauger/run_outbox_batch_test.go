package main

import (
	"testing"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/config"
)

// What a person writes of wire.batch is what requests have; only values of which nothing is written may go more at once.
func TestOnlyValuesOfWhichNothingIsWrittenGrow(t *testing.T) {
	twenty, one := 20, 0
	for _, c := range []struct {
		name          string
		values        *int
		batch, growTo int
	}{{"nothing written", nil, 20, 500}, {"the default of before", &twenty, 20, 0}, {"alone", &one, 0, 0}} {
		w := cloud.DefaultWire()
		w.Batch.TagValues, w.Batch.Targets = c.values, c.values
		for _, s := range outboxStreams(w, config.Store{}) {
			switch {
			case s.Name == ledger.TagValues || s.Name == ledger.Targets:
				if s.Batch != c.batch || s.Most != c.growTo {
					t.Errorf("%s: %s has %d, up to %d", c.name, s.Name, s.Batch, s.Most)
				}
			case s.Most != 0:
				t.Errorf("%s: %s grows to %d", c.name, s.Name, s.Most)
			}
		}
	}
}
