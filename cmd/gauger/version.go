package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func versionCommand(c *call) *cobra.Command {
	return withoutFlags(newCommand(c, "version", "which gauger this is", runVersion))
}

// runVersion says which gauger this is.
func runVersion(_ context.Context, c *call, args []string) error {
	if len(args) > 0 {
		return usageError{"version takes no arguments"}
	}
	_, err := fmt.Fprintf(c.out, "gauger %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}

// version is set by the build.
var version = "dev"
