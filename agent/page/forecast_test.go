package page

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/ledger/ledgertest"
)

// TestATankSaysWhenItWillBeFull: after hours of steady inflow, and not before, nor from a level that is old.
func TestATankSaysWhenItWillBeFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		const perHour = 5.0 // inches
		rise := func(hours int) {
			begin := time.Now()
			level := b.Faces(nil, begin)[0].Level
			from := 60.0
			if level != nil {
				from = *level
			}
			for m := range hours * 60 {
				b.Emit("level", from+perHour*float64(m)/60)
				ledgertest.Pass(time.Minute)
				b.Must(b.Tick(time.Now()))
			}
		}
		rise(2)
		if f := b.Faces(nil, time.Now())[0]; f.Full != nil || f.PerHour != nil || f.Room == nil {
			t.Errorf("after two hours: full %v, %v an hour, room %v", f.Full, f.PerHour, f.Room)
		}
		rise(10)
		f := b.Faces(nil, time.Now())[0]
		if f.Full == nil || f.PerHour == nil {
			t.Fatalf("after twelve hours nothing is said: %+v", f)
		}
		hours, want := time.Until(f.Full.At).Hours(), (232-*f.Level)/perHour
		if math.Abs(hours-want) > want/20 || f.Full.From.After(f.Full.At) || f.Full.To.Before(f.Full.At) || f.Ready != nil {
			t.Errorf("full in %.2f h (%v), want %.2f", hours, f.Full, want)
		}
		ledgertest.Pass(time.Hour)
		if f := b.Faces(nil, time.Now())[0]; f.Full != nil {
			t.Errorf("from a level that is an hour old it says %v", f.Full)
		}
	})
}
