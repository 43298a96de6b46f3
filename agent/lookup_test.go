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
	"gauger/agent/cloud/keys"
)

// asking runs an agent's look-ups on a bench until stop is called.
func (b *bench) asking(service http.RoundTripper) (stop func()) {
	b.t.Helper()
	keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value"})
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
	go func() { done <- a.lookUpTanks(ctx) }()
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

// hints are those of the status, and the problems that name a tank beside them.
func (b *bench) hints() (hints, problems []string) {
	b.t.Helper()
	s, err := (&Server{Ledger: b.Ledger, Box: b.box, Clock: b.clock, Site: b.site}).Status()
	if err != nil {
		b.t.Fatal(err)
	}
	return s.Hints, s.Problems
}

// A tank that the service does not know is a hint of the status where it knows another of the site's, so that tanks are
// devices there; never an event, and no problem. It is asked for again each day; a known one is asked for once; a change of
// the configuration asks once more.
func TestAnUnknownTankIsAHintWhereAnotherIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &cloudtest.Service{PrimaryKey: "primary-key-value"}
		b := newBench(t, func(s *Site) {
			two := s.Tanks[0]
			two.ID, two.Level = "TK-2", "plc/level2"
			s.Tanks = append(s.Tanks, two)
		})
		quiet := func(want int) {
			t.Helper()
			hints, problems := b.hints()
			if len(hints) != want || len(problems) != 0 || len(b.rules()) != 0 {
				t.Errorf("hints %q, problems %q, events %v; want %d hints and nothing else", hints, problems, b.rules(), want)
			}
		}
		stop := b.asking(service)
		pass(time.Hour)
		if got := queries(service); len(got) != 2 || b.lookupOf("TK-1").Found != unknown {
			t.Errorf("asked for %v, found %+v", got, b.lookupOf("TK-1"))
		}
		quiet(0) // nothing says that tanks are devices
		service.AddDevices(cloudtest.Device{ID: "7", ExternalID: "TK-1"})
		pass(24 * time.Hour)
		if b.lookupOf("TK-1").Device != "7" || b.lookupOf("TK-2").Found != unknown {
			t.Errorf("found %+v and %+v", b.lookupOf("TK-1"), b.lookupOf("TK-2"))
		}
		quiet(1)
		if hints, _ := b.hints(); !strings.Contains(strings.Join(hints, ""), "none has the external id TK-2") {
			t.Errorf("the hint is %q", hints)
		}
		stop()
		b.again()
		stop = b.asking(service)
		pass(71 * time.Hour)
		if got := strings.Join(queries(service), " "); got != "TK-1 TK-2 TK-1 TK-2 TK-2 TK-2" {
			t.Errorf("asked for %q; want the unknown one once more a day", got)
		}
		quiet(1)
		service.AddDevices(cloudtest.Device{ID: "8", ExternalID: "TK-2"})
		pass(48 * time.Hour)
		if got := queries(service); len(got) != 7 || b.lookupOf("TK-2").Found != known {
			t.Errorf("asked for %v, found %+v", got, b.lookupOf("TK-2"))
		}
		quiet(0)
		stop()
		b.site.Config++
		b.again()
		stop = b.asking(service)
		pass(48 * time.Hour)
		if got := queries(service); len(got) != 9 {
			t.Errorf("asked for %v under another configuration", got)
		}
		quiet(0)
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
				if got := b.lookupOf("TK-1"); got.Found != "" || len(b.rules()) != 0 {
					t.Errorf("while the service is away: %+v, events %v", got, b.rules())
				}
				back.Store(true)
				pass(time.Hour + time.Minute)
				if got := b.lookupOf("TK-1"); got.Found != c.want || len(b.rules()) != 0 {
					t.Errorf("%s: %+v, events %v; want %s", c.answer, got, b.rules(), c.want)
				}
				stop()
			})
		})
	}
}

// One id that the service refuses does not keep the others from being asked for.
func TestARefusedIDStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &cloudtest.Service{PrimaryKey: "primary-key-value"}
		service.AddDevices(cloudtest.Device{ID: "8", ExternalID: "TK-2"})
		service.Fault = func(c cloudtest.Call) *cloudtest.Fault {
			if c.Query.Get("externalId") == "TK-1" {
				return &cloudtest.Fault{Status: http.StatusBadRequest}
			}
			return nil
		}
		b := newBench(t, func(s *Site) {
			two := s.Tanks[0]
			two.ID, two.Level = "TK-2", "plc/level2"
			s.Tanks = append(s.Tanks, two)
		})
		stop := b.asking(service)
		pass(time.Hour)
		if one, two := b.lookupOf("TK-1"), b.lookupOf("TK-2"); one.Found != unclear || !strings.Contains(one.Note, "400") || two.Found != known {
			t.Errorf("found %+v and %+v", one, two)
		}
		stop()
	})
}
