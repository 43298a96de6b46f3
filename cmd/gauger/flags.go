package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

const (
	defaultConfig = "/etc/gauger/gauger.yaml"
	defaultSocket = "/run/gauger/gauger.sock"
)

// flags begins a command's flags. The configuration and the socket are the same everywhere.
func flags(c *call, name string) *flag.FlagSet {
	f := flag.NewFlagSet("gauger "+name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // what is wrong is said once, by status
	c.formats, c.command = []string{"text", "json"}, name
	f.StringVar(&c.config, "c", cmp.Or(c.getenv("GAUGER_CONFIG"), defaultConfig), "configuration `FILE`; $GAUGER_CONFIG has another default")
	f.StringVar(&c.socket, "socket", cmp.Or(c.getenv("GAUGER_SOCKET"), defaultSocket), "control `SOCKET` of the running gauger; $GAUGER_SOCKET has another default")
	f.Func("format", "output `FORMAT`: text, or json for a program (default text)", func(s string) error { c.format = s; return nil })
	c.format = "text"
	c.help = func() { printUsage(c, f, name) }
	return f
}

// printUsage prints what a command is for and its flags.
func printUsage(c *call, f *flag.FlagSet, name string) {
	for _, x := range commands() {
		if x.name == name {
			fmt.Fprintf(c.out, "gauger %s\n  %s\n\n", strings.TrimSpace(x.name+" "+x.args), x.about)
		}
	}
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	f.VisitAll(func(x *flag.Flag) {
		value, about := flag.UnquoteUsage(x)
		if value != "" && value != "FILE" {
			value = strings.ToUpper(value)
		}
		if x.DefValue != "" && x.DefValue != "false" && x.DefValue != "0" {
			about += " (default " + x.DefValue + ")"
		}
		fmt.Fprintf(t, "  %s\t%s\n", strings.TrimSpace(dashed(x.Name)+" "+value), about)
	})
	_ = t.Flush() // a help that cannot be printed has nobody to tell
}

// dashed is a flag as people write it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// parse reads the flags wherever they stand among the arguments, and returns the arguments that are none. What stands
// behind -- is never a flag.
func parse(f *flag.FlagSet, c *call, args []string) ([]string, error) {
	var rest []string
	for {
		if err := f.Parse(args); err != nil {
			return nil, c.flagError(f, err)
		}
		read := len(args) - f.NArg()
		if read > 0 && args[read-1] == "--" {
			rest = append(rest, f.Args()...)
			break
		}
		if f.NArg() == 0 {
			break
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
	if !slices.Contains(c.formats, c.format) {
		return nil, usage{fmt.Sprintf("--format is %s, not %q", alternatives(c.formats), c.format)}
	}
	return rest, nil
}

// flagError says what is wrong with a flag; asking for help is no mistake.
func (c *call) flagError(f *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		c.help()
		return err
	}
	hint := fmt.Sprintf("; `gauger %s -h` lists the flags", c.command)
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return usage{err.Error() + hint}
	}
	var known []string
	f.VisitAll(func(x *flag.Flag) { known = append(known, dashed(x.Name)) })
	return usage{fmt.Sprintf("there is no flag %s%s%s", dashed(name), didYouMean(dashed(name), known), hint)}
}

// word makes a flag that takes one of some words, in upper or lower case.
func word(f *flag.FlagSet, into *string, name, about string, words ...string) {
	f.Func(name, about+" (`WORD`: "+alternatives(words)+")", func(text string) error {
		got, err := oneOf(text, words...)
		*into = got
		return err
	})
}

// oneOf finds a word among those allowed, in upper or lower case.
func oneOf(text string, words ...string) (string, error) {
	for _, w := range words {
		if strings.EqualFold(w, text) {
			return w, nil
		}
	}
	return "", fmt.Errorf("want %s", alternatives(words))
}

// list makes a flag that takes values with commas between them, and may be given more than once.
func list(f *flag.FlagSet, into *[]string, name, about string) {
	f.Func(name, about+", with commas between them", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			*into = append(*into, strings.TrimSpace(part))
		}
		return nil
	})
}

// optional makes a flag for a figure that may be left out.
func optional(f *flag.FlagSet, into **float64, name, about string) {
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

// pages are the flags of everything that comes in pages.
func pages(f *flag.FlagSet, page, size *int, all *bool) {
	f.Func("page-number", "`NUMBER` of the page, from 1 (default 1)", fromOne(page))
	f.Func("page-size", "how many to a page, a `NUMBER`; default as the service likes", fromOne(size))
	f.BoolVar(all, "all", false, "follow the pages to the end")
}
