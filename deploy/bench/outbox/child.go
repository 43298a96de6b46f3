package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// cell is this program again, as one cell. It ends when this process does.
func cell(args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", append([]string{"-child"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	return cmd
}

// child runs a cell and returns what it printed.
func child(args ...string) (string, error) {
	cmd := cell(args...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("cell %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(out.String()), nil
}

// killed runs a cell that goes on until it is killed: when it has printed a line, which is what it returns.
func killed(args ...string) (string, error) {
	cmd := cell(args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	err = errors.Join(err, cmd.Process.Kill())
	if ended := cmd.Wait(); err == nil && ended == nil {
		err = fmt.Errorf("cell %s ended by itself", strings.Join(args, " "))
	}
	return strings.TrimSpace(line), err
}

// beChild is the life of a cell.
func beChild(args []string) error {
	if len(args) < 4 {
		return fmt.Errorf("no such cell: %q", args)
	}
	kind, name, dir := args[0], args[1], args[2]
	n, err := strconv.Atoi(args[3])
	switch {
	case kind == "field":
		return beField(name, dir, args[3])
	case err != nil:
		return err
	case kind == "load" && len(args) == 5:
		return beLoad(name, dir, n, args[4])
	case kind == "fill":
		return beFill(name, dir, n)
	case kind == "reopen":
		return beReopen(name, dir, n)
	case kind == "service":
		return beService(n)
	}
	return fmt.Errorf("no such cell: %q", args)
}
