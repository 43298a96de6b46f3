//go:build !fault

package collectors

// fault is for the test of the watchdog alone.
func fault(string) {}
