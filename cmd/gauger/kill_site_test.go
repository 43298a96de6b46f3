package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/outbox"
)

const killYAML = `site: Killed battery
id: KILL
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service:
  url: http://SERVICE
  primary_key: {env: GAUGER_PRIMARY_KEY}
  secondary_key: {env: GAUGER_SECONDARY_KEY}
store: {path: STORE, max_bytes: 2MiB, linger: 0s}
recorder: {max_bytes: 1MiB}
link: {rate: off}
loads: {speed: 10000}
devices:
  - name: plc
    modbus: tcp://PLC
    every: 10ms
    timeout: 20s
    retries: 0
    points:
      - {name: level, holding: 100, type: float32, unit: in, range: [0, 240]}
      - {name: number, holding: 102, type: int32}
tanks:
  - {id: TK-1, level: plc/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}
wells:
  - id: 3fa85f64-5717-4562-b3fc-2c963f66afa6
    tag_values:
      - {code: Production Target Oil, point: plc/number, every: 0s}
`

// bell lets a kill wait until something has happened so many times.
type bell struct {
	mu   sync.Mutex
	left int
	rung chan struct{}
}

// after is closed when the bell has been rung n times from now on.
func (b *bell) after(n int) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left, b.rung = n, make(chan struct{})
	return b.rung
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left--; b.left == 0 {
		close(b.rung)
	}
}

// door knows who is connected to a listener.
type door struct {
	mu     sync.Mutex
	moved  sync.Cond
	inside map[string]bool
}

func newDoor() *door {
	d := &door{inside: map[string]bool{}}
	d.moved.L = &d.mu
	return d
}

func (d *door) pass(who net.Addr, in bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside[who.String()] = in; !in {
		delete(d.inside, who.String())
	}
	d.moved.Broadcast()
}

// empty returns when everyone has left who came before this call; those who come meanwhile must leave too. What a killed
// process has sent may still be on its way, and must not be taken for the next one's.
func (d *door) empty(address string) error {
	last, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer last.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.inside[last.LocalAddr().String()] || len(d.inside) > 1 {
		d.moved.Wait()
	}
	return nil
}

// numbers is a PLC whose register holds another number at each request, so that each reading is a record of its own. A
// truck comes every few hours of the site's time.
type numbers struct {
	net.Listener
	door  *door
	asked bell

	mu    sync.Mutex
	began time.Time
	last  uint32
	acked map[int64]bool // numbers after which the same connection asked twice more: the line is one batch ahead of the disk
	first time.Time      // when the first request came since restarted
	gone  bool           // nobody is answered any more
	still float64        // the level, where nothing flows; 0: trucks come
	speed float64        // of the site's time; 0: 10,000
}

func newNumbers() (*numbers, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &numbers{Listener: l, door: newDoor(), began: time.Now(), acked: map[int64]bool{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.door.pass(c.RemoteAddr(), true)
			go n.serve(c)
		}
	}()
	return n, nil
}

// serve answers one connection; a broken one is the end of a killed master.
func (n *numbers) serve(c net.Conn) {
	defer n.door.pass(c.RemoteAddr(), false)
	defer c.Close()
	var last, before uint32 // what this connection was told last, and before that
	for {
		var q [12]byte
		if _, err := io.ReadFull(c, q[:]); err != nil {
			return
		}
		answer, number := n.answer(q, before)
		if answer == nil {
			return
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
		last, before = number, last
		n.asked.ring()
	}
}

// answer reads holding registers 100 to 103, or the part that is asked for.
func (n *numbers) answer(q [12]byte, before uint32) ([]byte, uint32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if before != 0 {
		n.acked[int64(before)] = true
	}
	if n.first.IsZero() {
		n.first = time.Now()
	}
	if n.gone {
		return nil, 0
	}
	n.last++
	registers := binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(n.level())))
	registers = binary.BigEndian.AppendUint32(registers, n.last)
	from, count := binary.BigEndian.Uint16(q[8:]), binary.BigEndian.Uint16(q[10:])
	if q[7] != 3 || from < 100 || from+count > 104 {
		return append(append([]byte{}, q[:4]...), 0, 3, q[6], q[7]|0x80, 2), 0
	}
	data := registers[2*(from-100) : 2*(from-100+count)]
	head := append(append([]byte{}, q[:4]...), 0, byte(3+len(data)), q[6], 3, byte(len(data)))
	if from > 102 || from+count < 104 {
		return append(head, data...), 0 // the number was not asked for
	}
	return append(head, data...), n.last
}

// level falls by 80 inches within half an hour of the site's time, every three hours, and rises between.
func (n *numbers) level() float64 {
	if n.still != 0 {
		return n.still
	}
	into := math.Mod(time.Since(n.began).Hours()*cmp.Or(n.speed, 10000)+1.5, 3)
	return 120 + 80*max(1-into/0.5, (into-0.5)/2.5)
}

// restarted begins to look for the first poll of a new process.
func (n *numbers) restarted() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.first = time.Time{}
}

// firstPoll measures from an instant to the first request; false: none came.
func (n *numbers) firstPoll(since time.Time) (time.Duration, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.first.Sub(since), !n.first.IsZero()
}

// hangUp ends the answers: whoever asks again is cut off.
func (n *numbers) hangUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = true
}

// life is a site of its own, with everything that its witnesses know.
type life struct {
	program, dir, config, socket, box string
	plc                               *numbers
	office                            *moody
	done                              bell // commands that ended well
	lingers                           bool // polled values wait for each other, and are offered: a kill costs them

	mu      sync.Mutex
	memos   []string // texts of the commands that ended well
	tickets []string // their numbers
	serial  int

	sum killed
}

func newLife(t *testing.T, program string, seed uint64, from int) (*life, error) {
	dir, err := os.MkdirTemp(t.TempDir(), "life")
	if err != nil {
		return nil, err
	}
	l := &life{program: program, dir: dir, lingers: from/lifeCycles%2 == 1, config: filepath.Join(dir, "gauger.yaml"), socket: filepath.Join(dir, "s"), box: filepath.Join(dir, "store", "outbox.db")}
	if l.plc, err = newNumbers(); err != nil {
		return nil, err
	}
	if l.office, err = newMoody(seed, from); err != nil {
		return nil, errors.Join(err, l.plc.Close())
	}
	text := strings.NewReplacer("SERVICE", l.office.address, "STORE", filepath.Dir(l.box), "PLC", l.plc.Addr().String()).Replace(killYAML)
	if l.lingers {
		text = strings.NewReplacer("linger: 0s", "linger: 4ms", "speed: 10000", "speed: 1").Replace(text)
		l.plc.still = 100 // else each poll stores the tank's state, and what lingers with it
	}
	return l, os.WriteFile(l.config, []byte(text), 0o600)
}

func (l *life) close() error {
	return errors.Join(l.plc.Close(), l.office.server.Close(), os.RemoveAll(l.dir))
}

// attempt is one process of the program.
type attempt struct {
	*process
	began time.Time
	quiet context.CancelFunc // no more commands
	clerk chan struct{}      // closed when the last command has ended
}

// start starts the program as systemd would, and lets somebody type commands.
func (l *life) start() (*attempt, error) {
	l.plc.restarted()
	l.office.next()
	ctx, quiet := context.WithCancel(context.Background())
	p := &attempt{process: &process{Cmd: exec.Command(l.program, "run", "-c", l.config, "--strict", "--socket", l.socket), ended: make(chan struct{})},
		began: time.Now(), quiet: quiet, clerk: make(chan struct{})}
	p.Env = append(os.Environ(), "GAUGER_PRIMARY_KEY="+primaryKey, "GAUGER_SECONDARY_KEY="+secondaryKey, "GORACE=atexit_sleep_ms=0")
	p.Stdout, p.Stderr = p, p
	if err := p.Start(); err != nil {
		quiet()
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.Wait() // how it ended is in ProcessState
	}()
	go func() {
		defer close(p.clerk)
		l.commands(ctx)
	}()
	return p, nil
}

// kill is the end of a process that knows of nothing.
func (l *life) kill(p *attempt) error {
	p.stop(syscall.SIGKILL)
	p.quiet()
	<-p.clerk
	l.sum.kills++
	if err := errors.Join(l.plc.door.empty(l.plc.Addr().String()), l.office.door.empty(l.office.address)); err != nil {
		return err
	}
	if d, ok := l.plc.firstPoll(p.began); ok {
		l.sum.polls = append(l.sum.polls, d)
	}
	if _, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || p.ProcessState.Exited() {
		return fmt.Errorf("gauger ended by itself: %s", p.said())
	}
	if err := l.sound(); err != nil {
		return fmt.Errorf("%w; gauger said: %s", err, p.said())
	}
	return nil
}

// sound examines the file that a killed process has left.
func (l *life) sound() error {
	if info, err := os.Stat(l.box); errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil // killed before the first file was made
	}
	if _, err := outbox.Check(l.box); err != nil {
		return err
	}
	set, err := filepath.Glob(l.box + ".damaged*")
	if err == nil && len(set) > 0 {
		err = fmt.Errorf("a kill cost the file, it was set aside as %s", set)
	}
	return err
}

// commands types memos and tickets until the process is gone. What ended well must arrive.
func (l *life) commands(ctx context.Context) {
	pause := time.NewTicker(15 * time.Millisecond)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		client, err := console.Dial(l.socket)
		if err != nil {
			continue // not up yet
		}
		l.command(ctx, client)
	}
}

// command types one; one that failed may or may not have been stored.
func (l *life) command(ctx context.Context, client *console.Client) {
	l.mu.Lock()
	l.serial++
	n := l.serial
	l.mu.Unlock()
	var q control.QueuedRecord
	if n%2 == 0 {
		text := fmt.Sprintf("memo %d", n)
		body, err := cloud.DefaultWire().EncodeMemo(cloud.Memo{Text: text})
		if err != nil {
			panic(err) // a text always encodes
		}
		if client.Call(ctx, "queue", control.QueueArgs{Stream: ledger.Memos, Address: "4711", Body: body}, &q) != nil {
			return
		}
		l.mu.Lock()
		l.memos = append(l.memos, text)
		l.mu.Unlock()
		l.done.ring()
		return
	}
	begin := l.plc.began.Add(-time.Duration(n) * time.Hour)
	written := ledger.ManualTicket{Tank: "TK-1", Open: 150, Close: 60, Start: begin, End: begin.Add(30 * time.Minute)}
	if client.Call(ctx, "tickets.add", written, &q) != nil {
		return
	}
	l.mu.Lock()
	l.tickets = append(l.tickets, q.Number)
	l.mu.Unlock()
	l.done.ring()
}
