package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// quietCall is a call of the program that nobody reads.
func quietCall() *call {
	return &call{in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: func(string) string { return "" }}
}

// Scripts write long flags with one dash; what follows a flag that takes a value is its value.
func TestLongFlagsMayHaveOneDash(t *testing.T) {
	for given, want := range map[string]string{
		"":                           "",
		"tickets list -format json":  "tickets list --format json",
		"tickets list -format=json":  "tickets list --format=json",
		"tickets list --format json": "tickets list --format json",
		"-format json tickets list":  "--format json tickets list",
		"-socket tickets tanks list -format text":  "--socket tickets tanks list --format text",
		"-c list tickets list --c=x":               "-c list tickets list -c x",
		"outbox export -o=":                        "outbox export -o ",
		"status -h":                                "status -h",
		"status -help":                             "status --help",
		"status --h":                               "status -h",
		"-version":                                 "--version",
		"tickets match A-1 -barrels -5 -net":       "tickets match A-1 --barrels -5 --net",
		"tickets match -why -format A-1":           "tickets match --why -format A-1",
		"tickets hold -for -until -until":          "tickets hold --for -until --until",
		"tickets list -unmatched -tank -unmatched": "tickets list --unmatched --tank -unmatched",
		"probe tcp://x 1 -5":                       "probe tcp://x 1 -5",
		"probe tcp://x 1 -40 -n -40":               "probe tcp://x 1 --40 -n -40",
		"memo add 1 -file -":                       "memo add 1 --file -",
		"memo add -no-wait -- 1 -text":             "memo add --no-wait -- 1 -text",
		"tickets list -unknown -format json":       "tickets list --unknown --format json",
		"check -plan=false -- -format":             "check --plan=false -- -format",
		"tickets show list -ascii -tank x":         "tickets show list --ascii --tank x",
		"---x -=x --=x -":                          "---x -=x --=x -",
		"__complete tickets list -format -f":       "__complete tickets list --format -f",
		"__completeNoDesc -tickets":                "__completeNoDesc -tickets",
	} {
		args := strings.Split(given, " ")
		if given == "" {
			args = []string{}
		}
		if got := strings.Join(twoDashes(newRoot(quietCall()), args), " "); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}

// A flag stands before the command, before its arguments, between them or behind them.
func TestFlagsStandAnywhere(t *testing.T) {
	want := ""
	for i, given := range []string{
		"-format json outbox show -socket none memos/3", "outbox -format json show memos/3 -socket none", "outbox show memos/3 --format=json --socket=none",
		"-socket=none --format json outbox show memos/3",
	} {
		var errs bytes.Buffer
		c := quietCall()
		c.err = &errs
		execute(t.Context(), c, append(strings.Fields(given), "-c", "none.yaml"))
		if !c.json() || c.socket != "none" || c.config != "none.yaml" || c.command != "outbox show" {
			t.Errorf("%s: format %q, socket %q, configuration %q, command %q", given, c.format, c.socket, c.config, c.command)
		}
		if i > 0 && errs.String() != want {
			t.Errorf("%s says %q, want %q", given, &errs, want)
		}
		want = errs.String()
	}
}

// What is wrong with a flag is said in the same words, however it is written.
func TestFlagsAreRefusedInWords(t *testing.T) {
	for given, want := range map[string]string{
		"tickets list -formt json":       "there is no flag --formt (did you mean --format?); `gauger tickets list -h` lists the flags",
		"tickets list -x":                "there is no flag -x (did you mean -c?); `gauger tickets list -h` lists the flags",
		"read -wait":                     "--wait wants a value behind it; `gauger read -h` lists the flags",
		"read -wait 5":                   "--wait \"5\": want a time such as 500ms, 10s or 2h; `gauger read -h` lists the flags",
		"read -watch=maybe":              "--watch \"maybe\": want true or false; `gauger read -h` lists the flags",
		"tickets match A -barrels x":     "--barrels \"x\": want a number such as 184.2; `gauger tickets match -h` lists the flags",
		"tickets match A -barrels 1e999": "--barrels \"1e999\": that number is too large; `gauger tickets match -h` lists the flags",
		"scan u -type foo":               "--type \"foo\": want holding, input, coil or discrete; `gauger scan -h` lists the flags",
		"--unmatched tickets list":       "--unmatched stands behind its command: `gauger tickets list --unmatched`; `gauger tickets list -h` lists the flags",
		"-c x -no-wait memo add 1 x":     "--no-wait stands behind its command: `gauger memo add --no-wait`; `gauger memo add -h` lists the flags",
		"tickets --unmatched list":       "--unmatched stands behind its command: `gauger tickets list --unmatched`; `gauger tickets list -h` lists the flags",
		"--yes tickets edit":             "there is no flag --yes; `gauger tickets edit -h` lists the flags",
		"--yes":                          "there is no flag --yes; `gauger -h` lists the flags",
		"version -c x":                   "version has no flag -c",
		"version --format=json":          "version has no flag --format",
		"help --socket=x tickets":        "help has no flag --socket",
		"completion bash --format json":  "completion has no flag --format",
		"outbox list -o x":               "there is no flag -o (did you mean -c?); `gauger outbox list -h` lists the flags",
	} {
		var errs bytes.Buffer
		c := quietCall()
		c.err = &errs
		if status := execute(t.Context(), c, strings.Fields(given)); status != exitUsage || errs.String() != "gauger: "+want+"\n" {
			t.Errorf("%s: status %d, says %q, want %q", given, status, &errs, want)
		}
	}
}

// A script has the flags of all commands once, before whichever command it calls.
func TestFlagsOfAllStandBeforeAnyCommand(t *testing.T) {
	for _, given := range []string{"-c x -format text -socket s version", "-c version version", "--format json help tickets", "-c x completion bash"} {
		if out, errs, status := answers(t, given); status != exitDone || errs != "" || out == "" {
			t.Errorf("%s: status %d, says %q, prints %q", given, status, errs, out)
		}
	}
}

// No flag of a command has the name of one that all commands have: it would be taken for that before the command.
func TestNoCommandHidesAFlagOfAll(t *testing.T) {
	for _, cmd := range leaves(newRoot(quietCall())) {
		for _, name := range []string{"c", "socket", "format", "version"} {
			if cmd.LocalNonPersistentFlags().Lookup(name) != nil {
				t.Errorf("%s has a flag %s of its own", cmd.CommandPath(), dashed(name))
			}
		}
	}
}
