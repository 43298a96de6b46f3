package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/collectors"
	"gauger/outbox"
)

// silence is a collector of a device that never says anything.
type silence struct{}

// Run implements collectors.Collector.
func (silence) Run(ctx context.Context, _ collectors.Host) error {
	<-ctx.Done()
	return nil
}

// The store is removed under an agent at a site where nothing happens: it ends within a minute, with the reason.
func TestARemovedStoreEndsTheAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		site := ledger.Site{Name: "test", ID: "TEST", Object: ledgertest.GUID, Zone: time.UTC, Wire: cloud.DefaultWire()}
		done := startIn(t, t.Context(), dir, site, &cloudtest.Service{}, silence{})
		ledgertest.Pass(time.Hour)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if !errors.Is(err, outbox.ErrGone) || !errors.Is(err, outbox.ErrDead) {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("it still runs a minute after its store was removed")
		}
	})
}
