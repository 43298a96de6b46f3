package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gauger/agent/dialogue"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Columns of a help text.
const (
	commandColumn = 40 // where what a command is for begins
	rowColumn     = 34 // where what a flag or a group's command is for begins, at most
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
		eachCommand(cmd, func(sub *cobra.Command) {
			if sub.HasParent() && !sub.HasSubCommands() && !sub.Hidden {
				fmt.Fprint(w, helpRow("  "+usageLine(sub), commandColumn, sub.Short))
			}
		})
		fmt.Fprint(w, "\nBefore or behind any command, --version alone:\n")
		printRows(w, flagRows(cmd))
		fmt.Fprint(w, "\n`gauger COMMAND -h` lists a command's flags.\n"+exitWords+"; of\n`gauger status`: 0 well, 1 a person is needed, 3 gauger does not run.\n")
		return
	}
	fmt.Fprintf(w, "%s\n%s", usageLine(cmd), wrapped("  ", cmd.Short))
	if cmd.Long != "" {
		fmt.Fprintf(w, "\n%s", wrapped("  ", cmd.Long))
	}
	rows := flagRows(cmd)
	if cmd.HasSubCommands() {
		rows = nil
		for _, sub := range cmd.Commands() {
			rows = append(rows, [2]string{"  " + sub.Use, sub.Short})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintln(w)
	}
	printRows(w, rows)
	if cmd.HasSubCommands() {
		fmt.Fprintf(w, "\n`%s COMMAND -h` lists a command's flags.\n", cmd.CommandPath())
		return
	}
	args, _ := exampleOf(commandName(cmd))
	fmt.Fprint(w, "\n"+helpRow("Such as", 9, cmd.CommandPath()+" "+args))
	if commandName(cmd) != "status" { // which tells its own
		fmt.Fprintln(w, exitWords)
	}
}

const exitWords = "Exit status: 0 done, 1 failed, 2 usage, 75 busy, 78 bad configuration"

// examples are a call of each command, as it is made most often: its name, and behind the colon its arguments.
const examples = `run: -c /etc/gauger/gauger.yaml
init: -c site.yaml
check: site.yaml
read: --watch plc/level
probe: tcp://10.20.0.5:502 1 100 --expect 15ft4in
scan: tcp://10.20.0.5:502
commission: TK-1
discover mqtt: tcp://10.20.0.9:1883 --for 5m
status: --all
top:
book: --month 2026-03 --format csv
tickets list: --month 2026-03 --format csv
tickets show: A-12
tickets explain: "2026-03-02 14:10" TK-1
tickets match: A-12 --hauler 88123 --barrels 180.4
tickets add: --tank TK-1 --start "2026-03-02 09:00" --end "2026-03-02 09:40" --open 14-03-1 --close 4-01-2
tickets edit: A-12 --bsw 0.4 --why retested
tickets hold: A-12 --for 4h --why retest
tickets release: A-12
tickets reject: A-12 --why "oil was moved"
tanks list:
tanks inhibit: TK-1 2h --why cleaning
tanks allow: TK-1
tanks export: --shards 2 --out /tmp/tanks
tanks import: /tmp/tanks/0.json
export readings: --from 7d -o readings.csv
backtest: --plot week.svg --against sent
apply: --dry-run site.yaml
proof: --from 2026-03-01 --to 2026-03-31
audit: --since 7d
bundle: -o bundle.tar.gz
outbox list: tickets --state all
outbox show: tickets/12
outbox dead:
outbox retry: tickets/12
outbox confirm: tickets/12 --why "seen in their list"
outbox drop: events/7 --why "a test"
outbox export: tickets -o tickets.json
outbox check: outbox.db
keys show:
keys renew: primary
keys set: primary
login:
clock trust:
devices query: --all
memo add: 1 "pump is off"
events get: Diagnostic --start 7d --end now
events save: --file events.json
tagvalues save: W-1 --file values.json
targets save: W-1 --file targets.json
completion: bash
version:
`

// exampleOf is the call of a command in examples.
func exampleOf(name string) (args string, there bool) {
	_, rest, there := strings.Cut("\n"+examples, "\n"+name+":")
	args, _, _ = strings.Cut(rest, "\n")
	return strings.TrimSpace(args), there
}

func usageLine(cmd *cobra.Command) string {
	return strings.TrimSuffix(cmd.CommandPath(), cmd.Name()) + cmd.Use
}

// printRows prints heads and what each is for, in two columns: the second begins behind the longest head that leaves room for it.
func printRows(w io.Writer, rows [][2]string) {
	wide := 0
	for _, row := range rows {
		if head := len(row[0]) + 2; head <= rowColumn {
			wide = max(wide, head)
		}
	}
	for _, row := range rows {
		fmt.Fprint(w, helpRow(row[0], wide, row[1]))
	}
}

// flagRows are the flags that a command knows, in the order of the alphabet.
func flagRows(cmd *cobra.Command) (rows [][2]string) {
	visitFlags(cmd, func(name, value, about string) {
		rows = append(rows, [2]string{"  " + strings.TrimSpace(name+" "+value), about})
	})
	return rows
}

// visitFlags calls see with each flag of a command: its name with dashes, its value's name, and what it is for.
func visitFlags(cmd *cobra.Command, see func(name, value, about string)) {
	if cmd.Annotations[noFlagsNote] != "" {
		return
	}
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
		see(dashed(x.Name), value, about+when(x.DefValue != "" && x.DefValue != "false" && x.DefValue != "0", " (default "+x.DefValue+")"))
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
	return dialogue.Fold(indent+strings.Join(strings.Fields(text), " ")) + "\n"
}

// newHelpCommand prints the help of the command that is named behind it.
func newHelpCommand() *cobra.Command {
	return withoutFlags(&cobra.Command{
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
	})
}
