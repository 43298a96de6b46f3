package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/collectors/addresstest"
	stretches "gauger/deploy/proof"
)

// mqttPerSecond of messages from the device.
const mqttPerSecond = 500

const mqttYAML = `site: MQTT proof
id: PROOF
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
service: {url: "http://SERVICE", primary_key: {env: GAUGER_PRIMARY_KEY}, secondary_key: {env: GAUGER_SECONDARY_KEY}}
store: {path: STORE, max_bytes: 64MiB}
recorder: {max_bytes: 0}
devices:
  - name: radio
    mqtt: BROKER
ACCESS    points: [{name: number, topic: field/n, value: n, time: ts}]
wells:
  - id: 3fa85f64-5717-4562-b3fc-2c963f66afa6
    tag_values: [{code: Production Target Oil, point: radio/number, every: 0s}]
`

// mqttWay is one way in which a broker lets gauger in: what the broker's file says beside its plain listener, and what
// the device's entry says.
type mqttWay struct {
	name, scheme string
	listener     string
	access       string
}

var mqttWays = []mqttWay{
	{name: "plain", scheme: "mqtt", listener: "allow_anonymous true"},
	{name: "password", scheme: "mqtt", listener: "allow_anonymous false\npassword_file DIR/passwords",
		access: "    username: gauger\n    password: {env: GAUGER_PRIMARY_KEY}\n"},
	{name: "certificates", scheme: "mqtts", listener: "allow_anonymous true\nrequire_certificate true\ncafile DIR/cert.pem\ncertfile DIR/cert.pem\nkeyfile DIR/key.pem",
		access: "    ca_file: DIR/cert.pem\n    cert_file: DIR/cert.pem\n    key_file: DIR/key.pem\n"},
}

// TestProveMQTTKills kills gauger, and each tenth time ends the broker instead and starts it again, while a device sends
// numbered messages; in the end the service has every number, and gauger has made one record of each.
func TestProveMQTTKills(t *testing.T) {
	s := stretches.Of(t, 3)
	if testing.Short() {
		t.Skip("takes some seconds a kill")
	}
	if _, err := exec.LookPath(roadMosquitto); err != nil {
		t.Skipf("no %s here; install the package mosquitto to run this test", roadMosquitto)
	}
	for k, way := range mqttWays {
		t.Run(way.name, func(t *testing.T) {
			p := newMQTTProof(t, way)
			for i, r := range s.Cases() {
				if i%len(mqttWays) != k {
					continue
				}
				p.strike(i, r)
			}
			p.judge(s)
		})
	}
}

// mqttProof is one site at work.
type mqttProof struct {
	t       *testing.T
	dir     string
	broker  *process
	service *office
	agent   *process
	feed    *feedOfNumbers
	awake   []time.Duration // from a start to the first new number at the service
	kills   int
	ends    int // of the broker
}

func newMQTTProof(t *testing.T, way mqttWay) *mqttProof {
	p := &mqttProof{t: t, dir: t.TempDir(), service: newOffice(t)}
	t.Setenv("GAUGER_PRIMARY_KEY", primaryKey)
	t.Setenv("GAUGER_SECONDARY_KEY", secondaryKey)
	p.prepare(way)
	plain, guarded := addresstest.New(t), addresstest.New(t)
	_, plainPort, _ := net.SplitHostPort(plain)
	_, guardedPort, _ := net.SplitHostPort(guarded)
	in := strings.NewReplacer("DIR", p.dir, "ACCESS", way.access, "SERVICE", p.service.address, "STORE", filepath.Join(p.dir, "store"),
		"BROKER", way.scheme+"://"+guarded)
	p.write("mosquitto.conf", fmt.Sprintf("per_listener_settings true\npersistence true\npersistence_location %s/\nmax_queued_messages 0\nuser root\nlog_dest stderr\nlog_type error\nlog_type subscribe\n"+
		"listener %s 127.0.0.1\nallow_anonymous true\nlistener %s 127.0.0.1\n%s\n", p.dir, plainPort, guardedPort, in.Replace(way.listener)))
	p.write("gauger.yaml", in.Replace(in.Replace(mqttYAML)))
	p.broker = launch(t, nil, roadMosquitto, "-c", filepath.Join(p.dir, "mosquitto.conf"))
	wait(t, "the broker listens", func() bool { return listens(plain) })
	p.launch()
	wait(t, "gauger listens", func() bool { return strings.Contains(p.broker.said(), " 1 field/n") })
	p.feed = newFeed(t, plain)
	return p
}

func (p *mqttProof) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// prepare makes what a way needs beside the files.
func (p *mqttProof) prepare(way mqttWay) {
	p.t.Helper()
	var cmd *exec.Cmd
	switch way.name {
	case "password":
		cmd = exec.Command("mosquitto_passwd", "-b", "-c", filepath.Join(p.dir, "passwords"), "gauger", primaryKey)
	case "certificates":
		cmd = exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=proof",
			"-addext", "subjectAltName=IP:127.0.0.1", "-keyout", filepath.Join(p.dir, "key.pem"), "-out", filepath.Join(p.dir, "cert.pem"))
	default:
		return
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Skipf("needs %s: %v %s", cmd.Path, err, out)
	}
}

// launch runs gauger.
func (p *mqttProof) launch() {
	p.t.Helper()
	program, err := exec.LookPath("gauger") // this test binary, by the name under which it is gauger
	if err != nil {
		p.t.Fatal(err)
	}
	p.agent = launch(p.t, nil, program, "run", "-c", filepath.Join(p.dir, "gauger.yaml"), "--socket", filepath.Join(p.dir, "s"))
}

// start runs gauger again until new numbers arrive at the service.
func (p *mqttProof) start() {
	p.t.Helper()
	began, sent := time.Now(), p.feed.number()
	p.launch()
	wait(p.t, "new numbers arrive", func() bool { return p.newest() > sent })
	p.awake = append(p.awake, time.Since(began))
}

// newest is the number that the service had last.
func (p *mqttProof) newest() int64 {
	all := p.service.store.TagValues()
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1].Value
}

// strike lets the site go on for a while, and then kills.
func (p *mqttProof) strike(i int, r *rand.Rand) {
	p.t.Helper()
	timer := time.NewTimer(time.Duration(r.IntN(400)) * time.Millisecond)
	<-timer.C
	if i%10 != 9 {
		p.kills++
		p.agent.stop(syscall.SIGKILL)
		p.start()
		return
	}
	p.ends++
	p.broker.stop(syscall.SIGTERM) // it stores what it has: a broker that is killed loses by itself
	p.broker = launch(p.t, nil, roadMosquitto, "-c", filepath.Join(p.dir, "mosquitto.conf"))
	sent := p.feed.number()
	wait(p.t, "new numbers arrive after the broker was away", func() bool { return p.newest() > sent })
}

// judge ends the feed and compares what it sent with what the service has. A batch whose answer was lost comes twice, the
// same to the byte; that is no second record.
func (p *mqttProof) judge(s stretches.Stretch) {
	p.t.Helper()
	last := p.feed.end()
	times := map[int64]map[string]bool{}
	copies := 0
	wait(p.t, "the service has every number", func() bool {
		clear(times)
		copies = 0
		for _, v := range p.service.store.TagValues() {
			if times[v.Value] == nil {
				times[v.Value] = map[string]bool{}
			} else if times[v.Value][stamp(v)] {
				copies++
			}
			times[v.Value][stamp(v)] = true
		}
		return len(times) >= int(last)
	})
	for n := int64(1); n <= last; n++ {
		if len(times[n]) != 1 {
			p.t.Errorf("number %d has %d records, want one", n, len(times[n]))
		}
	}
	if len(times) != int(last) {
		p.t.Errorf("the service has %d numbers of %d", len(times), last)
	}
	p.agent.stop(syscall.SIGTERM)
	slices.Sort(p.awake)
	s.Tell(p.t, "%d kills, %d ends of the broker: %d numbers, 0 lost, 0 doubled (%d sent again after a lost answer); from a start to a new number %v (median), %v (longest)",
		p.kills, p.ends, last, copies, p.awake[len(p.awake)/2].Round(time.Millisecond), p.awake[len(p.awake)-1].Round(time.Millisecond))
}

// stamp is a value's time at the service.
func stamp(v cloudtest.Value) string { return v.Timestamp }

// feedOfNumbers is a device that sends 1, 2, 3, each until the broker has taken it.
type feedOfNumbers struct {
	address string
	stop    chan struct{}
	ended   chan struct{}
	mu      sync.Mutex
	sent    int64
}

func newFeed(t *testing.T, address string) *feedOfNumbers {
	f := &feedOfNumbers{address: address, stop: make(chan struct{}), ended: make(chan struct{})}
	go f.run()
	t.Cleanup(func() { f.end() })
	return f
}

// end stops the feed and gives the last number that the broker took.
func (f *feedOfNumbers) end() int64 {
	select {
	case <-f.stop:
	default:
		close(f.stop)
	}
	<-f.ended
	return f.number()
}

func (f *feedOfNumbers) number() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

func (f *feedOfNumbers) run() {
	defer close(f.ended)
	tick := time.NewTicker(time.Second / mqttPerSecond)
	defer tick.Stop()
	var g *gateway
	text, next := "", int64(0)
	for {
		select {
		case <-f.stop:
			if text == "" {
				return
			}
		case <-tick.C:
		}
		if text == "" {
			next++
			text = fmt.Sprintf(`{"n":%d,"ts":%d}`, next, time.Now().UnixMilli())
		}
		if g == nil {
			g, _ = newGateway(f.address) // the broker may be away: at the next tick then
		}
		if g == nil {
			continue
		}
		if err := g.publish("field/n", text); err != nil {
			_ = g.conn.Close() // the same message goes again on the next connection
			g = nil
			continue
		}
		f.mu.Lock()
		f.sent = next
		f.mu.Unlock()
		text = ""
	}
}
