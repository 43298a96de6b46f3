package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	prove "gauger/deploy/proof"
)

// A life is what one store goes through: so many cycles of start and kill, one for each case, and then an end in order
// at which the accounts must be even. Cases of one life follow each other on the same file.
const lifeCycles = 20

// livesAtOnce of sites that are killed side by side.
const livesAtOnce = 3

// killed adds up the kills of a stretch.
type killed struct {
	cycles, kills     int
	readings, lost    int             // polled and followed by another poll; and of those not at the service
	offered, lingered int             // readings that linger: at the service, and those that kills cost
	gaps              int             // sequence numbers of which there is no receipt
	commands, missed  int             // that ended well; and whose record is not at the service
	records, doubled  int             // at the service; and of those the second and later copies
	excused           int             // copies after an answer that the service dropped
	mostDoubled       int             // batches of one queue that one kill doubled
	tickets           int             // that the detector made
	polls             []time.Duration // from a restart to the first poll
}

func (k *killed) add(o killed) {
	k.cycles, k.kills = k.cycles+o.cycles, k.kills+o.kills
	k.readings, k.lost = k.readings+o.readings, k.lost+o.lost
	k.commands, k.missed = k.commands+o.commands, k.missed+o.missed
	k.gaps += o.gaps
	k.offered, k.lingered = k.offered+o.offered, k.lingered+o.lingered
	k.records, k.doubled = k.records+o.records, k.doubled+o.doubled
	k.excused, k.tickets = k.excused+o.excused, k.tickets+o.tickets
	k.mostDoubled = max(k.mostDoubled, o.mostDoubled)
	k.polls = append(k.polls, o.polls...)
}

// The whole program is killed at any moment, again and again, while it polls a PLC, takes commands and sends to a service
// that drops answers, refuses and dawdles. A reading counts as acknowledged when the PLC is asked for the one after the next on
// the same connection, which happens after the commit; a record of a command when the command ended well. In every second life polled
// values linger: of those a kill costs what is not at the service yet, and nothing comes twice but as elsewhere.
func TestProveKill(t *testing.T) {
	program, err := exec.LookPath("gauger") // this test binary, by the name under which it is gauger
	if err != nil {
		t.Fatal(err)
	}
	s := prove.Of(t, lifeCycles+8) // of the second life, too, in which values linger
	var mu sync.Mutex
	var sum killed
	var wg sync.WaitGroup
	free := make(chan struct{}, livesAtOnce)
	for from := s.From - s.From%lifeCycles; from < s.From+s.N; from += lifeCycles {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			n := min(lifeCycles, s.From+s.N-from)
			got, err := liveThrough(t, program, prove.Stretch{Seed: s.Seed, From: from, N: n, Long: s.Long})
			if err != nil {
				t.Errorf("seed %d, cases %d to %d: %v", s.Seed, from, from+n-1, err)
			}
			mu.Lock()
			defer mu.Unlock()
			sum.add(got)
		})
	}
	wg.Wait()
	slices.Sort(sum.polls)
	s.Tell(t, "%d cycles, %d kills; lost: %d of %d acknowledged readings, %d of %d commands; %d gaps in sequence; %d tickets of loads; "+
		"%d readings that linger at the service, %d that the kills cost; %d records at the service, %d copies of them: %d after a dropped answer, the others after a kill, which doubled at most one batch of a queue, %d in all",
		sum.cycles, sum.kills, sum.lost, sum.readings, sum.missed, sum.commands, sum.gaps, sum.tickets, sum.offered, sum.lingered,
		sum.records, sum.doubled, sum.excused, sum.mostDoubled)
	if n := len(sum.polls); n > 0 {
		late := 0
		for _, d := range sum.polls {
			if d > 2*time.Second {
				late++
			}
		}
		t.Logf("from a restart to the first poll: median %s, 99 %% within %s, longest %s; %d of %d later than 2 s",
			sum.polls[n/2].Round(time.Millisecond), sum.polls[n*99/100].Round(time.Millisecond), sum.polls[n-1].Round(time.Millisecond), late, n)
		if s.Long && sum.polls[n/2] > 2*time.Second {
			t.Errorf("half of the restarts took %s or more to the first poll", sum.polls[n/2])
		}
	}
}

// liveThrough kills one site once for each case of the stretch, lets it end in order, and settles the accounts.
func liveThrough(t *testing.T, program string, s prove.Stretch) (sum killed, err error) {
	l, err := newLife(t, program, s.Seed, s.From)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	for i, rng := range s.Cases() {
		if err := l.cycle(rng); err != nil {
			return l.sum, fmt.Errorf("case %d: %w", i, err)
		}
	}
	if err := l.finish(); err != nil {
		return l.sum, err
	}
	return l.sum, l.settle()
}

// aim chooses what the kill waits for: any instant, the start, or something that happens just before what it is to hit.
func (l *life) aim(rng *rand.Rand) (what <-chan struct{}, after time.Duration) {
	within := func(d time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(d))) }
	switch rng.IntN(7) {
	case 0: // between a poll and its commit, or in the middle of that
		return l.plc.asked.after(1 + rng.IntN(20)), within(3 * time.Millisecond)
	case 1: // a request is on its way
		return l.office.came.after(1 + rng.IntN(8)), within(2 * time.Millisecond)
	case 2: // its answer is being stored
		return l.office.answered.after(1 + rng.IntN(8)), within(3 * time.Millisecond)
	case 3: // a command has just ended well
		return l.done.after(1 + rng.IntN(4)), within(2 * time.Millisecond)
	case 4: // the examination of the file, its opening, what the ledger reads of it
		return atOnce, within(80 * time.Millisecond)
	}
	return atOnce, within(700 * time.Millisecond)
}

// atOnce is a thing that has happened.
var atOnce = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// cycle starts the program and kills it; in one of eight cases also the next process, which is still mending.
func (l *life) cycle(rng *rand.Rand) error {
	l.sum.cycles++
	what, after := l.aim(rng)
	if err := l.startAndKill(what, after); err != nil {
		return err
	}
	if rng.IntN(8) > 0 {
		return nil
	}
	return l.startAndKill(atOnce, time.Duration(rng.Int64N(int64(60*time.Millisecond))))
}

// mostPatience of a kill that waits for its aim: a process that was roused late may never get there.
const mostPatience = 1500 * time.Millisecond

func (l *life) startAndKill(what <-chan struct{}, after time.Duration) error {
	p, err := l.start()
	if err != nil {
		return err
	}
	patience := time.NewTimer(mostPatience)
	defer patience.Stop()
	select {
	case <-what:
		<-time.After(after)
	case <-patience.C:
	case <-p.ended:
		return fmt.Errorf("gauger ended by itself: %s", p.said())
	}
	return l.kill(p)
}
