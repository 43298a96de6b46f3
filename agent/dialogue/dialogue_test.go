package dialogue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"testing"
)

func number(text string) (string, error) {
	if _, err := strconv.Atoi(text); err != nil {
		return "", errors.New("a whole number")
	}
	return text, nil
}

func TestAnAnswerComesFromAFlagFromBeforeOrFromThePerson(t *testing.T) {
	var out bytes.Buffer
	kept := map[string]string{}
	d := &Dialogue{
		In: strings.NewReader("twelve\n12\n\n\nyes\n"), Out: &out,
		Given: map[string]string{"flag": " 7 "}, Kept: map[string]string{"before": "5", "stale": "five"},
		Keep: func(all map[string]string) error { kept = maps.Clone(all); return nil },
	}
	for _, tt := range []struct {
		q    Question
		want string
	}{
		{Question{Key: "flag", Text: "From a flag", Check: number}, "7"},
		{Question{Key: "before", Text: "From before", Check: number}, "5"},
		{Question{Key: "stale", Text: "From before, and no good now", Check: number}, "12"},
		{Question{Key: "default", Text: "An empty line", Default: "3", Check: number}, "3"},
		{Question{Key: "none", Text: "Nothing", Optional: true, Check: number}, ""},
	} {
		got, err := d.Ask(t.Context(), tt.q)
		if err != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.q.Text, got, err, tt.want)
		}
	}
	if yes, err := d.Yes(t.Context(), Question{Key: "yes", Text: "Is it so", Passing: true}); !yes || err != nil {
		t.Errorf("yes: %t, %v", yes, err)
	}
	if want := map[string]string{"before": "5", "stale": "12", "default": "3", "none": ""}; !maps.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
	for _, want := range []string{"From before: 5 (as answered before)", "  a whole number\n", "An empty line [3]: ", "Nothing (Enter: none): "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in what was printed:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "From a flag") {
		t.Error("what a flag has answered was asked")
	}
}

func TestWhoDoesNotAnswerIsToldTheFlag(t *testing.T) {
	d := &Dialogue{In: strings.NewReader(""), Out: io.Discard, Given: map[string]string{"height": "tall"}}
	if _, err := d.Ask(t.Context(), Question{Key: "site", Flag: "--site", Text: "Name"}); err == nil || err.Error() != `nobody answers "Name"; give --site` {
		t.Errorf("%v", err)
	}
	if _, err := d.Ask(t.Context(), Question{Key: "object", Flag: "--object", Text: "Device", Default: "later"}); err == nil || err.Error() != `nobody answers "Device"; give --object, such as --object later` {
		t.Errorf("%v", err)
	}
	_, err := d.Ask(t.Context(), Question{Key: "height", Flag: "--height", Text: "Height", Check: number})
	if refused, ok := errors.AsType[Refused](err); !ok || refused.Error() != "--height: a whole number" {
		t.Errorf("%v", err)
	}
}

func TestAnInterruptEndsTheWait(t *testing.T) {
	in, never := io.Pipe()
	defer never.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &Dialogue{In: in, Out: io.Discard}
	if _, err := d.Ask(ctx, Question{Key: "a", Text: "Waits"}); !errors.Is(err, ErrInterrupted) {
		t.Errorf("%v", err)
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	text := Fold("  " + strings.Repeat("word ", 40) + "\n" + strings.Repeat("x", 100) + "\nshort")
	for i, line := range strings.Split(text, "\n") {
		if len(line) > Width && !strings.HasPrefix(line, "xxx") {
			t.Errorf("line %d has %d columns: %s", i, len(line), line)
		}
		if strings.Contains(line, "word") && !strings.HasPrefix(line, "  word") {
			t.Errorf("line %d lost its indent: %q", i, line)
		}
	}
	if got := Fold(fmt.Sprintf("%s: ", strings.Repeat("ab ", 20))); !strings.HasSuffix(got, ": ") {
		t.Errorf("a prompt lost its blank: %q", got)
	}
}
