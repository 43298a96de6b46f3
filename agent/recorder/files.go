package recorder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gauger/outbox/disk"
)

const (
	suffix     = ".rec"
	leastPages = 8  // that a ring needs
	mostPages  = 64 // in one file: what is deleted at once is small beside the whole
	mostOld    = 2  // files that one new file may replace because of their age
)

// files are the numbered files of a ring, the oldest first. Only the last is written to.
type files struct {
	dir   string
	most  int64 // bytes
	days  int
	pages int // of one file
	all   []file
	out   *os.File
	page  int // that is next in the last file
}

// file is one of them.
type file struct {
	number int
	size   int64 // bytes that it has, or will have when it is full
}

func fileName(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("%08d%s", number, suffix))
}

// ownFolder refuses a link in the folder's place that somebody else than root has laid.
func ownFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || info.Mode().Type() != os.ModeSymlink {
		return nil //nolint:nilerr // a folder that cannot be looked at is told when it is read
	}
	if by, ok := info.Sys().(*syscall.Stat_t); ok && by.Uid == 0 {
		return nil
	}
	return fmt.Errorf("%s is a link that root has not laid, and is not followed (%w)", dir, syscall.ELOOP)
}

// numbersIn lists a ring's files, the oldest first. A folder that is not there has none.
func numbersIn(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !gone(err) {
		return nil, err
	}
	var all []int
	for _, e := range entries {
		base, ours := strings.CutSuffix(e.Name(), suffix)
		if n, err := strconv.Atoi(base); ours && err == nil && n > 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// openFiles looks what is there. The last file is gone on with, behind its last page, whole or torn.
func openFiles(dir string, o Options) (files, error) {
	f := files{dir: dir, most: o.MaxBytes, days: o.Days, pages: int(min(o.MaxBytes/pageSize/leastPages, mostPages))}
	if err := ownFolder(dir); err != nil {
		return f, err
	}
	numbers, err := numbersIn(dir)
	if err != nil {
		return f, err
	}
	for _, n := range numbers {
		info, err := os.Stat(fileName(dir, n))
		if err != nil {
			return f, err
		}
		f.page = int((info.Size() + pageSize - 1) / pageSize)
		f.all = append(f.all, file{n, int64(f.page) * pageSize})
	}
	if n := len(f.all); n > 0 {
		f.all[n-1].size = max(f.all[n-1].size, int64(f.pages)*pageSize)
	}
	return f, f.keepWithin(0)
}

func (f *files) name(i int) string { return fileName(f.dir, f.all[i].number) }

func (f *files) last() string { return f.name(len(f.all) - 1) }

// append writes a page behind the others. After an error its place is free for the next one.
func (f *files) append(page []byte, now time.Time) error {
	if err := f.find(); err != nil {
		return err
	}
	if len(f.all) == 0 || f.page >= f.pages {
		if err := f.begin(now); err != nil {
			return err
		}
	}
	if f.out == nil {
		out, err := disk.OpenFile(f.last(), os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		f.out = out
	}
	if _, err := f.out.WriteAt(page, int64(f.page)*pageSize); err != nil {
		return errors.Join(err, f.shut())
	}
	f.page++
	return nil
}

// find looks whether the file that is written to is still at its place, and begins anew with what is there where it is
// not: somebody has removed the folder.
func (f *files) find() error {
	if f.out == nil {
		return nil
	}
	open, err := f.out.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(f.last()); err == nil && os.SameFile(open, there) {
		return nil
	}
	if err := f.shut(); err != nil {
		return err
	}
	again, err := openFiles(f.dir, Options{MaxBytes: f.most, Days: f.days})
	if err == nil {
		*f = again
	}
	return err
}

// begin starts the next file, after the oldest have made room.
func (f *files) begin(now time.Time) error {
	if err := f.shut(); err != nil {
		return err
	}
	if err := f.keepWithin(int64(f.pages) * pageSize); err != nil {
		return err
	}
	if err := f.dropOld(now); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	number := 1
	if n := len(f.all); n > 0 {
		number = f.all[n-1].number + 1
	}
	out, err := os.OpenFile(fileName(f.dir, number), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	reserve(out, int64(f.pages)*pageSize)
	f.out, f.page, f.all = out, 0, append(f.all, file{number, int64(f.pages) * pageSize})
	return nil
}

// reserve asks for the space of a file at once, so that a page that is written later changes only the file's own entry
// on the disk, and no map of free space. Where the file system cannot do that nothing is lost but a little flash.
func reserve(out *os.File, size int64) {
	const keepSize = 1 // FALLOC_FL_KEEP_SIZE
	_ = syscall.Fallocate(int(out.Fd()), keepSize, 0, size)
}

// keepWithin deletes the oldest files until there is room for so many more bytes.
func (f *files) keepWithin(more int64) error {
	for len(f.all) > 1 && f.bytes()+more > f.most {
		if err := f.dropFirst(); err != nil {
			return err
		}
	}
	return nil
}

// dropOld deletes what is older than the days that are kept. Since the clock may be wrong, a file must be old by two
// clocks, now and the beginning of the file that is full now, and no more than mostOld go for each that comes.
func (f *files) dropOld(now time.Time) error {
	if f.days <= 0 || len(f.all) == 0 {
		return nil
	}
	began, _, _ := span(f.last(), mostPages)
	limit := min(now.UnixMicro(), began) - int64(f.days)*int64(24*time.Hour/time.Microsecond)
	for range mostOld {
		if len(f.all) < 2 {
			return nil
		}
		if _, newest, ok := span(f.name(0), mostPages); ok && newest >= limit {
			return nil
		}
		if err := f.dropFirst(); err != nil {
			return err
		}
	}
	return nil
}

func (f *files) dropFirst() error {
	if err := os.Remove(f.name(0)); err != nil && !gone(err) {
		return err
	}
	f.all = f.all[1:]
	return nil
}

// span looks at a file's first pages, so many of them: the least wall time of the first good one, and the greatest of
// them all. ok is false when there is no good one.
func span(name string, pages int) (first, most int64, ok bool) {
	in, err := disk.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return 0, 0, false
	}
	defer in.Close()
	page := make([]byte, pageSize)
	for range pages {
		if _, err := io.ReadFull(in, page); err != nil {
			break
		}
		h, err := unseal(page)
		if err != nil {
			continue
		}
		if !ok {
			first, most, ok = h.least, h.most, true
		}
		most = max(most, h.most)
	}
	return first, most, ok
}

// bytes of all files on disk, the space reserved for the last one included.
func (f *files) bytes() (sum int64) {
	for _, x := range f.all {
		sum += x.size
	}
	return sum
}

// first is the oldest file's name; empty when there is none.
func (f *files) first() string {
	if len(f.all) == 0 {
		return ""
	}
	return f.name(0)
}

// shut closes the file that is written to.
func (f *files) shut() error {
	if f.out == nil {
		return nil
	}
	out := f.out
	f.out = nil
	return out.Close()
}

// close waits until the disk has what was written, and closes the file.
func (f *files) close() error {
	if f.out == nil {
		return nil
	}
	return errors.Join(f.out.Sync(), f.shut())
}
