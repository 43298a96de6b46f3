package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gauger/agent"
	"gauger/agent/recorder"
	"gauger/collectors"
	"gauger/config"
)

// recorderDir is the recorder's place in the store.
func recorderDir(cfg *config.Config) string { return filepath.Join(cfg.Store.Path, "recorder") }

// openRecorder takes up the recorder of the store; nil when no readings are kept.
func openRecorder(cfg *config.Config) (*recorder.Ring, error) {
	if cfg.Recorder.MaxBytes == 0 {
		return nil, nil
	}
	return recorder.Open(recorderDir(cfg), recorder.Options{
		MaxBytes: int64(cfg.Recorder.MaxBytes), Days: cfg.Recorder.Days, Refuge: refugeOf(cfg.Store.Path),
	})
}

// refugeOf is the file of a store's recorder in the runtime directory, which lies in memory and outlives a kill. Without a
// directory from systemd it is the one of the same name as the store, or gauger's. "": there is none.
func refugeOf(store string) string {
	folders := []string{filepath.Join("/run", filepath.Base(store)), "/run/gauger"}
	if given, ok := os.LookupEnv("RUNTIME_DIRECTORY"); ok {
		first, _, _ := strings.Cut(given, ":")
		folders = []string{first}
	}
	whole, err := filepath.Abs(store)
	if err != nil {
		return ""
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return filepath.Join(folder, fmt.Sprintf("recorder-%08x", crc32.ChecksumIEEE([]byte(whole)))) // stores may share a folder
		}
	}
	return ""
}

// keepReadings lets the daemon record. A recorder that cannot be opened is said, and stops nothing.
func (d *daemon) keepReadings(ledger *agent.Ledger) {
	ring, err := openRecorder(d.cfg)
	if err != nil {
		d.log.Error().Err(err).Msg("no readings are recorded; mend the folder recorder in the store, then start gauger again")
		ledger.Unrecorded(err, int64(d.cfg.Recorder.MaxBytes))
	}
	d.ring = ring
	if ring != nil {
		ledger.Record(ring, int64(d.cfg.Recorder.MaxBytes))
	}
}

// closeReadings writes down what the recorder has in memory.
func (d *daemon) closeReadings() {
	if d.ring == nil {
		return
	}
	if err := d.ring.Close(); err != nil {
		d.log.Error().Err(err).Msg("the newest readings could not be recorded")
	}
}

// runExportReadings prints recorded readings as the CSV that backtest plays.
func runExportReadings(ctx context.Context, c *call, args []string) error {
	f := flags(c, "export readings")
	c.format, c.formats = "csv", []string{"csv"}
	var points []string
	list(f, &points, "point", "only the points with these `NAMES`, as DEVICE/POINT")
	within := addWindowFlags(f)
	file := f.String("o", "", "write to this `file` instead of standard output")
	if rest, err := parse(f, c, args); err != nil || len(rest) > 0 {
		return orUsage(err, "export readings takes flags only, such as --from 24h --point plc/level")
	}
	wanted, err := within.wanted(c, points)
	if err != nil {
		return err
	}
	return withConnection(c, func(d *connection) error {
		if *file == "" {
			return writeReadings(ctx, c, d, wanted, c.out)
		}
		out, err := os.Create(*file)
		if err != nil {
			return fmt.Errorf("write the readings: %w", err)
		}
		return errors.Join(writeReadings(ctx, c, d, wanted, out), out.Close())
	})
}

// window is what two flags say of the time that is wanted.
type window struct{ from, to *string }

func addWindowFlags(f *flag.FlagSet) window {
	return window{
		f.String("from", "", "begin at this `TIME` (the site's), or so long ago: 24h, 7d"),
		f.String("to", "", "end before this `TIME`"),
	}
}

// wanted reads them.
func (s window) wanted(c *call, points []string) (agent.Wanted, error) {
	var w agent.Wanted
	for _, p := range points {
		w.Points = append(w.Points, collectors.Point(p))
	}
	for _, x := range []struct {
		name, text string
		into       *time.Time
	}{{"--from", *s.from, &w.From}, {"--to", *s.to, &w.To}} {
		if x.text == "" {
			continue
		}
		at, err := parseTime(x.text, findSite(c).zone(), time.Now())
		if err != nil {
			return w, usage{x.name + ": " + err.Error()}
		}
		*x.into = at
	}
	if !w.To.IsZero() && !w.From.Before(w.To) {
		return w, usage{"--to must be later than --from"}
	}
	return w, nil
}

// writeReadings writes a recording piece by piece. What of the recorder cannot be read is told beside it.
func writeReadings(ctx context.Context, c *call, d *connection, w agent.Wanted, out io.Writer) error {
	if _, err := io.WriteString(out, agent.ReadingsHeader); err != nil {
		return fmt.Errorf("write the readings: %w", err)
	}
	none := true
	err := d.stream(ctx, "readings", w, func(raw json.RawMessage) error {
		var r agent.Readings
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("read what the recorder gave: %w", err)
		}
		if r.Damage != "" {
			fmt.Fprintln(c.err, "warning: "+r.Damage)
		}
		none = none && r.CSV == ""
		if _, err := io.WriteString(out, r.CSV); err != nil {
			return fmt.Errorf("write the readings: %w", err)
		}
		return nil
	})
	if err == nil && none {
		fmt.Fprintln(c.err, "the recorder has no readings of these points and this time")
	}
	return err
}

// stream looks at one of the desk's feeds until it is over.
func (d *connection) stream(ctx context.Context, name string, args any, see func(json.RawMessage) error) error {
	if d.remote != nil {
		return d.remote.Follow(ctx, name, args, see)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("write down the request: %w", err)
	}
	return d.local.Follow(ctx, name, raw, func(thing any) error {
		b, err := json.Marshal(thing)
		if err != nil {
			return fmt.Errorf("write down the answer: %w", err)
		}
		return see(b)
	})
}

// replayRecorder calls play with the recorder's readings as a recording. play may end before the recording does.
func replayRecorder(ctx context.Context, c *call, w agent.Wanted, play func(io.Reader) error) error {
	return withConnection(c, func(d *connection) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		in, out := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			err := writeReadings(ctx, c, d, w, out)
			out.CloseWithError(err)
			ended <- err
		}()
		err := play(in)
		in.Close()
		if wrote := <-ended; err == nil && !errors.Is(wrote, io.ErrClosedPipe) {
			err = wrote
		}
		return err
	})
}
