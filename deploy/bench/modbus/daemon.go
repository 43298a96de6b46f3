package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What minimal Telegraf 1.37.2 took of the CPU for each register, as a multiple of the bare poller's, measured side
// by side: 4.2 against 0.9 us with 10 devices, 53.4 against 3.6 % of a core with 2,000.
const (
	telegrafAtTen       = 4.2 / 0.9
	telegrafAtThousands = 53.4 / 3.6
)

// daemonSizes are the sites of rows 3 and 4.
var daemonSizes = []struct {
	devices, rounds int
	oneCore         bool
	goal            float64 // of Telegraf's CPU; 0: none
	telegraf        float64
	window          time.Duration
}{
	{10, 3, false, 0.5, telegrafAtTen, 8 * time.Second},
	{500, 1, true, 0, 0, 8 * time.Second},
	{2000, 1, true, 0.2, telegrafAtThousands, 10 * time.Second},
}

// levelRegister of the tanks; a register holds its own address, and that is in inches.
const levelRegister = 90

// deviceMemoryGoal for each further device of 100 registers, in KiB.
const deviceMemoryGoal = 25

// measureDaemon is rows 2, 3 and 4: the whole program, with its outbox on disk, ten of the devices feeding a tank, and
// a service that refuses connections, since quiet tanks have nothing to say.
func measureDaemon(gauger string) ([]finding, error) {
	var all []finding
	resident := map[int]int{}
	for _, size := range daemonSizes {
		var ours, floors, rss, anon []float64
		for range size.rounds {
			o, err := runDaemon(gauger, size.devices, size.oneCore, size.window)
			if err != nil {
				return nil, err
			}
			f, err := floorAt(size.devices, size.oneCore, size.window).run()
			if err != nil {
				return nil, err
			}
			ours, floors = append(ours, microseconds(o.perRegister())), append(floors, microseconds(f.perRegister()))
			rss, anon = append(rss, float64(o.used.RSS)), append(anon, float64(o.used.Anon))
		}
		resident[size.devices] = int(median(rss))
		ratio := median(ours) / median(floors)
		f := finding{
			row: 3, what: fmt.Sprintf("gauger run, %d devices x 100 registers at 1 s: CPU us/register (bare poller beside it)", size.devices),
			theory: fmt.Sprintf("%.3f", median(floors)), measured: fmt.Sprintf("%.3f", median(ours)), ratio: ratio,
		}
		if size.goal > 0 {
			f.goal = fmt.Sprintf("<= %.2f x the bare poller (%.1f of Telegraf's %.2f x)", size.goal*size.telegraf, size.goal, size.telegraf)
			f.judged, f.met = true, ratio <= size.goal*size.telegraf
		}
		all = append(all, f, daemonMemory(size.devices, median(rss), median(anon)))
	}
	return append(all, deviceMemory(resident)), nil
}

// daemonMemory has a goal, row 2, for the ordinary site only: 16 MiB resident, 6 MiB of it anonymous.
func daemonMemory(devices int, rss, anon float64) finding {
	f := finding{
		row: 4, what: fmt.Sprintf("gauger run, %d devices: resident (anonymous) MiB", devices), theory: "8.4 (1.8)",
		measured: fmt.Sprintf("%.1f (%.1f)", rss/1024, anon/1024),
	}
	if devices == 10 {
		f.row = 2
		f.goal, f.judged, f.met = "<= 16 (6)", true, rss <= 16*1024 && anon <= 6*1024
	}
	return f
}

func deviceMemory(resident map[int]int) finding {
	each := float64(resident[2000]-resident[500]) / 1500
	return finding{
		row: 4, what: "each further device of 100 registers, KiB resident (500 to 2,000)", theory: "13", measured: fmt.Sprintf("%.1f", each),
		ratio: each / 13, goal: "<= 25", judged: true, met: each <= deviceMemoryGoal,
	}
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// floorAt is the bare poller at the same load.
func floorAt(devices int, oneCore bool, window time.Duration) trial {
	t := trial{
		field: []stationSpec{{Copies: devices, Every: time.Second}}, poller: "floor", how: launch{oneCore: oneCore},
		load:   load{Units: 1, Registers: registersEach, Every: time.Second, Timeout: time.Second},
		settle: 2 * time.Second, window: window,
	}
	t.load.URLs = make([]string, devices)
	return t
}

// runDaemon measures the program itself in a folder of its own.
func runDaemon(gauger string, devices int, oneCore bool, length time.Duration) (_ outcome, err error) {
	dir, err := os.MkdirTemp("", "modbusbench")
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var addresses []string
	field, err := spawn(launch{}, "slave", []stationSpec{{Copies: devices, Every: time.Second}}, &addresses)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, field.stop()) }()
	d, err := startDaemon(gauger, dir, addresses, launch{oneCore: oneCore})
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := awaitUnits(field, devices, d.ended); err != nil {
		return outcome{}, fmt.Errorf("%w; the program says: %s", err, lastLines(filepath.Join(dir, "log")))
	}
	time.Sleep(5 * time.Second)
	return window(field, d.cmd.Process.Pid, length, func() error { return nil })
}

// daemon is a running gauger.
type daemon struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
	err   error         // how; after that
}

func startDaemon(gauger, dir string, addresses []string, how launch) (*daemon, error) {
	service, err := closedPort()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "site.yaml")
	if err := os.WriteFile(config, []byte(siteYAML(addresses, service, dir)), 0o600); err != nil {
		return nil, err
	}
	return startProgram(gauger, dir, how, "run", "-c", config, "--strict", "--socket", filepath.Join(dir, "socket"))
}

// startProgram starts gauger, or one that is measured beside it, with its log in dir.
func startProgram(path, dir string, how launch, arguments ...string) (*daemon, error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	cmd := how.command(path, arguments...)
	cmd.Env = append(cmd.Env, "MODBUSBENCH_KEY=none")
	cmd.Stdout, cmd.Stderr = log, log
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		return nil, fmt.Errorf("start %s (make build makes gauger): %w", path, err)
	}
	d := &daemon{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(d.ended)
		d.err = cmd.Wait()
	}()
	return d, nil
}

// stop ends it in order, if it has not ended by itself.
func (d *daemon) stop() error {
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-d.ended
	return d.err
}

// closedPort is a loopback address where nobody listens.
func closedPort() (string, error) {
	l, err := net.Listen("tcp", loopback)
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// siteYAML is a site with one device behind each address, all with the same points (a configuration of 2,000 devices
// that writes them out would be too long). One point of each of the first ten is a tank's level.
func siteYAML(addresses []string, service, dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "site: Bench\nid: BENCH\nobject: 6f9619ff-8b86-d011-b42d-00c04fc964ff\ntime_zone: America/Chicago\n")
	fmt.Fprintf(&b, "service: {url: \"http://%s\", primary_key: {env: MODBUSBENCH_KEY}}\n", service)
	fmt.Fprintf(&b, "store: {path: %s, max_bytes: 64MiB}\ndevices:\n", filepath.Join(dir, "store"))
	for n, address := range addresses {
		fmt.Fprintf(&b, "  - {name: d%d, modbus: \"tcp://%s\", every: 1s, timeout: 1s, points: ", n, address)
		if n > 0 {
			b.WriteString("*points}\n")
			continue
		}
		b.WriteString("&points [\n")
		for i := range registersEach {
			unit := ""
			if i == levelRegister {
				unit = ", unit: in"
			}
			fmt.Fprintf(&b, "      {name: p%d, holding: %d%s},\n", i, i, unit)
		}
		b.WriteString("    ]}\n")
	}
	b.WriteString("tanks:\n")
	for n := range min(10, len(addresses)) {
		fmt.Fprintf(&b, "  - {id: TK-%d, level: d%d/p%d, sensor: radar, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme}\n", n, n, levelRegister)
	}
	return b.String()
}

// lastLines is the end of a log, for an error.
func lastLines(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-1000):])
}
