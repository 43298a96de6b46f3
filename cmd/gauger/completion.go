package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// completionCommand prints what makes a shell complete commands, flags and their values.
func completionCommand(c *call) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "what makes a shell complete commands and flags", Args: cobra.ArbitraryArgs, ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); strings.Join(args, " ") {
			case "bash":
				return root.GenBashCompletionV2(c.out, true)
			case "zsh":
				return root.GenZshCompletion(c.out)
			case "fish":
				return root.GenFishCompletion(c.out, true)
			}
			return usageError{fmt.Sprintf("completion wants the shell: %s; `source <(gauger completion bash)` takes it into this one", joinOr(shells))}
		},
	}
}
