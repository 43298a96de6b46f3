package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rs/zerolog"

	"gauger/agent"
	"gauger/collectors/sim"
	"gauger/config"
	"gauger/outbox"
)

// backtest plays a recording through the ledger that the daemon uses, into an outbox in a temporary folder, and
// prints the tickets that would have been sent.
func (m *Main) backtest(ctx context.Context, args []string) error {
	f, c := m.flags("backtest")
	readings := f.String("readings", "", "recording to play, a CSV `file` with the columns ts,mono_s,boot,point,value,quality")
	events := f.String("events", "", "write the diagnostic events to this `file` as JSON")
	if rest, err := parse(f, c, args); err != nil {
		return err
	} else if len(rest) > 0 || *readings == "" {
		return usage{"backtest wants --readings FILE and no other arguments"}
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return unreadable(err)
	}
	dir, err := os.MkdirTemp("", "gauger-backtest-")
	if err != nil {
		return fmt.Errorf("make a folder for the backtest: %w", err)
	}
	defer os.RemoveAll(dir)
	cfg.Store.Path = dir
	made, err := replay(ctx, cfg, *readings, m.logger("error"))
	if err != nil {
		return err
	}
	if *events != "" {
		if err := writeJSON(*events, made[agent.Events]); err != nil {
			return err
		}
	}
	if c.json() {
		return printJSON(m.Out, made[agent.Tickets])
	}
	return m.backtestText(made)
}

// replay plays the file and returns the bodies of each stream, in the order in which they would have left.
func replay(ctx context.Context, cfg *config.Config, file string, log zerolog.Logger) (made map[string][]json.RawMessage, err error) {
	box, err := openBox(cfg, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	site := siteOf(cfg)
	ledger, err := agent.NewLedger(site, box, clockOf(site), log)
	if err != nil {
		return nil, err
	}
	for _, d := range recordingsOf(cfg, file) {
		player, err := sim.New(d)
		if err != nil {
			return nil, err
		}
		if err := player.Run(ctx, ledger.Host(d.Name)); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	made = map[string][]json.RawMessage{agent.Tickets: {}, agent.Events: {}}
	for stream := range made {
		if made[stream], err = bodies(box, stream); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// recordingsOf lets the file stand for the configured recordings. Any other devices become recordings too, so that
// the configuration of a real site can be tested on what was recorded there.
func recordingsOf(cfg *config.Config, file string) []sim.Device {
	all := sim.Device{Name: "recording", File: file}
	for _, p := range cfg.Points() {
		all.Points = append(all.Points, sim.Point{Name: string(p.Point), Unit: string(p.Unit)})
	}
	return []sim.Device{all}
}

// bodies reads a whole queue.
func bodies(box *outbox.Box, stream string) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	for after := uint64(0); ; {
		page, err := box.Entries(stream, outbox.Waiting, after, 256)
		if err != nil || len(page) == 0 {
			return all, err
		}
		for _, e := range page {
			all = append(all, json.RawMessage(e.Record.Body))
			after = e.Record.Seq
		}
	}
}

// backtestText prints what a person wants to see of it.
func (m *Main) backtestText(made map[string][]json.RawMessage) error {
	for _, raw := range made[agent.Tickets] {
		var t struct {
			TicketNumber, Comments, Start, End string
			Tank                               struct{ ExternalID string }
			OpeningLevel, ClosingLevel         struct{ Level float64 }
		}
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("read a ticket: %w", err)
		}
		fmt.Fprintf(m.Out, "%s  %s  %s to %s  %.2f to %.2f\n    %s\n", t.TicketNumber, t.Tank.ExternalID, t.Start, t.End,
			t.OpeningLevel.Level, t.ClosingLevel.Level, t.Comments)
	}
	fmt.Fprintf(m.Out, "%d tickets, %d events\n", len(made[agent.Tickets]), len(made[agent.Events]))
	return nil
}

// writeJSON writes v to a file.
func writeJSON(path string, v any) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the events: %w", err)
	}
	return errors.Join(printJSON(f, v), f.Close())
}

// printJSON prints v for a program.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// firstLine is the first line of a longer text.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
