package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionCommand prints what makes a shell complete commands, flags and their values.
func completionCommand(c *call) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return withoutFlags(&cobra.Command{
		Use: "completion bash|zsh|fish", Short: "what makes a shell complete commands and flags", Args: cobra.ArbitraryArgs, ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); strings.Join(args, " ") {
			case "bash":
				return root.GenBashCompletionV2(verbatim(c.out), true)
			case "zsh":
				return root.GenZshCompletion(verbatim(c.out))
			case "fish":
				return root.GenFishCompletion(verbatim(c.out), true)
			}
			return usageError{fmt.Sprintf("completion wants the shell: %s; `source <(gauger completion bash)` takes it into this one", joinOr(shells))}
		},
	})
}

// complete lets a shell complete a flag's value.
func complete(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
}

// completeFormats lets a shell complete --format, which has its own words with each command.
func completeFormats(root *cobra.Command) {
	words := func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return formatsOf(cmd), cobra.ShellCompDirectiveNoFileComp
	}
	_ = root.RegisterFlagCompletionFunc("format", words) // the flag is there
}

func eachCommand(cmd *cobra.Command, see func(*cobra.Command)) {
	see(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, see)
	}
}

// completeFiles lets a shell complete the names of files where a flag takes one, and nowhere else.
func completeFiles(root *cobra.Command) {
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(x *pflag.Flag) {
			if value, _ := pflag.UnquoteUsage(x); strings.EqualFold(value, "file") || value == "SOCKET" || x.Name == "against" {
				_ = cmd.RegisterFlagCompletionFunc(x.Name, fileNames) // the flag is there
			}
		})
	})
}

func fileNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// plainUsages takes the backquotes, which name a flag's value in help, out of what a shell shows of it.
func plainUsages(root *cobra.Command) {
	eachCommand(root, func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(x *pflag.Flag) { x.Usage = strings.ReplaceAll(x.Usage, "`", "") })
	})
}

func runVersion(_ context.Context, c *call, args []string) error {
	if len(args) > 0 {
		return usageError{"version takes no arguments"}
	}
	return printf(c.out, "gauger %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// version is set by the build.
var version = "dev"
