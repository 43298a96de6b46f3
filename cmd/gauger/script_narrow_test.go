package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"gauger/collectors/modbus/modbustest"
)

// fitsCmd runs gauger on a terminal and measures its lines: fits COLUMNS ARGS... What it said is shown, for `stdout`; how it ends is no
// matter, since the words of a failure have to fit too. A word that is wider than a line, as a path may be, stays whole.
func fitsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fits COLUMNS ARGS...")
	}
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	text := onTerminal(ts, uint16(columns), program(ts, args[1:]))
	_, err = ts.Stdout().Write([]byte(text))
	ts.Check(err)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		for shown := range strings.SplitSeq(coloured.ReplaceAllString(line, ""), "\r\x1b[K") {
			if n := utf8.RuneCountInString(shown); n > columns && strings.Contains(strings.TrimSpace(shown), " ") {
				ts.Fatalf("gauger %s: %d columns on a terminal of %d:\n%s\n\nwhole:\n%s", strings.Join(args[1:], " "), n, columns, shown, text)
			}
		}
	}
}

var coloured = regexp.MustCompile("\x1b\\[[0-9;]*m")

// onTerminal runs a program on a terminal with so many columns, and returns what stands there.
func onTerminal(ts *testscript.TestScript, columns uint16, cmd *exec.Cmd) string {
	const end = 0 // which no command prints
	pty, err := modbustest.OpenPty()
	ts.Check(err)
	port, err := os.OpenFile(pty.Path, os.O_RDWR|unix.O_NOCTTY, 0)
	ts.Check(err)
	ts.Check(unix.IoctlSetWinsize(int(port.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	said := make(chan []byte)
	go func() {
		text, _ := bufio.NewReader(pty).ReadBytes(end) // it is the test that closes
		said <- bytes.TrimSuffix(text, []byte{end})
	}()
	cmd.Stdout, cmd.Stderr = port, port
	_ = cmd.Run() // the words count
	_, err = port.Write([]byte{end})
	ts.Check(err)
	text := <-said
	ts.Check(port.Close())
	ts.Check(pty.Close())
	return string(text)
}

// elsewhere are the commands whose lines are not broken, and why.
var elsewhere = map[string]string{
	"run":             "its log is for programs",
	"discover mqtt":   "its lines are copied into a configuration",
	"export readings": "for programs",
	"outbox export":   "for programs",
	"outbox show":     "its request is copied",
	"completion":      "for the shell",
}

// Every command that speaks to a person is tried on a narrow terminal.
func TestEveryCommandIsTriedOnATerminal(t *testing.T) {
	script, err := os.ReadFile("testdata/script/narrow.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range leaves(newRoot(quietCall())) {
		name := commandName(cmd)
		tried := strings.Contains(string(script), "\nfits 80 "+name+" ") || strings.Contains(string(script), "\nfits 80 "+name+"\n")
		if _, isElsewhere := elsewhere[name]; tried == isElsewhere {
			t.Errorf("%s: tried on a terminal: %v, and among those whose lines are not broken: %v", name, tried, isElsewhere)
		}
	}
}
