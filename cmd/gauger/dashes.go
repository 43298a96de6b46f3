package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// dashed is a flag as people write it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// twoDashes writes flags as cobra takes them: -format json and --c FILE, which Go's own flag package takes as well as
// --format json and -c FILE, stand in scripts. What follows a flag that takes a value is its value, whatever it begins
// with, and behind -- nothing is a flag. The word that a shell wants completed, the last one, stays as it is.
func twoDashes(root *cobra.Command, args []string) []string {
	out, cmd := make([]string, 0, len(args)), root
	if len(args) > 1 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		last := len(args) - 1
		return append(append(append(out, args[0]), twoDashes(root, args[1:last])...), args[last])
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...)
		}
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		if !strings.HasPrefix(arg, "-") || name == "" || strings.HasPrefix(name, "-") {
			if sub := subcommand(cmd, arg); sub != nil {
				cmd = sub
			}
			out = append(out, arg)
			continue
		}
		f := cmd.Flag(name)
		switch {
		case name == "help": // and --help=false too: nobody who says help wants the command to do its work
			out = append(out, "--help")
		case given && len(name) == 1: // pflag takes -o= for the value "="
			out = append(out, dashed(name), value)
		case given:
			out = append(out, dashed(name)+"="+value)
		default:
			out = append(out, dashed(name))
			if f != nil && f.NoOptDefVal == "" && i+1 < len(args) {
				i++
				out = append(out, args[i])
			}
		}
	}
	return out
}

// subcommand is the command of that name below another; nil when there is none.
func subcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}
