package agent

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
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
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
)

// lookupOf is what the ledger remembers of a tank.
func lookupOf(b *ledgertest.Bench, id string) ledger.DeviceLookup {
	b.T.Helper()
	found, err := b.LookupOf(id)
	b.Must(err)
	return found
}

// asking runs an agent's look-ups on a bench until stop is called.
func asking(b *ledgertest.Bench, service http.RoundTripper) (stop func()) {
	return askingAs(b, &Agent{Site: b.Site, Ledger: b.Ledger, Box: b.Box, Log: zerolog.Nop()}, service)
}

// askingAs does so with an agent that has begun.
func askingAs(b *ledgertest.Bench, a *Agent, service http.RoundTripper) (stop func()) {
	b.T.Helper()
	keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value"})
	if err != nil {
		b.T.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{URL: "https://service.test", Wire: b.Site.Wire, Keys: keys, Transport: service})
	if err != nil {
		b.T.Fatal(err)
	}
	a.Client = client
	ctx, cancel := context.WithCancel(b.T.Context())
	done := make(chan error, 1)
	go func() { done <- a.lookUpIDs(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.T.Error(err)
		}
		client.Close()
	}
}

// queries are the external ids that the service was asked for.
func queries(s *cloudtest.Service) (ids []string) {
	for _, c := range s.Calls() {
		if c.Op == "QueryDevices" && c.Query.Get("deviceIds") == "" {
			ids = append(ids, c.Query.Get("externalId"))
		}
	}
	return ids
}

// hints are those of the status, and the problems that name a tank beside them.
func hints(b *ledgertest.Bench) (hints, problems []string) {
	b.T.Helper()
	s, err := (&control.Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site}).Status()
	if err != nil {
		b.T.Fatal(err)
	}
	return s.Hints, s.Problems
}

// A tank, or a device to which events go, that the service does not know is a hint of the status, which says whether tanks are
// devices there at all; never an event, and no problem. It is asked for again each day; a known one is asked for once; a change of
// the configuration asks once more.
func TestAnUnknownIDIsAHint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &cloudtest.Service{PrimaryKey: "primary-key-value"}
		b := ledgertest.New(t, func(s *ledger.Site) {
			two := s.Tanks[0]
			two.ID, two.Level = "TK-2", "plc/level2"
			s.Tanks = append(s.Tanks, two)
		})
		quiet := func(want int) {
			t.Helper()
			hints, problems := hints(b)
			if len(hints) != want || len(problems) != 0 || len(b.Rules()) != 0 {
				t.Errorf("hints %q, problems %q, events %v; want %d hints and nothing else", hints, problems, b.Rules(), want)
			}
		}
		stop := asking(b, service)
		ledgertest.Pass(time.Hour)
		if got := queries(service); len(got) != 2 || lookupOf(b, "TK-1").Found != ledger.Unknown {
			t.Errorf("asked for %v, found %+v", got, lookupOf(b, "TK-1"))
		}
		quiet(2)
		if all, _ := hints(b); !strings.Contains(all[0], "no device with the external id TK-1, TK-2") || !strings.Contains(all[1], "no device with the id "+ledgertest.GUID) {
			t.Errorf("the hints are %q", all)
		}
		service.AddDevices(cloudtest.Device{ID: ledgertest.GUID})
		service.AddDevices(cloudtest.Device{ID: "7", ExternalID: "TK-1"})
		ledgertest.Pass(24 * time.Hour)
		if lookupOf(b, "TK-1").Device != "7" || lookupOf(b, "TK-2").Found != ledger.Unknown {
			t.Errorf("found %+v and %+v", lookupOf(b, "TK-1"), lookupOf(b, "TK-2"))
		}
		quiet(1)
		if hints, _ := hints(b); !strings.Contains(strings.Join(hints, ""), "external id TK-2, and knows TK-1") {
			t.Errorf("the hint is %q", hints)
		}
		stop()
		b.Again()
		stop = asking(b, service)
		ledgertest.Pass(71 * time.Hour)
		if got := strings.Join(queries(service), " "); got != "TK-1 TK-2 TK-1 TK-2 TK-2 TK-2" {
			t.Errorf("asked for %q; want the unknown one once more a day", got)
		}
		quiet(1)
		service.AddDevices(cloudtest.Device{ID: "8", ExternalID: "TK-2"})
		ledgertest.Pass(48 * time.Hour)
		if got := queries(service); len(got) != 7 || lookupOf(b, "TK-2").Found != ledger.Known {
			t.Errorf("asked for %v, found %+v", got, lookupOf(b, "TK-2"))
		}
		quiet(0)
		stop()
		b.Site.Config++
		b.Again()
		stop = asking(b, service)
		ledgertest.Pass(48 * time.Hour)
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
		"no JSON": {"sorry", ledger.Unclear}, "a gateway's page": {"<html>", ""}, "no list": {`{"result": 3}`, ledger.Unclear}, "two lists": {`{"a": [], "b": []}`, ledger.Unclear},
		"no ids": {`[{"name": "Cooper"}]`, ledger.Unclear}, "nothing": {"", ledger.Unclear}, "empty list": {"[]", ledger.Unknown},
		"others only": {`[{"id": "1", "externalId": "X"}]`, ledger.Unknown}, "enveloped": {`{"data": [{"id": 5, "externalId": "TK-1"}]}`, ledger.Known},
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
				b := ledgertest.New(t, nil)
				stop := asking(b, service)
				ledgertest.Pass(48 * time.Hour)
				if got := lookupOf(b, "TK-1"); got.Found != "" || len(b.Rules()) != 0 {
					t.Errorf("while the service is away: %+v, events %v", got, b.Rules())
				}
				back.Store(true)
				ledgertest.Pass(time.Hour + time.Minute)
				if got := lookupOf(b, "TK-1"); got.Found != c.want || len(b.Rules()) != 0 {
					t.Errorf("%s: %+v, events %v; want %s", c.answer, got, b.Rules(), c.want)
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
		b := ledgertest.New(t, func(s *ledger.Site) {
			two := s.Tanks[0]
			two.ID, two.Level = "TK-2", "plc/level2"
			s.Tanks = append(s.Tanks, two)
		})
		stop := asking(b, service)
		ledgertest.Pass(time.Hour)
		if one, two := lookupOf(b, "TK-1"), lookupOf(b, "TK-2"); one.Found != ledger.Unclear || !strings.Contains(one.Note, "400") || two.Found != ledger.Known {
			t.Errorf("found %+v and %+v", one, two)
		}
		stop()
	})
}

// denies answers every request with a Date that is by so much away from the box's clock, under TLS.
type denies struct {
	asked atomic.Int32
	by    time.Duration
	plain bool
}

func (d *denies) RoundTrip(r *http.Request) (*http.Response, error) {
	d.asked.Add(1)
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Date": {time.Now().Add(d.by).UTC().Format(http.TimeFormat)}}, Request: r,
		Body: io.NopCloser(strings.NewReader("[]"))}
	if !d.plain {
		resp.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}
	}
	return resp, nil
}

// The service is asked for its time while nobody vouches for the clock and nothing else is sent: until it has said what it thinks of it. The
// quiet site's tickets would be the first to hear.
func TestAQuietSiteAsksTheServiceForItsTime(t *testing.T) {
	for what, x := range map[string]struct {
		service *denies
		asked   int32
		against bool
	}{
		"right":      {&denies{}, 1, false},
		"3 h behind": {&denies{by: -3 * time.Hour}, 3, true},
		"plain HTTP": {&denies{plain: true}, 7, false}, // after 1, 3, 7, 15, 31, 63 and 127 minutes
	} {
		synctest.Test(t, func(t *testing.T) {
			b := ledgertest.New(t, nil)
			keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value"})
			b.Must(err)
			client, err := cloud.New(cloud.Options{URL: "https://service.test", Wire: b.Site.Wire, Keys: keys, Transport: x.service})
			b.Must(err)
			defer client.Close()
			client.Heard = b.Clock.Compare
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
			defer cancel()
			a := &Agent{Site: b.Site, Ledger: b.Ledger, Client: client, Clock: b.Clock, Log: zerolog.Nop()}
			b.Must(a.askTime(ctx))
			if got := x.service.asked.Load(); got != x.asked || (b.Clock.Contradiction(time.Now()) != 0) != x.against {
				t.Errorf("%s: asked %d times, want %d; against the clock by %s", what, got, x.asked, b.Clock.Contradiction(time.Now()))
			}
		})
	}
}
