package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage of the machine by a process so far.
type usage struct {
	CPU  time.Duration // on a processor, all threads
	Wait time.Duration // ready to run, and waiting for a processor
	RSS  int           // resident memory, KiB
	Anon int           // of it what no file backs: heap and stacks
	Peak int           // the most that was ever resident
}

// usageOf reads it from the kernel. CPU time is the scheduler's own, in nanoseconds, not the clock tick's.
func usageOf(pid int) (usage, error) {
	root := filepath.Join("/proc", strconv.Itoa(pid))
	threads, err := filepath.Glob(filepath.Join(root, "task", "*", "schedstat"))
	if err != nil || len(threads) == 0 {
		return usage{}, fmt.Errorf("process %d: no threads to be seen in %s", pid, root)
	}
	var u usage
	for _, thread := range threads {
		b, err := os.ReadFile(thread)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the thread has just ended
		}
		if err != nil {
			return usage{}, fmt.Errorf("process %d: %w", pid, err)
		}
		if err := u.addThread(string(b)); err != nil {
			return usage{}, fmt.Errorf("%s: %w", thread, err)
		}
	}
	status, err := os.ReadFile(filepath.Join(root, "status"))
	if err != nil {
		return usage{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return u, u.setMemory(string(status))
}

// addThread adds a line of schedstat: nanoseconds on a processor, nanoseconds waiting for one, turns.
func (u *usage) addThread(line string) error {
	var cpu, wait, turns int64
	if _, err := fmt.Sscan(line, &cpu, &wait, &turns); err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	u.CPU += time.Duration(cpu)
	u.Wait += time.Duration(wait)
	return nil
}

// setMemory reads the lines of status that are about memory, in KiB.
func (u *usage) setMemory(status string) error {
	into := map[string]*int{"VmRSS": &u.RSS, "RssAnon": &u.Anon, "VmHWM": &u.Peak}
	for line := range strings.Lines(status) {
		key, value, _ := strings.Cut(line, ":")
		if into[key] == nil {
			continue
		}
		if _, err := fmt.Sscan(value, into[key]); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		delete(into, key)
	}
	if len(into) > 0 {
		return fmt.Errorf("no memory figures in the process's status")
	}
	return nil
}

// since subtracts an earlier look; memory stays as it is now.
func (u usage) since(before usage) usage {
	u.CPU -= before.CPU
	u.Wait -= before.Wait
	return u
}
