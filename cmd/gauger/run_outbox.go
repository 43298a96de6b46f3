package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/agent/link"
	"gauger/agent/recorder"
	"gauger/config"
	"gauger/outbox"
	"gauger/outbox/preflight"
)

// outboxStreams are the outbox's queues. Tickets and memos never give way to the quota; events go oldest last, and of tag
// values the older are thinned. Each of the others has a share that it does not exceed. Values wait for each other.
func outboxStreams(w cloud.Wire, store config.Store) []outbox.Stream {
	s := store.Shares
	targets, mostTargets := cloud.OfValues(w.Batch.Targets)
	values, mostValues := cloud.OfValues(w.Batch.TagValues)
	return []outbox.Stream{
		{Name: ledger.Tickets, Batch: w.Batch.Tickets, Journal: true},
		{Name: ledger.Memos, Batch: 1},
		{Name: ledger.Events, Batch: w.Batch.Events, Keep: outbox.OldestLast, Share: s.Events},
		{Name: ledger.Targets, Batch: targets, Most: mostTargets, Keep: outbox.OldestLast, Share: s.Targets, Linger: store.Linger},
		{Name: ledger.TagValues, Batch: values, Most: mostValues, Keep: outbox.ThinFirst, Share: s.TagValues, Linger: store.Linger},
		{Name: ledger.Refused, Keep: outbox.OldestFirst, Held: true, Share: s.Refused},
	}
}

// outboxFile is the outbox's place in the store.
func outboxFile(cfg *config.Config) string { return filepath.Join(cfg.Store.Path, "outbox.db") }

// openOutbox opens the outbox of the store, and makes the folder when there is none; to look only it makes and changes nothing.
func openOutbox(cfg *config.Config, looks bool, pace func(ctx context.Context, stream string) error, notify func(outbox.Note)) (*outbox.Box, error) {
	if err := os.MkdirAll(cfg.Store.Path, 0o700); err != nil && !looks {
		return nil, fmt.Errorf("make the store (store.path): %w", err)
	}
	return outbox.Open(outboxFile(cfg), outbox.Options{
		MaxBytes: int64(cfg.Store.MaxBytes), Streams: outboxStreams(cfg.Service.Wire, cfg.Store), Notify: notify, Label: ledger.RecordLabel,
		ReceiptsFor: time.Duration(cfg.Store.Receipts.Days) * 24 * time.Hour, ReceiptsBytes: int64(cfg.Store.Receipts.MaxBytes),
		Preflight: checkItself(), Pace: pace, LookOnly: looks,
	})
}

// checkItself lets a child process examine the outbox before it is opened: a damaged file can crash or hang its reader.
// Where the program cannot find itself the file is only looked at quickly.
func checkItself() func(path string) error {
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		return nil
	}
	return preflight.InChild(self, "outbox", "check")
}

// linkStateKey is the name under which the box keeps the bytes of the day.
const linkStateKey = "link"

// streamClasses share the link: tickets, which make the money, come first. A memo is a person's, who waits for it.
var streamClasses = map[string]link.Class{
	ledger.Tickets: link.Must, ledger.Events: link.Soon, ledger.Memos: link.Soon, ledger.Targets: link.Later, ledger.TagValues: link.Bulk,
}

func newLink(cfg *config.Config) *link.Link {
	o := link.Options{MaxBytes: int64(cfg.Link.MaxBytesPerDay), Zone: cfg.Zone, NotBefore: earliestClock, Streams: streamClasses}
	if cfg.Link.Rate > 0 {
		o.Every = time.Duration(float64(time.Second) / float64(cfg.Link.Rate))
	}
	for _, w := range cfg.Link.Windows {
		o.Windows = append(o.Windows, link.Window{From: time.Duration(w.From), To: time.Duration(w.To)})
	}
	return link.New(o)
}

// resumeLink takes up the bytes of the day, and spreads what waits already. Toward the box itself there is no herd.
func resumeLink(l *link.Link, cfg *config.Config, box *outbox.Box, log zerolog.Logger) error {
	kept, err := box.Get(linkStateKey)
	if err != nil {
		return err
	}
	if err := l.Resume(kept); err != nil {
		log.Warn().Err(err).Msg("the bytes of the day are counted anew")
	}
	if u, err := url.Parse(cfg.Service.URL); err != nil || cloud.Loopback(u.Hostname()) {
		return nil
	}
	waiting := uint64(0)
	for name := range streamClasses {
		waiting += box.Counts()[name].Waiting
	}
	l.Backlog(waiting, time.Now())
	return nil
}

// storeLinkUsage stores the bytes of the day. A disk that does not take them is the outbox's to tell.
func (d *daemon) storeLinkUsage(count []byte) {
	if err := d.box.Update(func(tx *outbox.Tx) error { tx.Put(linkStateKey, count); return nil }); err != nil {
		d.log.Warn().Err(err).Msg("the bytes of the day were not stored; a restart counts fewer")
	}
}

// openRecorder takes up the recorder of the store; nil when no readings are kept.
func openRecorder(cfg *config.Config) (*recorder.Ring, error) {
	if cfg.Recorder.MaxBytes == 0 {
		return nil, nil
	}
	return recorder.Open(filepath.Join(cfg.Store.Path, "recorder"), recorder.Options{
		MaxBytes: int64(cfg.Recorder.MaxBytes), Days: cfg.Recorder.Days, Refuge: refugeFile(cfg.Store.Path),
	})
}

// ownRuntime is the runtime directory of a gauger that is started by hand.
const ownRuntime = "/run/gauger"

// refugeFile is the file of a store's recorder in the runtime directory, which lies in memory and outlives a kill. Without a
// directory from systemd it is the one of the same name as the store, or gauger's, or the user's own. "": there is none.
func refugeFile(store string) string {
	folders := []string{filepath.Join("/run", filepath.Base(store)), ownRuntime, os.Getenv("XDG_RUNTIME_DIR")}
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

// makeRuntime makes the runtime directory where systemd has made none; who may not does without.
func makeRuntime() {
	if _, given := os.LookupEnv("RUNTIME_DIRECTORY"); !given {
		_ = os.MkdirAll(ownRuntime, 0o755) // keepReadings says what it costs
	}
}

// keepReadings lets the daemon record. A recorder that cannot be opened is said, and stops nothing.
func (d *daemon) keepReadings(ledger *ledger.Ledger) {
	ring, err := openRecorder(d.cfg)
	if err != nil {
		d.log.Error().Err(err).Msg("no readings are recorded; mend the folder recorder in the store, then start gauger again")
		ledger.RecorderFailed(err, int64(d.cfg.Recorder.MaxBytes))
	}
	if d.ring = ring; ring != nil {
		if refugeFile(d.cfg.Store.Path) == "" {
			d.log.Warn().Msg("a kill costs the readings of the last ten minutes: this user has no runtime directory in memory to keep them in; make " + ownRuntime + " and give it to him, or let systemd start gauger")
		}
		ledger.UseRecorder(ring, int64(d.cfg.Recorder.MaxBytes))
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
