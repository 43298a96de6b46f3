package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gauger/agent/console"
	"gauger/agent/control"
)

func topCommand(c *call) *cobra.Command {
	return takes(newCommand(c, "top", "the status of the running gauger, live; q ends it", runTop), 0, "top takes no arguments")
}

const (
	topEvery = 2 * time.Second        // between two looks
	topBeat  = 100 * time.Millisecond // a key, or another size of the terminal, is noticed within it
)

// runTop shows the one screen of the status again and again, in the terminal's other page.
func runTop(ctx context.Context, c *call, _ []string) error {
	screen, keys := terminalOf(c.out), terminalOf(c.in)
	if screen == nil || keys == nil {
		return usageError{"top shows itself on a terminal, and this is none; `gauger status` says it once"}
	}
	fd := int(keys.Fd())
	restore, err := changeTerminal(fd, func(t *unix.Termios) {
		t.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG
		t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	})
	if err != nil {
		return fmt.Errorf("have the terminal hand over single keys: %w", err)
	}
	_, err = io.WriteString(screen, "\x1b[?1049h\x1b[?25l")
	if err == nil {
		err = followTop(ctx, c, screen, fd)
	}
	_, back := io.WriteString(screen, "\x1b[?25h\x1b[?1049l")
	return errors.Join(err, back, restore())
}

// changeTerminal gives a terminal other settings; restore gives back those of before.
func changeTerminal(fd int, change func(*unix.Termios)) (restore func() error, err error) {
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, err
	}
	now := *was
	change(&now)
	return func() error { return unix.IoctlSetTermios(fd, unix.TCSETS, was) }, unix.IoctlSetTermios(fd, unix.TCSETS, &now)
}

// followTop draws until a person has enough.
func followTop(ctx context.Context, c *call, screen *os.File, keys int) error {
	var p *statusPage
	said, zone := errors.New("asking …"), time.Local
	var asked time.Time
	var size unix.Winsize
	answers := make(chan func(), 1) // one look is under way at most
	answers <- func() {}
	for ctx.Err() == nil {
		now, err := unix.IoctlGetWinsize(int(screen.Fd()), unix.TIOCGWINSZ)
		if err != nil {
			return fmt.Errorf("ask the terminal for its size: %w", err)
		}
		draw := *now != size
		size = *now
		select {
		case take := <-answers:
			take()
			draw, asked = true, time.Now()
			time.AfterFunc(topEvery, func() {
				fresh, err := askTop(ctx, c)
				answers <- func() {
					if p, said = fresh, err; err == nil {
						zone = p.zone
					}
				}
			})
		default:
		}
		if draw {
			if _, err := io.WriteString(screen, topScreen(c, p, said, asked.In(zone), size)); err != nil {
				return err
			}
		}
		if pressed, err := readKey(keys); err != nil || strings.ContainsAny(pressed, "qQ\x03") {
			return err
		}
	}
	return nil
}

// askTop looks at a running gauger; without one it leaves the store alone, which the next gauger will want.
func askTop(ctx context.Context, c *call) (*statusPage, error) {
	began := time.Now()
	remote, err := c.dial()
	if errors.Is(err, console.ErrNoDaemon) {
		return nil, notRunning{}
	}
	if err != nil {
		return nil, err
	}
	s, err := askStatus(ctx, &connection{remote: remote}, began)
	if err != nil {
		return nil, err
	}
	return &statusPage{s: s, zone: siteZone(c, s), short: true, live: true}, nil
}

// topScreen is what takes the terminal from one look to the next: each line over the old one, so that nothing flickers.
func topScreen(c *call, p *statusPage, said error, asked time.Time, size unix.Winsize) string {
	t := &table{width: max(int(size.Col), 20)}
	if said != nil {
		t.printf("%s\n", said)
	} else {
		p.t = t
		p.write()
	}
	lines := strings.Split(strings.TrimRight(painted(t, c), "\n"), "\n")
	end := "q ends"
	if room := max(int(size.Row)-1, 1); len(lines) > room {
		lines, end = lines[:room], "q ends; the rest: `gauger status`"
	}
	return "\x1b[H" + strings.Join(lines, "\x1b[K\n") + "\x1b[K\n\x1b[J" + fmt.Sprintf("\x1b[%d;1H%s, %s", size.Row, asked.Format(time.TimeOnly), end)
}

// readKey waits a beat for a key.
func readKey(fd int) (string, error) {
	ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(ready, int(topBeat.Milliseconds())); n == 0 || errors.Is(err, unix.EINTR) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("wait for a key: %w", err)
	}
	var b [16]byte
	n, err := unix.Read(fd, b[:])
	if n <= 0 {
		return "q", err // the terminal is gone
	}
	return string(b[:n]), nil
}

// painted is the text laid out for a terminal, with nothing in it that steers but our own colours; a person who does not want
// those sets NO_COLOR.
func painted(t *table, c *call) string {
	var plain strings.Builder
	_, _ = (&unsteered{to: &plain}).Write([]byte(t.fit(t.text.String()))) // into memory
	if c.getenv("NO_COLOR") != "" || c.getenv("TERM") == "dumb" {
		return plain.String()
	}
	var b strings.Builder
	for line := range strings.Lines(plain.String()) {
		word, colour := paint(strings.TrimSuffix(line, "\n"), b.Len() == 0)
		if word != "" {
			line = strings.Replace(line, word, colour+word+uncoloured, 1)
		}
		b.WriteString(line)
	}
	return b.String()
}

// flushPainted flushes with colours, where there is a terminal.
func flushPainted(t *table, c *call) error {
	file := terminalOf(t.out)
	if t.width == 0 || file == nil {
		return t.Flush()
	}
	_, err := io.WriteString(file, painted(t, c))
	return err
}

// Colours of a terminal.
const (
	red, green, yellow = "\x1b[1;31m", "\x1b[32m", "\x1b[33m"
	uncoloured         = "\x1b[0m"
)

// paint finds what of a line of the status has a colour: the verdict, the states, the mark of a problem. No text from elsewhere
// begins a line.
func paint(line string, first bool) (word, colour string) {
	about := strings.Fields(line)
	switch {
	case first && strings.HasPrefix(line, "all is well"):
		return "all is well", green
	case first && (strings.Contains(line, " problem") || strings.Contains(line, "NOT ")):
		return line, red
	case strings.HasPrefix(line, "  ! "):
		return "!", red
	case len(about) > 2 && strings.HasPrefix(line, "  "+about[0]+" "):
		state := strings.TrimLeft(strings.TrimPrefix(line, "  "+about[0]), " ")
		for of, colour := range map[string]string{control.Well: green, control.Unknown: yellow, control.Bad: red} {
			if strings.HasPrefix(state, stateWords[of]+" ") {
				return stateWords[of], colour
			}
		}
	}
	return "", ""
}
