package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"gauger/agent"
	"gauger/agent/control"
	"gauger/outbox"
)

// defaultWait for the service's answer; after it a command that writes leaves the rest to the daemon.
const defaultWait = 15 * time.Second

// deliveryPoll between two looks whether a record has left.
const deliveryPoll = 50 * time.Millisecond

// sentRecord is a record that a command has queued, and its fate.
type sentRecord struct {
	Stream string `json:"stream"`
	Seq    uint64 `json:"seq"`
	State  string `json:"state"`            // delivered, refused or queued; left: it is in the outbox no more, and has no receipt there
	Status int    `json:"status,omitempty"` // of the service's answer; 0 when there is none
	Number string `json:"number,omitempty"` // of a ticket
	Reason string `json:"reason,omitempty"` // why it was refused, or why it still waits, as far as that is known
	What   string `json:"-"`
	waits  string // why a running gauger still has it
}

func (d *connection) queueAll(ctx context.Context, records []outgoingRecord) ([]sentRecord, error) {
	var all []sentRecord
	for _, r := range records {
		var q control.QueuedRecord
		if err := d.request(ctx, "queue", control.QueueArgs{Stream: r.stream, Address: r.address, Body: r.body}, &q); err != nil {
			return all, err
		}
		all = append(all, sentRecord{Stream: q.Stream, Seq: q.Seq, State: "queued", What: r.what})
	}
	return all, nil
}

// awaitDelivery sees records off until each is delivered or refused, or until the wait is over. A record that waits is not a
// failure: it leaves when the service is there again.
func (d *connection) awaitDelivery(ctx context.Context, all []sentRecord, w waitOptions) error {
	if w.none || len(all) == 0 {
		return nil
	}
	var heard *answerKeeper
	if d.local != nil {
		var stop func()
		heard, stop = d.deliverMeanwhile(ctx, all[0].Stream)
		defer stop()
	}
	looking, cancel := context.WithTimeout(ctx, w.most)
	defer cancel()
	tick := time.NewTicker(deliveryPoll)
	defer tick.Stop()
	for next := 0; next < len(all); {
		if err := d.locate(looking, &all[next]); err != nil && looking.Err() == nil && d.local != nil {
			return err // a daemon may be changing its configuration, and is asked again
		}
		if all[next].State != "queued" {
			next++
			continue
		}
		select {
		case <-looking.Done():
			return d.checkOnce(ctx, all[next:], heard)
		case <-tick.C:
		}
	}
	return nil
}

// checkOnce looks once more at those that are still open, and says what is known of why they wait.
func (d *connection) checkOnce(ctx context.Context, open []sentRecord, heard *answerKeeper) error {
	for i := range open {
		err := d.locate(context.WithoutCancel(ctx), &open[i])
		switch {
		case err != nil && d.local != nil:
			return err
		case err != nil:
			open[i].Reason = "it is on disk, and gauger answers no more: " + err.Error()
		case open[i].State == "queued" && d.remote != nil:
			open[i].Reason = open[i].waits
		case open[i].State == "queued":
			open[i].Reason = heard.lastAnswer()
		}
	}
	return nil
}

func (d *connection) locate(ctx context.Context, s *sentRecord) error {
	var e control.Entry
	err := d.request(ctx, "outbox.show", control.RecordQuery{Stream: s.Stream, Seqs: []uint64{s.Seq}}, &e)
	if err != nil {
		return s.goneBy(err)
	}
	s.Status, s.waits = e.Status, e.Waits
	switch e.State {
	case "delivered":
		s.State = "delivered"
	case "dead", "dropped":
		s.State, s.Reason = "refused", e.Reason
	}
	return nil
}

// goneBy takes an error that says that the outbox has a record no more, which it had; a daemon's error is its words only.
func (s *sentRecord) goneBy(err error) error {
	if !strings.Contains(err.Error(), outbox.ErrRecord.Error()) {
		return err
	}
	s.State, s.Reason = "left", "it is in the outbox no more, and no receipt is kept there, as when the disk is full: the service has most likely taken it; look there before it is written again"
	return nil
}

// deliverMeanwhile sends a stream while there is no daemon to do it; stop ends that.
func (d *connection) deliverMeanwhile(ctx context.Context, stream string) (heard *answerKeeper, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	heard = &answerKeeper{to: agent.Sender{Client: d.local.Client, Clock: d.local.Clock}}
	go func() { done <- d.local.Box.Drain(ctx, stream, heard) }()
	return heard, func() {
		cancel()
		<-done // what could not be sent is still queued, and is said to be
	}
}

// answerKeeper passes batches on and remembers the last answer that did not take them.
type answerKeeper struct {
	to   outbox.Sender
	mu   sync.Mutex
	text string
}

func (w *answerKeeper) Send(ctx context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	receipts := w.to.Send(ctx, stream, batch)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range receipts {
		if r.Class != outbox.Stored && ctx.Err() == nil {
			w.text = r.Message
		}
	}
	return receipts
}

// lastAnswer that did not take a batch; a nil keeper has none.
func (w *answerKeeper) lastAnswer() string {
	if w == nil {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text
}

// printDeliveries prints what became of the records: status 1 when one was refused.
func printDeliveries(c *call, d *connection, all []sentRecord) error {
	left := map[string]int{}
	for _, s := range all {
		left[s.State]++
	}
	if err := c.show(all, func() error { return printDeliveryLines(c.out, all) }); err != nil {
		return err
	}
	switch {
	case left["queued"] > 0 && d.remote != nil:
		fmt.Fprintln(c.err, "what is queued leaves by itself as soon as the service takes it; `gauger status` says what is in the way")
	case left["queued"] > 0:
		fmt.Fprintln(c.err, "gauger is not running: what is queued leaves when it runs again (`systemctl start gauger`)")
	}
	if left["refused"] > 0 {
		fmt.Fprintf(c.err, "the service refused %s; nothing is lost: `gauger outbox dead` lists them, `gauger outbox retry STREAM/NUMBER` sends one again\n", countText(left["refused"], "record"))
		return errQuiet
	}
	return nil
}

func printDeliveryLines(w io.Writer, all []sentRecord) error {
	text := ""
	for _, s := range all {
		text += s.text() + "\n"
	}
	return printf(w, "%s", text)
}

// text is a record's fate in a line: what became of it, where it is, what it says, and the service's answer.
func (s sentRecord) text() string {
	text := fmt.Sprintf("%s: %s/%d", s.State, s.Stream, s.Seq) + behind(": ", s.What)
	switch {
	case s.State == "queued" && s.Reason != "":
		text += "; not taken yet: " + s.Reason
	case s.Reason != "":
		text += ": " + s.Reason
	case s.Status != 0:
		text += fmt.Sprintf(" (status %d)", s.Status)
	}
	return text
}
