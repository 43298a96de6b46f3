package ledger

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// What a damaged outbox lost stands in the status until a week after somebody first saw it, however long nobody looks, over
// restarts too; what was found in the file is left to the event.
func TestAMendedOutboxIsShownForAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		if text := b.MendedWarning(time.Now()); text != "" {
			t.Errorf("nothing was mended, and it says %q", text)
		}
		b.NoteLoss(outbox.Note{Kind: outbox.NoteSalvaged, At: time.Now(), Message: "it was mended: 3 are lost; what was found: page 4 is outside the file"})
		b.must(b.SaveLosses())
		pass(30 * 24 * time.Hour)
		b.again()
		first := b.MendedWarning(time.Now())
		if !strings.HasPrefix(first, "it was mended: 3 are lost (on ") || strings.Contains(first, "page 4") {
			t.Errorf("a month later it says %q", first)
		}
		pass(6 * 24 * time.Hour)
		b.again()
		if text := b.MendedWarning(time.Now()); text != first {
			t.Errorf("six days after it was shown it says %q", text)
		}
		pass(25 * time.Hour)
		if text := b.MendedWarning(time.Now()); text != "" {
			t.Errorf("a week after it was shown it says %q", text)
		}
	})
}
