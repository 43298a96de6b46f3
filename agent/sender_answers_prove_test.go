package agent

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/deploy/proof"
	"gauger/outbox"
)

// trial is one scene, played to an outbox, a drain, a sender and a client as the daemon has them.
type trial struct {
	*testing.T
	site   *wellSite
	box    *outbox.Box
	sender Sender
	cancel context.CancelFunc
	quit   time.Duration // after which the program is told to stop; 0: it is not

	ends  time.Time     // when the last Send ended
	took  time.Duration // the drain
	sent  []outbox.Class
	dead  bool
	there int // conflicts after a lost answer, which say that the ticket is stored
}

// play runs a scene until everything is delivered or dead. It ends with no goroutine left: the bubble sees to it.
func play(t *testing.T, name string, sc scene, certs certificates) {
	if sc.socket {
		(&trial{T: t}).run(name, sc, certs)
		return
	}
	synctest.Test(t, func(t *testing.T) { (&trial{T: t}).run(name, sc, certs) })
}

func (t *trial) run(name string, sc scene, certs certificates) {
	defer func() {
		if t.Failed() {
			t.Fatalf("%s: %s, %s: sent %v", name, sc.stream, sc.what, t.sent)
		}
	}()
	var err error
	if t.site, err = newWellSite(sc, certs); err != nil {
		t.Fatal(err)
	}
	defer t.site.close()
	keys, err := keys.Open("", keys.Seeds{Primary: "primary-key-value", Secondary: "secondary-key-value"})
	if err != nil {
		t.Fatal(err)
	}
	o := cloud.Options{URL: t.site.url(), Wire: cloud.DefaultWire(), Keys: keys, CAFile: certs.file, Dial: t.site.dial}
	if sc.alien {
		o.CAFile = ""
	}
	client, err := cloud.New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	t.sender = Sender{Client: client}
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Hour)
	defer cancel()
	t.cancel = cancel
	dir := memoryFolder(t)
	defer os.RemoveAll(dir) // at once: thousands of trials follow each other
	t.box, err = outbox.Open(filepath.Join(dir, "outbox.db"), outbox.Options{MaxBytes: 1 << 20, Notify: t.note, Streams: []outbox.Stream{
		{Name: ledger.Tickets, Journal: true}, {Name: ledger.Events, Batch: 50}, {Name: ledger.TagValues, Batch: 20}, {Name: ledger.Targets, Batch: 20}, {Name: ledger.Memos},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.put(1)
	begin := time.Now()
	if t.quit > 0 {
		defer time.AfterFunc(t.quit, cancel).Stop()
	}
	if err := t.box.Drain(ctx, sc.stream, t); err != nil {
		t.Errorf("drain: %v", err)
	}
	t.took = time.Since(begin)
	client.Close()
	t.site.close()
	if t.quit == 0 {
		t.check()
	} else if c := t.box.Counts()[sc.stream]; c.Waiting+c.Delivered != 1 {
		t.Errorf("after the stop %+v", c)
	}
	if err := t.box.Close(); err != nil {
		t.Error(err)
	}
}

// put adds record n to the scene's stream.
func (t *trial) put(n int) {
	err := t.box.Update(func(tx *outbox.Tx) error {
		r := outbox.Record{Body: fmt.Appendf(nil, `{"record":%d}`, n)}
		if t.site.stream != ledger.Tickets && t.site.stream != ledger.Events {
			r.Address = "well-or-device"
		}
		tx.Append(t.site.stream, r)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// note ends the trial when the record has become a dead letter.
func (t *trial) note(n outbox.Note) {
	if n.Kind == outbox.NoteDeadLetter {
		t.dead = true
		t.cancel()
	}
}

// Send hands the batch to the real Sender, and looks at what came of it.
func (t *trial) Send(ctx context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	begin := time.Now()
	if len(t.sent) > 0 {
		t.waited(begin.Sub(t.ends))
	}
	receipts := t.sender.Send(ctx, stream, batch)
	t.ends = time.Now()
	class := receipts[0].Class
	if t.site.warm && len(t.sent) == 0 {
		t.sent = append(t.sent, class)
		t.put(2)
		return receipts
	}
	send := len(t.sent)
	if t.site.warm {
		send--
	}
	t.sent = append(t.sent, class)
	if t.quit == 0 {
		t.judge(send, receipts[0], t.ends.Sub(begin))
	}
	t.site.next()
	if class == outbox.Stored || t.site.alien { // a client that does not know the authority never will
		t.cancel()
	} else if t.site.socket {
		t.box.Kick(stream) // in real time nobody waits
	}
	return receipts
}

// judge holds one Send against the outcome table and the limit of its time.
func (t *trial) judge(send int, r outbox.Answer, took time.Duration) {
	limit := 30*time.Second + time.Second
	if r.Class == outbox.Key {
		limit *= 6 // both keys, and as many attempts to renew them
	}
	for range min(send, 5) {
		limit *= 2
	}
	if !t.site.socket && took > limit {
		t.Errorf("a request took %v, at most %v", took, limit)
	}
	if send >= len(t.site.answers) {
		// A connection that the service closed without a word may be used once more before that is seen.
		if r.Class != outbox.Stored && (r.Class != outbox.Ambiguous || send > len(t.site.answers)+1) {
			t.Errorf("the service is well, and the answer is %+v", r)
		}
		return
	}
	if !t.site.allowed(send, r.Class) {
		t.Errorf("send %d became %s: %+v", send, r.Class, r)
	}
	if r.Class == outbox.Stored && r.Status == http.StatusConflict {
		t.there++
		if !slices.Contains(t.sent, outbox.Ambiguous) {
			t.Errorf("a conflict was taken for stored, and no answer was lost before it: %v", t.sent)
		}
	}
}

// waited holds the pause before a Send against the service's wish.
func (t *trial) waited(d time.Duration) {
	if want := t.site.wait; want > 0 && len(t.sent) == 1 && (d < want || d > want*5/4+time.Second) {
		t.Errorf("the next request came after %v, the service asked for %v", d, want)
	}
}

// check looks where everything ended.
func (t *trial) check() {
	c := t.box.Counts()[t.site.stream]
	if !c.Balanced() || c.Waiting != 0 != t.site.alien || t.dead || c.Dead != 0 {
		t.Errorf("in the end %+v", c)
	}
	t.site.mu.Lock()
	defer t.site.mu.Unlock()
	saved := 0
	for n := range 2 {
		for body := range t.site.taken {
			if strings.Contains(body, fmt.Sprintf(`{"record":%d}`, n+1)) {
				saved++
				break
			}
		}
	}
	if uint64(saved+t.there) < c.Delivered {
		t.Errorf("%d records are deleted, %d had a 2xx, of %d a conflict said that they are there", c.Delivered, saved, t.there)
	}
	for address := range t.site.dialled {
		if !strings.HasPrefix(address, "127.0.0.1:") {
			t.Errorf("a connection went to %s", address)
		}
	}
	if t.site.requests > 0 && t.site.scene.tls != nil && t.site.allowed(0, outbox.Wait) && !t.site.allowed(0, outbox.Ambiguous) {
		t.Errorf("%d requests, with the key, went to a service that must not be trusted", t.site.requests)
	}
}

// memoryFolder makes a folder that no disk slows down, where there is one.
func memoryFolder(t *trial) string {
	under := "/dev/shm"
	var st unix.Statfs_t
	if unix.Statfs(under, &st) != nil || int64(st.Bavail)*st.Bsize < 256<<20 {
		under = t.TempDir()
	}
	dir, err := os.MkdirTemp(under, "answers-test-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// series makes a scene of several at random, one after the other: what each allows is allowed in its turn.
func series(all []scene, rng *rand.Rand) scene {
	out := scene{stream: fiveStreams[rng.IntN(5)], plain: rng.IntN(2) == 0}
	var allowed []func(int, outbox.Class) bool
	for range 2 + rng.IntN(6) {
		sc := all[rng.IntN(len(all))]
		if sc.warm || sc.early != nil || sc.wire != nil || sc.tls != nil || len(sc.answers) > 1 {
			continue
		}
		out.what += "; " + sc.what
		out.answers = append(out.answers, sc.answers[0])
		// After a lost answer a conflict says that the ticket is there, but for one with a page: a gateway's says nothing.
		there := outbox.Stored
		if sc.page {
			there = outbox.Path
		}
		allowed = append(allowed, func(_ int, c outbox.Class) bool {
			return sc.allowed(0, c) || c == there && sc.allowed(0, outbox.Poison) || c == outbox.Stored && sc.late
		})
	}
	out.allowed = func(send int, c outbox.Class) bool { return allowed[send](0, c) }
	return out
}

// TestProveAnswers gives the client every answer that a service, a gateway, a portal or a broken link can give, in all
// five streams: nothing is deleted without a 2xx, everything arrives in the end, no request outlasts its limit, no key
// goes astray, and memory stays small. The first cases are each answer once, in an order that mixes them; the others are
// series of them.
func TestProveAnswers(t *testing.T) {
	log.SetOutput(io.Discard) // net/http tells what a server says unasked
	defer log.SetOutput(os.Stderr)
	defer debug.SetGCPercent(debug.SetGCPercent(15)) // as the daemon has it
	runtime.GC()                                     // what tests before this one have left
	s := proof.Of(t, 300)
	var all []scene
	for _, some := range [][]scene{statuses(), cuts(), slow(), huge(), garbage(s.Seed), kept(), trust(), ways()} {
		all = append(all, some...)
	}
	certs := newCertificates(t)
	const stride = 1_000_003 // a prime: every scene has its turn
	alone, joined := 0, 0
	for i, rng := range s.Cases() {
		sc := all[(i*stride+int(s.Seed))%len(all)]
		if i >= len(all) {
			sc, joined = series(all, rng), joined+1
		} else {
			alone++
		}
		play(t, fmt.Sprintf("case %d", i), sc, certs)
	}
	if heapMost.bytes > 64<<20 {
		t.Errorf("%d MB of memory", heapMost.bytes>>20)
	}
	s.Tell(t, "%d of %d answers alone, %d series of them: nothing deleted without a 2xx, everything arrived, at most %d MB of heap in a flood", alone, len(all), joined, heapMost.bytes>>20)
}
