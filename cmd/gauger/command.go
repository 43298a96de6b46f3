package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// newCommand makes a command: its name and arguments, what it is for, and what it does.
func newCommand(c *call, use, about string, run func(ctx context.Context, c *call, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: about, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			known := formatsOf(cmd)
			if !cmd.Flags().Changed("format") {
				c.format = known[0]
			}
			if !slices.Contains(known, c.format) {
				return usageError{fmt.Sprintf("--format is %s, not %q", joinOr(known), c.format)}
			}
			c.command = commandName(cmd)
			return run(cmd.Context(), c, args)
		},
	}
}

// takes lets a command have n arguments; with more or fewer the mistake is told in words.
func takes(cmd *cobra.Command, n int, words string) *cobra.Command {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{words}
		}
		return nil
	}
	return cmd
}

// commandName is a command without the program's name before it.
func commandName(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "gauger ") }

// group is a first word that means nothing alone.
func group(name, about string, all ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: name, Short: about, Args: cobra.ArbitraryArgs}
	g.RunE = func(cmd *cobra.Command, args []string) error {
		names := commandNames(cmd)
		if len(args) == 0 {
			return usageError{fmt.Sprintf("%s what? one of %s", name, strings.Join(names, ", "))}
		}
		return usageError{fmt.Sprintf("%s %s is no command%s; %s can %s", name, args[0], didYouMean(args[0], names), name, strings.Join(names, ", "))}
	}
	g.AddCommand(all...)
	return g
}

// commandNames are the words that may follow a command.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}
