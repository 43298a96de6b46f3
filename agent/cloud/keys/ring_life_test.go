package keys

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/deploy/proof"
)

// worst is the longest time without power or link.
const worst = 170 * day

// life is three years of one site.
type life struct {
	rng     *rand.Rand // the box's
	net     *rand.Rand // the link's; guarded by mu
	service *cloudtest.Service
	login   bool
	disk    *ramDisk
	clock   clockOfBox
	end     time.Time
	calm    bool // neither the clock nor the file suffers, nobody gives wrong keys, and no gateway refuses all
	away    time.Time
	figures

	mu      sync.Mutex
	down    bool
	denies  bool // a gateway refuses every key
	off     bool
	stop    func() // of the process that runs
	loss    float64
	locked  string
	renewed [2]time.Time
}

// figures are summed over a stretch of lives.
type figures struct{ visits, renewals, lost, cuts, jumps, files, boots, logins, long, wrong, denials, hasty int }

func newLife(rng *rand.Rand) *life {
	l := &life{rng: rng, net: rand.New(rand.NewPCG(rng.Uint64(), 2)), loss: rng.Float64() * 0.5, calm: rng.IntN(4) == 0}
	l.service = &cloudtest.Service{
		PrimaryKey: testKey, SecondaryKey: otherKey, KeyLife: 182 * day,
		Rotate:     rng.IntN(3) > 0,
		Activation: time.Duration(rng.IntN(11)) * time.Minute,
		Grace:      []time.Duration{0, 0, 10 * time.Minute, day}[rng.IntN(4)],
		Users:      []cloudtest.User{{UserName: "pat"}}, LoginKey: "login-key",
		ExpiryLayout: []string{time.RFC3339, "1/2/2006 3:04:05 PM", "Monday"}[rng.IntN(3)],
	}
	if rng.IntN(3) == 0 {
		l.login = true
	}
	l.service.AddDevices(cloudtest.Device{ID: "1"})
	l.service.Fault = l.fault
	l.disk = &ramDisk{files: map[string][]byte{}, left: -1, off: l.cut}
	return l
}

// cut is the end of the power: nothing leaves the box any more, and its process is gone.
func (l *life) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = true
	l.stop()
}

// fault is the link: away, or losing a request or an answer now and then. While a renewal is under way the power goes off
// more often than by chance, before one of the next operations of the disk.
func (l *life) fault(c cloudtest.Call) *cloudtest.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down || l.off {
		return &cloudtest.Fault{Refuse: true}
	}
	if l.denies {
		l.denials++
		return &cloudtest.Fault{Status: 401}
	}
	loss := l.loss
	if c.Op != "RenewAPIKey" {
		loss = 0.02
	} else if l.net.IntN(40) == 0 {
		l.cuts++
		l.disk.mu.Lock()
		l.disk.left = l.net.IntN(7)
		l.disk.mu.Unlock()
	}
	if l.net.Float64() < loss {
		l.lost++
		ways := []cloudtest.Fault{{DropBefore: true}, {DropAfter: true}, {Status: 503}, {Status: 500, Store: true}, {DropAfter: true, Delay: time.Minute}}
		return &ways[l.net.IntN(len(ways))]
	}
	switch c.Op {
	case "Authenticate":
		l.logins++
	case "RenewAPIKey":
		l.renewals++
		slot := Primary
		if strings.Contains(c.Path, "secondary") {
			slot = Secondary
		}
		l.renewed[slot] = c.At
		if other := l.renewed[slot.other()]; !other.IsZero() && c.At.Sub(other) < day {
			l.hasty++
		}
	}
	return nil
}

// run lives through the years: boot after boot, each from the key file.
func (l *life) run(t *testing.T) {
	l.away, l.end = time.Now(), time.Now().AddDate(3, 0, 0)
	l.clock.set(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	for time.Now().Before(l.end) && l.locked == "" {
		l.boot(t)
		if l.rng.IntN(4) == 0 {
			<-time.After(l.bounded([]time.Duration{60 * day, worst}[l.rng.IntN(6)/5]))
		}
	}
}

// bounded is a time of up to most without link or power, as far as the worst is not reached; one of three goes to the end.
func (l *life) bounded(most time.Duration) time.Duration {
	left := max(0, min(most, worst-time.Since(l.away)))
	if l.rng.IntN(3) > 0 {
		left = time.Duration(l.rng.Float64() * float64(left))
	}
	if most == worst && left > 150*day {
		l.long++
	}
	return left
}

func (l *life) boot(t *testing.T) {
	l.boots++
	if !l.calm {
		l.mishap()
	}
	ctx, stop := context.WithCancel(t.Context())
	l.mu.Lock()
	l.off, l.stop = false, stop
	l.mu.Unlock()
	l.disk.left = -1
	ring := openFile(keyFile{"keys", l.disk}, l.clock.now, Seeds{testKey, otherKey})
	c := clientOf(t, ring, l.service)
	if l.login {
		c.LoginWith("pat", "login-key")
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := ring.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	l.process(ctx, t, c)
	stop()
	running.Wait()
}

// mishap lets a boot find a clock of 1970 or of another decade, a key file that is lost, damaged or rolled back.
// Keys that the service has replaced since cannot come from a lost file: only a login brings them back.
func (l *life) mishap() {
	if l.rng.IntN(10) == 0 && l.disk.suffer(l.rng, l.login || !l.service.Rotate) != "" {
		l.files++
	}
	if l.rng.IntN(3) == 0 {
		l.step()
	}
}

// step sets the clock wrong, mostly, or right.
func (l *life) step() {
	l.jumps++
	right := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Until(l.end.AddDate(-3, 0, 0)).Abs())
	l.clock.set([]time.Time{
		right, right, time.Unix(0, 0), right.AddDate(10, 0, 0), right.AddDate(-10, 0, 0), right.Add(-400 * day), right.Add(3 * day),
	}[l.rng.IntN(7)])
}

// process is the time between a boot and the next: stretches with a link and without one, of which those with a link are
// longer than a good week, since what is promised holds after one.
func (l *life) process(ctx context.Context, t *testing.T, c *client) {
	for range 1 + l.rng.IntN(4) {
		if l.rng.IntN(3) == 0 {
			l.setDown(true)
			most := 3 * day
			if l.rng.IntN(4) == 0 {
				most = worst
			}
			l.meddle(t, c)
			pass(ctx, l.bounded(most))
			l.setDown(false)
		}
		l.denial(ctx, t, c)
		for until := time.Now().Add(8*day + time.Duration(l.rng.IntN(30*24))*time.Hour); time.Now().Before(until); {
			gap := time.Duration(l.rng.IntN(60)) * time.Minute
			if l.rng.IntN(4) > 0 {
				gap = time.Duration(l.rng.IntN(90*60)) * time.Minute
			}
			if !l.calm && l.rng.IntN(30) == 0 {
				l.step()
			}
			pass(ctx, gap)
			if ctx.Err() != nil || time.Now().After(l.end) || !l.visit(ctx, t, c) {
				return
			}
		}
		l.away = time.Now()
	}
}

// pass lets time go by, until the process ends.
func pass(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

func (l *life) setDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

// meddle is a person who gives keys that the service never knew, since nothing is sent.
func (l *life) meddle(t *testing.T, c *client) {
	if l.calm || l.rng.IntN(3) > 0 {
		return
	}
	for range 1 + l.rng.IntN(6) {
		l.wrong++
		if err := c.keys.Set(Slot(l.rng.IntN(2)), Secret(fmt.Sprintf("mistyped-%d", l.rng.IntN(1000)))); err != nil && !errors.Is(err, errPower) {
			t.Error(err)
		}
	}
}

// denial is a gateway that refuses every key for up to two days, while records go on to be sent.
func (l *life) denial(ctx context.Context, t *testing.T, c *client) {
	if l.calm || l.rng.IntN(6) > 0 {
		return
	}
	l.setDenies(true)
	defer l.setDenies(false)
	for until := time.Now().Add(l.bounded(2 * day)); time.Now().Before(until) && ctx.Err() == nil; {
		c.PostMemo(t.Context())
		l.meddle(t, c)
		pass(ctx, time.Duration(1+l.rng.IntN(8*60))*time.Minute)
	}
}

func (l *life) setDenies(denies bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.denies = denies
}

// visit stores something. A refusal that lasts longer than a gateway needs to learn a key is a lock-out.
func (l *life) visit(ctx context.Context, t *testing.T, c *client) bool {
	l.visits++
	for range 5 {
		a := c.PostMemo(t.Context())
		if ctx.Err() != nil || a.Class != noKey {
			return true
		}
		pass(ctx, 20*time.Minute)
	}
	if ctx.Err() == nil {
		l.locked = fmt.Sprintf("(login %v) at %v, on the box %v: %+v, the service has %+v", l.login, time.Now(), l.clock.now(), c.keys.Status(), l.service.Keys())
	}
	return false
}

// TestProveKeys lives three-year lives of the key ring: links and power away for up to 170 days, requests and answers
// lost, the power cut between two steps of a renewal, clocks of 1970 and ten years off, key files lost, damaged and
// rolled back, wrong keys given, a gateway that refuses every key for days, and a service that rotates values, is slow to
// know them, and ends a key after 182 days exactly. Nobody is locked out. Where clock and file are sound the two keys are never renewed within a day.
func TestProveKeys(t *testing.T) {
	stretch := proof.Of(t, 8)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // or what happens at one instant has another order in each run
	var all figures
	begin, out := time.Now(), 0
	for i, rng := range stretch.Cases() {
		var l *life
		synctest.Test(t, func(t *testing.T) {
			l = newLife(rng)
			l.run(t)
		})
		if l.locked != "" {
			out++
			t.Errorf("seed %d, case %d: locked out %s", stretch.Seed, i, l.locked)
		}
		if l.calm && l.hasty > 0 {
			t.Errorf("seed %d, case %d: both keys were renewed within a day %d times", stretch.Seed, i, l.hasty)
		}
		f := &l.figures
		for j, n := range []*int{&all.visits, &all.renewals, &all.lost, &all.cuts, &all.jumps, &all.files, &all.boots, &all.logins, &all.long, &all.wrong, &all.denials} {
			*n += *[]*int{&f.visits, &f.renewals, &f.lost, &f.cuts, &f.jumps, &f.files, &f.boots, &f.logins, &f.long, &f.wrong, &f.denials}[j]
		}
	}
	stretch.Tell(t, "%d of %d lives locked out; %d times 150 to 170 days without link or power, %d boots, %d power cuts in renewals, %d steps of the clock, %d key files damaged, lost or rolled back, %d wrong keys given, %d requests refused by a gateway, %d renewals, %d lost exchanges, %d logins, %d requests; %.0f lives a minute",
		out, stretch.N, all.long, all.boots, all.cuts, all.jumps, all.files, all.wrong, all.denials, all.renewals, all.lost, all.logins, all.visits, float64(stretch.N)/time.Since(begin).Minutes())
}
