//go:build fault

package collectors

import (
	"os"
	"strings"
)

// fault lets the part whose name begins as GAUGER_HANG says hang for ever, once the file GAUGER_HANG_WHEN is there: for the test of the
// watchdog, with a program of its own.
func fault(name string) {
	if part := os.Getenv("GAUGER_HANG"); part == "" || !strings.HasPrefix(name, part) {
		return
	}
	if _, err := os.Stat(os.Getenv("GAUGER_HANG_WHEN")); err == nil {
		select {}
	}
}
