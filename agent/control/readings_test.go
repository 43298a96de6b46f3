package control

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/ledger/ledgertest"
	"gauger/agent/recorder"
)

// TestADamagedBlockIsToldBesideTheRest: an export names it once, and gives all others.
func TestADamagedBlockIsToldBesideTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		dir := t.TempDir()
		ring, err := recorder.Open(dir, recorder.Options{MaxBytes: 4 << 20, Days: 30})
		if err != nil {
			t.Fatal(err)
		}
		b.UseRecorder(ring, 4<<20)
		for i := range 3 {
			b.Emit("level", float64(100+i))
			ledgertest.Pass(11 * time.Minute)
		}
		file, err := os.OpenFile(filepath.Join(dir, "00000001.rec"), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt([]byte{0xff}, 40); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		var rows, damage string
		see := func(thing any) error {
			piece := thing.(RecordingPiece)
			rows, damage = rows+piece.CSV, damage+piece.Damage
			return nil
		}
		if err := (&Server{Ledger: b.Ledger}).Open().Follow(t.Context(), "readings", []byte("{}"), see); err != nil {
			t.Fatal(err)
		}
		if strings.Count(rows, "\n") != 2 || !strings.Contains(rows, ",101,good\n") || !strings.Contains(rows, ",102,good\n") {
			t.Errorf("rows:\n%s", rows)
		}
		if !strings.HasSuffix(damage, "00000001.rec, block 1 is skipped: damaged: its checksum is wrong") {
			t.Errorf("told of the damage: %q", damage)
		}
		if err := ring.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestARecorderThatCannotBeOpenedIsTold: in the status, and to who exports.
func TestARecorderThatCannotBeOpenedIsTold(t *testing.T) {
	b := ledgertest.New(t, nil)
	b.RecorderFailed(errors.New("open state/recorder: not a directory"), 4<<20)
	b.Emit("level", 171.25)
	d := &Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site}
	all, err := d.Status()
	if err != nil || !strings.Contains(strings.Join(all.Problems, "\n"), "readings are not being recorded: open state/recorder: not a directory") {
		t.Errorf("problems %q, %v", all.Problems, err)
	}
	err = d.Open().Follow(t.Context(), "readings", []byte("{}"), func(any) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("an export says %v", err)
	}
}

// TestADiskThatTakesNoReadingsIsAProblem: the status says so while it lasts.
func TestADiskThatTakesNoReadingsIsAProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, nil)
		dir := filepath.Join(t.TempDir(), "recorder")
		ring, err := recorder.Open(dir, recorder.Options{MaxBytes: 4 << 20, Days: 30})
		if err != nil {
			t.Fatal(err)
		}
		b.UseRecorder(ring, 4<<20)
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.Haul(50 * time.Minute)
		all, err := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site}).Status()
		if err != nil || !strings.Contains(strings.Join(all.Problems, "\n"), "readings are not being recorded: ") {
			t.Errorf("problems %q, %v", all.Problems, err)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		b.Haul(0)
		if err := ring.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
