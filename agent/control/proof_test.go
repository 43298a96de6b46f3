package control

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent"
	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/collectors"
	"gauger/outbox"
)

// proving is a server on a bench whose streams are sent.
func proving(b *ledgertest.Bench, service *cloudtest.Service) (server *Server, stop func()) {
	b.T.Helper()
	service.PrimaryKey = "primary-key-value"
	keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value"})
	if err != nil {
		b.T.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{URL: "https://service.test", Wire: b.Site.Wire, Keys: keys, Transport: service})
	if err != nil {
		b.T.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.T.Context())
	done := make(chan error, len(ledger.Operations))
	for stream := range ledger.Operations {
		go func() { done <- b.Box.Drain(ctx, stream, agent.Sender{Client: client}) }()
	}
	server = (&Server{Ledger: b.Ledger, Box: b.Box, Client: client, Site: b.Site, Daemon: true}).Open()
	return server, func() {
		cancel()
		for range ledger.Operations {
			if err := <-done; err != nil {
				b.T.Error(err)
			}
		}
		client.Close()
	}
}

// provenAs asks for a proof as a command does.
func provenAs(t *testing.T, d *Server, from, to time.Time) (p Proof) {
	t.Helper()
	args, err := json.Marshal(ProofArgs{From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Call(t.Context(), "proof", args)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := got.(Proof)
	if !ok {
		t.Fatalf("the proof is a %T", got)
	}
	return p
}

func (p Proof) of(stream string) StreamProof {
	for _, s := range p.Streams {
		if s.Stream == stream {
			return s
		}
	}
	return StreamProof{}
}

// A fortnight of events, a few an hour, some refused, some dropped, some waiting at the end. Of any stretch the proof
// counts exactly those that were accepted in it, and of the events those that began in it.
func TestProofOfAnyStretchCountsWhatWasAcceptedInIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 7))
		service := &cloudtest.Service{}
		b := ledgertest.New(t, nil)
		b.Clock.Confirm()
		server, stop := proving(b, service)
		defer stop()
		began := time.Now()
		var at, starts []time.Time
		for i := range 250 {
			ledgertest.Pass(time.Duration(rng.IntN(160)) * time.Minute)
			start := time.Now().Add(-time.Duration(rng.IntN(100)) * time.Hour)
			if err := b.QueueEvent(ledger.Event{Rule: fmt.Sprint("rule ", i%7), Note: "x", Start: start, End: time.Now()}); err != nil {
				t.Fatal(err)
			}
			at, starts = append(at, time.Now()), append(starts, start)
		}
		ledgertest.Pass(time.Minute)
		away := time.Now()
		service.Adjust(func(s *cloudtest.Service) {
			s.Fault = func(c cloudtest.Call) *cloudtest.Fault {
				if c.Op == "SaveDiagnosticEvents" {
					return &cloudtest.Fault{Status: 503}
				}
				return nil
			}
		})
		for range 20 {
			ledgertest.Pass(time.Minute)
			if err := b.QueueEvent(ledger.Event{Rule: "late", Note: "x", Start: time.Now(), End: time.Now()}); err != nil {
				t.Fatal(err)
			}
			at, starts = append(at, time.Now()), append(starts, time.Now())
		}
		if n, err := b.Box.Drop(ledger.Events, "not wanted", 255); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		ledgertest.Pass(time.Second)
		for range 25 {
			from := began.Add(time.Duration(rng.Int64N(int64(time.Since(began)))))
			to := from.Add(time.Duration(rng.Int64N(int64(100 * time.Hour))))
			p := provenAs(t, server, from, to)
			var want Tally
			service := 0
			for i := range at {
				if in := !at[i].Before(from) && at[i].Before(to); in && at[i].Before(away) {
					want.Accepted, want.Delivered = want.Accepted+1, want.Delivered+1
				} else if in && i == 254 {
					want.Accepted, want.Dropped = want.Accepted+1, want.Dropped+1
				} else if in {
					want.Accepted, want.Waiting = want.Accepted+1, want.Waiting+1
				}
				if s := starts[i].Truncate(time.Second); !s.Before(from) && s.Before(to) && i < 250 {
					service++
				}
			}
			s := p.of(ledger.Events)
			if !p.Holds || s.Within != want || s.NoReceipt != 0 {
				t.Fatalf("%s to %s: %+v, want %+v", from, to, s, want)
			}
			e := p.Events
			if !e.Compared || e.Delivered != service || e.Service != service || len(e.Missing)+len(e.Doubled)+len(e.Unknown) != 0 {
				t.Fatalf("%s to %s: events %+v, want %d", from, to, e, service)
			}
		}
		all, err := server.drainStatus(b.Box.Counts())
		b.Must(err)
		why := all[ledger.Events]
		if why.Status != 503 || why.Held.Before(away) || why.Next.IsZero() || why.Why == "" {
			t.Errorf("what waits is explained by %+v", why)
		}
	})
}

// The service's ranges end at whole seconds, and times are cut: an event of the second in which a stretch ends is not missing.
func TestProofFindsTheEventsOfItsLastSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		b.Clock.Confirm()
		server, stop := proving(b, &cloudtest.Service{})
		defer stop()
		ledgertest.Pass(100 * time.Millisecond)
		if err := b.QueueEvent(ledger.Event{Rule: "now", Note: "x", Start: time.Now(), End: time.Now()}); err != nil {
			t.Fatal(err)
		}
		ledgertest.Pass(100 * time.Millisecond)
		if e := provenAs(t, server, time.Now().Add(-time.Hour), time.Now()).Events; e.Delivered != 1 || e.Service != 1 || len(e.Missing) != 0 {
			t.Errorf("events %+v, want one that the service has", e)
		}
	})
}

// While records come and leave, what is counted in all and what was accepted up to now are of one instant, or the proof says that they are
// not.
func TestProofIsOfOneInstant(t *testing.T) {
	b := ledgertest.New(t, nil)
	b.Clock.Confirm()
	server, stop := proving(b, &cloudtest.Service{})
	defer stop()
	ended := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 500 && err == nil; i++ {
			err = b.QueueEvent(ledger.Event{Rule: "x", Note: "x", Start: time.Now(), End: time.Now()})
		}
		ended <- err
	}()
	for {
		s := provenAs(t, server, time.Time{}, time.Now().Add(time.Hour)).of(ledger.Events)
		if !s.Moved && s.Within != s.Whole {
			t.Errorf("in all %+v, up to now %+v", s.Whole, s.Within)
		}
		select {
		case err := <-ended:
			b.Must(err)
			return
		default:
		}
	}
}

// A record that gave way to the quota is counted in the stretch in which it was accepted.
func TestProofCountsWhatGaveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := StreamProof{Whole: Tally{Accepted: 100, Waiting: 88, Evicted: 12}}
		var places []recordPlace
		for seq := uint64(1); seq <= 100; seq++ {
			if seq < 20 || seq > 30 {
				places = append(places, recordPlace{seq, outbox.Waiting, seq > 10 && seq != 60})
			}
		}
		s.count(places)
		if want := (Tally{Accepted: 89, Waiting: 78, Evicted: 11}); s.Within != want || s.NoReceipt != 0 || s.First != 11 || s.Last != 100 {
			t.Errorf("summed to %+v, want %+v", s, want)
		}
		s = StreamProof{Whole: Tally{Accepted: 100, Delivered: 88, Evicted: 5, Lost: 4}}
		s.count(places)
		if s.NoReceipt != 2 || s.Within.Evicted != 5 || s.Within.Lost != 4 || s.Within.Accepted != 89 {
			t.Errorf("with five evicted and four lost it is %+v", s)
		}
		s = StreamProof{Whole: Tally{Accepted: 100, Delivered: 69, Evicted: 31}}
		s.count(places[19:])
		if s.First != 31 || s.Before != 30 || s.Within.Evicted != 0 {
			t.Errorf("with all evicted up to the first it is %+v", s)
		}
	})
}

// The label of an event keeps what the comparison needs, however long its rule is, and one of the version before is told
// from it.
func TestAnEventsLabelTellsItFromOthers(t *testing.T) {
	long := "a rule whose name is far longer than a receipt has room for, ü included"
	body, err := cloud.DefaultWire().EncodeEvent(cloud.DiagnosticEvent{Rule: long, ObjectID: ledgertest.GUID, Start: time.Unix(1e9, 0), End: time.Unix(1e9, 0)})
	if err != nil {
		t.Fatal(err)
	}
	label := ledger.RecordLabel(ledger.Events, outbox.Record{Body: body})
	ref, ok := ledger.ReadEventRef(label)
	if want := (ledger.EventRef{Rule: long[:46], Start: "2001-09-09T01:46:40", Object: ledgertest.GUID, Type: "Device"}); !ok || ref != want || len(label) > 112 {
		t.Errorf("label %q of %d bytes says %+v, want %+v", label, len(label), ref, want)
	}
	if _, ok := ledger.ReadEventRef("Tank full"); ok {
		t.Error("a rule alone says which event it was")
	}
}

// Readings of unknown age stand in the proof and in the status alike.
func TestReadingsOfUnknownAgeAreInProofAndStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		b := ledgertest.New(t, func(s *ledger.Site) {
			s.Values = []ledger.Value{{Well: ledgertest.GUID, Code: "Production Target Oil", Point: "plc/rate"}}
		})
		for range 13 {
			b.Emit("rate", 40, func(r *collectors.Reading) { r.Quality, r.AgeUnknown = collectors.Uncertain, true })
		}
		server, stop := proving(b, &cloudtest.Service{})
		defer stop()
		server.Clock = clock.New(time.Now(), time.Time{}, b.Site.Steady(), nil)
		p, err := server.prove(t.Context(), ProofArgs{From: begin, To: time.Now()})
		s, errStatus := server.Status()
		if err != nil || errStatus != nil {
			t.Fatal(err, errStatus)
		}
		if len(p.Unused) != 1 || p.Unused[0].Count != 13 {
			t.Errorf("the proof says %+v", p.Unused)
		}
		if len(s.Unused) != 1 || s.Unused[0] != p.Unused[0] {
			t.Errorf("the status says %+v, the proof %+v", s.Unused, p.Unused)
		}
	})
}
