package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is, in a child process, a program that prints a line and listens until SIGTERM, or for ever.
func TestMain(m *testing.M) {
	switch os.Getenv("WELLSIM_CHILD") {
	case "polite":
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		listen()
		<-ctx.Done()
		stop()
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		listen()
		select {}
	case "failing":
		fmt.Println("no such file: gauger.yaml")
		os.Exit(78)
	default:
		os.Exit(m.Run())
	}
}

func listen() {
	if _, err := net.Listen("unix", os.Args[1]); err != nil {
		panic(err)
	}
	fmt.Println("up")
}

// child starts this test's own program as a child of a kind.
func spawn(t *testing.T, kind string) (c *child, socket, log string) {
	t.Helper()
	dir := t.TempDir()
	socket, log = filepath.Join(dir, "s"), filepath.Join(dir, "log")
	c, err := start(os.Args[0], []string{socket}, []string{"WELLSIM_CHILD=" + kind}, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.cmd.Process.Kill(); <-c.ended })
	if kind == "failing" {
		return c, socket, log
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(10 * time.Second); !answers(socket); <-tick.C {
		if time.Now().After(limit) {
			t.Fatal("the child does not answer")
		}
	}
	return c, socket, log
}

func TestAChildThatIsAskedToStop(t *testing.T) {
	c, socket, log := spawn(t, "polite")
	if _, gone := c.gone(); gone {
		t.Fatal("gone before it was asked")
	}
	if err := c.stop(10 * time.Second); err != nil {
		t.Error(err)
	}
	if err, gone := c.gone(); !gone || err != nil {
		t.Errorf("after stop: %v, gone %t", err, gone)
	}
	if answers(socket) {
		t.Error("somebody still answers")
	}
	if got := tail(log, 5); got != "up" {
		t.Errorf("its log ends with %q", got)
	}
	if err := c.stop(time.Second); err != nil {
		t.Errorf("stopped twice: %v", err)
	}
}

func TestAChildThatIsKilled(t *testing.T) {
	c, _, _ := spawn(t, "polite")
	if err := c.kill(); err != nil {
		t.Fatal(err)
	}
	if err, gone := c.gone(); !gone || err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("after kill: %v, gone %t", err, gone)
	}
}

func TestAChildThatDoesNotListen(t *testing.T) {
	c, _, _ := spawn(t, "deaf")
	if err := c.stop(20 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("stopped: %v", err)
	}
	if _, gone := c.gone(); !gone {
		t.Error("it still runs")
	}
}

func TestAChildThatFails(t *testing.T) {
	c, _, log := spawn(t, "failing")
	<-c.ended
	if err, _ := c.gone(); err == nil || !strings.Contains(ended(err).Error(), "78") {
		t.Errorf("ended with %v", err)
	}
	if got := tail(log, 1); got != "no such file: gauger.yaml" {
		t.Errorf("its log ends with %q", got)
	}
	if _, err := start("/nowhere/gauger", nil, nil, log); err == nil || !strings.Contains(err.Error(), "/nowhere/gauger") {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tail(file, 2); got != "b\nc" {
		t.Errorf("got %q", got)
	}
	if got := tail(file+"x", 2); !strings.Contains(got, "no such file") {
		t.Errorf("got %q", got)
	}
}
