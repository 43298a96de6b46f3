package main

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
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

// Nothing that somebody else has written steers the terminal, and a program still reads what it means.
func TestWhatOthersWroteSteersNoTerminal(t *testing.T) {
	for foreign, want := range map[string]string{
		"plain\ttext, 14'3 1/4\" °F – ✓ 🛢\n": "plain\ttext, 14'3 1/4\" °F – ✓ 🛢\n",
		"\x1b]0;title\a\x1b[2J":              `\u001b]0;title\u0007\u001b[2J`,
		"lost\rfound\b\x7f\x00\v\f":          `lost\u000dfound\u0008\u007f\u0000\u000b\u000c`,
		"\u009b31m\u0085":                    `\u009b31m\u0085`,
		"a\u202eb\u2066c\u200fd\u061ce":      `a\u202eb\u2066c\u200fd\u061ce`,
		"\ufeffa\u2028b\u2029":               `\ufeffa\u2028b\u2029`,
		"\x9b31m \xc3( \xf0\x9f":             `\x9b31m \xc3( `,
		"\xed\xa0\x80":                       `\xed\xa0\x80`,
	} {
		var whole, torn strings.Builder
		l, bytewise := &unsteered{to: &whole}, &unsteered{to: &torn}
		if n, err := l.Write([]byte(foreign)); n != len(foreign) || err != nil {
			t.Errorf("%q: %d, %v", foreign, n, err)
		}
		for i := 0; i < len(foreign); i++ {
			if _, err := bytewise.Write([]byte{foreign[i]}); err != nil {
				t.Error(err)
			}
		}
		if whole.String() != want || torn.String() != want {
			t.Errorf("%q is shown as %q, and in pieces as %q; want %q", foreign, whole.String(), torn.String(), want)
		}
	}
	var out strings.Builder
	name := "Cooper\u202e\x1b[31m\u009b12-7\x7f \"quoted\" \\ back"
	if err := printJSON(&unsteered{to: &out}, name); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got != name {
		t.Errorf("a program reads %q (%v) in %s", got, err, out.String())
	}
}

// In the night in which clocks are set back an hour is there twice: then the zone's name stands behind it.
func TestATimeThatIsThereTwiceHasItsZone(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 1, 5, 50, 0, 0, time.UTC)
	for k, want := range []string{"2026-11-01 00:50", "2026-11-01 01:20 CDT", "2026-11-01 01:50 CDT", "2026-11-01 01:20 CST", "2026-11-01 01:50 CST", "2026-11-01 02:20"} {
		if got := timeText(at.Add(time.Duration(k)*30*time.Minute), zone); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A ticket by hand takes a gravity as the edit of a held one does.
func TestAGravityIsGivenInEitherUnit(t *testing.T) {
	for _, args := range [][]string{{"--gravity", "39.0 API"}, {"--gravity", "0.8299"}, {"--specific-gravity", "0.8299"}} {
		f := pflag.NewFlagSet("add", pflag.ContinueOnError)
		ticket := addTicketFlags(f)
		if err := f.Parse(args); err != nil || ticket.SpecificGravity == nil || math.Abs(*ticket.SpecificGravity-0.8299) > 1e-9 {
			t.Errorf("%q: %v, %v", args, ticket.SpecificGravity, err)
		}
	}
}
