package cloud

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

var (
	lives    = flag.Int("lives", 3, "how many three-year lives of the key ring are simulated")
	lifeSeed = flag.Uint64("lifeseed", 0, "run only the life of this seed")
)

// life is three years of one site: a link that goes away for up to 170 days, answers that are lost, a process
// that is stopped at any moment, and a service that may give new values and be slow to know them.
type life struct {
	rng     *rand.Rand // the test's own
	link    *rand.Rand // the link's; guarded by mu
	service *cloudtest.Service
	path    string
	down    bool // guarded by mu
	loss    float64
	mu      sync.Mutex
	locked  []string
	renewed [2]time.Time
	close2  int // renewals of both keys within a day
}

func newLife(seed uint64, path string) *life {
	rng := rand.New(rand.NewPCG(seed, 1))
	l := &life{rng: rng, link: rand.New(rand.NewPCG(seed, 2)), path: path, loss: rng.Float64() * 0.5}
	l.service = &cloudtest.Service{
		PrimaryKey: testKey, SecondaryKey: otherKey,
		Rotate:     rng.IntN(3) > 0,
		Activation: time.Duration(rng.IntN(11)) * time.Minute,
		Grace:      []time.Duration{0, 0, 10 * time.Minute, 24 * time.Hour}[rng.IntN(4)],
	}
	l.service.Fault = l.fault
	return l
}

// fault is the link: down, or losing an answer now and then.
func (l *life) fault(c cloudtest.Call) *cloudtest.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return &cloudtest.Fault{Refuse: true}
	}
	if c.Op != "RenewAPIKey" {
		return nil
	}
	if l.link.Float64() < l.loss {
		ways := []cloudtest.Fault{{DropBefore: true}, {DropAfter: true}, {Status: 503}, {Status: 500, Store: true}, {DropAfter: true, Delay: time.Minute}}
		return &ways[l.link.IntN(len(ways))]
	}
	slot := Primary
	if strings.Contains(c.Path, "secondary") {
		slot = Secondary
	}
	l.renewed[slot] = c.At
	if other := l.renewed[slot.other()]; !other.IsZero() && c.At.Sub(other) < 24*time.Hour {
		l.close2++
	}
	return nil
}

func (l *life) setDown(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

// run lives through the years. Each turn the process runs for a while, in which tickets go out four times a day
// as far as the link allows; then it is stopped, and started again from its file.
func (l *life) run(t *testing.T) {
	end := time.Now().AddDate(3, 0, 0)
	for time.Now().Before(end) {
		ring, err := OpenKeys(l.path, Seeds{testKey, otherKey})
		if err != nil {
			t.Fatal(err)
		}
		c := clientOf(t, "https://api.example.com", func(o *Options) { o.Keys, o.Transport = ring, l.service })
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := ring.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		l.process(t, c, end)
		stop()
		running.Wait()
		if l.rng.IntN(4) == 0 { // the power is off for a while, too
			<-time.After(time.Duration(l.rng.IntN(60*24)) * time.Hour)
		}
	}
}

// process is the time between two starts: stretches with a link and without one.
func (l *life) process(t *testing.T, c *Client, end time.Time) {
	for range 1 + l.rng.IntN(4) {
		if l.rng.IntN(3) == 0 {
			l.setDown(true)
			<-time.After(l.outage())
			l.setDown(false)
		}
		// At least a good week, since what is promised holds after one.
		for until := time.Now().Add(time.Duration(8*24+l.rng.IntN(30*24)) * time.Hour); time.Now().Before(until) && time.Now().Before(end); {
			<-time.After(6*time.Hour + time.Duration(l.rng.IntN(3600))*time.Second)
			l.visit(t, c)
		}
	}
}

// outage is mostly hours, sometimes the longest that must be survived.
func (l *life) outage() time.Duration {
	if l.rng.IntN(5) == 0 {
		return time.Duration(l.rng.IntN(110)) * 24 * time.Hour // with up to 60 days without power: 170 in a row
	}
	return time.Duration(l.rng.IntN(72)) * time.Hour
}

// visit sends a ticket. A refusal that lasts longer than a gateway needs to learn a key is a lock-out.
func (l *life) visit(t *testing.T, c *Client) {
	for range 5 {
		a := postTicket(t, c, "T-1")
		if a.Class == Stored {
			return
		}
		if a.Class != Key {
			t.Fatalf("%+v", a)
		}
		<-time.After(20 * time.Minute)
	}
	l.locked = append(l.locked, fmt.Sprintf("at %v: %+v, the service has %+v", time.Now(), c.keys.Status(), l.service.Keys()))
}

// fastDir is a folder in memory where there is one, since a life writes its keys a thousand times.
func fastDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "gauger-keys-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestThreeYears(t *testing.T) {
	first, last := uint64(1), uint64(*lives)
	if *lifeSeed != 0 {
		first, last = *lifeSeed, *lifeSeed
	}
	for seed := first; seed <= last; seed++ {
		synctest.Test(t, func(t *testing.T) {
			l := newLife(seed, filepath.Join(fastDir(t), "keys"))
			l.run(t)
			if len(l.locked) > 0 {
				t.Fatalf("seed %d: locked out %d times, first %s", seed, len(l.locked), l.locked[0])
			}
			if l.close2 > 0 {
				t.Errorf("seed %d: both keys were renewed within a day %d times", seed, l.close2)
			}
		})
	}
}
