package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if asked, _ := cmd.Flags().GetBool("help"); asked {
		return pflag.ErrHelp // whatever stands behind -h
	}
	hint := fmt.Sprintf("; `%s -h` lists the flags", cmd.CommandPath())
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		var known []string
		cmd.Flags().VisitAll(func(x *pflag.Flag) { known = append(known, dashed(x.Name)) })
		return usageError{fmt.Sprintf("there is no flag %s%s%s", dashed(name), didYouMean(dashed(name), known), hint)}
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usageError{"flag needs an argument: -" + missing.GetFlag().Name + hint}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		kind := "value %q for flag"
		if invalid.GetFlag().Value.Type() == "bool" {
			kind = "boolean value %q for"
		}
		return usageError{fmt.Sprintf("invalid "+kind+" -%s: %s%s", invalid.GetValue(), invalid.GetFlag().Name, unreadValue(invalid), hint)}
	}
	return usageError{err.Error() + hint}
}

// unreadValue says why a flag's value cannot be read, without the names of Go's functions.
func unreadValue(invalid *pflag.InvalidValueError) string {
	cause := invalid.Unwrap()
	switch invalid.GetFlag().Value.Type() {
	case "bool", "duration", "float64", "uint":
		if errors.Is(cause, strconv.ErrRange) {
			return "value out of range"
		}
		return "parse error"
	}
	return cause.Error()
}

// Annotations of a command.
const (
	formatsNote     = "formats"      // those that it prints, the first of them by default
	formatUsageNote = "format usage" // what help says of them
)

// printsFormats says which formats a command prints, the first of them by default.
func printsFormats(cmd *cobra.Command, about string, formats ...string) {
	cmd.Annotations = map[string]string{formatsNote: strings.Join(formats, " "), formatUsageNote: about}
}

// formatsOf are the formats that a command prints.
func formatsOf(cmd *cobra.Command) []string {
	if all := cmd.Annotations[formatsNote]; all != "" {
		return strings.Fields(all)
	}
	return []string{"text", "json"}
}

// withCSV lets a command print csv too.
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

// optional makes a flag for a figure that may be left out.
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
