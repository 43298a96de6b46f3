package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/deploy/proof"
	"gauger/outbox"
)

const (
	herdSize  = 10_000
	flock     = 500 // so many boxes are open at once
	herdLimit = 500 // requests a second that the service takes from all
	herdAway  = 20 * time.Minute
	herdAfter = 15 * time.Minute // for which it is looked at after its return
	herdQuota = 1 << 20          // bytes of each outbox
	herdPeak  = 10 * time.Second // over which a peak is taken
)

// Ten thousand sites lose their service for twenty minutes, in the first of which each makes a ticket, an event and a
// value; then it is back, and takes 500 requests a second. Each site has an outbox on disk of its own, and its real
// drains, sender and client; the network and the service are not real. Sites do not know of each other, so that they run
// in flocks, each before its share of the service, and their requests are added up.
func TestProveHerd(t *testing.T) {
	s := proof.Of(t, 1)
	size := herdSize
	if !s.Long {
		size = 100
	}
	for i, rng := range s.Cases() {
		all := &herd{size: size, refuses: i%2 == 1}
		for n := 0; n < size; n += flock {
			seed := rng.Uint64()
			synctest.Test(t, func(t *testing.T) { all.graze(t, seed, min(flock, size-n)) })
		}
		f := all.figures()
		s.Tell(t, "case %d (%s): %d sites; before the closed door %.1f requests a second in its last five minutes; after the return %.1f requests a second on average and %.1f at most (over %s) until 99 %% were empty, %s after it; all after %s; %d turned away by the limit",
			i, map[bool]string{false: "nobody listens", true: "503"}[all.refuses], size, f.knocks, f.mean, f.peak, herdPeak, f.most.Round(time.Second), f.last.Round(time.Second), all.turned)
		if most := map[bool]float64{true: 37, false: 1}[s.Long]; f.knocks > most { // few sites are further from their average
			t.Errorf("case %d: %.2f requests a second before the closed door, want at most %g", i, f.knocks, most)
		}
		if f.most > 10*time.Minute || len(all.empty) != size {
			t.Errorf("case %d: %d of %d sites were empty in the end, 99 %% after %s, want ten minutes", i, len(all.empty), size, f.most)
		}
		if s.Long && f.peak > 2*f.mean {
			t.Errorf("case %d: a peak of %.1f requests a second over a mean of %.1f", i, f.peak, f.mean)
		}
	}
}

// herd is what the flocks have in common.
type herd struct {
	size    int
	refuses bool // the service answers 503 while it is away, or nobody listens

	mu     sync.Mutex
	second []int           // requests in each second since the outage began
	empty  []time.Duration // after the return: when each site had nothing left
	turned int
}

// herdFigures are rates in requests a second, and times after the return.
type herdFigures struct {
	knocks, mean, peak float64
	most, last         time.Duration
}

func (h *herd) figures() (f herdFigures) {
	slices.Sort(h.empty)
	if len(h.empty) == 0 {
		return f
	}
	f.most, f.last = h.empty[len(h.empty)*99/100-1], h.empty[len(h.empty)-1]
	back := int(herdAway / time.Second)
	rate := func(from, to int) float64 {
		sum := 0
		for _, n := range h.second[from:to] {
			sum += n
		}
		return float64(sum) / float64(to-from)
	}
	f.knocks = rate(back-300, back)
	end := back + int(f.most/time.Second) + 1
	f.mean = rate(back, end)
	w := int(herdPeak / time.Second)
	for from := back; from+w <= end; from++ {
		f.peak = max(f.peak, rate(from, from+w))
	}
	return f
}

// graze lets a flock live through the outage.
func (h *herd) graze(t *testing.T, seed uint64, n int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	folder, err := os.MkdirTemp(herdFolder(t), "herd")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	}()
	door := &closedDoor{herd: h, began: time.Now(), share: herdLimit * n / h.size}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range n {
		late := time.Duration(rng.Int64N(int64(time.Minute)))
		wg.Go(func() {
			if err := door.site(ctx, filepath.Join(folder, fmt.Sprint(i)), late); err != nil {
				t.Errorf("site %d: %v", i, err)
			}
		})
	}
	ledgertest.Pass(herdAway + herdAfter)
	cancel()
	wg.Wait()
}

// herdFolder is a folder in memory where there is room in one: the waits are looked at here, not the disk.
func herdFolder(t *testing.T) string {
	const memory = "/dev/shm"
	var st syscall.Statfs_t
	if err := syscall.Statfs(memory, &st); err == nil && st.Bavail*uint64(st.Bsize) > 2*flock*herdQuota {
		return memory
	}
	return t.TempDir()
}

// closedDoor is a flock's way to its share of the service.
type closedDoor struct {
	*herd
	began time.Time
	share int // requests a second

	now, taken int // in this second
}

var herdStreams = []outbox.Stream{{Name: ledger.Tickets, Batch: 1, Journal: true}, {Name: ledger.Events, Batch: 50}, {Name: ledger.TagValues, Batch: 20}}

// site is one site: it makes its three records, and sends them.
func (d *closedDoor) site(ctx context.Context, folder string, late time.Duration) error {
	var box *outbox.Box
	box, err := outbox.Open(filepath.Join(folder, "outbox.db"), outbox.Options{MaxBytes: herdQuota, Streams: herdStreams})
	if err != nil {
		return err
	}
	keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value", Secondary: "secondary-key-value"})
	if err != nil {
		return err
	}
	client, err := cloud.New(cloud.Options{URL: "https://service.test", Zone: time.UTC, Keys: keys, Transport: &way{d, len(herdStreams)}})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, s := range herdStreams {
		wg.Go(func() {
			if err := box.Drain(ctx, s.Name, Sender{Client: client}); err != nil {
				panic(err)
			}
		})
	}
	ledgertest.Pass(late)
	err = box.Update(func(tx *outbox.Tx) error {
		for _, s := range herdStreams {
			tx.Append(s.Name, outbox.Record{Address: ledgertest.GUID, Body: []byte(`{"n":1}`)})
		}
		return nil
	})
	wg.Wait()
	return errors.Join(err, box.Close())
}

// way is one site's way through the door.
type way struct {
	*closedDoor
	left int // records that the service does not have
}

// RoundTrip implements http.RoundTripper.
func (d *way) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	since := time.Since(d.began)
	at := int(since / time.Second)
	for len(d.second) <= int((herdAway+herdAfter)/time.Second) {
		d.second = append(d.second, 0)
	}
	d.second[at]++
	status := http.StatusOK
	if at != d.now {
		d.now, d.taken = at, 0
	}
	d.taken++
	switch {
	case since < herdAway && !d.refuses:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case since < herdAway:
		status = http.StatusServiceUnavailable
	case d.taken > d.share:
		status = http.StatusServiceUnavailable
		d.turned++
	}
	if status == http.StatusOK {
		if d.left--; d.left == 0 {
			d.empty = append(d.empty, since-herdAway)
		}
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil { // who is refused has sent nothing
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}
