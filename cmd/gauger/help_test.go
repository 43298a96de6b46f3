package main

import (
	"bytes"
	"strings"
	"testing"

	"gauger/agent/dialogue"

	"github.com/spf13/cobra"
)

// leaves are the commands that do something.
func leaves(cmd *cobra.Command) (all []*cobra.Command) {
	if !cmd.HasSubCommands() {
		return []*cobra.Command{cmd}
	}
	for _, sub := range cmd.Commands() {
		all = append(all, leaves(sub)...)
	}
	return all
}

// answers a call with what it prints, and its status.
func answers(t *testing.T, args string) (out, errs string, status int) {
	t.Helper()
	var outs, said bytes.Buffer
	c := quietCall()
	c.out, c.err = &outs, &said
	status = execute(t.Context(), c, strings.Fields(args))
	return outs.String(), said.String(), status
}

// Every command and every group says what it is for with -h and behind help, within a terminal of 80 columns, and with
// every flag.
func TestEveryCommandHasHelp(t *testing.T) {
	root := newRoot(quietCall())
	all := append(leaves(root), root)
	for _, cmd := range root.Commands() {
		if cmd.HasSubCommands() {
			all = append(all, cmd)
		}
	}
	for _, cmd := range all {
		name := strings.TrimPrefix(cmd.CommandPath(), "gauger")
		text, errs, status := answers(t, name+" -h")
		if status != exitDone || errs != "" {
			t.Fatalf("%s -h: status %d, says %q", name, status, errs)
		}
		if again, _, _ := answers(t, "help"+name); again != text {
			t.Errorf("help%s prints\n%s\nwant the text of -h\n%s", name, again, text)
		}
		for line := range strings.Lines(text) {
			if len(line) > dialogue.Width+1 {
				t.Errorf("%s -h: %d columns: %s", name, len(line)-1, line)
			}
		}
		if cmd.Short == "" || !strings.Contains(strings.Join(strings.Fields(text), " "), cmd.Short) {
			t.Errorf("%s -h does not say %q:\n%s", name, cmd.Short, text)
		}
		if cmd.HasSubCommands() {
			continue
		}
		visitFlags(cmd, func(flag, _, about string) {
			if about == "" || !strings.Contains(text, "  "+flag) {
				t.Errorf("%s -h does not tell of %s", name, flag)
			}
		})
	}
}

// Each command's help ends with a call that the program takes, and with what its exit status says.
func TestEveryCommandHasAnExample(t *testing.T) {
	for _, cmd := range leaves(newRoot(quietCall())) {
		name := commandName(cmd)
		args, there := exampleOf(name)
		if problem := callProblem("gauger " + name + " " + args); !there || problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		text, _, _ := answers(t, name+" -h")
		if flat := strings.Join(strings.Fields(text), " "); !strings.Contains(flat, strings.TrimSpace("Such as gauger "+name+" "+args)) || !strings.Contains(strings.ToLower(flat), "exit status") {
			t.Errorf("%s -h:\n%s", name, text)
		}
	}
	if strings.Count(examples, "\n") != len(leaves(newRoot(quietCall()))) {
		t.Error("an example is of no command")
	}
}

// The list of all commands has each of them in its place.
func TestHelpListsEveryCommand(t *testing.T) {
	text, _, _ := answers(t, "help")
	for _, cmd := range leaves(newRoot(quietCall())) {
		if !strings.Contains(text, "\n  "+usageLine(cmd)) {
			t.Errorf("help does not list %s", usageLine(cmd))
		}
	}
	if none, errs, status := answers(t, ""); none != text || errs != "" || status != exitUsage {
		t.Errorf("without a command: status %d, says %q, prints\n%s", status, errs, none)
	}
	if _, errs, status := answers(t, "help tickts"); status != exitUsage || !strings.Contains(errs, `there is no command "tickts" (did you mean tickets?)`) {
		t.Errorf("help for what is no command: status %d, says %q", status, errs)
	}
	if _, errs, status := answers(t, "help tickets lst"); status != exitUsage || !strings.Contains(errs, "tickets lst is no command (did you mean list?)") {
		t.Errorf("help for what is no command of a group: status %d, says %q", status, errs)
	}
}

func TestVersionIsAFlagToo(t *testing.T) {
	want, _, _ := answers(t, "version")
	for _, args := range []string{"--version", "-version"} {
		if got, errs, status := answers(t, args); got != want || errs != "" || status != exitDone {
			t.Errorf("%s: status %d, says %q, prints %q, want %q", args, status, errs, got, want)
		}
	}
}

// Shells are given commands, flags and the words that flags take.
func TestShellsComplete(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if text, errs, status := answers(t, "completion "+shell); status != exitDone || errs != "" || !strings.Contains(text, "gauger") {
			t.Errorf("%s: status %d, says %q", shell, status, errs)
		}
	}
	if _, errs, status := answers(t, "completion tcsh"); status != exitUsage || !strings.Contains(errs, "bash, zsh or fish") {
		t.Errorf("another shell: status %d, says %q", status, errs)
	}
	for args, want := range map[string]string{
		"__complete tick":                            "tickets\tthe run tickets",
		"__complete -socket none tickets h":          "hold\tkeep a held ticket from leaving",
		"__complete tickets list --form":             "--format\t",
		"__complete tickets list --format c":         "csv",
		"__complete outbox list -state ref":          "refused",
		"__complete export readings -format c":       "csv",
		"__complete keys renew p":                    "primary",
		"__complete help tickets mat":                "match",
		"__complete completion f":                    "fish",
		"__complete events get --time-query-type Ev": "EventStart",
	} {
		if text, _, status := answers(t, args); status != exitDone || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, prints\n%s\nwant %q", args, status, text, want)
		}
	}
}

// Shells offer the names of files where one is taken and nowhere else, and descriptions as help has them.
func TestShellsOfferFilesWhereOneIsTaken(t *testing.T) {
	const files, none = "\n:0\n", ":4\n"
	for args, want := range map[string]string{
		"__complete version ^": none, "__complete status ^": none, "__complete tickets show ^": none, "__complete tickets list --from ^": none,
		"__complete book --day ^": none, "__complete probe ^": none, "__complete memo add 1 ^": none, "__complete check --template ^": none,
		"__complete check ^": files, "__complete outbox check ^": files, "__complete status -c ^": files, "__complete --socket ^": files,
		"__complete outbox export -o ^": files, "__complete backtest --plot ^": files, "__complete backtest --against ^": files,
		"__complete tickets add --file ^": files,
	} {
		words := strings.Fields(args)
		words[len(words)-1] = ""
		var text bytes.Buffer
		c := quietCall()
		c.out = &text
		if status := execute(t.Context(), c, words); status != exitDone || !strings.HasSuffix("\n"+text.String(), want) {
			t.Errorf("%s: status %d, prints\n%s\nwant %q at its end", args, status, &text, want)
		}
	}
	for _, args := range []string{"__complete tickets edit --", "__complete --", "__complete backtest --"} {
		text, _, _ := answers(t, args)
		if !strings.Contains(text, "--c\tconfiguration FILE; ") || strings.Contains(text, "`") {
			t.Errorf("%s prints\n%s", args, text)
		}
	}
}

// Whoever says help gets help, in whatever way it is said: nothing is done.
func TestHelpIsHelp(t *testing.T) {
	want, _, _ := answers(t, "version -h")
	for _, args := range []string{"version --help=false", "version -help=no", "version -h=false"} {
		if text, errs, status := answers(t, args); text != want || errs != "" || status != exitDone {
			t.Errorf("%s: status %d, says %q, prints %q, want %q", args, status, errs, text, want)
		}
	}
}

// What stands behind -h does not matter; a word that is no command before it does, so that nobody is told that it were one.
func TestHelpOfWhatIsNoCommand(t *testing.T) {
	for args, want := range map[string]int{
		"check -h --tempalte": exitDone, "--help tickets list --tank 1": exitDone, "-h nosuch": exitDone, "tickets -h": exitDone,
		"check --junk -h": exitUsage, "tickets lst -h": exitUsage, "nosuch -h": exitUsage,
	} {
		if _, errs, status := answers(t, args); status != want {
			t.Errorf("%s: status %d, want %d: %s", args, status, want, errs)
		}
	}
	if _, errs, _ := answers(t, "tickets lst -h"); !strings.Contains(errs, "did you mean list?") {
		t.Errorf("tickets lst -h: %s", errs)
	}
}
