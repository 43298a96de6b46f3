package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/ledger"
)

// moody is the reference service behind a socket, in bad moods, with a list of what it was sent.
type moody struct {
	store          *cloudtest.Service
	server         *http.Server
	address        string
	door           *door
	came, answered bell

	mu    sync.Mutex
	rng   *rand.Rand
	well  bool
	run   int // number of the process that is at work
	calls []posted

	byKill map[int][]string // process to the operations of which its kill has doubled a batch
}

// posted is one request.
type posted struct {
	op      string
	records []string // the elements, as they came
	run     int
	stored  bool // it was carried out
	dropped bool // and the answer was dropped
}

func newMoody(seed uint64, from int) (*moody, error) {
	m := &moody{door: newDoor(), rng: rand.New(rand.NewPCG(seed, ^uint64(from)))}
	m.store = &cloudtest.Service{PrimaryKey: primaryKey, SecondaryKey: secondaryKey, Conflict: from/lifeCycles%2 == 0, Fault: m.fault}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m.address = l.Addr().String()
	m.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer m.answered.ring()
		m.store.ServeHTTP(w, r)
	}), ConnState: func(c net.Conn, state http.ConnState) {
		if state == http.StateNew || state == http.StateClosed {
			m.door.pass(c.RemoteAddr(), state == http.StateNew)
		}
	}}
	go func() {
		if err := m.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}()
	return m, nil
}

// fault notes a request, and says what goes wrong with it.
func (m *moody) fault(c cloudtest.Call) *cloudtest.Fault {
	defer m.came.ring()
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &cloudtest.Fault{}
	switch n := m.rng.IntN(100); {
	case m.well:
	case n < 6:
		f.DropAfter = true
	case n < 9:
		f.DropBefore = true
	case n < 13:
		f.Status = []int{500, 503, 408, 429}[m.rng.IntN(4)]
	case n < 30:
		f.Delay = time.Duration(m.rng.Int64N(int64(40 * time.Millisecond)))
	}
	if records, ok := elements(c); ok {
		m.calls = append(m.calls, posted{c.Op, records, m.run, !f.DropBefore && f.Status == 0, f.DropAfter})
	}
	return f
}

// elements are the records of a request; false where it carries none.
func elements(c cloudtest.Call) ([]string, bool) {
	var list []json.RawMessage
	var err error
	switch c.Op {
	case "SaveRunTickets", "SaveDiagnosticEvents":
		err = json.Unmarshal(c.Body, &list)
	case "SaveObjectTagValues":
		var body struct {
			TagValues []struct{ Values []json.RawMessage }
		} // of one code in a request: each value was a record
		err = json.Unmarshal(c.Body, &body)
		for _, set := range body.TagValues {
			list = append(list, set.Values...)
		}
	case "AddDeviceMemo":
		list = []json.RawMessage{c.Body}
	default:
		return nil, false
	}
	records := make([]string, len(list))
	for i, raw := range list {
		records[i] = string(raw)
	}
	return records, err == nil
}

// next says that another process is started.
func (m *moody) next() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run++
}

// finish lets the site live until all is at a service that is well again, and ends it in order.
func (l *life) finish() error {
	l.office.mu.Lock()
	l.office.well = true
	l.office.mu.Unlock()
	asked := l.plc.asked.after(1)
	p, err := l.start()
	if err != nil {
		return err
	}
	defer p.stop(syscall.SIGKILL)
	p.quiet()
	<-p.clerk
	limit := time.After(3 * time.Minute)
	select {
	case <-asked:
	case <-p.ended:
		return fmt.Errorf("gauger ended by itself: %s", p.said())
	case <-limit:
		return fmt.Errorf("no poll within three minutes: %s", p.said())
	}
	d, _ := l.plc.firstPoll(p.began)
	l.sum.polls = append(l.sum.polls, d)
	l.plc.hangUp()
	if err := l.plc.door.empty(l.plc.Addr().String()); err != nil { // who asks again has stored what it was told
		return err
	}
	if err := l.leaves(p, limit); err != nil {
		return err
	}
	p.stop(syscall.SIGTERM)
	if code := p.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("gauger ended with status %d on SIGTERM: %s", code, p.said())
	}
	return l.sound()
}

// leaves waits until nothing waits.
func (l *life) leaves(p *attempt, limit <-chan time.Time) error {
	person := time.After(10 * time.Second) // five lost answers in a row, and a ticket waits for one
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for l.left() > 0 {
		select {
		case <-limit:
			return fmt.Errorf("not everything arrived within three minutes: %s", p.said())
		case <-p.ended:
			return fmt.Errorf("gauger ended by itself: %s", p.said())
		case <-person:
			l.ask("outbox.retry", control.RecordQuery{Stream: ledger.Tickets}, nil)
		case <-look.C:
		}
	}
	return nil
}

// left counts the records that wait; at least one while nobody answers.
func (l *life) left() uint64 {
	var s control.Status
	if !l.ask("status", control.None{}, &s) {
		return 1
	}
	return s.Waiting()
}

// ask asks the running program, and says whether it answered.
func (l *life) ask(request string, args, result any) bool {
	client, err := console.Dial(l.socket)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return client.Call(ctx, request, args, result) == nil
}
