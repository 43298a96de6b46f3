package agent

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/outbox"
)

// judged is a service that says of each record what becomes of it; a batch is taken or refused whole.
type judged struct {
	mu       sync.Mutex
	judge    func(stream, body string) outbox.Class
	requests int
	taken    []string // bodies of events
}

func (j *judged) Send(_ context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.requests++
	class := outbox.Stored
	for _, r := range batch {
		if c := j.judge(stream, string(r.Body)); c != outbox.Stored {
			class = c
		}
	}
	for _, r := range batch {
		if class == outbox.Stored && stream == ledger.Events {
			j.taken = append(j.taken, string(r.Body))
		}
	}
	return slices.Repeat([]outbox.Answer{{Class: class, Message: "as told"}}, len(batch))
}

func (j *judged) told(part string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, body := range j.taken {
		if strings.Contains(body, part) {
			n++
		}
	}
	return n
}

// delivering runs f beside the drains and the notes of an agent.
func delivering(t *testing.T, to *judged, f func(a *Agent)) {
	synctest.Test(t, func(t *testing.T) {
		site := ledger.Site{Name: "test", ID: "TEST", Object: ledgertest.GUID, ObjectType: "Device", Zone: time.UTC, Wire: cloud.DefaultWire()}
		notes := make(chan outbox.Note, 64)
		box, err := outbox.Open(filepath.Join(t.TempDir(), "outbox.db"), outbox.Options{MaxBytes: 16 << 20, Notify: func(n outbox.Note) { notes <- n },
			Streams: []outbox.Stream{{Name: ledger.Tickets, Journal: true}, {Name: ledger.Events, Batch: 50}, {Name: ledger.TagValues, Batch: 20}, {Name: ledger.Targets}, {Name: ledger.Memos}}})
		if err != nil {
			t.Fatal(err)
		}
		siteLedger, err := ledger.New(site, box, clock.New(time.Now(), time.Time{}, 0, nil), zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		a := &Agent{Site: site, Ledger: siteLedger, Box: box, Log: zerolog.Nop(), Notes: notes}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for stream := range ledger.Operations {
			wg.Go(func() {
				if err := box.Drain(ctx, stream, to); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if err := a.handleNotes(ctx); err != nil {
				t.Error(err)
			}
		})
		f(a)
		cancel()
		wg.Wait()
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
}

// queue puts records into a stream.
func queue(t *testing.T, a *Agent, stream string, bodies ...string) {
	t.Helper()
	err := a.Box.Update(func(tx *outbox.Tx) error {
		for _, b := range bodies {
			tx.Append(stream, outbox.Record{Body: []byte(b)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The service refuses every event for a day, in either way: no event comes of that before it is over, and then one.
func TestRefusedEventsMakeNoEvents(t *testing.T) {
	for _, class := range []outbox.Class{outbox.TooLarge, outbox.Poison} {
		all := class
		to := &judged{judge: func(stream, _ string) outbox.Class {
			if stream == ledger.Events {
				return all
			}
			return outbox.Stored
		}}
		delivering(t, to, func(a *Agent) {
			queue(t, a, ledger.Events, "one", "two", "three")
			queue(t, a, ledger.Tickets, "ticket")
			<-time.After(24 * time.Hour)
			if c := a.Box.Counts()[ledger.Events]; c.Accepted != 3 || c.Dead != 0 || to.requests > 700 {
				t.Errorf("%s: after a day and %d requests %+v", class, to.requests, c)
			}
			to.mu.Lock()
			all = outbox.Stored
			to.mu.Unlock()
			<-time.After(3 * time.Hour)
			if c := a.Box.Counts()[ledger.Events]; c.Accepted != 4 || c.Delivered != 4 || to.told("taken again") != 1 {
				t.Errorf("%s: afterwards %+v, %q", class, c, to.taken)
			}
		})
	}
}

// The service takes events, but none that tells of a refusal, and refuses one in two others: each makes no other, and the
// end of it is one event.
func TestARefusedEventOfARefusalMakesNoOther(t *testing.T) {
	to := &judged{judge: func(stream, body string) outbox.Class {
		if strings.Contains(body, "send-rejected") || strings.HasPrefix(body, "bad") {
			return outbox.Poison
		}
		return outbox.Stored
	}}
	delivering(t, to, func(a *Agent) {
		for range 50 {
			queue(t, a, ledger.Events, "bad", "good")
			<-time.After(30 * time.Second)
		}
		queue(t, a, ledger.Tickets, "good", "bad", "good")
		for range 48 {
			<-time.After(time.Hour)
			queue(t, a, ledger.Events, "good")
		}
		<-time.After(time.Hour)
		// 50 bad ones and an event about the ticket, and two about events: when the first was over, and an hour later.
		if c := a.Box.Counts()[ledger.Events]; c.Dead != 53 || c.Accepted != 151 || c.Waiting != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// A thousand values are refused within a day while others are taken: an event at once, and one an hour with the sum. Each
// ticket has one of its own.
func TestRefusedValuesAreToldOnceAnHour(t *testing.T) {
	to := &judged{judge: func(_, body string) outbox.Class {
		if strings.HasPrefix(body, "bad") {
			return outbox.Poison
		}
		return outbox.Stored
	}}
	delivering(t, to, func(a *Agent) {
		for range 1000 {
			queue(t, a, ledger.TagValues, "bad", "good")
			<-time.After(90 * time.Second)
		}
		queue(t, a, ledger.Tickets, "bad 1", "bad 2", "good")
		<-time.After(2 * time.Hour)
		if n := to.told("outbox tagvalues"); n < 24 || n > 27 || to.told("records became dead letters since") != n-1 {
			t.Errorf("%d events of a thousand values", n)
		}
		if n := to.told("outbox tickets"); n != 2 {
			t.Errorf("%d events of two tickets", n)
		}
	})
}

// What is for a device or well that the service does not know is named by status, by the list of what waits and by an
// event; the site counts as sending, since what is for the others leaves.
func TestWhatWaitsByItselfIsNamed(t *testing.T) {
	to := &judged{judge: func(_, body string) outbox.Class {
		if strings.Contains(body, `"lost`) {
			return outbox.Path
		}
		return outbox.Stored
	}}
	delivering(t, to, func(a *Agent) {
		send := func(stream string, addresses ...string) {
			err := a.Box.Update(func(tx *outbox.Tx) error {
				for _, to := range addresses {
					tx.Append(stream, outbox.Record{Address: to, Body: []byte(`{"for":"` + to + `"}`)})
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		send(ledger.Memos, "lost 1", "one")
		send(ledger.TagValues, "lost 2", "lost 3", "two", "lost 4")
		<-time.After(10 * time.Minute)
		server := &control.Server{Box: a.Box, Ledger: a.Ledger, Site: a.Site, Daemon: true, Clock: clock.New(time.Now(), time.Time{}, 0, nil)}
		s, err := server.Status()
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(s.Problems, "\n")
		for _, want := range []string{"nothing for device lost 1 since ", "nothing for well lost 2 since ", "nothing for well lost 3 since ", "nothing for well lost 4 since ",
			"while it takes others of memos: compare this id with `gauger devices query`", "compare this id with wells.id"} {
			if !strings.Contains(all, want) {
				t.Errorf("status does not say %q: %s", want, all)
			}
		}
		if s.Overdue() || s.Apart() != 4 || s.Waiting() != 4 {
			t.Errorf("overdue %v, %d wait, %d apart", s.Overdue(), s.Waiting(), s.Apart())
		}
		for stream, want := range map[string]string{ledger.Memos: "nothing for device lost 1", ledger.TagValues: "3 ids wait"} {
			if why := s.Drains[stream].Why; !strings.Contains(why, want) {
				t.Errorf("%s wait because %q, want %q", stream, why, want)
			}
		}
		got, err := server.Open().Call(t.Context(), "outbox.list", []byte(`{"stream":"tagvalues","state":"waiting"}`))
		listed, _ := got.([]control.Entry)
		second := slices.IndexFunc(listed, func(e control.Entry) bool { return e.Seq == 2 })
		if err != nil || second < 0 {
			t.Fatalf("listed %+v, %v", got, err)
		}
		if why := listed[second].Waits; !strings.Contains(why, "nothing for well lost 3") || !strings.Contains(why, "tried again at") {
			t.Errorf("it waits since %s", why)
		}
		<-time.After(2 * time.Hour)
		if to.told("what is for lost 1 is not taken") != 1 || to.told("what is for lost 2 is not taken") != 1 || to.told("2 ids not taken, while others are: lost ") != 1 {
			t.Errorf("events are %q", to.taken)
		}
	})
}
