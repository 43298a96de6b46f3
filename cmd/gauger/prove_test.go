package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/collectors/sim"
	"gauger/config"
	"gauger/outbox"
)

// What a ticket may differ by when gauger was killed on the way.
const (
	proveInches  = 0.05
	proveTime    = time.Minute
	proveBarrels = 0.5
)

// proof is one case on its way.
type proof struct {
	t      *testing.T
	folder string
	rows   []string // the recording's lines after its header
}

func newProof(t *testing.T, folder string) *proof {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, "readings.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	return &proof{t: t, folder: folder, rows: lines[1 : len(lines)-1]}
}

// name is the case's.
func (p *proof) name() string { return filepath.Base(p.folder) }

// recording writes the first n rows into a file of its own.
func (p *proof) recording(dir string, rows []string) string {
	p.t.Helper()
	file := filepath.Join(dir, "readings.csv")
	text := "ts,mono_s,boot,point,value,quality\n" + strings.Join(rows, "")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// config loads the case's configuration with a store of its own.
func (p *proof) config(store string) *config.Config {
	p.t.Helper()
	cfg, err := config.Load(filepath.Join(p.folder, "gauger.yaml"))
	if err != nil {
		p.t.Fatal(err)
	}
	cfg.Store.Path = store
	return cfg
}

// play lets a ledger on the store take a file, as a run of gauger would, and gives the streams as they are then.
func (p *proof) play(store, file string, each func(*outbox.Box)) map[string][]json.RawMessage {
	p.t.Helper()
	cfg := p.config(store)
	// Without the examination by a child: the child would be this test program.
	box, err := outbox.Open(outboxFile(cfg), outbox.Options{MaxBytes: 1 << 20, Streams: outboxStreams(cfg.Service.Wire, cfg.Store), Label: ledger.RecordLabel})
	if err != nil {
		p.t.Fatal(err)
	}
	site := newAgentSite(cfg)
	siteLedger, err := ledger.New(site, box, newClock(site), zerolog.Nop())
	if err == nil {
		var player collectors.Collector
		if player, err = sim.New(recordingOf(cfg, sim.Device{File: file})); err == nil {
			err = player.Run(context.Background(), lookedAt{siteLedger.Host("rec"), func() {
				if each != nil {
					each(box)
				}
			}})
		}
	}
	made := map[string][]json.RawMessage{}
	for _, stream := range []string{ledger.Tickets, ledger.Events} {
		all, bad := bodies(box, stream)
		made[stream], err = all, errors.Join(err, bad)
	}
	if err := errors.Join(err, box.Close()); err != nil {
		p.t.Fatal(err)
	}
	return made
}

// lookedAt is a host that is looked at after each batch.
type lookedAt struct {
	collectors.Host
	after func()
}

// Emit implements collectors.Host.
func (w lookedAt) Emit(ctx context.Context, batch []collectors.Reading) error {
	err := w.Host.Emit(ctx, batch)
	w.after()
	return err
}

// proven are the figures by which a ticket is compared.
type proven struct {
	TicketNumber               string
	Comments                   string
	Start, End                 time.Time
	Tank                       struct{ ExternalID string }
	OpeningLevel, ClosingLevel struct{ Level float64 }
}

var proveGauge = regexp.MustCompile(`gauge_bbl=([0-9.]+)`)

func (p proven) barrels() float64 {
	m := proveGauge.FindStringSubmatch(p.Comments)
	if m == nil {
		return math.NaN()
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	return v
}

// alike says how two runs' tickets differ by more than they may; empty when they do not.
func alike(got, want []json.RawMessage) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d tickets, want %d", len(got), len(want))
	}
	var faults []string
	for i := range got {
		var a, b proven
		if err := errors.Join(json.Unmarshal(got[i], &a), json.Unmarshal(want[i], &b)); err != nil {
			return err.Error()
		}
		same := a.TicketNumber == b.TicketNumber && a.Tank == b.Tank &&
			math.Abs(a.OpeningLevel.Level-b.OpeningLevel.Level) <= proveInches+1e-9 &&
			math.Abs(a.ClosingLevel.Level-b.ClosingLevel.Level) <= proveInches+1e-9 &&
			a.Start.Sub(b.Start).Abs() <= proveTime && a.End.Sub(b.End).Abs() <= proveTime &&
			math.Abs(a.barrels()-b.barrels()) <= proveBarrels+1e-9
		if !same {
			faults = append(faults, fmt.Sprintf("%s %s to %s %.2f to %.2f in %.1f bbl\nwant %s %s to %s %.2f to %.2f in %.1f bbl",
				a.TicketNumber, a.Start.Format(time.RFC3339), a.End.Format(time.RFC3339), a.OpeningLevel.Level, a.ClosingLevel.Level, a.barrels(),
				b.TicketNumber, b.Start.Format(time.RFC3339), b.End.Format(time.RFC3339), b.OpeningLevel.Level, b.ClosingLevel.Level, b.barrels()))
		}
	}
	return strings.Join(faults, "\n")
}
