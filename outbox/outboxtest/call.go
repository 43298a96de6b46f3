package outboxtest

import "syscall"

// Call is one system call on storage, as a traced child makes it.
type Call struct {
	Name string // pwrite64, fdatasync, renameat and so on; "say" for a line on standard output
	N    int    // its place among the child's calls on storage, from 0; lines that are said do not count
	Path string // base name of the file or folder, as it was opened
	File int    // which file it is, whatever its name becomes; -1: a folder
	To   string // the other name of renameat and linkat
	Off  int64  // of pwrite64 and pread64; the length of ftruncate
	Len  int64  // how many bytes pread64 wants
	Data []byte // what is written or said
	New  bool   // openat made the file
	Ret  int64  // what the kernel returned; negative: an error's number
}

// Fault happens to a call. The zero value lets it be.
type Fault struct {
	Errno syscall.Errno // the call is not made, and returns this
	Short int           // a write takes only so many bytes, the kernel really writes them; 0: all
}
