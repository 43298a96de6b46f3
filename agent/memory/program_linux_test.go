package memory

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// residentFile is how many kilobytes of files are resident.
func residentFile(t *testing.T) (kilobytes int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "RssFile:")
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes
}

var (
	constants = strings.Repeat("constant ", 3)
	written   = slices.Repeat([]byte{7}, 1<<20)
)

// TestDroppingLosesNothing: the program goes on, and what it wrote is there.
func TestDroppingLosesNothing(t *testing.T) {
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer smaps.Close()
	if all := programMappings(smaps); len(all) < 2 {
		t.Errorf("of the program's file %v can be dropped, want its code and its constants at least", all)
	}
	before := residentFile(t)
	dropProgram()
	after := residentFile(t)
	if after >= before {
		t.Errorf("%d kB of files were resident, and %d after they were dropped", before, after)
	}
	if constants != "constant constant constant " || slices.ContainsFunc(written, func(b byte) bool { return b != 7 }) {
		t.Error("something else stands in the program's memory now")
	}
}

// TestWhatWasWrittenIsNotDropped: the C library's addresses are written when it is loaded and cannot be later; a box with swap may
// have put them there.
func TestWhatWasWrittenIsNotDropped(t *testing.T) {
	smaps := ""
	for _, m := range []struct {
		header          string
		anonymous, swap int
	}{
		{"00010000-00020000 r-xp 00000000 b3:02 100 /usr/bin/gauger", 0, 0},
		{"00020000-00030000 r--p 00010000 b3:02 100 /usr/bin/gauger (deleted)", 0, 0},
		{"00030000-00040000 rw-p 00020000 b3:02 100 /usr/bin/gauger", 0, 0},
		{"00040000-00050000 rw-p 00000000 00:00 0", 4, 0},
		{"a0000000-a4000000 r--s 00000000 b3:02 200 /var/lib/gauger/outbox.db", 0, 0},
		{"b0000000-b0100000 r-xp 00000000 b3:02 300 /usr/lib/libc.so.6", 0, 0},
		{"b0100000-b0104000 r--p 00100000 b3:02 300 /usr/lib/libc.so.6", 16, 0},
		{"b0104000-b0108000 r--p 00104000 b3:02 300 /usr/lib/libc.so.6", 0, 16},
		{"b0108000-b010c000 ---p 00108000 b3:02 300 /usr/lib/libc.so.6", 0, 0},
		{"ffff0000-ffff1000 r-xp 00000000 00:00 0 [vectors]", 0, 0},
	} {
		smaps += fmt.Sprintf("%s\nSize: 64 kB\nAnonymous: %d kB\nAnonHugePages: 0 kB\nSwap: %d kB\nSwapPss: 0 kB\nVmFlags: rd mr mw me\n", m.header, m.anonymous, m.swap)
	}
	want := []mapping{{0x10000, 0x20000}, {0x20000, 0x30000}, {0xb0000000, 0xb0100000}, {0xb0108000, 0xb010c000}}
	if got := programMappings(strings.NewReader(smaps)); !slices.Equal(got, want) {
		t.Errorf("%x is dropped, want %x", got, want)
	}
}
