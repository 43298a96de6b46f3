package keys

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A copy that was laid beside the file has its generation too: then the file counts, not the copy.
func TestOfOneGenerationTheFileCounts(t *testing.T) {
	disk := newDisk()
	f := keyFile{"keys", disk}
	for _, value := range []string{"of the copy", "of the file"} {
		if err := f.save(ringState{Generation: 7, Slots: [2]slotState{{Entries: []entry{{Value: value}}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if s, found, err := f.load(); err != nil || !found || s.Slots[0].Entries[0].Value != "of the file" {
		t.Errorf("%+v, %v", s.Slots[0].Entries, err)
	}
}

// The file is written when something changed that a restart must know, and once a day for the time of the last use.
func TestWhenTheFileIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := openFile(keyFile{"keys", newDisk()}, time.Now, Seeds{testKey, otherKey})
		generation := r.state.Generation
		writes := func(what string, want uint64, do func()) {
			t.Helper()
			do()
			s, _, err := r.file.load()
			if err != nil || s.Generation-generation != want {
				t.Errorf("%s: written %d times, want %d; %v", what, s.Generation-generation, want, err)
			}
			generation = s.Generation
		}
		key, other := Key{Primary, testKey}, Key{Secondary, otherKey}
		stored := func() { r.Accepted(key, true) }
		writes("proven", 1, stored)
		writes("used again", 0, stored)
		<-time.After(day - 1)
		writes("used within a day", 0, stored)
		<-time.After(day)
		writes("used after a day", 1, stored)
		<-time.After(2 * day)
		writes("made a renewal", 0, func() { r.Accepted(other, false) })
		writes("refused", 1, func() { r.Rejected(key) })
		writes("refused again", 0, func() { r.Rejected(key) })
		writes("accepted for a renewal", 1, func() { r.Accepted(key, false) })
		writes("proven again", 1, stored)
		r.state.Slots[Primary].add("older", "file", time.Now())
		r.state.Slots[Primary].add(testKey, "renewal", time.Now())
		writes("an older candidate waits for its trial", 0, stored)
		r.state.Slots[Primary].Entries[1].State = refused
		writes("an older one is forgotten", 1, stored)
		writes("nothing is left to forget", 0, stored)
		if e := r.state.Slots[Primary].Entries; len(e) != 1 || e[0].State != proven || e[0].Value != testKey {
			t.Errorf("%+v", e)
		}
	})
}

// What the disk holds is readable to nobody else, also where a file of the name was open to others.
func TestTheFileIsNobodyElses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte("old and longer than the new text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (realDisk{}).write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	text, err2 := os.ReadFile(path)
	if errors.Join(err, err2) != nil || info.Mode().Perm() != 0o600 || string(text) != "new" {
		t.Errorf("%v, %q, %v", info.Mode(), text, err)
	}
	if err := os.Symlink(path, path+".link"); err != nil {
		t.Fatal(err)
	}
	if err := (realDisk{}).write(path+".link", nil); err == nil {
		t.Error("a link was followed")
	}
	if b, err := (realDisk{}).read(path + ".link"); err == nil {
		t.Errorf("a link was followed to %q", b)
	}
	if err := (realDisk{}).sync(path + "/nowhere"); err == nil {
		t.Error("a folder that is not there was synced")
	}
}

// A pipe in the place of the key file is damage like other damage: the state before it is taken, and nothing waits.
func TestAPipeInThePlaceOfTheKeyFile(t *testing.T) {
	f := keyFile{path: filepath.Join(t.TempDir(), "keys"), on: realDisk{}}
	if err := f.save(ringState{Generation: 7}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(f.path, f.path+".old"), syscall.Mkfifo(f.path, 0o600)); err != nil {
		t.Fatal(err)
	}
	state, found, damaged := f.load()
	if !found || state.Generation != 7 || damaged == nil {
		t.Errorf("%+v, %v, damaged: %v", state, found, damaged)
	}
}
