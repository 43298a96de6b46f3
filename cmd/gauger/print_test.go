package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is there stays until a whole one can take its place, and what is left beside it is nothing.
func TestAResultTakesTheOldFilesPlaceWhenItIsWhole(t *testing.T) {
	folder := t.TempDir()
	path, link := filepath.Join(folder, "kept.json"), filepath.Join(folder, "link")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o640), os.Symlink("kept.json", link)); err != nil {
		t.Fatal(err)
	}
	whole := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	cut := errors.New("the daemon went away")
	for _, c := range []struct {
		path  string
		write func(io.Writer) error
		err   error
		want  string
	}{
		{path, func(w io.Writer) error { return errors.Join(whole(w), cut) }, cut, "old"},
		{filepath.Join(folder, "nowhere", "x"), whole, os.ErrNotExist, "old"},
		{os.DevNull, whole, nil, "old"},
		{link, whole, nil, "new"},
	} {
		if err := writeFile(c.path, "export", 0o600, c.write); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.path, err, c.err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("after %s: %q, %v, want %q", c.path, got, err, c.want)
		}
	}
	if err := writeFile(filepath.Join(folder, "fresh"), "export", 0o600, whole); err != nil {
		t.Error(err)
	}
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]string{}
	for _, e := range all {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		modes[e.Name()] = info.Mode().String()
	}
	want := map[string]string{"kept.json": "-rw-r-----", "fresh": "-rw-------", "link": "Lrwxrwxrwx"}
	for name, mode := range modes {
		if mode != want[name] {
			t.Errorf("%s is there, %s, want %q", name, mode, want[name])
		}
	}
	if len(modes) != len(want) {
		t.Errorf("there are %v, want %v", modes, want)
	}
}

// Where nothing can be made beside a file, because the folder is another user's or the name is as long as names may be, the
// file itself is written, as it always was.
func TestAFileBesideWhichNothingCanBeMadeIsWrittenItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("n", 255))
	if err := os.WriteFile(path, []byte("an old and longer text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(path, "export", 0o600, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
