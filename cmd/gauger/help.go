package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Columns of a help text.
const (
	helpWide      = 80
	commandColumn = 40 // where what a command is for begins
	flagColumn    = 34 // where what a flag is for begins, at most
)

// unknownCommand is the mistake of a word that is no command before -h: a script that asks whether there is such a command must
// not be told yes. Behind -h nothing counts.
func unknownCommand(cmd *cobra.Command, args []string) error {
	words := cmd.Flags().Args()
	if !cmd.HasSubCommands() || len(words) == 0 {
		return nil
	}
	asked := slices.IndexFunc(args, func(a string) bool { return a == "-h" || a == "--help" })
	if asked < slices.Index(args, words[0]) {
		return nil
	}
	return cmd.RunE(cmd, words)
}

// printHelp prints what a command is for and its flags, of a group its commands, and of the program all of them.
func printHelp(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	if !cmd.HasParent() {
		fmt.Fprintf(w, "%s\n\n", cmd.Short)
		for _, sub := range cmd.Commands() {
			printCommands(w, sub)
		}
		fmt.Fprint(w, "\nBefore or behind any command, --version alone:\n")
		printFlags(w, cmd)
		fmt.Fprint(w, "\n`gauger COMMAND -h` lists a command's flags.\nExit status: 0 done, 1 failed, 2 usage, 75 busy, 78 bad configuration.\n")
		return
	}
	fmt.Fprintf(w, "%s\n%s\n", usageLine(cmd), wrapped("  ", cmd.Short))
	if cmd.HasSubCommands() {
		printCommands(w, cmd)
		return
	}
	printFlags(w, cmd)
}

// usageLine is a command with its arguments.
func usageLine(cmd *cobra.Command) string {
	return strings.TrimSuffix(cmd.CommandPath(), cmd.Name()) + cmd.Use
}

// printCommands prints a command, or those of a group, each with what it is for.
func printCommands(w io.Writer, cmd *cobra.Command) {
	switch {
	case cmd.HasSubCommands():
		for _, sub := range cmd.Commands() {
			printCommands(w, sub)
		}
	case !cmd.Hidden:
		fmt.Fprint(w, helpRow("  "+usageLine(cmd), commandColumn, cmd.Short))
	}
}

// printFlags prints the flags that a command knows, in the order of the alphabet.
func printFlags(w io.Writer, cmd *cobra.Command) {
	var lines [][2]string
	wide := 0
	visitFlags(cmd, func(name, value, about string) {
		text := "  " + strings.TrimSpace(name+" "+value)
		lines = append(lines, [2]string{text, about})
		if len(text)+2 <= flagColumn {
			wide = max(wide, len(text)+2)
		}
	})
	for _, x := range lines {
		fmt.Fprint(w, helpRow(x[0], wide, x[1]))
	}
}

// visitFlags calls see with each flag of a command: its name with dashes, its value's name, and what it is for.
func visitFlags(cmd *cobra.Command, see func(name, value, about string)) {
	cmd.InitDefaultHelpFlag() // takes the flags of all commands in
	cmd.Flags().VisitAll(func(x *pflag.Flag) {
		if x.Name == "help" {
			return
		}
		flag := *x
		if x.Name == "format" {
			flag.Usage = cmp.Or(cmd.Annotations[formatUsageNote], x.Usage)
		}
		value, about := pflag.UnquoteUsage(&flag)
		if value != "FILE" {
			value = strings.ToUpper(value)
		}
		if x.DefValue != "" && x.DefValue != "false" && x.DefValue != "0" {
			about += " (default " + x.DefValue + ")"
		}
		see(dashed(x.Name), value, about)
	})
}

// helpRow puts text behind a head, from a column on and within the width of a help text; below the head where that is
// too long for it.
func helpRow(head string, at int, text string) string {
	indent := strings.Repeat(" ", at)
	lines := strings.TrimLeft(wrapped(indent, text), " ")
	if len(head)+2 > at {
		return head + "\n" + indent + lines
	}
	return head + indent[len(head):] + lines
}

// wrapped is a text in lines of the width of a help text, each behind an indent.
func wrapped(indent, text string) string {
	var out strings.Builder
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(indent)+len(line)+1+len(word) > helpWide {
			out.WriteString(indent + line + "\n")
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return out.String() + indent + line + "\n"
}

// newHelpCommand prints the help of the command that is named behind it.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "what a command is for, and its flags", Args: cobra.ArbitraryArgs,
		RunE: func(help *cobra.Command, args []string) error {
			cmd, rest, err := help.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 && cmd.HasSubCommands() {
				return cmd.RunE(cmd, rest) // says that there is no such command
			}
			return cmd.Help()
		},
		ValidArgsFunction: func(help *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			cmd, _, err := help.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return commandNames(cmd), cobra.ShellCompDirectiveNoFileComp
		},
	}
}
