package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/bundle"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/config"
	"gauger/outbox/disk"
)

type bundleOptions struct {
	file, log string
	trace     time.Duration
}

func bundleCommand(c *call) *cobra.Command {
	o := &bundleOptions{}
	cmd := newCommand(c, "bundle [-o FILE] [--log FILE]", "one archive for support, without a secret", o.run)
	takes(cmd, 0, "bundle takes flags only, such as -o site.tar.gz")
	f := cmd.Flags()
	f.StringVarP(&o.file, "o", "o", "", "write to this `file` (default gauger-bundle-TIME.tar.gz here)")
	f.StringVar(&o.log, "log", "", "gauger's log, where systemd's journal does not have it: a `file`")
	f.DurationVar(&o.trace, "trace", 10*time.Second, "how `LONG` to listen on the Modbus lines; 0 does not")
	return cmd
}

// bundlePart is a part of the bundle that a command of gauger's own prints.
type bundlePart struct {
	name, about, args string
	alive             bool // only while gauger runs and answers
}

var bundleParts = []bundlePart{
	{"version.txt", "which gauger asks", "version", false},
	{"check.txt", "what is wrong with the configuration, and the budget of each line", "check -c FILE", false},
	{"effective.yaml", "the configuration with every default", "check --print -c FILE", false},
	{"status.txt", "how the site stands", "status --all", false},
	{"status.json", "the same with every counter", "status --format json", false},
	{"readings.txt", "the last reading of each point", "read", true},
	{"readings.csv", "what the recorder has of the last two hours", "export readings --from 2h", false},
	{"tickets.json", "the tickets of the last 30 days", "tickets list --from 30d --format json", false},
	{"tanks.txt", "the tanks and work on them", "tanks list", false},
	{"book.txt", "the tank book", "book", false},
	{"outbox.json", "the ledger of the last 7 days: what waits, was refused, and the receipts", "outbox list --state all --from 7d --format json", false},
	{"outbox.txt", "what waits and why, and what was refused", "outbox list", false},
	{"keys.txt", "the keys' ages and fingerprints", "keys show", false},
	{"audit.json", "who has changed what", "audit --since 30d --format json", false},
}

// storeCopy names, in the environment of a bundle's parts, the copy of the store that they look into.
const storeCopy = "GAUGER_STORE_COPY"

// partLimit for one part: a box or a disk that is slow is given time, one that hangs costs the others nothing.
const partLimit = 30 * time.Second

// run gathers what there is, beside a gauger that runs, one that does not answer and none.
func (o *bundleOptions) run(ctx context.Context, c *call, _ []string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, whose commands print the parts: %w", err)
	}
	now := time.Now()
	folder := "gauger-bundle-" + now.UTC().Format("20060102T150405Z")
	g := &gatherer{ctx: ctx, c: c, self: self, config: c.config, store: config.StorePath(c.config), pid: console.PID(c.socket)}
	defer g.clean()
	g.begin()
	g.files()
	g.box(o.log)
	for _, p := range bundleParts {
		if !p.alive || g.answers {
			args := strings.Fields(p.args)
			if i := slices.Index(args, "FILE"); i >= 0 {
				args[i] = g.config
			}
			g.own(p.name, p.about, partLimit, args...)
		}
	}
	if o.trace > 0 && (g.answers || g.pid == 0) { // one that hangs holds the lines
		g.own("trace.txt", "the frames on the Modbus lines", o.trace+partLimit, "read", "--trace", "--wait", o.trace.String())
	}
	file := cmp.Or(o.file, folder+".tar.gz")
	var b bytes.Buffer
	if err := bundle.Write(&b, folder, now, g.found, g.parts, bundle.NewHider(g.secrets)); err != nil {
		return err
	}
	if err := writeFile(file, "write the bundle", 0o600, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }); err != nil {
		return err
	}
	for _, line := range g.found {
		fmt.Fprintln(c.err, line)
	}
	return printf(c.out, "%s: %d kB; CONTENTS.txt in it says what each file is; look through it before it leaves the site\n", file, (b.Len()+1023)>>10)
}

// gatherer gathers a bundle's parts.
type gatherer struct {
	ctx           context.Context
	c             *call
	self          string
	config, store string
	pid           int  // of the gauger that listens; 0: none does
	answers       bool // it does
	copied        string
	extra         []string // environment of the parts
	secrets       []string
	found         []string // what was found on the way, for the one who reads the archive first
	parts         []bundle.Part
}

func (g *gatherer) clean() {
	if g.copied != "" {
		_ = os.RemoveAll(g.copied) // in a folder of short-lived files
	}
}

// begin finds out who answers, and where the secrets are.
func (g *gatherer) begin() {
	places := bundle.Places{
		Configs: []string{g.config, filepath.Join(g.store, lastGoodFile)}, Store: g.store, Instance: config.Instance(g.config), Environ: bundle.Environ(g.pid),
		Folders: slices.DeleteFunc([]string{filepath.Dir(g.config), "/etc/gauger", "/run/credentials/" + g.unit(), g.c.getenv("CREDENTIALS_DIRECTORY")}, func(s string) bool { return s == "" }),
	}
	var unread []string
	g.secrets, unread = places.Secrets()
	if len(unread) > 0 {
		g.found = append(g.found, "these may hold secrets and could not be read here, so that only what looks like a secret was hidden of them (use sudo): "+strings.Join(unread, ", "))
	}
	daemon, err := g.c.dial()
	if err == nil { // a stuck part may hold what the status needs
		ctx, cancel := context.WithTimeout(g.ctx, partLimit/3)
		err = daemon.Call(ctx, "status", control.None{}, nil)
		cancel()
	}
	if g.answers = err == nil; g.answers {
		g.found = append(g.found, "gauger runs and answers")
		return
	}
	g.found = append(g.found, "gauger does not answer: "+err.Error())
	ctx, cancel := context.WithTimeout(g.ctx, 4*partLimit)
	defer cancel()
	if g.copied, err = bundle.CopyStore(ctx, g.store); err != nil {
		g.found = append(g.found, err.Error())
		return
	}
	g.found = append(g.found, "what follows is from a copy of its store, "+g.store)
	g.extra = []string{storeCopy + "=" + g.copied, "GAUGER_SOCKET=" + filepath.Join(g.copied, "nobody.sock")}
	if _, err := config.Load(g.config); err != nil {
		last := filepath.Join(g.copied, lastGoodFile)
		if _, err := os.Stat(last); err == nil {
			g.found = append(g.found, "the configuration is bad; the store was looked into with the last good one")
			g.extra = append(g.extra, "GAUGER_CONFIG="+last)
		}
	}
}

// unit is systemd's for the configuration.
func (g *gatherer) unit() string {
	return "gauger" + behind("@", config.Instance(g.config)) + ".service"
}

func (g *gatherer) add(name, about string, text []byte, err error) {
	g.parts = append(g.parts, bundle.Part{Name: name, About: about, Text: text, Err: err})
}

func (g *gatherer) files() {
	for _, f := range []struct{ name, about, path string }{
		{"gauger.yaml", "the configuration as it stands", g.config}, {lastGoodFile, "the last one that worked", filepath.Join(g.store, lastGoodFile)},
	} {
		b, err := disk.ReadFile(f.path, mostKept)
		if _, _, flaw := config.FindSecrets(b); flaw != nil {
			b = []byte(bundle.HideLines(string(b)))
		}
		g.add(f.name, f.about, b, err)
	}
}

// box takes what systemd, the kernel and the log say.
func (g *gatherer) box(log string) {
	unit := g.unit()
	g.tool("unit.txt", "what systemd says of the unit", "systemctl", "show", unit, "-p",
		"ActiveState,SubState,Result,NRestarts,ExecMainStatus,ExecMainStartTimestamp,StateChangeTimestamp,StatusText,MainPID,MemoryCurrent,DropInPaths")
	if log != "" {
		b, err := os.ReadFile(log)
		g.add("log.txt", "the log, its end", b, err)
	} else {
		g.tool("log.txt", "the journal of the unit, its end", "journalctl", "-u", unit, "--no-pager", "-o", "short-iso-precise", "-n", "8000")
	}
	g.tool("disks.txt", "room on the disks", "df", "-k")
	var b bytes.Buffer
	files := []string{"/etc/os-release", "/proc/version", "/proc/uptime", "/proc/loadavg", "/proc/meminfo", "/proc/mounts"}
	if g.pid != 0 {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", g.pid)) // the pattern is a good one
		files = append(append(files, fmt.Sprintf("/proc/%d/status", g.pid), fmt.Sprintf("/proc/%d/io", g.pid)), threads...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		fmt.Fprintf(&b, "== %s\n%s\n", file, text)
		if err != nil {
			fmt.Fprintln(&b, err)
		}
	}
	g.add("box.txt", "system, memory, and where each thread of gauger waits", b.Bytes(), nil)
}

// own adds what a command of gauger prints. In a process of its own a damaged store or a hanging disk ends this part alone.
func (g *gatherer) own(name, about string, limit time.Duration, args ...string) {
	out, err := g.output(limit, append([]string{g.self}, args...)...)
	g.add(name, about, out, err)
}

func (g *gatherer) tool(name, about string, command ...string) {
	out, err := g.output(partLimit, command...)
	g.add(name, about, out, err)
}

// output of a command, what it says beside it at the end; both bounded by the archive. An exit status other than 0 is no reason to
// do without: status has 1 where a person is needed.
func (g *gatherer) output(limit time.Duration, command ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(g.ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = slices.Concat(os.Environ(), []string{"GAUGER_CONFIG=" + g.config, "GAUGER_SOCKET=" + g.c.socket, "LC_ALL=C.UTF-8"}, g.extra)
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return out.Bytes(), fmt.Errorf("it was not done after %s", limit)
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		err = nil
		fmt.Fprintf(&said, "exit status %d\n", cmd.ProcessState.ExitCode())
	}
	switch {
	case said.Len() == 0:
	case keepsForm.MatchString(strings.Join(command, " ")):
		err = errors.Join(err, errors.New(strings.TrimSpace(said.String())))
	default:
		fmt.Fprintf(&out, "\n%s", said.Bytes())
	}
	return out.Bytes(), err
}

// keepsForm are commands whose output a program reads.
var keepsForm = regexp.MustCompile(`--format json|export readings`)
