package outbox_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"gauger/outbox"
	"gauger/outbox/preflight"
)

// killedBox names the box that a child of this test binary works on until it is killed.
const killedBox = "OUTBOX_TEST_KILLED_BOX"

// hangingCheck names a file that a child of this test binary has examined by a child that hangs.
const hangingCheck = "OUTBOX_TEST_HANGING_CHECK"

// checkWord before a path makes the test binary check a box, as a preflight's child.
const checkWord = "check-outbox"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == checkWord {
		if _, err := outbox.Check(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if order := os.Getenv(scriptedBox); order != "" {
		os.Exit(scripted(order))
	}
	if order := os.Getenv(syncedBox); order != "" {
		if err := synced(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(hangingCheck); path != "" {
		_ = preflight.InChild("sh", "-c", `echo $$ >"$0.pid"; exec sleep 600`)(path) // it is killed before that ends
		os.Exit(1)
	}
	if path := os.Getenv(killedBox); path != "" {
		if err := work(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work appends from several producers and drains, and says of every record when it is accepted and when it is stored.
func work(path string) error {
	b, err := outbox.Open(path, outbox.Options{Streams: site(), MaxBytes: 8 << 20})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(word, stream string, seq uint64) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(word, stream, seq)
	}
	var wg sync.WaitGroup
	for _, stream := range []string{"tickets", "events"} {
		for range 2 {
			wg.Go(func() { produce(b, stream, say) })
		}
		wg.Go(func() {
			err = b.Drain(context.Background(), stream, senderFunc(func(batch []outbox.Record) []outbox.Answer {
				receipts := make([]outbox.Answer, len(batch))
				for i, r := range batch {
					say("stored", stream, r.Seq)
					receipts[i] = outbox.Answer{Class: outbox.Stored, Status: 200}
				}
				return receipts
			}))
		})
	}
	wg.Wait()
	return err
}

func produce(b *outbox.Box, stream string, say func(word, stream string, seq uint64)) {
	for i := 0; ; i++ {
		var seq uint64
		err := b.Update(func(tx *outbox.Tx) error {
			seq = tx.Append(stream, outbox.Record{Body: fmt.Appendf(nil, "record %d", i)})
			tx.Put("last/"+stream, fmt.Append(nil, seq))
			return nil
		})
		if err != nil {
			return
		}
		say("accepted", stream, seq)
	}
}

// The process is killed at any moment, again and again: what was accepted is there, nothing has a gap, and a record
// arrives twice at most when the kill came between the service's answer and its receipt.
func TestKilledAtAnyMoment(t *testing.T) {
	path := boxPath(t)
	rng := rand.New(rand.NewPCG(11, 11))
	accepted := map[string]uint64{} // highest number that was accepted, per stream
	stored := map[string]int{}      // how often a record was stored
	const kills = 12
	for range kills {
		killed(t, path, rng.IntN(400), func(word, stream string, seq uint64) {
			if word == "accepted" {
				accepted[stream] = max(accepted[stream], seq)
			} else {
				stored[fmt.Sprint(stream, seq)]++
			}
		})
		if _, err := outbox.Check(path); err != nil {
			t.Fatal(err)
		}
		b := open(t, path, outbox.Options{})
		for _, stream := range []string{"tickets", "events"} {
			c := counts(t, b, stream)
			if c.Accepted < accepted[stream] || c.Lost+c.Dead+c.Evicted+c.Dropped != 0 {
				t.Fatalf("%s: %d were accepted, counted are %+v", stream, accepted[stream], c)
			}
			waiting, err := b.Entries(stream, outbox.Waiting, 0, 1)
			if err != nil || len(waiting) > 0 && waiting[0].Record.Seq != c.Delivered+1 {
				t.Fatalf("%s: the first that waits is %v behind %d delivered, %v", stream, waiting, c.Delivered, err)
			}
			for seq := range c.Delivered {
				if stored[fmt.Sprint(stream, seq+1)] == 0 {
					t.Fatalf("%s: record %d counts as delivered and was not stored", stream, seq+1)
				}
			}
			if v, err := b.Get("last/" + stream); err != nil || c.Accepted > 0 && string(v) != fmt.Sprint(c.Accepted) {
				t.Fatalf("%s: state says %q, counts %d, %v", stream, v, c.Accepted, err)
			}
		}
		shut(t, b)
	}
	doubled := 0
	for _, n := range stored {
		doubled += n - 1
	}
	t.Logf("%d kills, %d accepted, %d stored, %d of them twice", kills, accepted["tickets"]+accepted["events"], len(stored), doubled)
	if doubled > kills*51 || len(stored) == 0 {
		t.Errorf("%d of %d records were stored twice in %d kills", doubled, len(stored), kills)
	}
}

// killed runs the child, kills it after so many of its words, and hears the rest of them.
func killed(t *testing.T, path string, after int, hear func(word, stream string, seq uint64)) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedBox+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		var word, stream string
		var seq uint64
		if _, err := fmt.Sscan(lines.Text(), &word, &stream, &seq); err != nil {
			continue // cut off by the kill
		}
		hear(word, stream, seq)
		if n == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended by itself")
	}
}
