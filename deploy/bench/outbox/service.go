package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"gauger/agent"
	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/outbox"
)

// measureService is row 16: a backlog goes to the reference service over HTTP on this machine, in batches of 100 and
// with no pacing, through the same client as in gauger; a ticket that is made meanwhile must be among the next requests.
func measureService(r run) (found []finding, err error) {
	dir, err := os.MkdirTemp(r.dir, "bench")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	url, stop, err := startService()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	b, err := outbox.Open(filepath.Join(dir, "outbox.db"), outbox.Options{MaxBytes: 256 << 20, Label: ledger.RecordLabel, Streams: []outbox.Stream{
		{Name: ledger.Tickets, Batch: 1, Journal: true}, {Name: ledger.Events, Batch: 100, Keep: outbox.OldestLast},
	}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	n := r.size(100_000)
	for range n / 1000 {
		if err := b.Update(func(tx *outbox.Tx) error { return appendEvents(tx, 1000) }); err != nil {
			return nil, err
		}
	}
	ring, err := keys.Open("", keys.Seeds{Primary: "primary", Secondary: "secondary"})
	if err != nil {
		return nil, err
	}
	client, err := cloud.New(cloud.Options{URL: url, Keys: ring})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	d := delivery{box: b, sender: agent.Sender{Client: client}, n: n}
	rate, before, err := d.measure()
	if err != nil {
		return nil, err
	}
	fmt.Printf("\n%d events drained over HTTP at %.0f records/s; the %d tickets left within %v requests of their making\n", n, rate, len(before), before)
	found = append(found, finding{row: "16", what: "backlog drained over HTTP", figure: fmt.Sprintf("%.0f records/s", rate),
		goal: ">= 5000 records/s", missed: rate < 5000})
	worst := 0
	for _, k := range before {
		worst = max(worst, k)
	}
	return append(found, atMost("16", "a new ticket leaves within", float64(worst), 2, " requests")), nil
}

func appendEvents(tx *outbox.Tx, n int) error {
	at := time.Now().Truncate(time.Second)
	body, err := cloud.DefaultWire().EncodeEvent(cloud.DiagnosticEvent{Start: at.Add(-time.Minute), End: at,
		ObjectID: "6f9619ff-8b86-d011-b42d-00c04fc964ff", Rule: "High level", Note: strings.Repeat("Tank 1 at 228.25 in. ", 4)})
	for range n {
		tx.Append(ledger.Events, outbox.Record{Body: body})
	}
	return err
}

// delivery drains a box and counts requests.
type delivery struct {
	box    *outbox.Box
	sender agent.Sender
	n      int

	mu       sync.Mutex
	requests int
	sent     chan int // the number of the request that a ticket went with
}

// Send counts the request at its beginning, and passes it on.
func (d *delivery) Send(ctx context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	d.mu.Lock()
	d.requests++
	number := d.requests
	d.mu.Unlock()
	if stream == ledger.Tickets {
		d.sent <- number
	}
	return d.sender.Send(ctx, stream, batch)
}

// tickets are made while the backlog drains.
const tickets = 10

// measure drains everything, makes a ticket after each tenth of it, and returns the rate and, for each ticket, which
// request after its making it was.
func (d *delivery) measure() (rate float64, waits []int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d.sent = make(chan int, tickets)
	errs := make(chan error, 2)
	start := time.Now()
	for _, stream := range []string{ledger.Tickets, ledger.Events} {
		go func() { errs <- d.box.Drain(ctx, stream, d) }()
	}
	for i := range tickets {
		d.until(func(c outbox.Counts) bool { return int(c.Delivered) >= d.n*i/tickets })
		body, err := cloud.DefaultWire().EncodeRunTicket(cloud.RunTicket{Number: fmt.Sprintf("A-BENCH-%d", i), TankID: "TK-1001",
			OpeningLevel: 200, ClosingLevel: 100, Start: time.Now().Add(-time.Hour), End: time.Now(), Purchaser: "Acme"})
		if err != nil {
			return 0, nil, err
		}
		err = d.box.Update(func(tx *outbox.Tx) error { tx.Append(ledger.Tickets, outbox.Record{Body: body}); return nil })
		if err != nil {
			return 0, nil, err
		}
		d.mu.Lock()
		made := d.requests
		d.mu.Unlock()
		waits = append(waits, max(<-d.sent-made, 0))
	}
	d.until(func(c outbox.Counts) bool { return int(c.Delivered) >= d.n })
	took := time.Since(start)
	cancel()
	err = errors.Join(<-errs, <-errs)
	if c := d.box.Counts()[ledger.Events]; err == nil && !c.Balanced() {
		err = fmt.Errorf("the counts do not add up: %+v", c)
	}
	return float64(d.n) / took.Seconds(), waits, err
}

func (d *delivery) until(ok func(outbox.Counts) bool) {
	for !ok(d.box.Counts()[ledger.Events]) {
		time.Sleep(time.Millisecond)
	}
}

// startService runs the reference service as a process of its own.
func startService() (url string, stop func() error, err error) {
	cmd := cell("service", "reference", ".", "0")
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), func() error { return errors.Join(in.Close(), cmd.Wait()) }, err
}

// beService serves until its standard input ends.
func beService(port int) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	fmt.Printf("http://%v\n", l.Addr())
	server := &http.Server{Handler: &cloudtest.Service{}, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte() // it ends when the parent closes it
		_ = server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
