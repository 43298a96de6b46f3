package memory

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// dropProgram gives up the pages of the program's own file, and of the C library's where the build took it in, that are mapped and as
// they are in the file: code and constants. Where the kernel does not say which these are, or refuses, they stay.
func dropProgram() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	for _, m := range programMappings(f) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
	}
}

type mapping struct{ from, to uintptr }

// programMappings are those of private files that cannot be written to and never were: what was written would be lost, also where it
// is swapped out.
func programMappings(smaps io.Reader) (all []mapping) {
	var last mapping
	asInFile := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Text()
		var m mapping
		var access string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &access); n == 3 {
			last, asInFile = m, len(access) == 4 && access[1] == '-' && access[3] == 'p' && strings.Contains(line, " /")
			continue
		}
		switch kind, amount, _ := strings.Cut(line, ":"); kind {
		case "Anonymous", "Swap":
			asInFile = asInFile && strings.TrimSpace(amount) == "0 kB"
		case "VmFlags": // the last line of each
			if asInFile {
				all = append(all, last)
			}
		}
	}
	return all
}
