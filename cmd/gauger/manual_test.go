package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestManual makes the pages of the manual of the tree of commands, and what shells complete with. The package leaves
// them in the folder $GAUGER_MANUAL. It is a test, so that nothing of it ships in the program.
func TestManual(t *testing.T) {
	folder := os.Getenv("GAUGER_MANUAL")
	if folder == "" {
		folder = t.TempDir()
	} else if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	root := newRoot(quietCall())
	for _, cmd := range append(root.Commands(), root) {
		var page bytes.Buffer
		writeManual(&page, cmd)
		for _, sub := range leaves(cmd) {
			visitFlags(sub, func(flag, _, _ string) {
				if !strings.Contains(page.String(), roff(usageLine(sub))) || cmd != root && !strings.Contains(page.String(), roff(flag)) {
					t.Errorf("the page of %s does not tell of %s %s", cmd.CommandPath(), sub.CommandPath(), flag)
				}
			})
		}
		writeManualFile(t, folder, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1", page.Bytes())
	}
	for shell, name := range map[string]string{"bash": "gauger.bash", "zsh": "_gauger", "fish": "gauger.fish"} {
		script, _, _ := answers(t, "completion "+shell)
		writeManualFile(t, folder, name, []byte(script))
	}
}

func writeManualFile(t *testing.T, folder, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeManual writes a page of a command, of a group with all its commands, or of the program.
func writeManual(w io.Writer, cmd *cobra.Command) {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(w, ".TH %s 1 \"\" gauger \"Gauger manual\"\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(name)), roff(name), roff(strings.TrimSuffix(strings.TrimPrefix(cmd.Short, "gauger "), ".")))
	if !cmd.HasParent() {
		fmt.Fprint(w, ".SH SYNOPSIS\n.B gauger\n.I COMMAND\n[flags]\n.SH COMMANDS\n")
		for _, sub := range leaves(cmd) {
			fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(usageLine(sub)), roff(sub.Short))
		}
		fmt.Fprint(w, ".SH FLAGS\nThey stand before or behind any command.\n")
		writeManualFlags(w, cmd)
		fmt.Fprint(w, ".SH EXIT STATUS\n0 done, 1 failed, 2 usage, 75 busy, 78 bad configuration.\n.SH SEE ALSO\n")
		for _, sub := range cmd.Commands() {
			fmt.Fprintf(w, ".BR %s (1)\n", roff("gauger-"+sub.Name()))
		}
		return
	}
	fmt.Fprint(w, ".SH COMMANDS\n")
	for _, sub := range leaves(cmd) {
		fmt.Fprintf(w, ".SS %s\n%s\n", roff(usageLine(sub)), roff(sub.Short))
		if sub.Long != "" {
			fmt.Fprintf(w, ".PP\n%s\n", roff(sub.Long))
		}
		writeManualFlags(w, sub)
		args, _ := exampleOf(commandName(sub))
		fmt.Fprintf(w, ".PP\nSuch as \\fB%s\\fR\n", roff(sub.CommandPath()+" "+args))
	}
	fmt.Fprint(w, ".SH SEE ALSO\n.BR gauger (1)\n")
}

func writeManualFlags(w io.Writer, cmd *cobra.Command) {
	visitFlags(cmd, func(name, value, about string) {
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(name+" "+value)), roff(about))
	})
}

// roff is a text as it stands in a page: no dash that typesets as a hyphen, and nothing that begins a command.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}
