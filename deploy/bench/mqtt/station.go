package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gauger/collectors/addresstest"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// roundLimit bounds a round.
const roundLimit = 2 * time.Minute

// round starts a broker and a consumer of their own, feeds them, and ends both.
func round(who, gauger string, n int) (r result, err error) {
	dir, err := os.MkdirTemp("", "mqttbench-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeout(context.Background(), roundLimit)
	defer cancel()
	broker, end, err := startBroker(ctx, dir)
	if err != nil {
		return r, err
	}
	defer end()
	c, err := startConsumer(ctx, who, gauger, dir, broker, n)
	if err != nil {
		return r, err
	}
	defer c.cmd.Wait()         //nolint:errcheck // it is killed
	defer c.cmd.Process.Kill() //nolint:errcheck // it ends with the round
	if err := until(ctx, who+" has subscribed", c.ready); err != nil {
		return r, fmt.Errorf("%w\n%s", err, c.said)
	}
	had := c.count()
	before, began := cpuOf(c.cmd.Process.Pid), time.Now()
	if err := feed(broker, n); err != nil {
		return r, fmt.Errorf("publish: %w", err)
	}
	if err := until(ctx, "all messages count", func() bool { return c.count() >= had+n }); err != nil {
		return r, fmt.Errorf("%w; %d of %d\n%s", err, c.count()-had, n, c.said)
	}
	return result{took: time.Since(began), cpu: cpuOf(c.cmd.Process.Pid) - before, rss: rssOf(c.cmd.Process.Pid)}, nil
}

// startBroker starts a Mosquitto of its own, with its files in dir.
func startBroker(ctx context.Context, dir string) (address string, end func(), err error) {
	if address, err = addresstest.Free(); err != nil {
		return "", nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	settings := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location %s/\nmax_queued_messages 0\nmax_inflight_messages %d\nuser root\nlog_dest none\n", port, dir, maxUnacked)
	file := filepath.Join(dir, "mosquitto.conf")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		return "", nil, err
	}
	mosquitto := exec.CommandContext(ctx, "/usr/sbin/mosquitto", "-c", file)
	if err := mosquitto.Start(); err != nil {
		return "", nil, fmt.Errorf("needs Mosquitto (package mosquitto): %w", err)
	}
	end = func() {
		_ = mosquitto.Process.Kill() // it may have ended
		_ = mosquitto.Wait()         // it was killed
	}
	return address, end, until(ctx, "the broker listens", func() bool { return listens(address) })
}

// consumer is the program that is measured.
type consumer struct {
	cmd   *exec.Cmd
	said  *bytes.Buffer
	ready func() bool
	count func() int // messages that count so far
}

func startConsumer(ctx context.Context, who, gauger, dir, broker string, n int) (*consumer, error) {
	switch who {
	case "bare":
		return startBare(ctx, dir, broker, n)
	case "telegraf":
		return startTelegraf(ctx, gauger, dir, broker)
	}
	status, err := addresstest.Free()
	if err != nil {
		return nil, err
	}
	service := "127.0.0.1:1"
	count := func() int { return metric(status, `gauger_records_accepted_total{stream="tagvalues"}`) }
	if who == "gauger-sink" {
		sink, err := startSink(ctx)
		if err != nil {
			return nil, err
		}
		service, count = sink.address, func() int { return int(sink.records.Load()) }
	}
	file := filepath.Join(dir, "gauger.yaml")
	text := strings.NewReplacer("BROKER", broker, "STATUS", status, "STORE", filepath.Join(dir, "store"), "SERVICE", service).Replace(siteYAML)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	c := &consumer{cmd: exec.CommandContext(ctx, gauger, "run", "-c", file, "--socket", filepath.Join(dir, "sock")), said: &bytes.Buffer{}, count: count}
	c.cmd.Env = append(os.Environ(), "KEY=0123456789abcdef")
	c.cmd.Stdout, c.cmd.Stderr = c.said, c.said
	probes := 0
	c.ready = func() bool { // a message that arrives says that the subscription stands
		if !listens(status) || c.count() > 0 {
			return c.count() > 0
		}
		probes++
		return feed(broker, 1) == nil && c.count() > 0
	}
	return c, c.cmd.Start()
}

// siteYAML is a site of one number.
const siteYAML = `site: Bench
id: BENCH
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
service: {url: "http://SERVICE", primary_key: {env: KEY}}
link: {rate: off}
store: {path: STORE, max_bytes: 512MiB}
recorder: {max_bytes: 0}
devices:
  - name: radio
    mqtt: mqtt://BROKER
    points: [{name: n, topic: bench/n, value: n, time: ts}]
wells:
  - id: 3fa85f64-5717-4562-b3fc-2c963f66afa6
    tag_values: [{code: "Production Target Oil", point: radio/n, every: 0s}]
http: {listen: STATUS}
`

// startBare starts this program once more as the bare consumer. It writes how many messages it had into a file that is
// as long as that number.
func startBare(ctx context.Context, dir, broker string, n int) (*consumer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &consumer{cmd: exec.CommandContext(ctx, self, "-bare", "mqtt://"+broker, "-n", strconv.Itoa(n)), said: &bytes.Buffer{}}
	c.cmd.Dir = dir
	c.cmd.Stderr = c.said
	size := func(name string) int {
		b, err := os.ReadFile(filepath.Join(dir, name))
		got, _ := strconv.Atoi(string(b)) // none yet counts as 0
		if err != nil {
			return -1
		}
		return got
	}
	c.ready = func() bool { return size("bare") >= 0 }
	c.count = func() int { return size("bare") }
	return c, c.cmd.Start()
}

// consume is the bare consumer: it acknowledges at once, and keeps a count.
func consume(broker string, n int) error {
	done := make(chan struct{})
	had := 0
	o := paho.NewClientOptions().AddBroker(broker).SetClientID("bare").SetCleanSession(false)
	c := paho.NewClient(o)
	if t := c.Connect(); t.Wait() && t.Error() != nil {
		return t.Error()
	}
	t := c.Subscribe(topic, 1, func(paho.Client, paho.Message) {
		if had++; had == n {
			close(done)
		}
	})
	if t.Wait() && t.Error() != nil {
		return t.Error()
	}
	if err := os.WriteFile("bare", []byte("0"), 0o600); err != nil {
		return err
	}
	<-done
	if err := os.WriteFile("bare", []byte(strconv.Itoa(n)), 0o600); err != nil {
		return err
	}
	select {} // until it is killed: what it used is read from outside
}

// metric reads one number from a status page; 0 while there is none.
func metric(address, name string) int {
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0
	}
	_, after, found := strings.Cut(string(b), "\n"+name+" ")
	line, _, _ := strings.Cut(after, "\n")
	v, err := strconv.ParseFloat(line, 64)
	if !found || err != nil {
		return 0
	}
	return int(v)
}

func until(ctx context.Context, what string, is func() bool) error {
	tick := time.NewTicker(100 * time.Millisecond) // asking costs what is measured
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain: %s", what)
		}
	}
	return nil
}

func listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// cpuOf is the processor time that a process has used, threads that have ended included.
func cpuOf(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / ticksPerSecond
}

// ticksPerSecond is the unit of /proc's times on every Linux that gauger is built for.
const ticksPerSecond = 100

// rssOf is a process's resident memory in KiB.
func rssOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	return pages * int64(syscall.Getpagesize()) / 1024
}
