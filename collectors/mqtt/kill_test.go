package mqtt

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gauger/collectors"
)

// The environment of a child: the broker, the file that stands for the disk, and after how many commits it dies by
// its own hand, between the commit and the acknowledgement; 0 for never.
const (
	childBroker = "GAUGER_TEST_BROKER"
	childDisk   = "GAUGER_TEST_DISK"
	childDeath  = "GAUGER_TEST_DEATH"
)

// TestMain is the child as well: this test binary, started again to be killed.
func TestMain(m *testing.M) {
	if url := os.Getenv(childBroker); url != "" {
		if err := child(url, os.Getenv(childDisk), os.Getenv(childDeath)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child collects into a file until it is killed.
func child(url, disk, death string) error {
	file, err := os.OpenFile(disk, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	left, err := strconv.Atoi(death)
	if err != nil {
		return err
	}
	device := timed("field/tk1")
	device.Brokers = Brokers{url}
	c, err := New([]Device{device}, Session{})
	if err != nil {
		return err
	}
	h := newMemo()
	h.emitting = func(batch []collectors.Reading) error {
		var lines bytes.Buffer
		for _, r := range batch {
			fmt.Fprintf(&lines, "%v %d\n", r.Value, r.At.Unix())
		}
		if _, err := file.Write(lines.Bytes()); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		if left--; left == 0 {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		_, err := fmt.Println(len(batch))
		return err
	}
	return c.Run(context.Background(), h)
}

// live starts a child and lets it commit; it ends after that many commits, one way or the other, or when enough holds.
func live(t *testing.T, url, disk string, commits, death int, enough func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patienceOfTests)
	defer cancel()
	p := exec.CommandContext(ctx, os.Args[0])
	p.Env = append(os.Environ(), childBroker+"="+url, childDisk+"="+disk, childDeath+"="+strconv.Itoa(death))
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if commits--; commits == 0 || enough() {
			break
		}
	}
	_ = p.Process.Kill() // SIGKILL; it may be dead already
	_ = p.Wait()
	if ctx.Err() != nil {
		t.Fatal("a child did not get on")
	}
}

// committed reads the file that stands for the disk: values with their times, in the order of the commits.
func committed(t *testing.T, disk string) [][2]int {
	t.Helper()
	raw, err := os.ReadFile(disk)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all [][2]int
	for line := range strings.Lines(string(raw)) {
		var pair [2]int
		if n, err := fmt.Sscanf(line, "%d %d\n", &pair[0], &pair[1]); n == 2 && err == nil { // the last may be torn
			all = append(all, pair)
		}
	}
	return all
}

// prime makes the session, so that nothing that is published from now on passes it by.
func prime(t *testing.T, m *mosquitto) {
	t.Helper()
	device := timed("field/tk1")
	device.Brokers = Brokers{m.url("mqtt")}
	c := collect(t, Session{}, device)
	stop := start(t, newMemo(), c)
	connected(t, c)
	stop()
}

func TestKilledAgainAndAgainNothingIsLost(t *testing.T) {
	const messages, kills = 3000, 12
	m := newMosquitto(t, "allow_anonymous true", "max_inflight_messages 20")
	disk := filepath.Join(t.TempDir(), "disk")
	prime(t, m)
	out := publisher(t, m.url("mqtt"))
	published := make(chan struct{})
	go func() {
		defer close(published)
		pace := time.NewTicker(time.Millisecond) // the children must not run out of messages
		defer pace.Stop()
		for i := range messages {
			<-pace.C
			out.Publish("field/tk1", 1, false, sample(float64(i), noon.Add(time.Duration(i)*time.Second))).Wait()
		}
	}()
	random := rand.New(rand.NewPCG(1, 2))
	for k := range kills {
		if k%3 == 0 { // by its own hand, between commit and acknowledgement
			live(t, m.url("mqtt"), disk, 1<<30, 1+random.IntN(20), func() bool { return false })
		} else {
			live(t, m.url("mqtt"), disk, 1+random.IntN(20), 0, func() bool { return false })
		}
	}
	<-published
	live(t, m.url("mqtt"), disk, 1<<30, 0, func() bool {
		all := committed(t, disk)
		return len(all) > 0 && all[len(all)-1][0] == messages-1
	})

	// What the agent does with it: a reading whose device time is not later than the last one kept is no news.
	all := committed(t, disk)
	next, last := 0, 0
	for _, pair := range all {
		if pair[1] <= last {
			continue
		}
		if pair[0] != next {
			t.Fatalf("after %d came %d", next-1, pair[0])
		}
		next, last = next+1, pair[1]
	}
	if next != messages {
		t.Errorf("%d of %d messages", next, messages)
	}
	t.Logf("%d kills: 0 of %d lost, %d committed twice and recognised by their time", kills, messages, len(all)-messages)
}
