// Package dialogue asks a person questions, one line each. An answer comes from a flag, from an earlier run that was not
// finished, or from who types it; what was typed is kept at once, so that an interrupt loses nothing.
package dialogue

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Question is one question. An answer is kept under its Key.
type Question struct {
	Key      string
	Flag     string // that gives the answer too, as --site; empty: none
	Text     string // without a mark at its end
	Default  string // that an empty line means
	Optional bool   // an empty line is an answer
	Passing  bool   // the answer is good for this moment only, and is not kept
	// Check returns the answer as it is to be used, or says what is wrong with it; nil: any will do.
	Check func(string) (string, error)
}

// Dialogue is a talk with one person.
type Dialogue struct {
	In    io.Reader
	Out   io.Writer
	Given map[string]string // by key, from flags
	Kept  map[string]string // by key, from before
	Keep  func(map[string]string) error
	Echo  bool // what is typed does not show by itself: it comes from a file
	typed chan typed
	known []known // in the order in which it came
	quiet bool    // what a person has seen is gone through again
}

// known is one answer, or what was found out behind it.
type known struct {
	key   string
	found bool
}

type typed struct {
	line string
	err  error
}

// ErrInterrupted says that the person, or whoever waits, has ended the dialogue.
var ErrInterrupted = errors.New("interrupted")

// ErrBack says that the person takes the newest answer back, by typing the word. Whoever asks calls Back, and asks all again from the
// beginning: what was answered before that one stands. Where no answer is kept it is a word as any other.
var ErrBack = errors.New("back")

// Back forgets the newest answer and what was found out behind it.
func (d *Dialogue) Back() {
	for n := len(d.known) - 1; n >= 0; n-- {
		delete(d.Kept, d.known[n].key)
		if !d.known[n].found {
			break
		}
	}
	d.known, d.quiet = nil, true
}

// Answered notes that a question is answered, or what stands for several.
func (d *Dialogue) Answered(key string) { d.known = append(d.known, known{key: key}) }

// Refused is an answer of a flag that cannot be used.
type Refused struct {
	Flag  string
	Cause error
}

// Error implements error.
func (r Refused) Error() string { return fmt.Sprintf("%s: %v", r.Flag, r.Cause) }

// Unwrap is the cause.
func (r Refused) Unwrap() error { return r.Cause }

// Say prints a paragraph.
func (d *Dialogue) Say(format string, args ...any) {
	if !d.quiet {
		fmt.Fprintln(d.Out, Fold(fmt.Sprintf(format, args...)))
	}
}

// Ask returns the answer to a question.
func (d *Dialogue) Ask(ctx context.Context, q Question) (string, error) {
	if answer, ok := d.Given[q.Key]; ok {
		answer, err := q.check(answer)
		if err != nil {
			return "", Refused{q.Flag, err}
		}
		return answer, nil
	}
	if answer, ok := d.Kept[q.Key]; ok && !q.Passing {
		if answer, err := q.check(answer); err == nil {
			d.Say("%s: %s (as answered before)", q.Text, cmp.Or(answer, "none"))
			d.Answered(q.Key)
			return answer, nil
		}
	}
	for {
		answer, err := d.read(ctx, q)
		if err != nil {
			return "", err
		}
		if d.Keep != nil && strings.TrimSpace(answer) == ErrBack.Error() {
			return "", ErrBack
		}
		if answer, err = q.check(answer); err != nil {
			d.Say("  %v", err)
			continue
		}
		err = d.keep(q, answer)
		d.Answered(q.Key)
		return answer, err
	}
}

func (q Question) check(answer string) (string, error) {
	answer = strings.TrimSpace(answer)
	answer = cmp.Or(answer, q.Default)
	switch {
	case answer == "" && q.Optional:
		return "", nil
	case answer == "":
		return "", errors.New("an answer is needed")
	case q.Check == nil:
		return answer, nil
	}
	return q.Check(answer)
}

func (d *Dialogue) keep(q Question, answer string) error {
	if q.Passing {
		return nil
	}
	return d.Remember(q.Key, answer)
}

// Remember keeps what was found out with the answers.
func (d *Dialogue) Remember(key, text string) error {
	if d.Keep == nil {
		return nil
	}
	if d.Kept == nil {
		d.Kept = map[string]string{}
	}
	d.Kept[key], d.known = text, append(d.known, known{key, true})
	return d.Keep(d.Kept)
}

// read prints the question and waits for a line.
func (d *Dialogue) read(ctx context.Context, q Question) (string, error) {
	prompt := q.Text
	d.quiet = false
	switch {
	case q.Default != "":
		prompt += " [" + q.Default + "]"
	case q.Optional:
		prompt += " (Enter: none)"
	}
	fmt.Fprint(d.Out, Fold(prompt+": "))
	if d.typed == nil {
		d.typed = make(chan typed)
		go d.listen()
	}
	select {
	case <-ctx.Done():
		fmt.Fprintln(d.Out)
		return "", ErrInterrupted
	case t := <-d.typed:
		if t.err == nil {
			if d.Echo {
				fmt.Fprintln(d.Out, t.line)
			}
			return t.line, nil
		}
		fmt.Fprintln(d.Out)
		if q.Flag == "" {
			return "", fmt.Errorf("nobody answers %q", strings.TrimSpace(q.Text))
		}
		give := q.Flag
		if q.Default != "" && !strings.Contains(give, " ") {
			give += ", such as " + give + " " + q.Default
		}
		return "", fmt.Errorf("nobody answers %q; give %s", strings.TrimSpace(q.Text), give)
	}
}

// listen hands over line after line. It ends with the program: nothing else ends the wait for a person at a terminal.
func (d *Dialogue) listen() {
	lines := bufio.NewScanner(d.In)
	for lines.Scan() {
		d.typed <- typed{line: lines.Text()}
	}
	for {
		d.typed <- typed{err: io.EOF}
	}
}

// Yes asks for yes or no.
func (d *Dialogue) Yes(ctx context.Context, q Question) (bool, error) {
	q.Check = func(answer string) (string, error) {
		switch strings.ToLower(answer) {
		case "y", "yes":
			return "yes", nil
		case "n", "no":
			return "no", nil
		}
		return "", errors.New("yes or no")
	}
	answer, err := d.Ask(ctx, q)
	return answer == "yes", err
}

// Width of what is printed, in columns.
const Width = 80

// Fold breaks lines so that they fit into Width.
func Fold(text string) string { return FoldTo(text, Width) }

// FoldTo breaks lines so that they fit into so many columns. What is before a line's words stands before its continuation too; a word
// that is wider than a line stays whole.
func FoldTo(text string, width int) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for len([]rune(line)) > width {
			runes := []rune(line)
			cut := strings.LastIndex(string(runes[:width+1]), " ")
			if cut <= len(indent) {
				if cut = len(indent) + strings.Index(line[len(indent):], " "); cut < len(indent) {
					break
				}
			}
			out = append(out, strings.TrimRight(line[:cut], " "))
			line = indent + strings.TrimLeft(line[cut:], " ")
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}
