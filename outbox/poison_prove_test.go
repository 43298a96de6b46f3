package outbox_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/deploy/proof"
	"gauger/outbox"
)

// picky refuses whole what has a bad record in it, and says of a single one what is wrong with it.
type picky struct {
	status   int
	broken   func() bool // refuses everything; nil: never
	stopAt   int         // the request that ends the drain; 0: none
	stop     func()
	requests int
	stored   map[string]int
}

func (p *picky) Send(_ context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	p.requests++
	if p.requests == p.stopAt {
		defer p.stop()
	}
	bad := p.broken != nil && p.broken() || slices.ContainsFunc(batch, func(r outbox.Record) bool { return poisoned("", r) })
	if bad {
		words := fmt.Sprintf("one of %d is wrong", len(batch))
		if len(batch) == 1 {
			words = "what is wrong is " + string(batch[0].Body)
		}
		return slices.Repeat([]outbox.Answer{{Class: outbox.Poison, Status: p.status, CorrelationID: "c-1", Message: words}}, len(batch))
	}
	for _, r := range batch {
		p.stored[fmt.Sprint(stream, " ", r.Seq)]++
	}
	return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
}

// poison is one case: n records in requests of at most batch, bad where it says.
type poison struct {
	*testing.T
	what     string
	n, batch int
	bad      []int
	rng      *rand.Rand
	path     string
	box      *outbox.Box
	notes    *notes
	to       *picky
}

// places chooses where k of n records are bad: anywhere, side by side, in front, at the end.
func places(rng *rand.Rand, n, k int) []int {
	if rng.IntN(2) == 0 {
		return rng.Perm(n)[:k]
	}
	from := []int{0, n - k, rng.IntN(n - k + 1)}[rng.IntN(3)]
	all := make([]int, k)
	for i := range all {
		all[i] = from + i
	}
	return all
}

func newPoison(t *testing.T, i int, rng *rand.Rand) *poison {
	n := 1 + rng.IntN([]int{3, 12, 64, 500}[rng.IntN(4)])
	p := &poison{T: t, n: n, batch: n, rng: rng, path: boxPath(t), notes: &notes{}}
	p.bad = places(rng, n, min(rng.IntN(11), n))
	p.to = &picky{status: []int{400, 422}[rng.IntN(2)], stored: map[string]int{}}
	p.what = fmt.Sprintf("case %d: %d of %d are bad: %v", i, len(p.bad), n, p.bad)
	return p
}

func (p *poison) open() {
	p.box = open(p, p.path, outbox.Options{MaxBytes: 2 << 20, Notify: p.notes.add, Streams: []outbox.Stream{{Name: "events", Batch: p.batch}}})
}

// run drains for a while of virtual time.
func (p *poison) run(d time.Duration) {
	ctx, cancel := context.WithCancel(p.Context())
	p.to.stop = cancel
	done := make(chan error)
	go func() { done <- p.box.Drain(ctx, "events", p.to) }()
	t := time.AfterFunc(d, cancel)
	defer t.Stop()
	if err := <-done; err != nil {
		p.Fatalf("%s: %v", p.what, err)
	}
}

// bound counts the requests that the bad ones may cost in requests of n.
func (p *poison) bound() int {
	if len(p.bad) == 0 {
		return 1
	}
	return int(1 + 2*float64(len(p.bad))*(math.Log2(float64(p.n))+1))
}

// sentenced checks that exactly the bad ones are dead letters, each with what the service said of it, and that all others
// were delivered once.
func (p *poison) sentenced(more int) {
	p.Helper()
	c := counts(p, p.box, "events")
	if c.Delivered != uint64(p.n-len(p.bad)+more) || c.Dead != uint64(len(p.bad)) {
		p.Fatalf("%s: %+v after %d requests", p.what, c, p.to.requests)
	}
	for _, i := range p.bad {
		e, err := p.box.Entry("events", uint64(i+1))
		if err != nil || e.State != outbox.Dead || e.Status != p.to.status || e.CorrelationID != "c-1" ||
			!strings.Contains(e.Reason, fmt.Sprintf("what is wrong is bad %d", i)) {
			p.Fatalf("%s: the dead letter is %+v, %v", p.what, e, err)
		}
	}
	for r, times := range p.to.stored {
		if times != 1 {
			p.Fatalf("%s: %s was stored %d times", p.what, r, times)
		}
	}
}

// inOneBatch: all in one request, and nothing comes after, unless everything is bad: then it takes a good one to tell.
func (p *poison) inOneBatch() {
	p.run(20 * time.Second)
	if most := p.bound(); p.to.requests > most {
		p.Fatalf("%s: %d requests, at most %d", p.what, p.to.requests, most)
	}
	if len(p.bad) < p.n {
		p.sentenced(0)
		return
	}
	if c := counts(p, p.box, "events"); c.Dead != 0 {
		p.Fatalf("%s: with nothing to compare them with %+v", p.what, c)
	}
	put(p, p.box, "events", "good behind")
	p.run(time.Hour)
	p.sentenced(1)
}

// oneByOne: each record is a request of its own, with a good one at the end.
func (p *poison) oneByOne() {
	put(p, p.box, "events", "good behind")
	p.run(20 * time.Second)
	if most := p.n + 1 + 2*len(p.bad); p.to.requests > most {
		p.Fatalf("%s: %d requests one by one, at most %d", p.what, p.to.requests, most)
	}
	p.sentenced(1)
}

// restarted: the process ends at some request, twice.
func (p *poison) restarted() {
	for range 2 {
		p.to.stopAt = p.to.requests + 1 + p.rng.IntN(p.bound())
		p.run(20 * time.Second)
		shut(p, p.box)
		p.open()
	}
	p.to.stopAt = 0
	put(p, p.box, "events", "good behind")
	p.run(time.Hour)
	if most := 3*p.bound() + 3; len(p.bad) < p.n && p.to.requests > most {
		p.Fatalf("%s: %d requests in three runs, at most %d", p.what, p.to.requests, most)
	}
	p.sentenced(1)
}

// week: the service refuses everything from some request on, for a week, while records go on coming; in some weeks the
// program is restarted in between. Then it works again.
func (p *poison) week() {
	begin, breaks, runs := time.Now(), p.rng.IntN(4), 1+p.rng.IntN(2)*p.rng.IntN(4)
	p.to.broken = func() bool { return p.to.requests > breaks && time.Since(begin) < 7*24*time.Hour }
	for range runs {
		coming := time.AfterFunc(time.Duration(p.rng.IntN(7*24/runs))*time.Hour, func() {
			put(p, p.box, "events", mixed(1+p.rng.IntN(p.n))...)
		})
		p.run(7 * 24 * time.Hour / time.Duration(runs))
		coming.Stop()
		shut(p, p.box)
		p.open()
	}
	c := counts(p, p.box, "events")
	// A service that breaks while a batch with bad ones is being taken apart looks like up to ten more of them.
	if c.Dead > 10 || breaks == 0 && c.Dead > 0 || p.to.requests > 1200+runs*p.bound() {
		p.Fatalf("%s: a week of refusals from request %d on, %d runs: %+v after %d requests", p.what, breaks, runs, c, p.to.requests)
	}
	if n := p.notes.count(outbox.NotePaused); n > runs || breaks == 0 && n != runs {
		p.Fatalf("%s: %d events of a week in %d runs", p.what, n, runs)
	}
	put(p, p.box, "events", "good behind")
	p.run(12 * time.Hour)
	if c = counts(p, p.box, "events"); c.Waiting != 0 || c.Dead < uint64(len(p.bad)) || breaks == 0 && c.Dead != uint64(len(p.bad)) {
		p.Fatalf("%s: after the week %+v", p.what, c)
	}
}

// TestProvePoison: wherever up to ten poison records lie in batches of up to 500, they alone become dead letters, with the
// service's own words and for a bounded number of requests; and a service that refuses everything costs none.
func TestProvePoison(t *testing.T) {
	s := proof.Of(t, 120)
	requests, allowed, dead := 0, 0, 0
	kinds := map[string]int{}
	for i, rng := range s.Cases() {
		synctest.Test(t, func(t *testing.T) {
			p := newPoison(t, i, rng)
			kind := []string{"batch", "batch", "batch", "one by one", "restarted"}[rng.IntN(5)]
			if i%20 == 19 {
				kind = "week"
			}
			kinds[kind]++
			if kind == "one by one" {
				p.batch = 1
			}
			p.open()
			put(p, p.box, "events", mixed(p.n, p.bad...)...)
			map[string]func(){"batch": p.inOneBatch, "one by one": p.oneByOne, "restarted": p.restarted, "week": p.week}[kind]()
			if kind == "batch" && len(p.bad) < p.n {
				requests, allowed = requests+p.to.requests, allowed+p.bound()
			}
			dead += len(p.bad)
			shut(t, p.box)
		})
	}
	s.Tell(t, "%d poison records, all of them dead letters and nothing else; %v; batches took %d requests of %d allowed", dead, kinds, requests, allowed)
}
