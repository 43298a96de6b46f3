package machine

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Disk is a folder to measure in: an ext4 of its own on a loop device where root can make one.
type Disk struct {
	Dir    string
	Device string // in /sys/block; "": Dir is an ordinary folder
	undo   []func() error
}

// OpenDisk makes one of so many bytes in a folder.
func OpenDisk(in string, bytes int64) (*Disk, error) {
	dir, err := os.MkdirTemp(in, "bench")
	if err != nil {
		return nil, err
	}
	d := &Disk{Dir: dir, undo: []func() error{func() error { return os.RemoveAll(dir) }}}
	image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	if os.Getuid() != 0 || os.Mkdir(mount, 0o750) != nil || os.WriteFile(image, nil, 0o600) != nil || os.Truncate(image, bytes) != nil {
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
		d.Dir, d.Device = mount, filepath.Join("/sys/block", filepath.Base(loop))
	}
	return d, nil
}

// Close takes it away.
func (d *Disk) Close() (err error) {
	for i := len(d.undo) - 1; i >= 0; i-- {
		err = errors.Join(err, d.undo[i]())
	}
	return err
}

// String says what Written counts.
func (d *Disk) String() string {
	if d.Device == "" {
		return "bytes that the process wrote (/proc/self/io: no private file system without root and loop devices)"
	}
	return "bytes on the device of a private ext4, its journal among them"
}

// Written is what was written to a device, or by a process where there is none, in bytes.
func Written(device, process string) (int64, error) {
	if device == "" {
		return WrittenBy(process)
	}
	return WrittenTo(device)
}

// SyncAll flushes the file system of a folder, its journal too.
func SyncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}
