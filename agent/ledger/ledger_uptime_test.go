package ledger

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/clock"
)

var errUptime = errors.New("no uptime")

// upFor is a boot of the box that has lasted for so long.
func upFor(id string, up time.Duration) clock.Boot {
	return clock.Boot{ID: id, Uptime: func() (time.Duration, error) { return up, nil }}
}

func noUptime(id string) clock.Boot {
	return clock.Boot{ID: id, Uptime: func() (time.Duration, error) { return 0, errUptime }}
}

// The detector counts time by the box's uptime, also when the boot is told to the ledger some time after it was opened; two
// runs on one boot share it.
func TestALedgerCountsByTheBoxsUptime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		pass(10 * time.Minute)
		b.must(b.SetBoot(clock.Boot{}))
		if b.boxBoot != 0 || b.mono(time.Now()) != 10*time.Minute {
			t.Errorf("without a boot the ledger is at %s of boot %d", b.mono(time.Now()), b.boxBoot)
		}
		if err := b.SetBoot(noUptime("b1")); !errors.Is(err, errUptime) || b.boxBoot != 0 {
			t.Errorf("without an uptime: boot %d, %v", b.boxBoot, err)
		}
		b.must(b.SetBoot(upFor("b1", 2*time.Hour)))
		pass(time.Minute)
		if got := b.mono(time.Now()); got != 2*time.Hour+time.Minute {
			t.Errorf("a minute after an uptime of two hours the ledger is at %s", got)
		}
		first := b.boxBoot
		b.again()
		b.must(b.SetBoot(upFor("b1", 3*time.Hour)))
		if b.boxBoot != first || first == 0 || b.mono(time.Now()) != 3*time.Hour {
			t.Errorf("the next run is at %s of boot %d, the one before was of %d", b.mono(time.Now()), b.boxBoot, first)
		}
		b.must(b.SetBoot(upFor("b2", time.Minute)))
		if b.boxBoot == first {
			t.Error("another boot of the box is the same")
		}
	})
}
