package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// diskBytes is the size of the private file system: two backlogs of a million records.
const diskBytes = 2 << 30

// disk is the folder that the rows about bytes work in: a file system of its own on a loop device, where root can make
// one, so that its journal counts too and nothing else does.
type disk struct {
	dir    string
	device string // loop0; "": the folder of the run, and the process's own writes are counted
	undo   []func() error
}

func openDisk(r run) (*disk, error) {
	dir, err := os.MkdirTemp(r.dir, "bench")
	if err != nil {
		return nil, err
	}
	d := &disk{dir: dir, undo: []func() error{func() error { return os.RemoveAll(dir) }}}
	image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	if os.Getuid() != 0 || os.Mkdir(mount, 0o750) != nil || os.WriteFile(image, nil, 0o600) != nil || os.Truncate(image, diskBytes) != nil {
		return d, nil
	}
	if exec.Command("mkfs.ext4", "-q", "-F", image).Run() != nil {
		return d, nil
	}
	out, err := exec.Command("losetup", "--find", "--show", image).Output()
	if err != nil {
		return d, nil //nolint:nilerr // no loop devices here: the folder will do
	}
	loop := strings.TrimSpace(string(out))
	d.undo = append(d.undo, func() error { return exec.Command("losetup", "--detach", loop).Run() })
	if unix.Mount(loop, mount, "ext4", 0, "") == nil {
		d.undo = append(d.undo, func() error { return unix.Unmount(mount, 0) })
		d.dir, d.device = mount, filepath.Base(loop)
	}
	return d, nil
}

func (d *disk) close() (err error) {
	for i := len(d.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, d.undo[i]())
	}
	return err
}

func (d *disk) String() string {
	if d.device == "" {
		return "bytes that the process wrote (/proc/self/io: no private file system without root and loop devices)"
	}
	return "bytes on the device of a private ext4, its journal among them"
}

// writtenBytes reads how much was written to a loop device, or by this process when there is none.
func writtenBytes(device string) (int64, error) {
	if device == "" {
		return procField("/proc/self/io", "write_bytes:")
	}
	text, err := os.ReadFile("/sys/block/" + device + "/stat")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 7 {
		return 0, fmt.Errorf("the statistics of %s have only %d fields", device, len(fields))
	}
	sectors, err := strconv.ParseInt(fields[6], 10, 64)
	return sectors * 512, err
}

// procField reads one number of a file of /proc.
func procField(path, name string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}

// syncAll flushes the file system of a folder, its journal too.
func syncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

// lengthOf adds up the files of a folder, in bytes, but for the outbox's receipts.
func lengthOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(path, ".receipts") {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// forget drops a folder's files from the page cache, as after a start of the machine.
func forget(dir string) error {
	if err := syncAll(dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
	})
}
