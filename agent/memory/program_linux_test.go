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
	if len(programMappings()) < 2 {
		t.Errorf("of the program's file %v can be dropped, want its code and its constants at least", programMappings())
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
