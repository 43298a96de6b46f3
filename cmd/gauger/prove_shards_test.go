package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	stretches "gauger/deploy/proof"
)

// The site of the shards: leases of two tanks with a topic each, whose time runs shardSpeed times as fast; minutes are the site's.
const (
	shardSpeed  = 120.0
	shardKill   = 30.0 // minute at which an instance is killed, loads being under way
	shardChange = 45.0 // and at which a fourth one takes over its tanks
	shardEnd    = 75.0 // all loads have ended
)

const shardYAML = `site: Shards
id: SHARD
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
service: {url: "http://SERVICE", primary_key: {env: GAUGER_PRIMARY_KEY}, secondary_key: {env: GAUGER_SECONDARY_KEY}}
store: {path: STORE, max_bytes: 64MiB}
recorder: {max_bytes: 0}
log: {level: warn}
loads: {speed: 120, confirm: 20m}
tickets: {hold: 5m}
devices:
`

// shardProof is a site at work that several instances share.
type shardProof struct {
	t       *testing.T
	dir     string
	program string
	tanks   []hauled
	broker  string
	office  *office
	began   time.Time
	agents  map[int]*process
	stop    chan struct{}
	ended   chan error
}

func newShardProof(t *testing.T, s stretches.Stretch) *shardProof {
	p := &shardProof{t: t, dir: t.TempDir(), office: newOffice(t), agents: map[int]*process{}, stop: make(chan struct{}), ended: make(chan error, 1)}
	for i, r := range s.Cases() {
		p.tanks = append(p.tanks, hauled{id: fmt.Sprintf("TK-%d", i), level0: 150 + 60*r.Float64(), inflow: 0.1 * r.Float64(), begins: 15 + 38*r.Float64(), rate: 7 + 2*r.Float64(), load: 120 + 40*r.Float64()})
	}
	var err error
	if p.program, err = exec.LookPath("gauger"); err != nil { // this test binary, by the name under which it is gauger
		t.Fatal(err)
	}
	t.Setenv("GAUGER_PRIMARY_KEY", primaryKey)
	t.Setenv("GAUGER_SECONDARY_KEY", secondaryKey)
	var broker *process
	p.broker, broker = newBroker(t)
	wait(t, "the broker listens", func() bool { return listens(p.broker) })
	for i := range 4 {
		p.configure(i)
	}
	p.began = time.Now()
	go p.feed()
	for i := range 3 {
		p.start(i, 3)
	}
	wait(t, "all have subscribed", func() bool { return strings.Count(broker.said(), " 1 field/") >= (len(p.tanks)+1)/2 })
	return p
}

// configure writes the configuration of an instance: all are the same but for the store.
func (p *shardProof) configure(i int) {
	var text strings.Builder
	text.WriteString(strings.NewReplacer("SERVICE", p.office.address, "STORE", filepath.Join(p.dir, fmt.Sprint("store", i))).Replace(shardYAML))
	for k := 0; k < len(p.tanks); k += 2 {
		fmt.Fprintf(&text, "  - name: l%d\n    mqtt: mqtt://%s\n    points:\n", k/2, p.broker)
		for j := k; j < min(k+2, len(p.tanks)); j++ {
			fmt.Fprintf(&text, "      - {name: t%d, topic: field/%d, value: t%d, time: ts, unit: in}\n", j, k/2, j)
		}
	}
	text.WriteString("tanks:\n")
	for k, h := range p.tanks {
		fmt.Fprintf(&text, "  - {id: %s, level: l%d/t%d, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme}\n", h.id, k/2, k)
	}
	if err := os.WriteFile(p.file(i), []byte(text.String()), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *shardProof) file(i int) string { return filepath.Join(p.dir, fmt.Sprintf("gauger%d.yaml", i)) }

func (p *shardProof) minute() float64 { return time.Since(p.began).Minutes() * shardSpeed }

func (p *shardProof) start(i, of int) {
	p.t.Helper()
	p.agents[i] = launch(p.t, nil, p.program, "run", "-c", p.file(i), "--socket", filepath.Join(p.dir, fmt.Sprint("s", i)), "--shard", fmt.Sprintf("%d/%d", i, of))
}

// command runs a command beside no instance.
func (p *shardProof) command(args ...string) string {
	p.t.Helper()
	out, err := exec.Command(p.program, append(args, "--socket", filepath.Join(p.dir, "none"))...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("gauger %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// feed sends the levels of a lease in a message, each lease four times a second.
func (p *shardProof) feed() {
	g, err := newGateway(p.broker)
	noise := rand.New(rand.NewPCG(1, 2))
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for err == nil {
		for k := 0; k < len(p.tanks) && err == nil; k += 2 {
			var text strings.Builder
			fmt.Fprintf(&text, `{"ts":%d`, time.Now().UnixMilli())
			for j := k; j < min(k+2, len(p.tanks)); j++ {
				fmt.Fprintf(&text, `,"t%d":%.2f`, j, p.tanks[j].level(p.minute())+0.03*noise.NormFloat64())
			}
			err = g.publish(fmt.Sprint("field/", k/2), text.String()+"}")
		}
		select {
		case <-tick.C:
		case <-p.stop:
			p.ended <- err
			return
		}
	}
	p.ended <- err
}

// until lets the site go on.
func (p *shardProof) until(minute float64) {
	p.t.Helper()
	select {
	case <-time.After(time.Duration((minute - p.minute()) / shardSpeed * float64(time.Minute))):
	case err := <-p.ended:
		p.t.Fatalf("the levels do not reach the broker: %v", err)
	}
}

// TestProveShards lets three instances share a site at a broker. One is killed and started again while trucks load, and later a
// fourth one takes over what is its own by then, loads under way included. In the end each load has its one ticket.
func TestProveShards(t *testing.T) {
	s := stretches.Of(t, 0)
	if s.N == 0 {
		t.Skip("takes a minute; `make prove-shards` runs it")
	}
	if _, err := exec.LookPath(roadMosquitto); err != nil {
		t.Skipf("no %s here; install the package mosquitto to run this test", roadMosquitto)
	}
	p := newShardProof(t, s)
	p.until(shardKill)
	p.agents[1].stop(syscall.SIGKILL)
	p.start(1, 3)
	p.until(shardChange)
	began := p.minute()
	moved := 0
	for i := range 3 {
		p.agents[i].stop(syscall.SIGTERM)
		p.command("tanks", "export", "-c", p.file(i), "--shard", fmt.Sprintf("%d/3", i), "--shards", "4", "--out", p.dir)
	}
	files, err := filepath.Glob(filepath.Join(p.dir, "handover-*-to-3of4.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files were handed over (%v)", len(files), err)
	}
	said := p.command(append([]string{"tanks", "import", "-c", p.file(3), "--shard", "3/4"}, files...)...)
	for _, line := range strings.Split(strings.TrimSpace(said), "\n") {
		var n int
		if _, err := fmt.Sscanf(line[strings.LastIndex(line, ": ")+2:], "%d tank", &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		moved += n
	}
	for i := range 4 {
		p.start(i, 4)
	}
	away := p.minute() - began
	p.until(shardEnd + 25) // confirmed, and held
	wait(t, "the tickets have come", func() bool { return len(p.office.store.Tickets()) >= len(p.tanks) })
	p.until(p.minute() + 40) // a second one of a load would come meanwhile
	close(p.stop)
	if err := <-p.ended; err != nil {
		t.Fatal(err)
	}
	p.judge(s, moved, away)
}

// judge compares the tickets with the loads.
func (p *shardProof) judge(s stretches.Stretch, moved int, away float64) {
	p.t.Helper()
	got := map[string][]float64{}
	for _, k := range p.office.store.Tickets() {
		got[k.TankExternalID] = append(got[k.TankExternalID], (k.OpeningLevel-k.ClosingLevel)*roadPer)
	}
	worst := 0.0
	for _, h := range p.tanks {
		if len(got[h.id]) != 1 {
			p.t.Errorf("%s has %d tickets %v, want one of %.1f bbl", h.id, len(got[h.id]), got[h.id], h.load)
			continue
		}
		worst = max(worst, math.Abs(got[h.id][0]-(h.load-h.inflow*h.load/h.rate)))
	}
	s.Tell(p.t, "%d loads of %d tanks, each one ticket, at most %.1f bbl off; %d tanks went over to a fourth instance in %.0f s", len(p.tanks), len(p.tanks), worst, moved, away*60/shardSpeed)
}
