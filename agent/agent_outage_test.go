package agent

import (
	"context"
	"math"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

// well fills a tank of 240 in, and a truck takes 170 bbl every day at eleven.
type well struct{ perInch float64 }

func (w well) level(elapsed time.Duration) float64 {
	days := math.Floor(elapsed.Hours() / 24)
	into := elapsed - time.Duration(days*24)*time.Hour
	pumped := min(max(into-11*time.Hour, 0), 28*time.Minute).Minutes() * 6
	return (180*w.perInch + into.Hours()/24*168 - pumped) / w.perInch
}

// Run implements collectors.Collector: a level every ten seconds.
func (w well) Run(ctx context.Context, host collectors.Host) error {
	begin := time.Now()
	return collectors.Poll(ctx, 10*time.Second, func(ctx context.Context) {
		now := time.Now()
		_ = host.Emit(ctx, []collectors.Reading{
			{Point: "plc/level", Value: w.level(now.Sub(begin)), Unit: "in", Quality: collectors.Good, At: now},
			{Point: "plc/target", Value: 90, Quality: collectors.Good, At: now},
		})
	})
}

// A site works for four days, two of which the service is away. Every day's load is one ticket, each once, in order.
func TestTwoDaysWithoutTheServiceLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &cloudtest.Service{PrimaryKey: "primary-key-value", SecondaryKey: "secondary-key-value"}
		table := tank.Cylinder(144, 240)
		site := ledger.Site{
			Name: "test", ID: "TEST", Object: ledgertest.GUID, Zone: time.UTC, Wire: cloud.DefaultWire(), Hold: 45 * time.Minute,
			Tanks: []ledger.Tank{{
				Tank:  tank.Tank{ID: "TK-1", Height: 240, Table: table, Every: 10 * time.Second, Loads: tank.DefaultLoads()},
				Level: "plc/level", Purchaser: "Acme",
			}},
			Values: []ledger.Value{{Well: ledgertest.GUID, Code: "Production Target Oil", Point: "plc/target", Every: time.Hour}},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := start(t, ctx, site, service, well{perInch: table.PerInch(100)})
		ledgertest.Pass(24 * time.Hour)
		service.Adjust(func(s *cloudtest.Service) {
			s.Fault = func(cloudtest.Call) *cloudtest.Fault { return &cloudtest.Fault{Refuse: true} }
		})
		ledgertest.Pass(48 * time.Hour)
		if got := len(service.Tickets()); got != 1 {
			t.Errorf("%d tickets before the service came back, want the first day's", got)
		}
		service.Adjust(func(s *cloudtest.Service) { s.Fault = nil })
		ledgertest.Pass(24 * time.Hour)
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		tickets := service.Tickets()
		if len(tickets) != 4 || len(service.Duplicates()) != 0 {
			t.Fatalf("%d tickets and %d duplicates, want 4 and 0", len(tickets), len(service.Duplicates()))
		}
		for i, ticket := range tickets {
			start, err := time.Parse(time.RFC3339, ticket.Start)
			want := time.Date(2000, 1, 1+i, 11, 0, 0, 0, time.UTC)
			if err != nil || start.Sub(want).Abs() > time.Minute {
				t.Errorf("ticket %d began at %s (%v), want %s", i, ticket.Start, err, want)
			}
		}
		if got := len(service.TagValues()); got < 94 || got > 97 {
			t.Errorf("%d hourly values in four days, want 96 and no fewer for the outage", got)
		}
	})
}

// start assembles an agent on a box of its own and runs it.
func start(t *testing.T, ctx context.Context, site ledger.Site, service http.RoundTripper, c collectors.Collector) <-chan error {
	t.Helper()
	return startIn(t, ctx, t.TempDir(), site, service, c)
}

// startIn is start with the box in a folder.
func startIn(t *testing.T, ctx context.Context, dir string, site ledger.Site, service http.RoundTripper, c collectors.Collector) <-chan error {
	t.Helper()
	return runAgent(ctx, assembleIn(t, dir, site, service, c))
}

// assembleIn makes an agent that does not run yet.
func assembleIn(t *testing.T, dir string, site ledger.Site, service http.RoundTripper, c collectors.Collector) *Agent {
	t.Helper()
	box, err := outbox.Open(filepath.Join(dir, "outbox.db"), outbox.Options{MaxBytes: 16 << 20, Label: ledger.RecordLabel, Streams: []outbox.Stream{
		{Name: ledger.Tickets, Batch: 1, Journal: true}, {Name: ledger.Events, Batch: 50}, {Name: ledger.TagValues, Batch: 20}, {Name: ledger.Targets, Batch: 20},
		{Name: ledger.Memos}, {Name: ledger.Refused, Held: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value", Secondary: "secondary-key-value"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{URL: "https://service.test", Wire: site.Wire, Zone: site.Zone, Keys: keys, Transport: service})
	if err != nil {
		t.Fatal(err)
	}
	clock := clock.New(time.Now(), time.Time{}, site.Steady(), nil)
	siteLedger, err := ledger.New(site, box, clock, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return &Agent{
		Site: site, Ledger: siteLedger, Box: box, Client: client, Clock: clock, Collectors: []collectors.Named{{Name: "plc", Collector: c}},
		Workers: []Worker{keys.Run}, Log: zerolog.Nop(), Notes: make(chan outbox.Note),
	}
}

// runAgent runs an agent, and closes what it was made of behind it.
func runAgent(ctx context.Context, a *Agent) <-chan error {
	done := make(chan error, 1)
	go func() {
		err := a.Run(ctx)
		a.Client.Close()
		if closed := a.Box.Close(); err == nil {
			err = closed
		}
		done <- err
	}()
	return done
}
