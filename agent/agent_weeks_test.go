package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
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
	"gauger/deploy/proof"
	"gauger/outbox"
)

const (
	day, week  = 24 * time.Hour, 7 * 24 * time.Hour
	weeksQuota = 4 << 20
	weeksFile  = 26 // weeks that one case of the long form lives
)

// A site works for half a year with a real outbox, a truck every day, a number every hour that is a record of its
// own, and an alarm every day. Every week the service is away for an hour to fourteen days: nobody listens, it refuses,
// or it is silent; and in between it drops an answer now and then. Nothing is lost, and nothing grows.
func TestProveWeeks(t *testing.T) {
	s := proof.Of(t, 1)
	weeks := weeksFile
	if !s.Long {
		weeks = 2
	}
	for i, rng := range s.Cases() {
		began, busy := time.Now(), cpu(t) // outside the bubble: real time
		var l *longLife
		synctest.Test(t, func(t *testing.T) { l = liveLong(t, rng, weeks) })
		took, worked := time.Since(began), cpu(t)-busy // what others do on this machine is not our time
		if s.Long && worked > time.Minute {
			t.Errorf("case %d: half a year took %s of this machine's time, want a minute at most", i, worked)
		}
		s.Tell(t, "case %d: %d weeks in %s (%s of CPU), %s of them without the service, the longest outage %s; %d numbers, %d tickets and %d alarms made and delivered, %d requests, %d answers dropped; the file at most %d of %d KiB, %d goroutines, heap %+.1f MiB",
			i, weeks, took.Round(10*time.Millisecond), worked.Round(10*time.Millisecond), l.office.away.Round(time.Hour), l.office.longest.Round(time.Hour), l.well.last, l.tickets,
			l.alarms, l.office.requests, l.office.dropped, l.file>>10, weeksQuota>>10, l.goroutines[0], float64(l.heap)/(1<<20))
	}
}

// cpu is the time that this process has worked.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// longLife is what a site has come to.
type longLife struct {
	well            *daily
	office          *seasons
	box             *outbox.Box
	file            int64 // longest outbox file, bytes
	goroutines      []int // at the end of each week
	heap            int64 // what it grew by after the first weeks, bytes
	tickets, alarms int
}

// liveLong lets a site live for so many weeks and two days, in which everything leaves, and settles the accounts.
func liveLong(t *testing.T, rng *rand.Rand, weeks int) *longLife {
	l := &longLife{well: &daily{perInch: tank.Cylinder(144, 240).PerInch(100)}}
	l.office = newSeasons(rng, weeks)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := filepath.Join(t.TempDir(), "outbox.db")
	done := l.begin(t, ctx, path)
	var first uint64
	for n := range weeks {
		ledgertest.Pass(week)
		l.look(t, path)
		if n == min(3, weeks-1) {
			first = heapNow()
		}
	}
	l.heap = int64(heapNow()) - int64(first)
	ledgertest.Pass(2 * day)
	l.look(t, path)
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	l.settle(t)
	return l
}

func heapNow() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// begin starts an agent that is made as the command makes it.
func (l *longLife) begin(t *testing.T, ctx context.Context, path string) <-chan error {
	t.Helper()
	top := 238.0
	site := ledger.Site{
		Name: "weeks", ID: "WEEKS", Object: ledgertest.GUID, ObjectType: "Device", Zone: time.UTC, Wire: cloud.DefaultWire(), Hold: 45 * time.Minute,
		Tanks: []ledger.Tank{{
			Tank:  tank.Tank{ID: "TK-1", Height: 240, Table: tank.Cylinder(144, 240), Every: 2 * time.Minute, Loads: tank.DefaultLoads()},
			Level: "plc/level", Purchaser: "Acme",
		}},
		Values: []ledger.Value{{Well: ledgertest.GUID, Code: "Production Target Oil", Point: "plc/number"}},
		Rules:  []ledger.Rule{{Name: "Alarm of the day", Point: "plc/alarm", Above: &top}},
	}
	notes := make(chan outbox.Note, 64)
	box, err := outbox.Open(path, outbox.Options{MaxBytes: weeksQuota, Label: ledger.RecordLabel, Notify: func(n outbox.Note) { notes <- n }, Streams: []outbox.Stream{
		{Name: ledger.Tickets, Batch: 1, Journal: true}, {Name: ledger.Events, Batch: 50, Keep: outbox.OldestLast}, {Name: ledger.TagValues, Batch: 20, Keep: outbox.ThinFirst},
		{Name: ledger.Targets, Batch: 20}, {Name: ledger.Memos}, {Name: ledger.Refused, Held: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l.box = box
	keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value", Secondary: "secondary-key-value"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{URL: "https://service.test", Wire: site.Wire, Zone: site.Zone, Keys: keys, Transport: l.office})
	if err != nil {
		t.Fatal(err)
	}
	clock := clock.New(time.Now(), time.Time{}, site.Steady(), nil)
	siteLedger, err := ledger.New(site, box, clock, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{
		Site: site, Ledger: siteLedger, Box: box, Client: client, Clock: clock, Collectors: []collectors.Named{{Name: "plc", Collector: l.well}},
		Workers: []Worker{keys.Run}, Log: zerolog.Nop(), Notes: notes,
	}
	done := make(chan error, 1)
	go func() { done <- errors.Join(a.Run(ctx), box.Close()) }()
	return done
}

// look is what is looked at each week: the accounts, the file, the goroutines. The service's memory is emptied, so that
// what grows is ours.
func (l *longLife) look(t *testing.T, path string) {
	t.Helper()
	synctest.Wait()
	l.office.archive()
	for name, c := range l.box.Counts() {
		if !c.Balanced() || c.Dead+c.Evicted+c.Dropped+c.Lost != 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	l.file = max(l.file, info.Size())
	l.goroutines = append(l.goroutines, runtime.NumGoroutine())
}

// settle holds what was made against what the service has.
func (l *longLife) settle(t *testing.T) {
	t.Helper()
	for n := 1; n <= l.well.last; n++ {
		if !l.office.numbers[int64(n)] {
			t.Errorf("number %d of %d is not at the service", n, l.well.last)
		}
	}
	l.tickets, l.alarms = len(l.office.tickets), len(l.office.alarms)
	if days := l.well.days(); l.tickets != days || l.alarms != days {
		t.Errorf("%d tickets and %d alarms of %d days", l.tickets, l.alarms, days)
	}
	if l.file > weeksQuota {
		t.Errorf("the file grew to %d bytes, the quota is %d", l.file, weeksQuota)
	}
	if first := l.goroutines[0]; slices.Max(l.goroutines) > first+1 { // one may come and go with a request
		t.Errorf("at the ends of the weeks there were %v goroutines", l.goroutines)
	}
	if l.heap > 4<<20 {
		t.Errorf("the heap grew by %d bytes", l.heap)
	}
}

// daily is a well whose tank is hauled at eleven every day, and whose alarm is raised for ten minutes at five.
type daily struct {
	perInch float64
	last    int // the newest number
	ran     time.Duration
}

// days is how many whole days went by, the last with its load's ticket.
func (d *daily) days() int { return int((d.ran + 11*time.Hour) / day) }

// Run implements collectors.Collector.
func (d *daily) Run(ctx context.Context, host collectors.Host) error {
	begin := time.Now()
	return collectors.Poll(ctx, 2*time.Minute, func(ctx context.Context) {
		now := time.Now()
		d.ran = now.Sub(begin)
		into := math.Mod(d.ran.Hours(), 24)
		alarm := 0.0
		if into >= 5 && into < 5.17 {
			alarm = 250
		}
		batch := []collectors.Reading{
			{Point: "plc/level", Value: well{perInch: d.perInch}.level(d.ran), Unit: "in", Quality: collectors.Good, At: now},
			{Point: "plc/alarm", Value: alarm, Quality: collectors.Good, At: now},
		}
		if int(d.ran.Minutes())%60 == 0 {
			d.last++
			batch = append(batch, collectors.Reading{Point: "plc/number", Value: float64(d.last), Quality: collectors.Good, At: now})
		}
		if err := host.Emit(ctx, batch); err != nil && ctx.Err() == nil {
			panic(fmt.Errorf("a batch was not stored: %w", err))
		}
	})
}

// outage is a time without the service.
type outage struct {
	from, until time.Time
	kind        int // nobody listens, it refuses, it is silent
}

// seasons is a service that is away for a while every week. It keeps what arrived, each thing once.
type seasons struct {
	outages       []outage
	away, longest time.Duration

	mu                sync.Mutex
	rng               *rand.Rand
	service           *cloudtest.Service
	requests, dropped int

	numbers         map[int64]bool
	tickets, alarms map[string]bool
}

func newSeasons(rng *rand.Rand, weeks int) *seasons {
	s := &seasons{rng: rng, numbers: map[int64]bool{}, tickets: map[string]bool{}, alarms: map[string]bool{}}
	end := time.Now().Add(time.Duration(weeks) * week)
	until := time.Now()
	for n := range weeks {
		from := time.Now().Add(time.Duration(n)*week + time.Duration(rng.Int64N(int64(3*day))))
		length := time.Hour + time.Duration(math.Pow(rng.Float64(), 3)*float64(14*day-time.Hour))
		if n == weeks/2 && weeks > 2 {
			length = 14 * day
		}
		o := outage{from, from.Add(length), rng.IntN(3)}
		if o.until.After(end) {
			o.until = end
		}
		s.outages = append(s.outages, o)
		s.longest = max(s.longest, o.until.Sub(o.from))
		if o.until.After(until) {
			s.away += o.until.Sub(o.from) - max(0, until.Sub(o.from))
			until = o.until
		}
	}
	s.archive()
	return s
}

// archive remembers what arrived and lets the service forget it.
func (s *seasons) archive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.service
	s.service = &cloudtest.Service{PrimaryKey: "primary-key-value", SecondaryKey: "secondary-key-value", Fault: s.fault}
	if old == nil {
		return
	}
	for _, v := range old.TagValues() {
		s.numbers[v.Value] = true
	}
	for _, k := range old.Tickets() {
		s.tickets[k.TicketNumber] = true
	}
	for _, e := range old.Events() {
		if e.RuleName == "Alarm of the day" {
			s.alarms[e.Start.String()] = true
		}
	}
}

// RoundTrip implements http.RoundTripper.
func (s *seasons) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	service := s.service
	s.mu.Unlock()
	return service.RoundTrip(r)
}

func (s *seasons) fault(c cloudtest.Call) *cloudtest.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	for _, o := range s.outages {
		if c.At.Before(o.from) || !c.At.Before(o.until) {
			continue
		}
		return []*cloudtest.Fault{{Refuse: true}, {Status: http.StatusServiceUnavailable}, {DropBefore: true}}[o.kind]
	}
	if s.rng.IntN(50) == 0 {
		s.dropped++
		return &cloudtest.Fault{DropAfter: true}
	}
	return nil
}
