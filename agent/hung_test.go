package agent

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/collectors"
)

// stuckIn is a device that is away for a day, and then a call to it that does not come back.
type stuckIn struct{ never chan struct{} }

// Run implements collectors.Collector.
func (s stuckIn) Run(ctx context.Context, host collectors.Host) error {
	begin := time.Now()
	return collectors.Poll(ctx, time.Minute, func(ctx context.Context) {
		if time.Since(begin) > 24*time.Hour {
			<-s.never
		}
		_ = host.Emit(ctx, []collectors.Reading{{Point: "plc/target", Unit: "in", At: time.Now(), Err: context.DeadlineExceeded}})
	})
}

// stuckService takes a request and never lets go of it, whatever its context says.
type stuckService struct {
	*cloudtest.Service
	never chan struct{}
	from  time.Time
}

// RoundTrip implements http.RoundTripper.
func (s stuckService) RoundTrip(r *http.Request) (*http.Response, error) {
	if time.Now().After(s.from) {
		<-s.never
	}
	return s.Service.RoundTrip(r)
}

// TestHungPartIsNamed and a device and a service that are away for a day are not.
func TestHungPartIsNamed(t *testing.T) {
	for _, c := range []struct {
		name        string
		serviceFrom time.Duration // it hangs
		want        string
	}{
		{"a collector", 1000 * time.Hour, "plc hangs: it has been at one piece of work for "},
		{"a drain", 23*time.Hour + time.Minute, "sending events hangs: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				never := make(chan struct{})
				site := ledger.Site{Name: "test", ID: "TEST", Object: ledgertest.GUID, Zone: time.UTC, Wire: cloud.DefaultWire()}
				service := stuckService{&cloudtest.Service{PrimaryKey: "primary-key-value", SecondaryKey: "secondary-key-value"}, never, time.Now().Add(c.serviceFrom)}
				service.Fault = func(cloudtest.Call) *cloudtest.Fault { return &cloudtest.Fault{Refuse: true} }
				a := assembleIn(t, t.TempDir(), site, service, stuckIn{never})
				var log strings.Builder
				a.Log = zerolog.New(&log)
				ctx, cancel := context.WithCancel(t.Context())
				done := runAgent(ctx, a)
				ledgertest.Pass(time.Minute)
				now := time.Now()
				if err := a.Ledger.QueueEvent(ledger.Event{Rule: "test", Start: now, End: now}); err != nil {
					t.Error(err)
				}
				for range 22 * 60 {
					ledgertest.Pass(time.Minute)
					if err := a.Hung(); err != nil {
						t.Fatalf("after %s, with device and service away: %v", time.Since(now), err)
					}
				}
				ledgertest.Pass(3 * time.Hour)
				if err := a.Hung(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("%v", err)
				}
				if !strings.Contains(log.String(), c.want) || !strings.Contains(log.String(), "the watchdog starts gauger again") {
					t.Errorf("it is not told:\n%s", log.String())
				}
				cancel()
				close(never)
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestSlowLedgerIsNotItsCollectorsFault: a line rests while it waits for the disk.
func TestSlowLedgerIsNotItsCollectorsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Agent{}
		line := a.pulses.Part("line")
		host, hung := watchedHost{slowHost{}}, make(chan error, 1)
		line.Work()
		go func() {
			collectors.Wait(context.Background(), 80*time.Second)
			hung <- a.pulses.Hung(time.Minute)
		}()
		if err := errors.Join(host.Emit(collectors.WithPulse(t.Context(), line), nil), <-hung, a.pulses.Hung(time.Minute)); err != nil {
			t.Error(err)
		}
		collectors.Wait(context.Background(), 61*time.Second)
		if a.pulses.Hung(time.Minute) == nil {
			t.Error("a line that has its answer from the ledger does not work again")
		}
	})
}

type slowHost struct{ collectors.Host }

// Emit implements collectors.Host.
func (h slowHost) Emit(context.Context, []collectors.Reading) error {
	collectors.Wait(context.Background(), 90*time.Second)
	return nil
}
