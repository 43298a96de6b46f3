package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestManualsCommandsExist holds each call of gauger in the manual's pages against the program: its command and its flags are there,
// with values that they can read. What the calls do, the scripts show.
func TestManualsCommandsExist(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "deploy", "doc", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	calls := 0
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		inside := false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				inside = !inside && line == "```" // what a program prints is marked as text
				continue
			}
			line = strings.TrimPrefix(line, "sudo ")
			if !inside || !strings.HasPrefix(line, "gauger ") {
				continue
			}
			calls++
			if problem := callProblem(line); problem != "" {
				t.Errorf("%s: `%s`: %s", filepath.Base(page), line, problem)
			}
		}
	}
	if calls < 15 {
		t.Errorf("%d calls were found in the manual", calls)
	}
}

// callProblem says why the program would not take a call.
func callProblem(line string) string {
	if at := strings.Index(line, " # "); at >= 0 {
		line = line[:at]
	}
	root := newRoot(quietCall())
	args := twoDashes(root, shellWords(line)[1:])
	cmd, rest, err := root.Find(args)
	if err != nil || cmd == root {
		return "no such command"
	}
	if err := cmd.ParseFlags(rest); err != nil && err != pflag.ErrHelp {
		return err.Error()
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err.Error()
	}
	return ""
}

// shellWords splits a line as a shell does, with double and single quotes.
func shellWords(line string) (words []string) {
	word, quote, open := "", rune(0), false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && r == ' ':
			if open || word != "" {
				words = append(words, word)
			}
			word, open = "", false
		default:
			word += string(r)
		}
	}
	return words
}
