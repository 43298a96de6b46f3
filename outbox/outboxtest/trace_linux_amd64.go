package outboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Trace runs a command and shows every call on storage that its first thread makes inside a folder, in order. before is
// asked while the call has not been made yet, and decides what becomes of it; after sees the result. Either may be nil.
// The child must do its work on its first thread (runtime.LockOSThread in an init). It returns the exit status; a child
// that a signal ended is an error.
func Trace(dir string, argv, env []string, before func(*Call) Fault, after func(*Call)) (status int, err error) {
	runtime.LockOSThread() // whoever starts a traced child is the only thread that it listens to
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close() //nolint:errcheck // nothing is kept in it
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: env, Files: []uintptr{null.Fd(), null.Fd(), os.Stderr.Fd()}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, fmt.Errorf("trace %s: %w", argv[0], err)
	}
	t := &tracer{pid: pid, dir: filepath.Clean(dir), before: before, after: after, files: map[int]*Call{}, ids: map[string]int{}}
	return t.run()
}

type tracer struct {
	pid           int
	dir           string
	before        func(*Call) Fault
	after         func(*Call)
	files         map[int]*Call  // of open files and folders, the call that opened them, by descriptor
	ids           map[string]int // the file that has a name
	made          int            // files were seen
	n             int
	inside, began bool
	call          *Call
	fault         Fault
}

func (t *tracer) run() (int, error) {
	signal := 0
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(t.pid, &ws, syscall.WALL, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		switch {
		case err != nil:
			return 0, fmt.Errorf("wait for a traced child: %w", err)
		case ws.Exited():
			return ws.ExitStatus(), nil
		case ws.Signaled():
			return 0, fmt.Errorf("the traced child ended by %v", ws.Signal())
		}
		signal = 0
		switch stop := ws.StopSignal(); {
		case stop == syscall.SIGTRAP|0x80:
			err = t.stop()
		case stop == syscall.SIGTRAP && !t.began:
			t.began = true
			err = syscall.PtraceSetOptions(t.pid, syscall.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_EXITKILL)
		default:
			signal = int(stop)
		}
		if err == nil {
			err = syscall.PtraceSyscall(t.pid, signal)
		}
		if err != nil && !errors.Is(err, syscall.ESRCH) {
			return 0, errors.Join(fmt.Errorf("trace a child: %w", err), syscall.Kill(t.pid, syscall.SIGKILL))
		}
	}
}

// stop is one stop of the child, before or after a call.
func (t *tracer) stop() error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(t.pid, &regs); err != nil {
		return err
	}
	t.inside = !t.inside
	if t.inside {
		return t.enter(&regs)
	}
	return t.leave(&regs)
}

func (t *tracer) enter(regs *syscall.PtraceRegs) (err error) {
	t.fault = Fault{}
	if t.call, err = t.read(regs); t.call == nil || err != nil || t.call.Name == "say" {
		return err
	}
	t.call.N = t.n
	t.n++
	if t.before == nil {
		return nil
	}
	switch t.fault = t.before(t.call); {
	case t.fault.Errno != 0:
		regs.Orig_rax = ^uint64(0) // no call
	case t.fault.Short > 0 && t.fault.Short < len(t.call.Data):
		regs.Rdx = uint64(t.fault.Short)
		t.call.Data = t.call.Data[:t.fault.Short]
	default:
		return nil
	}
	return syscall.PtraceSetRegs(t.pid, regs)
}

func (t *tracer) leave(regs *syscall.PtraceRegs) error {
	c := t.call
	if c == nil {
		return nil
	}
	c.Ret = int64(regs.Rax)
	if t.fault.Errno != 0 {
		c.Ret = -int64(t.fault.Errno)
		regs.Rax = uint64(c.Ret)
		if err := syscall.PtraceSetRegs(t.pid, regs); err != nil {
			return err
		}
	}
	if c.Name == "close" {
		delete(t.files, int(regs.Rdi))
	} else if c.Ret >= 0 {
		t.name(c)
	}
	if t.after != nil {
		t.after(c)
	}
	return nil
}

// name keeps track of which file has which name.
func (t *tracer) name(c *Call) {
	switch c.Name {
	case "openat":
		t.files[int(c.Ret)] = c
	case "linkat":
		t.ids[c.To] = c.File
	case "renameat":
		t.ids[c.To] = c.File
		delete(t.ids, c.Path)
	case "unlinkat":
		delete(t.ids, c.Path)
	}
}

// id is the file that has a name, a new one where none was seen.
func (t *tracer) id(path string) int {
	if path == filepath.Base(t.dir) {
		return -1
	}
	id, ok := t.ids[path]
	if !ok {
		id = t.made
		t.made++
		t.ids[path] = id
	}
	return id
}

// byFile are the calls whose first argument is a descriptor.
var byFile = map[uint64]string{
	unix.SYS_PWRITE64: "pwrite64", unix.SYS_PREAD64: "pread64", unix.SYS_READ: "read", unix.SYS_WRITE: "write",
	unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_FALLOCATE: "fallocate",
	unix.SYS_CLOSE: "close",
}

// byName are the calls whose second argument is a path.
var byName = map[uint64]string{
	unix.SYS_OPENAT: "openat", unix.SYS_RENAMEAT: "renameat", unix.SYS_LINKAT: "linkat", unix.SYS_UNLINKAT: "unlinkat",
	unix.SYS_MKDIRAT: "mkdirat",
}

// read makes a Call of what the child is about to do; nil: nothing of the folder.
func (t *tracer) read(regs *syscall.PtraceRegs) (*Call, error) {
	if name, ok := byFile[regs.Orig_rax]; ok {
		return t.readByFile(name, regs)
	}
	name, ok := byName[regs.Orig_rax]
	if !ok {
		return nil, nil
	}
	path, err := t.text(regs.Rsi)
	if err != nil || !t.within(path) {
		return nil, err
	}
	c := &Call{Name: name, Path: filepath.Base(path)}
	c.File = t.id(c.Path)
	switch name {
	case "renameat", "linkat":
		to, err := t.text(regs.R10)
		if err != nil {
			return nil, err
		}
		c.To = filepath.Base(to)
	case "openat":
		_, err := os.Lstat(path)
		c.New = regs.Rdx&unix.O_CREAT != 0 && errors.Is(err, os.ErrNotExist)
	}
	return c, nil
}

func (t *tracer) readByFile(name string, regs *syscall.PtraceRegs) (c *Call, err error) {
	opened, ok := t.files[int(regs.Rdi)]
	switch {
	case name == "write" && regs.Rdi == 1:
		c = &Call{Name: "say"}
	case !ok:
		return nil, nil
	default:
		c = &Call{Name: name, Path: opened.Path, File: opened.File}
	}
	switch name {
	case "pwrite64":
		c.Off = int64(regs.R10)
	case "pread64":
		c.Off, c.Len = int64(regs.R10), int64(regs.Rdx)
	case "ftruncate":
		c.Off = int64(regs.Rsi)
	}
	if name == "pwrite64" || name == "write" {
		c.Data = make([]byte, regs.Rdx)
		err = t.memory(uintptr(regs.Rsi), c.Data)
	}
	return c, err
}

func (t *tracer) within(path string) bool { return path == t.dir || strings.HasPrefix(path, t.dir+"/") }

// text reads a string of the child, in steps that never cross a page.
func (t *tracer) text(at uint64) (string, error) {
	var all []byte
	for {
		step := make([]byte, 64-at%64)
		if err := t.memory(uintptr(at), step); err != nil {
			return "", err
		}
		if i := bytes.IndexByte(step, 0); i >= 0 {
			return string(append(all, step[:i]...)), nil
		}
		all, at = append(all, step...), at+uint64(len(step))
	}
}

func (t *tracer) memory(at uintptr, into []byte) error {
	if len(into) == 0 {
		return nil
	}
	n, err := unix.ProcessVMReadv(t.pid, []unix.Iovec{{Base: &into[0], Len: uint64(len(into))}},
		[]unix.RemoteIovec{{Base: at, Len: len(into)}}, 0)
	if err == nil && n < len(into) {
		err = fmt.Errorf("%d of %d bytes", n, len(into))
	}
	if err != nil {
		return fmt.Errorf("read the child's memory: %w", err)
	}
	return nil
}
