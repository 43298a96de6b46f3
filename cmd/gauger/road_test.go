package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/ledger"
)

// The site's time runs this much faster than the wall clock.
const (
	roadSpeed = 120.0
	roadPer   = 2.0 // barrels per inch of both tanks
)

// hauled is a tank from which one load is taken. Times are minutes of the site.
type hauled struct {
	id                 string
	level0             float64 // inches
	inflow             float64 // barrels a minute
	begins, rate, load float64 // minute, barrels a minute, barrels
}

func (h hauled) ends() float64 { return h.begins + h.load/h.rate }

// level of the tank, in inches.
func (h hauled) level(minute float64) float64 {
	out := min(max(0, (minute-h.begins)*h.rate), h.load)
	return h.level0 + (h.inflow*minute-out)/roadPer
}

// A truck takes a load from a tank behind a PLC while gauger is killed, and another from a tank behind a radio while
// the service is away.
var (
	plcTank   = hauled{id: "TK-1", level0: 200, inflow: 0.1, begins: 18, rate: 8, load: 160}
	radioTank = hauled{id: "TK-2", level0: 180, inflow: 0.08, begins: 34, rate: 7.5, load: 150}
)

const roadYAML = `site: Road battery
id: ROAD
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service:
  url: http://SERVICE
  primary_key: {env: GAUGER_PRIMARY_KEY}
  secondary_key: {env: GAUGER_SECONDARY_KEY}
store: {path: STORE, max_bytes: 8MiB}
loads: {speed: 120, confirm: 20m}
tickets: {hold: 20m}
devices:
  - name: plc
    modbus: tcp://PLC
    every: 50ms
    points:
      - {name: level, holding: 100, type: float32, order: CDAB, unit: in, range: [0, 240]}
  - name: radio
    mqtt: mqtt://BROKER
    points:
      - {name: level, topic: field/tk2, value: level.in, time: ts, unit: in}
      - {name: number, topic: field/tk2, value: seq, time: ts}
tanks:
  - {id: TK-1, level: plc/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}
  - {id: TK-2, level: radio/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}
wells:
  - id: 3fa85f64-5717-4562-b3fc-2c963f66afa6
    tag_values:
      - {code: Production Target Oil, point: radio/number, every: 0s}
`

// road is the whole way from a register and a message to the service.
type road struct {
	t       *testing.T
	program string
	config  string
	socket  string
	office  *office
	agent   *process
	began   time.Time // the site's minute 0
	plc     io.Writer
	gateway *gateway
	sent    int64 // number of the last radio message that the broker took
}

// minute is the site's time.
func (r *road) minute() float64 { return time.Since(r.began).Minutes() * roadSpeed }

// start runs gauger as systemd would.
func (r *road) start() {
	r.t.Helper()
	r.agent = launch(r.t, nil, r.program, "run", "-c", r.config, "--socket", r.socket)
}

// drive lets the site go on until a condition holds. The tanks are read 40 times a second, the radio speaks each 20
// seconds of the site.
func (r *road) drive(what string, until func() bool) {
	r.t.Helper()
	noise := rand.New(rand.NewPCG(7, uint64(r.sent)))
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	limit := time.Now().Add(time.Minute)
	for n := 0; !until(); n++ {
		if time.Now().After(limit) {
			r.t.Fatalf("waited in vain until %s", what)
		}
		<-tick.C
		if _, err := fmt.Fprintf(r.plc, "%.4f\n", plcTank.level(r.minute())+0.03*noise.NormFloat64()); err != nil {
			r.t.Fatalf("write the register: %v", err)
		}
		if n%6 == 0 {
			r.speak(radioTank.level(r.minute()) + 0.03*noise.NormFloat64())
		}
	}
}

// speak is one message of the radio, with a number of its own.
func (r *road) speak(level float64) {
	r.t.Helper()
	text := fmt.Sprintf(`{"ts":%d,"seq":%d,"level":{"in":%.3f}}`, time.Now().UnixMilli(), r.sent+1, level)
	if err := r.gateway.publish("field/tk2", text); err != nil {
		r.t.Fatalf("publish message %d: %v", r.sent+1, err)
	}
	r.sent++
}

// waits says whether a ticket of the tank is in the outbox.
func (r *road) waits(tank string) bool {
	client, err := console.Dial(r.socket)
	if err != nil {
		return false
	}
	var all []ledger.TicketRecord
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	if err := client.Call(ctx, "tickets.list", control.None{}, &all); err != nil {
		r.t.Fatalf("list the tickets: %v", err)
	}
	return slices.ContainsFunc(all, func(b ledger.TicketRecord) bool { return b.Tank == tank && b.Seq > 0 })
}

// missing are the numbers that the broker took and the service does not have.
func (r *road) missing() (numbers []int64) {
	have := map[int64]bool{}
	for _, v := range r.office.store.TagValues() {
		have[v.Value] = true
	}
	for n := int64(1); n <= r.sent; n++ {
		if !have[n] {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// newRoad starts everything and waits until gauger listens to the radio.
func newRoad(t *testing.T) *road {
	t.Helper()
	if testing.Short() {
		t.Skip("takes most of a minute")
	}
	if _, err := exec.LookPath(roadMosquitto); err != nil {
		t.Skipf("no %s here; install the package mosquitto to run this test", roadMosquitto)
	}
	python := roadPython(t)
	program, err := exec.LookPath("gauger") // this test binary, by the name under which it is gauger
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r := &road{t: t, program: program, config: filepath.Join(dir, "gauger.yaml"), socket: filepath.Join(dir, "s"), office: newOffice(t)}
	t.Setenv("GAUGER_PRIMARY_KEY", primaryKey)
	t.Setenv("GAUGER_SECONDARY_KEY", secondaryKey)
	broker, mosquitto := newBroker(t)
	plc := r.newPLC(python)
	text := strings.NewReplacer("SERVICE", r.office.address, "STORE", filepath.Join(dir, "store"), "PLC", plc, "BROKER", broker).Replace(roadYAML)
	if err := os.WriteFile(r.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	wait(t, "the broker listens", func() bool { return listens(broker) })
	if r.gateway, err = newGateway(broker); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.gateway.conn.Close() })
	r.start()
	wait(t, "gauger listens to the radio", func() bool { return strings.Contains(mosquitto.said(), " 1 field/tk2") })
	r.began = time.Now()
	return r
}

// newPLC starts the PLC with its tank as it stands at first, and gives its address.
func (r *road) newPLC(python string) string {
	r.t.Helper()
	registers, in, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { in.Close(); registers.Close() })
	p := launch(r.t, registers, python, filepath.Join("testdata", "road_slave.py"))
	r.plc = in
	fmt.Fprintf(in, "%.4f\n", plcTank.level(0))
	port := ""
	wait(r.t, "the PLC says its port", func() bool {
		_, said, _ := strings.Cut(p.said(), "port ")
		line, _, whole := strings.Cut(said, "\n")
		port = line
		return whole
	})
	return "127.0.0.1:" + port
}

// wait polls for a condition.
func wait(t *testing.T, what string, until func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(30 * time.Second); !until(); <-tick.C {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// TestRoad drives two loads over the whole road on real parts: Mosquitto, a PLC made with pymodbus, gauger as a process
// of its own, and the reference service behind a socket. gauger is killed during the first load; the service is away
// round the second.
func TestRoad(t *testing.T) {
	r := newRoad(t)
	r.drive("half of the first load is taken", func() bool { return r.minute() > (plcTank.begins+plcTank.ends())/2 })
	r.agent.stop(syscall.SIGKILL)
	back := r.minute() + 3
	r.drive("gauger was away for three minutes", func() bool { return r.minute() > back })
	r.start()
	r.drive("the second load begins", func() bool { return r.minute() > radioTank.begins })
	if err := r.office.server.Close(); err != nil {
		t.Fatal(err)
	}
	r.drive("both tickets are in the outbox", func() bool { return r.waits(plcTank.id) && r.waits(radioTank.id) })
	if err := r.office.open(); err != nil {
		t.Fatal(err)
	}
	wait(t, "both tickets and every number are at the service", func() bool {
		return len(r.office.store.Tickets()) >= 2 && len(r.missing()) == 0
	})
	r.agent.stop(syscall.SIGTERM)
	if code := r.agent.ProcessState.ExitCode(); code != 0 {
		t.Errorf("gauger ended with status %d, want 0", code)
	}
	r.judge()
}

// judge compares what the service has with what the site did.
func (r *road) judge() {
	tickets := r.office.store.Tickets()
	slices.SortFunc(tickets, func(a, b cloudtest.Ticket) int { return cmp.Compare(a.TankExternalID, b.TankExternalID) })
	if len(tickets) != 2 || tickets[0].TankExternalID != plcTank.id || tickets[1].TankExternalID != radioTank.id {
		r.t.Fatalf("the service has %d tickets, want one of each tank: %+v", len(tickets), tickets)
	}
	for i, tank := range []hauled{plcTank, radioTank} {
		k := tickets[i]
		open, closing := tank.level(tank.begins), tank.level(tank.ends())
		if math.Abs(k.OpeningLevel-open) > 0.6 || math.Abs(k.ClosingLevel-closing) > 0.6 {
			r.t.Errorf("%s went from %.2f to %.2f in, its ticket says %.2f to %.2f", tank.id, open, closing, k.OpeningLevel, k.ClosingLevel)
		}
		r.t.Logf("%s: %.2f to %.2f in, its ticket %.2f to %.2f; %s", tank.id, open, closing, k.OpeningLevel, k.ClosingLevel, k.Comments)
	}
	for _, v := range r.office.store.TagValues() {
		if v.Value < 1 || v.Value > r.sent {
			r.t.Errorf("the service has the number %d, which no message had", v.Value)
		}
	}
	for _, c := range r.office.store.Calls() {
		if c.Status != 200 {
			r.t.Errorf("%s %s was answered %d: %s", c.Method, c.Path, c.Status, c.Body)
		}
	}
	r.t.Logf("%d numbers sent, %d calls", r.sent, len(r.office.store.Calls()))
}
