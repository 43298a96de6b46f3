package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gauger/agent/console"
)

// TestMain lets the test binary be gauger itself when a script calls it, and when a test of this package opens an
// outbox: the child that examines the file would otherwise run the tests again, and they would have children.
// asProgram is a variable with which this test's binary is gauger.
const asProgram = "GAUGER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if _, given := os.LookupEnv("RUNTIME_DIRECTORY"); !given { // no test leaves anything in the machine's own
		if err := os.Setenv("RUNTIME_DIRECTORY", ""); err != nil {
			panic(err)
		}
	}
	if len(os.Args) > 2 && os.Args[1] == "outbox" && os.Args[2] == "check" || os.Getenv(asProgram) != "" {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"gauger": main})
}

// TestScripts runs the command line as a person does: each script has a site of its own, with a service, a PLC and a
// broker on loopback.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup:               setUp,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"service": func(ts *testscript.TestScript, neg bool, args []string) { siteOfScript(ts).serviceCmd(ts, neg, args) },
			"plc":     func(ts *testscript.TestScript, neg bool, args []string) { siteOfScript(ts).plcCmd(ts, neg, args) },
			"retain":  func(ts *testscript.TestScript, neg bool, args []string) { siteOfScript(ts).retainCmd(ts, neg, args) },
			"appears": appearsCmd,
			"daemon":  daemonCmd,
			"exits":   exitsCmd,
			"load":    loadCmd,
			"until":   untilCmd,
			"fits":    fitsCmd,
			"match":   matchCmd,
			"swap":    swapCmd,
		},
	})
}

type siteKey struct{}

func siteOfScript(ts *testscript.TestScript) *testSite { return ts.Value(siteKey{}).(*testSite) }

// setUp gives a script its site, its configuration, and the environment in which plain `gauger` finds both.
func setUp(env *testscript.Env) error {
	s, err := newTestSite()
	if err != nil {
		return err
	}
	env.Defer(s.close)
	env.Values[siteKey{}] = s
	env.Setenv("SERVICE", s.address)
	env.Setenv("PLC", s.plc.Addr)
	env.Setenv("BROKER", s.broker)
	env.Setenv("GAUGER_CONFIG", "gauger.yaml")
	env.Setenv("GAUGER_SOCKET", "gauger.sock")
	env.Setenv("GAUGER_PRIMARY_KEY", primaryKey)
	env.Setenv("GAUGER_SECONDARY_KEY", secondaryKey)
	env.Setenv("USER", "ann")
	env.Setenv("RUNTIME_DIRECTORY", "")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else every call takes a second longer under the race detector
	text := strings.NewReplacer("SERVICE", s.address, "PLC", s.plc.Addr, "BROKER", s.broker).Replace(siteYAML)
	return os.WriteFile(filepath.Join(env.WorkDir, "gauger.yaml"), []byte(text), 0o600)
}

// most that a script waits for anything.
const most = 20 * time.Second

// exitsCmd runs gauger and compares its exit status: exits STATUS ARGS...
func exitsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS ARGS...")
	}
	cmd := program(ts, args[1:])
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	if err := cmd.Run(); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); !ended {
			ts.Fatalf("%v", err)
		}
	}
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("gauger %s: exit status %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// untilCmd runs a gauger command again and again until its output matches: until REGEXP ARGS...
func untilCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP ARGS...")
	}
	want, err := regexp.Compile(args[0])
	ts.Check(err)
	var out []byte
	until(ts, args[0], func() bool {
		out, _ = program(ts, args[1:]).CombinedOutput() // what it says decides, not how it ends
		return want.Match(out)
	})
	fmt.Fprintf(ts.Stdout(), "%s", out)
}

// appearsCmd waits until a file that is being written has a text: appears REGEXP FILE
func appearsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: appears REGEXP FILE")
	}
	want, err := regexp.Compile(args[0])
	ts.Check(err)
	until(ts, args[0]+" in "+args[1], func() bool {
		b, err := os.ReadFile(ts.MkAbs(args[1]))
		return err == nil && want.Match(b)
	})
}

// until asks again and again.
func until(ts *testscript.TestScript, what string, is func() bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(most); !is(); <-tick.C {
		if time.Now().After(limit) {
			ts.Fatalf("waited in vain for %s", what)
		}
	}
}

// daemonCmd waits until the gauger that runs in the background answers commands.
func daemonCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: daemon")
	}
	until(ts, "a gauger that answers", func() bool {
		_, err := console.Dial(ts.MkAbs(ts.Getenv("GAUGER_SOCKET")))
		return err == nil
	})
}

// program is a call of gauger in the script's folder and environment.
func program(ts *testscript.TestScript, args []string) *exec.Cmd {
	path, err := exec.LookPath("gauger")
	ts.Check(err)
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "USER", "GORACE", "GAUGER_CONFIG", "GAUGER_SOCKET", "GAUGER_PRIMARY_KEY", "GAUGER_SECONDARY_KEY"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

// matchCmd compares a file, or stdout, line by line with the regular expressions of another: match FILE PATTERNS. With
// -any each pattern needs a line somewhere, and other lines may be there too.
func matchCmd(ts *testscript.TestScript, neg bool, args []string) {
	somewhere := len(args) == 3 && args[0] == "-any"
	if somewhere {
		args = args[1:]
	}
	if neg || len(args) != 2 {
		ts.Fatalf("usage: match [-any] FILE PATTERNS")
	}
	text := ts.ReadFile(args[0])
	have := strings.Split(strings.TrimRight(text, "\n"), "\n")
	want := strings.Split(strings.TrimRight(ts.ReadFile(args[1]), "\n"), "\n")
	for i, w := range want {
		pattern, err := regexp.Compile("^" + w + " *$")
		ts.Check(err)
		if somewhere && !slices.ContainsFunc(have, pattern.MatchString) || !somewhere && (i >= len(have) || !pattern.MatchString(have[i])) {
			ts.Fatalf("%s has not, or not as line %d:\n%s\n\nwhole:\n%s", args[0], i+1, w, text)
		}
	}
	if !somewhere && len(have) > len(want) {
		ts.Fatalf("%s has %d lines, want %d:\n%s", args[0], len(have), len(want), text)
	}
}

// swapCmd replaces text in a file: swap FILE OLD NEW, \n for a new line. The old text must be there.
func swapCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: swap FILE OLD NEW")
	}
	text, lines := ts.ReadFile(args[0]), strings.NewReplacer(`\n`, "\n")
	old, new := lines.Replace(args[1]), lines.Replace(args[2])
	if !strings.Contains(text, old) {
		ts.Fatalf("%s has no %q", args[0], old)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, old, new, 1)), 0o600))
}

// loadCmd writes a recording of one load: load FILE POINT [gap|cut]. The tank stands at 200 in for three hours, is hauled
// down to 80 in within 40 minutes, and stands for another three. A reading comes every ten seconds; with gap, none comes
// while it is hauled, and with cut none later than a quarter of an hour behind it.
func loadCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: load FILE POINT [gap|cut]")
	}
	begin := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	fmt.Fprintln(&b, "ts,mono_s,boot,point,value,quality")
	for i := range 6*60*6 + 40*6 {
		minutes := float64(i) / 6
		if len(args) > 2 && (args[2] == "gap" && minutes > 178 && minutes < 222 || args[2] == "cut" && minutes > 235) {
			continue
		}
		level := 200 - 3*min(max(minutes-180, 0), 40)
		ripple := 0.02 * float64(i%5-2) // a radar is never quite still
		at := begin.Add(time.Duration(i) * 10 * time.Second)
		fmt.Fprintf(&b, "%s,%d,1,%s,%.3f,good\n", at.Format(time.RFC3339), i*10, args[1], level+ripple)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}
