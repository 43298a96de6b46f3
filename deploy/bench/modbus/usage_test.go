package main

import (
	"os"
	"testing"
	"time"
)

func TestUsageOfThreadsAndMemory(t *testing.T) {
	var u usage
	for _, line := range []string{"1500000 20 3\n", "500000 30 1\n"} {
		if err := u.addThread(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.setMemory("Name:\tgauger\nVmHWM:\t  9000 kB\nVmRSS:\t    8600 kB\nRssAnon:\t    1800 kB\n"); err != nil {
		t.Fatal(err)
	}
	if want := (usage{CPU: 2 * time.Millisecond, Wait: 50, RSS: 8600, Anon: 1800, Peak: 9000}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
}

func TestUsageThatCannotBeRead(t *testing.T) {
	var u usage
	if u.addThread("") == nil || u.addThread("x y z") == nil {
		t.Error("a line without numbers was taken")
	}
	if u.setMemory("VmRSS: 1 kB\n") == nil {
		t.Error("a status without all figures was taken")
	}
	if _, err := usageOf(1 << 30); err == nil {
		t.Error("a process that cannot be has been read")
	}
}

func TestUsageOfThisProcess(t *testing.T) {
	u, err := usageOf(os.Getpid())
	if err != nil {
		t.Skipf("no scheduler statistics here: %v", err)
	}
	if u.CPU <= 0 {
		t.Errorf("%s on a processor", u.CPU)
	}
	if u.Anon <= 0 || u.RSS < u.Anon || u.Peak < u.RSS {
		t.Errorf("%d KiB of heap and stacks, %d resident, at most %d; each should hold the one before", u.Anon, u.RSS, u.Peak)
	}
}
