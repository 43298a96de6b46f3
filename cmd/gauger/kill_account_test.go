package main

import (
	"errors"
	"fmt"
	"slices"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/config"
	"gauger/outbox"
)

// queues are the streams of the kill test and the operations that take them.
var queues = map[string]string{
	ledger.Tickets: "SaveRunTickets", ledger.Events: "SaveDiagnosticEvents", ledger.TagValues: "SaveObjectTagValues", ledger.Memos: "AddDeviceMemo",
}

// settle compares what the outbox counts, what the service was sent and what the witnesses know.
func (l *life) settle() (err error) {
	box, err := outbox.Open(l.box, outbox.Options{MaxBytes: 2 << 20, Streams: outboxStreams(cloud.DefaultWire(), config.Store{})})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	counts := box.Counts()
	for stream, op := range queues {
		got := l.office.arrived(op)
		c := counts[stream]
		l.sum.records += got.records
		l.sum.doubled += got.copies
		l.sum.excused += got.excused
		// Two events that are the same to the byte are two records, and look like one that came again.
		// The clock may have made a ticket or an event after everything had left: that waits.
		// What was offered is taken before it is counted, and its receipts follow the counts: a kill costs both, or those.
		offered := l.lingers && stream == ledger.TagValues
		if same := uint64(got.records) == c.Delivered || offered && uint64(got.records) >= c.Delivered || stream == ledger.Events && uint64(got.records+got.copies) >= c.Delivered; !same || c.Delivered+c.Waiting != c.Accepted {
			err = errors.Join(err, fmt.Errorf("%s: the service has %d records, the outbox counts %+v", stream, got.records, c))
		}
		if stream != ledger.Events {
			err = errors.Join(err, got.riddle)
		}
		if !offered {
			err = errors.Join(err, l.numbered(box, stream, c.Delivered))
		}
	}
	l.sum.mostDoubled = l.office.mostDoubled()
	return errors.Join(err, l.witnesses())
}

// receiptsKept of a stream, at least.
const receiptsKept = 1000

// numbered looks for the receipts of records 1 to last: none may be missing, and none be beyond.
func (l *life) numbered(box *outbox.Box, stream string, last uint64) error {
	before := uint64(0)
	for last <= receiptsKept {
		page, err := box.Entries(stream, outbox.Delivered, before, 0)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if e.Record.Seq > before+1 {
				l.sum.gaps += int(e.Record.Seq - before - 1)
			}
			before = e.Record.Seq
		}
	}
	if last <= receiptsKept && (before != last || l.sum.gaps > 0) {
		return fmt.Errorf("%s: receipts up to record %d of %d, %d are missing", stream, before, last, l.sum.gaps)
	}
	return nil
}

// delivery counts what an operation was sent: records, further copies of them, those copies that follow an answer that was
// dropped, and a copy that nothing explains.
type delivery struct {
	records, copies, excused int
	riddle                   error
}

// arrived goes through the requests of an operation. A record may come again when the answer to it was dropped, and when
// the request was the last of its queue before a kill.
func (m *moody) arrived(op string) (d delivery) {
	m.mu.Lock()
	defer m.mu.Unlock()
	lastOf := map[int]int{} // run to its last request
	for i, c := range m.calls {
		if c.op == op {
			lastOf[c.run] = i
		}
	}
	before := map[string]int{} // record to the request that it came in last
	for i, c := range m.calls {
		if c.op != op || !c.stored {
			continue
		}
		for _, r := range c.records {
			k, again := before[r]
			before[r] = i
			if !again {
				continue
			}
			d.copies++
			switch was := m.calls[k]; {
			case was.dropped:
				d.excused++
			case was.run < c.run && lastOf[was.run] == k:
				m.doubled(was.run, op)
			default:
				d.riddle = fmt.Errorf("%s came again in process %d although its answer was not lost in process %d", r, c.run, was.run)
			}
		}
	}
	d.records = len(before)
	return d
}

// doubled notes that a kill has doubled a batch of an operation. The lock is held.
func (m *moody) doubled(run int, op string) {
	if m.byKill == nil {
		m.byKill = map[int][]string{}
	}
	if !slices.Contains(m.byKill[run], op) {
		m.byKill[run] = append(m.byKill[run], op)
	}
}

// mostDoubled batches, each of another queue, by the kill of one process.
func (m *moody) mostDoubled() (most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ops := range m.byKill {
		most = max(most, len(ops))
	}
	return most
}

// witnesses asks the PLC and whoever typed commands for what must have arrived.
func (l *life) witnesses() error {
	values, memos, tickets := map[int64]bool{}, map[string]bool{}, map[string]string{}
	var err error
	for _, v := range l.office.store.TagValues() {
		values[v.Value] = true
	}
	for _, m := range l.office.store.Memos() {
		memos[m.Text] = true
	}
	for _, k := range l.office.store.Tickets() {
		if other, known := tickets[k.TicketNumber]; known && other != string(k.Raw) {
			err = errors.Join(err, fmt.Errorf("ticket %s came twice, and not the same", k.TicketNumber))
		}
		if tickets[k.TicketNumber] == "" && k.TicketNumber[0] == 'A' {
			l.sum.tickets++
		}
		tickets[k.TicketNumber] = string(k.Raw)
	}
	miss := func(known bool, counter *int, what any) {
		if !known {
			*counter++
			err = errors.Join(err, fmt.Errorf("%v was acknowledged and is not at the service", what))
		}
	}
	l.plc.mu.Lock()
	defer l.plc.mu.Unlock()
	for n := range l.plc.acked {
		switch {
		case !l.lingers:
			l.sum.readings++
			miss(values[n], &l.sum.lost, n)
		case values[n]:
			l.sum.offered++
		default:
			l.sum.lingered++
		}
	}
	if l.sum.kills > 10 && l.lingers && l.sum.offered < l.sum.lingered {
		err = errors.Join(err, fmt.Errorf("of the values that linger %d are not at the service, and %d are", l.sum.lingered, l.sum.offered))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sum.commands = len(l.memos) + len(l.tickets)
	for _, text := range l.memos {
		miss(memos[text], &l.sum.missed, text)
	}
	for _, number := range l.tickets {
		miss(tickets[number] != "", &l.sum.missed, "ticket "+number)
	}
	return err
}
