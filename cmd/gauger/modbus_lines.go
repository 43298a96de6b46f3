package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/config"
)

// modbusAccess leads to the Modbus lines: through the daemon when one runs, since a serial port has one owner,
// else on lines of its own.
type modbusAccess struct {
	daemon *console.Client // nil: none runs
	lines  *line.Lines
}

func openModbus(c *call) (*modbusAccess, error) {
	daemon, err := c.dial()
	if err != nil && !errors.Is(err, console.ErrNoDaemon) {
		return nil, err
	}
	return &modbusAccess{daemon, &line.Lines{}}, nil
}

func (t *modbusAccess) close() error { return t.lines.Close() }

// checkTimeout checks how long a command lets a unit take. Beside a daemon it holds a line that others wait for.
func checkTimeout(timeout time.Duration) error {
	if timeout <= 0 || timeout > time.Minute {
		return usageError{fmt.Sprintf("--timeout %s: longer than zero and at most 1m, such as 1s", timeout)}
	}
	return nil
}

// offerModbus lets commands use the lines that the daemon has open.
func offerModbus(d *control.Server, lines *line.Lines) {
	d.Register("modbus.probe", control.Operate, control.RequestOf(func(ctx context.Context, a probeRequest) (probeResult, error) { return probeOn(ctx, lines, a) }))
	d.RegisterLive("modbus.scan", control.Operate, control.LiveStreamOf(func(ctx context.Context, a scanRequest, see func(any) error) error {
		err := scanOn(ctx, lines, a, func(f unitFound) error { return see(f) })
		if _, busy := errors.AsType[lineTaken](err); busy {
			return fmt.Errorf("%w; gauger reads this line with its own settings: sudo systemctl stop gauger, scan, and start it again", err)
		}
		return err
	}))
	d.RegisterLive("modbus.trace", control.Look, control.LiveStreamOf(func(ctx context.Context, _ control.None, see func(any) error) error {
		return traceOn(ctx, lines, func(f line.Frame) error { return see(f) })
	}))
}

// withPortHint says what to do about a connection that was refused.
func withPortHint(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%w; %s", err, line.Advice(err, ""))
	}
	return err
}

func isException(err error, code int) bool {
	e, refused := errors.AsType[*line.Exception](err)
	return refused && int(e.Code) == code
}

// asInManual says that the register may be a number out of a manual, with its kind in front.
func (a probeRequest) asInManual() bool { return a.Address >= 30001 && a.Address <= 49999 }

// onWire is the register if manuals count it from 1.
func (a probeRequest) onWire() int {
	if a.asInManual() {
		return a.Address%10000 - 1
	}
	return max(a.Address-1, 0)
}

func (a probeRequest) otherKind() string {
	return either(a.Input, "--kind holding", "--kind input")
}

// lineTaken is a line that cannot be had with the settings that were asked for.
type lineTaken struct{ error }

func (t lineTaken) Unwrap() error { return t.error }

func (t *modbusAccess) probe(ctx context.Context, a probeRequest) (p probeResult, err error) {
	if t.daemon == nil {
		return probeOn(ctx, t.lines, a)
	}
	err = t.daemon.Call(ctx, "modbus.probe", a, &p)
	return p, err
}

func (t *modbusAccess) scan(ctx context.Context, a scanRequest, see func(unitFound) error) error {
	if t.daemon == nil {
		return scanOn(ctx, t.lines, a, see)
	}
	return t.daemon.Follow(ctx, "modbus.scan", a, func(raw json.RawMessage) error {
		var f unitFound
		if err := json.Unmarshal(raw, &f); err != nil {
			return fmt.Errorf("read what the running gauger found: %w", err)
		}
		return see(f)
	})
}

// traceLag is the longest way of a frame from the daemon to here.
const traceLag = 200 * time.Millisecond

// trace calls see with what is on the lines until stop is called; see is called by one goroutine at a time.
func (t *modbusAccess) trace(ctx context.Context, see func(line.Frame)) (stop func(), err error) {
	if t.daemon == nil {
		return t.lines.Trace(see), nil
	}
	ctx, cancel := context.WithCancel(ctx)
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- t.followTrace(ctx, sync.OnceFunc(func() { close(begun) }), see) }()
	select {
	case <-begun:
		return func() {
			collectors.Wait(ctx, traceLag)
			cancel()
			<-ended
		}, nil
	case err := <-ended:
		cancel()
		return nil, err
	}
}

func (t *modbusAccess) followTrace(ctx context.Context, begun func(), see func(line.Frame)) error {
	return t.daemon.Follow(ctx, "modbus.trace", control.None{}, func(raw json.RawMessage) error {
		begun()
		var f line.Frame
		if err := json.Unmarshal(raw, &f); err != nil {
			return fmt.Errorf("read what the running gauger saw: %w", err)
		}
		if f.Words != "" {
			see(f)
		}
		return nil
	})
}

// maxTraceBacklog of frames that wait for somebody who looks on from afar.
const maxTraceBacklog = 1024

// traceOn calls see with every frame on the lines until ctx ends or see fails, and before the first with an empty one.
// Who is too slow misses frames, and is told so: looking on must never hold up a line.
func traceOn(ctx context.Context, lines *line.Lines, see func(line.Frame) error) error {
	frames := make(chan line.Frame, maxTraceBacklog)
	missed := make(chan struct{}, 1)
	stop := lines.Trace(func(f line.Frame) {
		select {
		case frames <- f:
		default:
			select {
			case missed <- struct{}{}:
			default: // it is known already
			}
		}
	})
	defer stop()
	if err := see(line.Frame{}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-missed:
			if err := see(line.Frame{At: time.Now(), Words: "some frames are missing here: they came faster than they could be shown"}); err != nil {
				return err
			}
		case f := <-frames:
			if err := see(f); err != nil {
				return err
			}
		}
	}
}

// lineStatuses counts what happened on each Modbus line since the start.
func lineStatuses(lines *line.Lines) (all []control.LineStatus) {
	lines.Each(func(l *line.Line) {
		n := l.Stats()
		s := control.LineStatus{
			Line: l.URL(), Load: n.Load, Busy: n.Busy.Seconds(), Requests: n.Requests, Timeouts: n.Timeouts, Exceptions: n.Exceptions,
			BadFrames: n.BadFrames, Late: n.Late, CrossTalk: n.CrossTalk, Reconnects: max(n.Opened, 1) - 1, Mismatches: n.Mismatches, Down: n.Down,
			OtherMaster: n.OtherMaster,
			Rounds:      []control.RoundStatus{},
		}
		for _, r := range l.Rounds() {
			s.Rounds = append(s.Rounds, control.RoundStatus{Device: r.Device, Every: r.Every.Seconds(), Took: r.Took.Seconds(), At: r.At.Round(0)})
		}
		all = append(all, s)
	})
	return all
}

// tracer prints frames, each as a line of words and the bytes below it.
type tracer struct {
	mu   sync.Locker // of the output, which others may write to as well
	out  io.Writer
	zone *time.Location
}

// bytesPerRow of a frame fill 100 columns; a terminal that has fewer gets fewer, in eights.
const bytesPerRow = 24

func (t tracer) printFrame(f line.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	way := "--      "
	switch {
	case f.Sent:
		way = "sent    "
	case len(f.Bytes) > 0:
		way = "received"
	}
	at := f.At.In(t.zone).Format("15:04:05.000")
	fmt.Fprintf(t.out, "%s %s %s\n", at, way, strings.TrimSpace(f.URL+"  "+f.Words))
	if strings.Contains(f.URL, "ascii") && len(f.Bytes) > 0 && f.Bytes[0] == ':' {
		fmt.Fprintf(t.out, "%*s %q\n", len(at)+len(way)+1, "", f.Bytes)
		return
	}
	before, row := len(at)+len(way)+1, bytesPerRow
	if width := terminalWidth(t.out); width > 0 {
		row = min(row, max(8, (width-before)/3/8*8))
	}
	for b := f.Bytes; len(b) > 0; {
		n := min(row, len(b))
		fmt.Fprintf(t.out, "%*s % 02X\n", before, "", b[:n])
		b = b[n:]
	}
}

// newTracer prints frames among the readings, in the order in which both come; beside readings for a program, on
// standard error.
func newTracer(c *call, r *readingPrinter) tracer {
	t := tracer{mu: &r.mu, out: r.out, zone: r.site.zone()}
	if r.json {
		t.out = c.err
	}
	return t
}

// speaks says whether one of the points is read on the line with this URL; without points, or a configuration that names them, any
// line may be meant.
func (h site) speaks(points []string, url string) bool {
	if len(points) == 0 || h.cfg == nil {
		return true
	}
	for _, d := range h.cfg.Devices {
		o := config.Options[modbus.Device](d)
		if o == nil || !slices.ContainsFunc(points, func(p string) bool { return strings.HasPrefix(p, d.Name+"/") }) {
			continue
		}
		if at, err := line.ParseEndpoint(o.URL); err == nil && at.String() == url {
			return true
		}
	}
	return false
}

// tracedFromDaemon shows what the running gauger sends and hears, and the readings that it makes of it.
func (r *readingPrinter) tracedFromDaemon(parent context.Context, t *modbusAccess, points []string, show tracer, watch bool, wait time.Duration) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	if !watch {
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	stop, err := t.trace(parent, func(f line.Frame) {
		if r.site.speaks(points, f.URL) {
			show.printFrame(f)
		}
	})
	if err != nil {
		return err
	}
	defer stop()
	begun, wanted := time.Now(), map[collectors.Point]bool{}
	for _, p := range points {
		wanted[collectors.Point(p)] = true
	}
	err = t.daemon.Watch(ctx, points, func(s control.PointReading) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if s.Asked.IsZero() || s.Asked.After(begun) {
			delete(wanted, s.Point)
		}
		if len(points) > 0 && len(wanted) == 0 && !watch {
			defer cancel()
		}
		return r.print(s)
	})
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// registerProblem is the cause alone, without saying again which register.
func registerProblem(err error) string {
	if err == nil {
		return ""
	}
	if refusal, ok := errors.AsType[*line.Exception](err); ok {
		return refusal.Error()
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return err.Error()
}
