package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// child is a process of the benchmark's own: what is measured and what it talks to are apart, so that the CPU time
// and the memory of each are its own. It is told one JSON value first, and a word at a time after that.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

// The words.
const (
	openWindow = "open"   // forget what was counted
	giveReport = "report" // say what was counted since
)

// spawn starts the role with its first value, and takes its greeting.
func spawn(how launch, role string, spec, greeting any) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	cmd := how.command(self, "-role", role)
	cmd.Stderr = os.Stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", role, err)
	}
	c := &child{cmd: cmd, in: in, out: json.NewDecoder(out)}
	if err := c.tell(spec, greeting); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", role, err), c.stop())
	}
	return c, nil
}

// tell sends one value and takes the answer.
func (c *child) tell(what, answer any) error {
	if err := json.NewEncoder(c.in).Encode(what); err != nil {
		return err
	}
	return c.out.Decode(answer)
}

// stop ends the process by closing its input, and waits for it.
func (c *child) stop() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }

// launch starts a process ahead of everything else on the machine, where that is permitted, so that
// other work does not count.
type launch struct {
	oneCore bool // GOMAXPROCS=1
	inTurn  bool // not ahead: what it writes is measured, not its time
}

// ahead says whether a process may go ahead of all others.
var ahead = sync.OnceValue(func() bool { return exec.Command("chrt", "-f", "10", "true").Run() == nil })

func (l launch) command(name string, args ...string) *exec.Cmd {
	if !l.inTurn && ahead() {
		args = append([]string{"-f", "10", name}, args...)
		name = "chrt"
	}
	cmd := exec.Command(name, args...)
	cmd.Env = os.Environ()
	if l.oneCore {
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	return cmd
}

// worker is the work that a child does, once it has been told what.
type worker interface {
	open() any
	report() any
}

// obey is a child's life: the first value makes a worker, and each word has its answer until the input ends.
func obey[S any](in io.Reader, out io.Writer, make func(S) (w worker, greeting any, err error)) error {
	words, answers := json.NewDecoder(in), json.NewEncoder(out)
	var spec S
	if err := words.Decode(&spec); err != nil {
		return fmt.Errorf("first value: %w", err)
	}
	w, greeting, err := make(spec)
	if err != nil {
		return err
	}
	if err := answers.Encode(greeting); err != nil {
		return err
	}
	for {
		var word string
		if err := words.Decode(&word); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		answer := any(struct{}{})
		switch word {
		case openWindow:
			answer = w.open()
		case giveReport:
			answer = w.report()
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}
