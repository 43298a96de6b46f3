package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gauger/agent/control"
	"gauger/agent/recorder"
	"gauger/collectors"

	"github.com/spf13/cobra"
)

type exportReadingsOptions struct {
	file   string
	points []string
	within timeWindow
}

func exportReadingsCommand(c *call) *cobra.Command {
	o := &exportReadingsOptions{}
	cmd := newCommand(c, "readings [--from T] [--to T] [--point NAME]", "the recorded readings, as backtest reads them", o.run)
	takes(cmd, 0, "export readings takes flags only, such as --from 24h --point plc/level")
	f := cmd.Flags()
	printsFormats(cmd, "output `FORMAT`: csv (default csv)", "csv")
	list(f, &o.points, "point", "only the points with these `NAMES`, as DEVICE/POINT")
	o.within.addFlags(f, "begin at this `TIME` (the site's), or so long ago: 24h, 7d", "end before this `TIME`")
	f.StringVarP(&o.file, "o", "o", "", "write to this `file` instead of standard output")
	return cmd
}

func (o *exportReadingsOptions) run(ctx context.Context, c *call, _ []string) error {
	from, to, err := o.within.readAtSite(c)
	if err != nil {
		return err
	}
	wanted := control.ReadingsArgs{From: from, To: to}
	for _, p := range o.points {
		wanted.Points = append(wanted.Points, collectors.Point(p))
	}
	write := func(out io.Writer) error {
		return withConnection(c, func(d *connection) error { return writeReadings(ctx, c, d, wanted, out) })
	}
	if o.file == "" {
		return write(c.out)
	}
	return writeFile(o.file, "write the readings", 0o666, write)
}

// writeReadings writes a recording piece by piece. What of the recorder cannot be read is told beside it.
func writeReadings(ctx context.Context, c *call, d *connection, w control.ReadingsArgs, out io.Writer) error {
	write := func(text string) error {
		if _, err := io.WriteString(out, text); err != nil {
			return fmt.Errorf("write the readings: %w", err)
		}
		return nil
	}
	if err := write(recorder.CSVHeader); err != nil {
		return err
	}
	none := true
	err := d.recording(ctx, w, func(r control.RecordingPiece) error {
		if r.Damage != "" {
			fmt.Fprintln(c.err, "warning: "+r.Damage)
		}
		none = none && r.CSV == ""
		return write(r.CSV)
	})
	if err == nil && none {
		fmt.Fprintln(c.err, "the recorder has no readings of these points and this time"+unknownPoints(c, w.Points))
	}
	return err
}

// unknownPoints says which of some names are no points of the configuration; empty: all are, or nobody knows.
func unknownPoints(c *call, names []collectors.Point) string {
	h := findSite(c)
	if h.cfg == nil {
		return ""
	}
	known, unknown := h.cfg.PointNames(), []string(nil)
	for _, name := range names {
		if !slices.Contains(known, string(name)) {
			unknown = append(unknown, fmt.Sprintf("%q is no point of the configuration%s", name, didYouMean(string(name), known)))
		}
	}
	return behind("; ", strings.Join(unknown, "; "))
}

// recording calls see with what the recorder has kept, piece by piece.
func (d *connection) recording(ctx context.Context, w control.ReadingsArgs, see func(control.RecordingPiece) error) error {
	if d.remote != nil {
		return d.remote.Follow(ctx, "readings", w, func(raw json.RawMessage) error {
			var r control.RecordingPiece
			if err := json.Unmarshal(raw, &r); err != nil {
				return fmt.Errorf("read what the recorder gave: %w", err)
			}
			return see(r)
		})
	}
	raw, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("write down the request: %w", err)
	}
	local, err := d.server("readings")
	if err != nil {
		return err
	}
	return local.Follow(ctx, "readings", raw, func(thing any) error { return see(thing.(control.RecordingPiece)) })
}

// replayRecorder calls play with the recorder's readings as a recording. play may end before the recording does.
func replayRecorder(ctx context.Context, c *call, w control.ReadingsArgs, play func(io.Reader) error) error {
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
