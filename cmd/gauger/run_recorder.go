package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"

	"gauger/agent/ledger"
	"gauger/agent/recorder"
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
		MaxBytes: int64(cfg.Recorder.MaxBytes), Days: cfg.Recorder.Days, Refuge: refugeFile(cfg.Store.Path),
	})
}

// refugeFile is the file of a store's recorder in the runtime directory, which lies in memory and outlives a kill. Without a
// directory from systemd it is the one of the same name as the store, or gauger's. "": there is none.
func refugeFile(store string) string {
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
func (d *daemon) keepReadings(ledger *ledger.Ledger) {
	ring, err := openRecorder(d.cfg)
	if err != nil {
		d.log.Error().Err(err).Msg("no readings are recorded; mend the folder recorder in the store, then start gauger again")
		ledger.RecorderFailed(err, int64(d.cfg.Recorder.MaxBytes))
	}
	d.ring = ring
	if ring != nil {
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
