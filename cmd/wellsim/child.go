package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// child is a running gauger. Its output goes to the end of a log file.
type child struct {
	cmd    *exec.Cmd
	log    *os.File
	ended  chan struct{} // closed when the process is gone
	result error         // of Wait; to be read after ended
}

func start(bin string, args, env []string, logFile string) (*child, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the agent's log: %w", err)
	}
	c := &child{cmd: exec.Command(bin, args...), log: log, ended: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.Env = append(os.Environ(), env...)
	if err := c.cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("start %s: %w", bin, err)
	}
	go c.wait()
	return c, nil
}

func (c *child) wait() {
	c.result = c.cmd.Wait()
	c.log.Close()
	close(c.ended)
}

// gone says whether the process has ended, and how.
func (c *child) gone() (error, bool) {
	select {
	case <-c.ended:
		return c.result, true
	default:
		return nil, false
	}
}

// kill ends the process as a power cut would, and waits until it is gone.
func (c *child) kill() error {
	if err := c.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the agent: %w", err)
	}
	<-c.ended
	return nil
}

// stop asks the process to end and waits; after the limit it is killed.
func (c *child) stop(limit time.Duration) error {
	if _, gone := c.gone(); gone {
		return nil
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the agent: %w", err)
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.ended:
		return nil
	case <-timer.C:
	}
	if err := c.kill(); err != nil {
		return err
	}
	return fmt.Errorf("the agent did not end within %s of SIGTERM and was killed", limit)
}

func answers(socket string) bool {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	return err == nil && conn.Close() == nil
}

// ended gives an exit that should not have been one a name.
func ended(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// tail is the last lines of a file, for a person who has to find out what went wrong.
func tail(file string, lines int) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
