package memory

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// dropProgram gives up the pages of the program's own file that are mapped and as they are in the file: code and constants. Where
// the kernel does not say which these are, or refuses, they stay.
func dropProgram() {
	for _, m := range programMappings() {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

type mapping struct{ from, to uintptr }

// programMappings are those of the program's file in which nothing was ever written: what was would be lost.
func programMappings() (all []mapping) {
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	var last mapping
	ours := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m mapping
		var access string
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s", &m.from, &m.to, &access); n == 3 {
			last, ours = m, access[1] == '-' && strings.HasSuffix(lines.Text(), " "+own)
		} else if ours && strings.HasPrefix(lines.Text(), "Anonymous: ") && strings.HasSuffix(lines.Text(), " 0 kB") {
			all = append(all, last)
		}
	}
	return all
}
