package ledger

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// hurried plays a quiet hour, a load from 180 in of 4 in a minute for 25 minutes with the waves that it makes, and
// two hours of rest; read every ten seconds, and as often as given while the ledger asks for haste.
func hurried(t *testing.T, b *bench, every time.Duration) (ticket map[string]any, asked []bool) {
	begin := time.Now()
	for {
		elapsed := time.Since(begin)
		if elapsed > 85*time.Minute+2*time.Hour {
			break
		}
		pumped := min(max(elapsed-time.Hour, 0), 25*time.Minute).Minutes()
		wave := 0.15 * math.Sin(elapsed.Seconds()/7)
		if pumped == 0 || pumped == 25 {
			wave /= 10
		}
		b.emit("level", math.Round(20*(180-4*pumped+wave))/20) // a transmitter of a twentieth of an inch
		haste := b.Host("modbus").Hurry([]collectors.Point{"plc/other", "plc/level"})
		asked = append(asked, haste)
		wait := 10 * time.Second
		if haste {
			wait = every
		}
		pass(wait)
		if err := b.Tick(time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if all := b.bodies(Tickets); len(all) == 1 {
		return all[0], asked
	}
	t.Fatalf("%d tickets, want one", len(b.bodies(Tickets)))
	return nil, nil
}

func TestALoadThatIsReadFasterGivesTheSameTicket(t *testing.T) {
	gauge := func(ticket map[string]any, key string) float64 {
		return ticket[key].(map[string]any)["level"].(float64)
	}
	var plain map[string]any
	synctest.Test(t, func(t *testing.T) { plain, _ = hurried(t, newBench(t, nil), 10*time.Second) })
	for _, every := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			fast, asked := hurried(t, b, every)
			for _, key := range []string{"openingLevel", "closingLevel"} {
				if one, other := gauge(plain, key), gauge(fast, key); math.Abs(one-other) > 0.05 {
					t.Errorf("every %s: %s is %v, and %v at the usual pace", every, key, other, one)
				}
			}
			for _, key := range []string{"start", "end"} {
				one, err := time.Parse(time.RFC3339, plain[key].(string))
				if err != nil {
					t.Fatal(err)
				}
				other, err := time.Parse(time.RFC3339, fast[key].(string))
				if err != nil || one.Sub(other).Abs() > 90*time.Second {
					t.Errorf("every %s: %s at %v (%v), and %v at the usual pace", every, key, other, err, one)
				}
			}
			if asked[0] || asked[300] || asked[len(asked)-1] {
				t.Error("haste was asked for while the tank was at rest")
			}
			if b.Host("modbus").Hurry([]collectors.Point{"plc/other"}) {
				t.Error("haste was asked for a point that is no level")
			}
		})
	}
}

func TestHasteIsAskedForUntilTheLoadIsDecidedAlsoAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		level := []collectors.Point{"plc/level"}
		for i := range 480 { // an hour, and ten minutes into the load
			b.emit("level", 180-math.Max(0, float64(i-360))*4/6)
			if haste := b.Host("x").Hurry(level); i < 360 && haste || i > 390 && !haste {
				t.Fatalf("after %d readings: %t", i, haste)
			}
			pass(10 * time.Second)
		}
		b.again()
		if !b.Host("x").Hurry(level) {
			t.Error("after a restart in the middle of a load nobody asks for haste")
		}
	})
}
