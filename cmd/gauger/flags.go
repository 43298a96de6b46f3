package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gauger/config"
)

// flagError says what is wrong with a flag of a command; args are the whole call's.
func flagError(cmd *cobra.Command, args []string, err error) error {
	if asked, _ := cmd.Flags().GetBool("help"); asked {
		return pflag.ErrHelp // whatever stands behind -h
	}
	unknown, isUnknown := errors.AsType[*pflag.NotExistError](err)
	if isUnknown { // the command that the words of the call name, flags or not between them
		for _, arg := range args {
			cmd = cmp.Or(subcommand(cmd, arg), cmd)
		}
	}
	hint := fmt.Sprintf("; `%s -h` lists the flags", cmd.CommandPath())
	if isUnknown {
		name := unknown.GetSpecifiedName()
		if cmd.Flag(name) != nil { // it stands before the command's name, where only the flags of all commands are known
			return usageError{fmt.Sprintf("%s stands behind its command: `%s %s`%s", dashed(name), cmd.CommandPath(), dashed(name), hint)}
		}
		var known []string
		cmd.Flags().VisitAll(func(x *pflag.Flag) { known = append(known, dashed(x.Name)) })
		meant := either(slices.Contains(formatsOf(cmd), name), " (did you mean --format "+name+"?)", didYouMean(dashed(name), known))
		return usageError{fmt.Sprintf("there is no flag %s%s%s", dashed(name), meant, hint)}
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usageError{dashed(missing.GetFlag().Name) + " wants a value behind it" + hint}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usageError{fmt.Sprintf("%s %s: %s%s", dashed(invalid.GetFlag().Name), strconv.Quote(invalid.GetValue()), unreadValue(invalid), hint)}
	}
	return usageError{err.Error() + hint}
}

// refuseFlags refuses what stands behind a command that has no flags. Before it the flags of all commands may stand: a script
// has them once for all of its calls.
func refuseFlags(cmd *cobra.Command, args []string) error {
	if cmd.Annotations[noFlagsNote] == "" {
		return nil
	}
	for _, arg := range args[slices.Index(args, cmd.Name())+1:] {
		if arg == "--" {
			return nil
		}
		if name, _, _ := strings.Cut(arg, "="); strings.HasPrefix(arg, "-") {
			return usageError{fmt.Sprintf("%s has no flag %s", commandName(cmd), name)}
		}
	}
	return nil
}

// unreadValue says why a flag's value cannot be read, without the names of Go's functions.
func unreadValue(invalid *pflag.InvalidValueError) string {
	if errors.Is(invalid.Unwrap(), strconv.ErrRange) {
		return "that number is too large"
	}
	wants := map[string]string{"bool": "true or false", "duration": "a time such as 500ms, 10s or 2h", "float64": "a number such as 184.2", "uint": "a whole number"}
	if want := wants[invalid.GetFlag().Value.Type()]; want != "" {
		return "want " + want
	}
	return invalid.Unwrap().Error()
}

// Annotations of a command.
const (
	formatsNote     = "formats"      // those that it prints, the first of them by default
	formatUsageNote = "format usage" // what help says of them
	noFlagsNote     = "no flags"     // it has none, not even those of all commands
)

func withoutFlags(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{noFlagsNote: "yes"}
	return cmd
}

// printsFormats says which formats a command prints, the first of them by default.
func printsFormats(cmd *cobra.Command, about string, formats ...string) {
	cmd.Annotations = map[string]string{formatsNote: strings.Join(formats, " "), formatUsageNote: about}
}

func formatsOf(cmd *cobra.Command) []string {
	if all := cmd.Annotations[formatsNote]; all != "" {
		return strings.Fields(all)
	}
	return []string{"text", "json"}
}

func withCSV(cmd *cobra.Command) {
	printsFormats(cmd, "output `FORMAT`: text, json or csv (default text)", "text", "json", "csv")
}

// word makes a flag that takes one of some words, in upper or lower case.
func word(cmd *cobra.Command, into *string, name, about string, words ...string) {
	cmd.Flags().Func(name, about+" (`WORD`: "+joinOr(words)+")", func(text string) error {
		got, err := oneOf(text, words...)
		*into = got
		return err
	})
	complete(cmd, name, words)
}

// oneOf finds a word among those allowed, in upper or lower case.
func oneOf(text string, words ...string) (string, error) {
	for _, w := range words {
		if strings.EqualFold(w, text) {
			return w, nil
		}
	}
	return "", fmt.Errorf("want %s", joinOr(words))
}

// list makes a flag that takes values with commas between them, and may be given more than once.
func list(f *pflag.FlagSet, into *[]string, name, about string) {
	f.Func(name, about+", with commas between them", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			*into = append(*into, strings.TrimSpace(part))
		}
		return nil
	})
}

func optional(f *pflag.FlagSet, into **float64, name, about string) {
	f.Func(name, about, func(text string) error {
		v, err := parseNumber(text)
		*into = &v
		return err
	})
}

// fromOne reads a number that counts from 1.
func fromOne(into *int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return errors.New("want a whole number from 1")
		}
		*into = n
		return nil
	}
}

// addPageFlags are the flags of everything that comes in pages.
func addPageFlags(f *pflag.FlagSet, page, size *int, all *bool) {
	f.Func("page-number", "`NUMBER` of the page, from 1 (default 1)", fromOne(page))
	f.Func("page-size", "how many to a page, a `NUMBER`; default as the service likes", fromOne(size))
	f.BoolVar(all, "all", false, "follow the pages to the end")
}

func dashed(name string) string { return either(len(name) == 1, "-", "--") + name }

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
			cmd = cmp.Or(subcommand(cmd, arg), cmd)
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
	all := cmd.Commands()
	if i := slices.IndexFunc(all, func(sub *cobra.Command) bool { return sub.Name() == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// didYouMean is " (did you mean X?)" when one of the words is close to got, else nothing.
func didYouMean(got string, words []string) string {
	w := nearest(got, words)
	return when(w != "", " (did you mean "+w+"?)")
}

// nearest is the word that a person most probably meant by got: the only point of that name, whatever its device, else the
// one that is spelt most alike. Empty when none is close.
func nearest(got string, words []string) string {
	var ends []string
	for _, w := range words {
		if strings.HasSuffix(strings.ToLower(w), "/"+strings.ToLower(got)) {
			ends = append(ends, w)
		}
	}
	if len(ends) == 1 {
		return ends[0]
	}
	return config.Nearest(got, words)
}
