package agent

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
)

// asking runs an agent's look-ups on a bench until stop is called.
func (b *bench) asking(service http.RoundTripper) (stop func()) {
	b.t.Helper()
	keys, err := cloud.OpenKeys("", cloud.Seeds{Primary: "primary-key-value"})
	if err != nil {
		b.t.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{URL: "https://service.test", Wire: b.site.Wire, Keys: keys, Transport: service})
	if err != nil {
		b.t.Fatal(err)
	}
	a := &Agent{Site: b.site, Ledger: b.Ledger, Box: b.box, Client: client, Log: zerolog.Nop()}
	ctx, cancel := context.WithCancel(b.t.Context())
	done := make(chan error, 1)
	go func() { done <- a.lookUp(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
		client.Close()
	}
}

// queries are the external ids that the service was asked for.
func queries(s *cloudtest.Service) (ids []string) {
	for _, c := range s.Calls() {
		if c.Op == "QueryDevices" {
			ids = append(ids, c.Query.Get("externalId"))
		}
	}
	return ids
}

// An unknown tank is one event, asked for again each day without another, also over a restart; a known one is asked for
// once; a change of the configuration asks once more.
func TestAnUnknownTankIsAnEventOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &cloudtest.Service{PrimaryKey: "primary-key-value"}
		service.AddDevices(cloudtest.Device{ID: "7", ExternalID: "TK-1"})
		b := newBench(t, func(s *Site) {
			two := s.Tanks[0]
			two.ID, two.Level = "TK-2", "plc/level2"
			s.Tanks = append(s.Tanks, two)
		})
		stop := b.asking(service)
		pass(time.Hour)
		if got := queries(service); len(got) != 2 || b.lookup("TK-1").Device != "7" || b.lookup("TK-2").Found != unknown {
			t.Errorf("asked for %v, found %+v and %+v", got, b.lookup("TK-1"), b.lookup("TK-2"))
		}
		if got := b.rules(); len(got) != 1 || got[0] != "tank-unknown" {
			t.Errorf("events are %v, want one of the unknown tank", got)
		}
		stop()
		b.again()
		stop = b.asking(service)
		pass(71 * time.Hour)
		if got := strings.Join(queries(service), " "); got != "TK-1 TK-2 TK-2 TK-2" || len(b.rules()) != 1 {
			t.Errorf("asked for %q, events %v; want the unknown one once more a day, and no further event", got, b.rules())
		}
		service.AddDevices(cloudtest.Device{ID: "8", ExternalID: "TK-2"})
		pass(48 * time.Hour)
		if got := queries(service); len(got) != 5 || b.lookup("TK-2").Found != known {
			t.Errorf("asked for %v, found %+v", got, b.lookup("TK-2"))
		}
		stop()
		b.site.Config++
		b.again()
		stop = b.asking(service)
		pass(48 * time.Hour)
		if got := queries(service); len(got) != 7 || len(b.rules()) != 1 {
			t.Errorf("asked for %v under another configuration, events %v", got, b.rules())
		}
		stop()
	})
}

// While the service is away it is asked again, at least every hour; an answer that nobody can read is silence.
func TestALookUpWaitsForTheServiceAndKeepsSilentWhenInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   string
	}{
		"no JSON": {"sorry", unclear}, "a gateway's page": {"<html>", ""}, "no list": {`{"result": 3}`, unclear}, "two lists": {`{"a": [], "b": []}`, unclear},
		"no ids": {`[{"name": "Cooper"}]`, unclear}, "nothing": {"", unclear}, "empty list": {"[]", unknown},
		"others only": {`[{"id": "1", "externalId": "X"}]`, unknown}, "enveloped": {`{"data": [{"id": 5, "externalId": "TK-1"}]}`, known},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var back atomic.Bool
				service := &cloudtest.Service{PrimaryKey: "primary-key-value"}
				service.Fault = func(cloudtest.Call) *cloudtest.Fault {
					if !back.Load() {
						return &cloudtest.Fault{Refuse: true}
					}
					return &cloudtest.Fault{Status: http.StatusOK, Body: c.answer}
				}
				b := newBench(t, nil)
				stop := b.asking(service)
				pass(48 * time.Hour)
				if got := b.lookup("TK-1"); got.Found != "" || len(b.rules()) != 0 {
					t.Errorf("while the service is away: %+v, events %v", got, b.rules())
				}
				back.Store(true)
				pass(time.Hour + time.Minute)
				if got := b.lookup("TK-1"); got.Found != c.want || len(b.rules()) != map[string]int{unknown: 1}[c.want] {
					t.Errorf("%s: %+v, events %v; want %s", c.answer, got, b.rules(), c.want)
				}
				stop()
			})
		})
	}
}
