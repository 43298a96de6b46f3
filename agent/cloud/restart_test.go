package cloud

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"

	"gauger/agent/cloud/cloudtest"
)

// A key that was refused before a restart is still refused after it, and whoever listens then has not heard of it.
func TestARefusedKeyIsToldAgainAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keys")
		c := keyed(t, path, &cloudtest.Service{PrimaryKey: "another-primary", SecondaryKey: "another-secondary"})
		if a := postTicket(t, c, "T-1"); a.Class != Key {
			t.Fatalf("with refused keys: %+v", a)
		}
		again, err := OpenKeys(path, Seeds{})
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]int{}
		again.Notify = func(n KeyNote) {
			if n.Rule == "key-refused" && n.Open {
				told[n.Slot]++
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := again.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if told["primary"] != 1 || told["secondary"] != 1 {
			t.Errorf("told %v, want each refused key once", told)
		}
	})
}
