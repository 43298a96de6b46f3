package main

import (
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

	paho "github.com/eclipse/paho.mqtt.golang"

	"gauger/collectors/addresstest"
	"gauger/deploy/bench/machine"
)

// wearRates are the messages a second that cannot be decoded, beginning with none; to each comes one good reading a second of another device, through
// the same session.
var wearRates = []int{0, 10, 100, 2000}

// measureWear plays garbage at each rate to a gauger whose store is in a new folder of dir. It reads what the process
// has had written, and the sectors of the device that dir is on, which tells of this alone where nothing else uses the device.
func measureWear(gauger, dir string, rates []int, seconds int) error {
	fmt.Println("messages/s  sent  kept  not kept  write_bytes  a message  GB/day  device KB  good sent, stored, delivered")
	for _, rate := range rates {
		line, _, err := wearRound(gauger, dir, rate, seconds, false)
		if err != nil {
			return fmt.Errorf("%d messages a second: %w", rate, err)
		}
		fmt.Println(line)
	}
	return nil
}

// wearRound plays garbage at one rate, with a good reading a second or alone. day is what it writes in a day, in MB, by two stretches: the
// first, in which the budget's burst is used up, counts once.
func wearRound(gauger, dir string, rate, seconds int, alone bool) (line string, day float64, err error) {
	store, err := os.MkdirTemp(dir, "wear-")
	if err != nil {
		return "", 0, err
	}
	own, err := os.MkdirTemp("", "mqttbench-")
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(store), os.RemoveAll(own)) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second+roundLimit)
	defer cancel()
	broker, end, err := startBroker(ctx, own)
	if err != nil {
		return "", 0, err
	}
	defer end()
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", 0, err
	}
	defer service.Close()
	go http.Serve(service, http.HandlerFunc(takeAll)) //nolint:errcheck // it ends with the listener
	status, err := addresstest.Free()
	if err != nil {
		return "", 0, err
	}
	text := strings.NewReplacer("BROKER", broker, "STATUS", status, "STORE", store, "SERVICE", service.Addr().String()).Replace(wearYAML)
	daemon, err := startWorn(ctx, gauger, own, text)
	if err != nil {
		return "", 0, err
	}
	defer daemon.Wait()         //nolint:errcheck // it is killed
	defer daemon.Process.Kill() //nolint:errcheck // it ends with the round
	m := paho.NewClient(paho.NewClientOptions().AddBroker("mqtt://" + broker).SetClientID("babbler"))
	if t := m.Connect(); t.Wait() && t.Error() != nil {
		return "", 0, t.Error()
	}
	defer m.Disconnect(0)
	good := 0
	publishGood := func() {
		m.Publish("bench/good", 1, false, fmt.Sprintf(`{"n":%d,"ts":%d}`, good, time.Now().UnixMilli()))
		good++
	}
	stored := func() int { return metric(status, `gauger_records_accepted_total{stream="tagvalues"}`) }
	if err := until(ctx, "gauger has subscribed", func() bool {
		if listens(status) && stored() == 0 {
			publishGood()
		}
		return stored() > 0
	}); err != nil {
		return "", 0, err
	}
	time.Sleep(3 * time.Second) // what the start has to write
	good = stored()
	burst, goodReading := int64(0), publishGood
	if alone {
		goodReading = nil
		before := writtenBy(daemon)
		babble(m, rate, time.Duration(seconds)*time.Second, nil)
		burst = writtenBy(daemon) - before
	}
	written, sectors := writtenBy(daemon), deviceKB(dir)
	began := time.Now()
	sent := babble(m, rate, time.Duration(seconds)*time.Second, goodReading)
	took := time.Since(began)
	if err := until(ctx, "all messages are through", func() bool {
		return stored() >= good && metric(status, `gauger_records_waiting{stream="tagvalues"}`) == 0
	}); err != nil {
		fmt.Println(err)
	}
	time.Sleep(5 * time.Second) // the kernel's own delay for what is not synced
	syscall.Sync()
	written, sectors = writtenBy(daemon)-written, deviceKB(dir)-sectors
	kept := metric(status, `gauger_records_accepted_total{stream="refused"}`)
	day = (float64(burst) + float64(written)/took.Hours()*24) / 1e6
	return fmt.Sprintf("%10d  %d  %d  %d  %d  %.0f B  %.2f  %d  %d, %d, %d", rate, sent, kept, sent-kept, written, float64(written)/float64(sent),
		float64(written)/took.Hours()*24/1e9, sectors, good, stored(), metric(status, `gauger_records_delivered_total{stream="tagvalues"}`)), day, nil
}

// startWorn starts gauger on a configuration, with its file in own.
func startWorn(ctx context.Context, gauger, own, text string) (*exec.Cmd, error) {
	file := filepath.Join(own, "gauger.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	daemon := exec.CommandContext(ctx, gauger, "run", "-c", file, "--socket", filepath.Join(own, "sock"))
	daemon.Env = append(os.Environ(), "KEY=0123456789abcdef")
	daemon.Stderr = io.Discard
	return daemon, daemon.Start()
}

// measureGarbage prints row 17's garbage.
func measureGarbage(gauger, dir string, seconds int) error {
	const rate, goal = 2000, 50
	_, day, err := wearRound(gauger, dir, rate, seconds, true)
	if err != nil {
		return fmt.Errorf("%d messages a second that cannot be decoded: %w", rate, err)
	}
	fmt.Printf("17\tflash a day, %d messages a second that cannot be decoded, MB\t%.0f\t<= %d\t%s\n", rate, day, goal, verdict(day <= goal))
	return nil
}

// takeAll is a service that takes everything.
func takeAll(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // what cannot be read is taken all the same
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, "{}")
}

// babble publishes so many messages a second in which there is nothing that a point reads, each another one, and a good reading a second.
func babble(m paho.Client, rate int, lasts time.Duration, goodReading func()) (sent int) {
	began, second := time.Now(), time.Duration(0)
	for tick := time.NewTicker(10 * time.Millisecond); time.Since(began) < lasts; <-tick.C {
		for due := int(time.Since(began).Seconds() * float64(rate)); sent < due; sent++ {
			m.Publish("bench/n", 1, false, fmt.Sprintf(`{"n":%d,"ts":%d,"state":"no level here"}`, sent, time.Now().UnixMilli()))
		}
		if goodReading != nil && time.Since(began) >= second {
			goodReading()
			second += time.Second
		}
	}
	return sent
}

// writtenBy is what the program has had written to disks; 0 where the system does not tell.
func writtenBy(program *exec.Cmd) int64 {
	n, _ := machine.WrittenBy(strconv.Itoa(program.Process.Pid)) // else it counts as 0
	return n
}

// deviceKB is what was ever written to the device that a folder is on; 0 where the system does not tell.
func deviceKB(dir string) int64 {
	var at syscall.Stat_t
	if syscall.Stat(dir, &at) != nil {
		return 0
	}
	n, _ := machine.WrittenTo(fmt.Sprintf("/sys/dev/block/%d:%d", at.Dev>>8&0xfff, at.Dev&0xff)) // for the first 256 of a kind
	return n / 1024
}

// wearYAML is a site with one device whose messages have nothing at the path, and another that is well.
const wearYAML = `site: Bench
id: BENCH
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
service: {url: "http://SERVICE", primary_key: {env: KEY}}
store: {path: STORE}
recorder: {max_bytes: 0}
devices:
  - name: radio
    mqtt: mqtt://BROKER
    client_id: bench
    points: [{name: n, topic: bench/n, value: level.in}]
  - name: good
    mqtt: mqtt://BROKER
    client_id: bench
    points: [{name: n, topic: bench/good, value: n, time: ts}]
wells:
  - id: 3fa85f64-5717-4562-b3fc-2c963f66afa6
    tag_values: [{code: "Production Target Oil", point: good/n, every: 0s}]
http: {listen: STATUS}
`
