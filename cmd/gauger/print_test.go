package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
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
