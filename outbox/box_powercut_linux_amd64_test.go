package outbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"gauger/deploy/proof"
	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// cutsPerRecording cuts are made of one recording.
const cutsPerRecording = 250

// tape is a script that was played to a disk that is recorded.
type tape struct {
	number int
	seed   uint64
	disk   *outboxtest.Disk
}

// recorded plays the script of that number under a seed and records what reaches the disk.
func recorded(t *testing.T, s proof.Stretch, number int) tape {
	t.Helper()
	steps := 30
	if s.Long {
		steps = 120
	}
	r := tape{number: number, seed: s.Seed<<16 + uint64(number), disk: &outboxtest.Disk{}}
	dir := scratch(t)
	status, err := traced(dir, r.seed, steps, nil, r.disk.Record)
	mustPlay(t, status, err)
	return r
}

// mustPlay skips the test where a child cannot be traced, and fails it when the script did not come to its end.
func mustPlay(t *testing.T, status int, err error) {
	t.Helper()
	if err != nil {
		t.Skipf("a child cannot be traced here: %v", err)
	}
	if status != 0 {
		t.Fatalf("the script ended with status %d", status)
	}
}

// traced plays a script in a child, call by call.
func traced(dir string, seed uint64, steps int, before func(*outboxtest.Call) outboxtest.Fault, after func(*outboxtest.Call)) (int, error) {
	order := fmt.Sprintf("%s=%s %d %d", scriptedBox, filepath.Join(dir, "outbox.db"), seed, steps)
	return outboxtest.Trace(dir, []string{os.Args[0]}, append(os.Environ(), order), before, after)
}

// story reads the tape up to an instant.
func (r tape) story(at int) *story {
	s := newStory(r.seed)
	r.disk.Said(at, func(_ int, line string) { s.hear(line) })
	return s
}

// eachCut makes the cuts of a stretch, each in a folder of its own, and hands over what the box opens. The order in which
// pages are given out is not the seed's, so that the files of a case that failed are kept.
func eachCut(t *testing.T, short int, lying bool, judge func(t *testing.T, s *story, path string) error) proof.Stretch {
	stretch := proof.Of(t, short)
	r := tape{number: -1}
	dir := filepath.Join(scratch(t), "cut")
	for i, rng := range stretch.Cases() {
		if number := i / cutsPerRecording; number != r.number {
			r = recorded(t, stretch, number)
		}
		at := rng.IntN(r.disk.Len() + 1)
		files := r.disk.Cut(rng, at, lying)
		lay(t, dir, files)
		var err error
		synctest.Test(t, func(t *testing.T) { err = judge(t, r.story(at), filepath.Join(dir, "outbox.db")) })
		if err != nil {
			kept := fmt.Sprintf("%s/cut-%d-%d-%d", os.TempDir(), stretch.Seed, i, at)
			lay(t, kept, files)
			t.Fatalf("seed %d, case %d, cut before event %d of %d: %v; the files are kept in %s", stretch.Seed, i, at, r.disk.Len(), err, kept)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	return stretch
}

// lay puts files into a folder that is made.
func lay(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

// Power cuts at any instant of what a site does to its outbox, every unsynced sector, length and name by chance there or
// not: what was accepted is in the box or at the service, and what was put down as delivered is not sent again.
func TestProvePowerCut(t *testing.T) {
	var accepted, again int
	stretch := eachCut(t, 60, false, func(t *testing.T, s *story, path string) error {
		mended := false
		o := scriptOptions()
		o.Notify = func(n outbox.Note) { mended = mended || n.Kind == outbox.NoteSalvaged }
		b, err := outbox.Open(path, o)
		if err != nil {
			return err
		}
		if err := s.promised(b); err != nil {
			return err
		}
		if err := delivered(t, s, b); err != nil {
			return err
		}
		if mended && s.opened {
			return errors.New("the file needed salvage although the disk kept its word")
		}
		n, err := s.doubled()
		accepted, again = accepted+int(s.count), again+n
		return err
	})
	stretch.Tell(t, "%d records were accepted before the cuts, 0 lost, 0 with a wrong byte; %d were sent again, all of them without an answer put down",
		accepted, again)
}

// delivered drains a box to its end in virtual time, and closes it.
func delivered(t *testing.T, s *story, b *outbox.Box) error {
	t.Helper()
	err := s.deliver(b, func(stream string, to outbox.Sender) { emptied(t, b, stream, to) })
	shut(t, b)
	return err
}
