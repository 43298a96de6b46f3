package main

import (
	"context"
	"fmt"
	"runtime"
)

// showVersion says which gauger this is.
func (m *Main) showVersion(_ context.Context, args []string) error {
	if len(args) > 0 {
		return usage{"version takes no arguments"}
	}
	_, err := fmt.Fprintf(m.Out, "gauger %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}
