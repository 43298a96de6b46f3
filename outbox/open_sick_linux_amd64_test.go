package outbox_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gauger/outbox/outboxtest"
)

// sick plays a script to its end, first on a sound disk, then, for a few steps, with every call failing that fails names.
// It returns how the second ended, and how many updates were refused.
func sick(t *testing.T, dir string, fails func(c *outboxtest.Call) syscall.Errno) (status int, ended string, refused int) {
	t.Helper()
	status, err := traced(dir, 3, 30, nil, nil)
	mustPlay(t, status, err)
	status, err = traced(dir, 4, 6, func(c *outboxtest.Call) outboxtest.Fault { return outboxtest.Fault{Errno: fails(c)} },
		func(c *outboxtest.Call) {
			switch line := string(c.Data); {
			case c.Name != "say":
			case strings.HasPrefix(line, "ended"):
				ended = line
			case strings.HasPrefix(line, "refused"):
				refused++
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	return status, ended, refused
}

// The disk is full for good and has reserved nothing: the box opens all the same, again and again, and refuses what is new.
func TestFullDiskDoesNotKeepTheBoxShut(t *testing.T) {
	status, ended, refused := sick(t, scratch(t), func(c *outboxtest.Call) syscall.Errno {
		switch c.Name {
		case "pwrite64", "write", "fallocate", "ftruncate":
			return syscall.ENOSPC
		}
		return 0
	})
	if status != 0 || refused == 0 {
		t.Errorf("status %d, %d updates were refused, %s", status, refused, ended)
	}
}

// A block of each file cannot be read any more: the box opens, what can be read of it is there.
func TestBlockThatCannotBeRead(t *testing.T) {
	for _, file := range []string{"outbox.db", "outbox.db.receipts", "outbox.db.high"} {
		t.Run(file, func(t *testing.T) {
			dir := scratch(t)
			status, ended, _ := sick(t, dir, func(c *outboxtest.Call) syscall.Errno {
				if c.Name == "pread64" && c.Path == file && c.Off <= 8192 && c.Off+c.Len > 8192 {
					return syscall.EIO
				}
				return 0
			})
			if status != 0 {
				t.Errorf("status %d, %s", status, ended)
			}
			b := open(t, filepath.Join(dir, "outbox.db"), scriptOptions())
			for _, stream := range streamNames {
				counts(t, b, stream)
			}
			shut(t, b)
		})
	}
}
