package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"gauger/agent/control"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/config"
)

// tracer prints frames, each as a line of words and the bytes below it.
type tracer struct {
	mu   sync.Locker // of the output, which others may write to as well
	out  io.Writer
	zone *time.Location
}

// bytesPerRow of a frame fill 100 columns.
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
	for b := f.Bytes; len(b) > 0; {
		n := min(bytesPerRow, len(b))
		fmt.Fprintf(t.out, "%*s % 02X\n", len(at)+len(way)+1, "", b[:n])
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

// traceSpan says how long a trace goes on.
func traceSpan(watch bool, wait time.Duration) string {
	if watch {
		return ""
	}
	return ", for " + wait.String()
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
