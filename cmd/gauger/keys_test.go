package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gauger/collectors/modbus/modbustest"
)

// typist types a line as soon as it is asked to.
type typist struct {
	keyboard io.Writer
	text     string
	asked    strings.Builder
}

func (ty *typist) Write(p []byte) (int, error) {
	if ty.asked.Len() == 0 {
		if _, err := io.WriteString(ty.keyboard, ty.text); err != nil {
			return 0, err
		}
	}
	return ty.asked.Write(p)
}

// TestSecretFromTerminal: what is typed does not show, and afterwards typing shows again.
func TestSecretFromTerminal(t *testing.T) {
	pty, err := modbustest.OpenPty()
	if err != nil {
		t.Fatal(err)
	}
	defer pty.Close()
	terminal, err := os.OpenFile(pty.Path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	fd := int(terminal.Fd())
	usual, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	usual.Lflag |= unix.ECHO | unix.ICANON
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, usual); err != nil {
		t.Fatal(err)
	}
	asked := &typist{keyboard: pty, text: "hand-made-key\n"}
	got, err := (&Main{In: terminal, Err: asked}).secretFrom(t.Context(), "", "the key")
	if err != nil || got != "hand-made-key" {
		t.Errorf("%q, %v", got, err)
	}
	if !strings.Contains(asked.asked.String(), "paste the key") {
		t.Errorf("asked %q", asked.asked.String())
	}
	if err := pty.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if shown, _ := io.ReadAll(pty); len(shown) > 0 {
		t.Errorf("the terminal showed %q", shown)
	}
	after, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil || after.Lflag&unix.ECHO == 0 {
		t.Errorf("typing does not show any more: %v", err)
	}
}

// TestSecretInterrupted: a person who changes her mind gets the prompt back.
func TestSecretInterrupted(t *testing.T) {
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Main{In: in}).secretFrom(ctx, "", "the key"); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v", err)
	}
}
