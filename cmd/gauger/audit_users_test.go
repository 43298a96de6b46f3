package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gauger/agent/audit"
	"gauger/agent/console"
)

// usersSite is a gauger that runs as its own user, and four users of the box who may connect to it: three have a role each.
type usersSite struct {
	t            *testing.T
	dir, program string
	daemon       *exec.Cmd
}

func newUsersSite(t *testing.T) *usersSite {
	s := &usersSite{t: t, dir: ownedSite(t)}
	s.program = filepath.Join(s.dir, "gauger")
	b, err := os.ReadFile(os.Args[0]) // the test's own folder is closed to others
	if err != nil {
		t.Fatal(err)
	}
	text := ownedYAML + `control: {look: [daemon], operate: [bin], keys: [sys]}
tanks:
  - {id: TK-1, level: plc/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}
devices:
  - {name: plc, modbus: "tcp://127.0.0.1:9", points: [{name: level, holding: 100, type: float32, unit: in}]}
`
	run := filepath.Join(s.dir, "run")
	if err := errors.Join(os.WriteFile(s.program, b, 0o755), os.WriteFile(filepath.Join(s.dir, "gauger.yaml"), []byte(text), 0o644),
		os.Mkdir(run, 0o755), os.Chown(run, ownerOfStore, ownerOfStore), os.Chmod(filepath.Join(s.dir, "key"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"daemon", "bin", "sys", "nobody"} {
		if _, err := user.Lookup(name); err != nil {
			t.Skip(err)
		}
	}
	return s
}

func (s *usersSite) socket() string { return filepath.Join(s.dir, "run", "gauger.sock") }

// command is gauger as a user runs it.
func (s *usersSite) command(ctx context.Context, uid, gid int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program, append(args, "-c", filepath.Join(s.dir, "gauger.yaml"), "--socket", s.socket())...)
	cmd.Env, cmd.Dir = []string{asProgram + "=1", "RUNTIME_DIRECTORY=", "PATH=" + os.Getenv("PATH")}, s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return cmd
}

// start runs the daemon, and lets all users connect as members of its group may.
func (s *usersSite) start() {
	s.t.Helper()
	s.daemon = s.command(s.t.Context(), ownerOfStore, ownerOfStore, "run")
	if err := s.daemon.Start(); err != nil {
		s.t.Fatal(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(most); ; <-tick.C {
		if _, err := console.Dial(s.socket()); err == nil {
			break
		}
		if time.Now().After(limit) {
			s.t.Fatal("the daemon does not answer")
		}
	}
	if err := os.Chmod(s.socket(), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// kill ends the daemon at once.
func (s *usersSite) kill() {
	s.t.Helper()
	if err := s.daemon.Process.Kill(); err != nil {
		s.t.Error(err)
	}
	_ = s.daemon.Wait() // it was killed
}

// as lets a user run a command, and says whether it was done.
func (s *usersSite) as(name string, args ...string) (said string, done bool) {
	s.t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		s.t.Fatal(err)
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err := errors.Join(err1, err2); err != nil {
		s.t.Fatal(err)
	}
	out, err := s.command(s.t.Context(), uid, gid, args...).CombinedOutput()
	return string(out), err == nil
}

// trail is the audit trail on disk.
func (s *usersSite) trail() []audit.Entry {
	s.t.Helper()
	all, err := audit.New(filepath.Join(s.dir, "store")).Read(time.Time{})
	if err != nil || all.Torn > 1 {
		s.t.Fatalf("%d torn lines (%v)", all.Torn, err)
	}
	return all.Entries
}

// TestUsersHaveTheirRoles: each command by each of four real users, the one without a role included, against the real program.
func TestUsersHaveTheirRoles(t *testing.T) {
	s := newUsersSite(t)
	s.start()
	defer s.kill()
	before := len(s.trail())
	for _, x := range []struct {
		role, verb, record string
		args               []string
	}{
		{"look", "", "", []string{"tanks", "list"}},
		{"look", "", "", []string{"audit"}},
		{"operate", "tanks.inhibit", "TK-1", []string{"tanks", "inhibit", "TK-1", "1h", "--why", "cleaning"}},
		{"operate", "tanks.allow", "TK-1", []string{"tanks", "allow", "TK-1"}},
		{"operate", "tickets.add", "M-1", []string{"tickets", "add", "--tank", "TK-1", "--start", "2026-03-01 10:00", "--end", "2026-03-01 10:40", "--open", "171.25", "--close", "80", "--number", "M-1", "--anyway", "late", "--no-wait"}},
		{"operate", "queue", "memos/1", []string{"memo", "add", "1", "hello", "--no-wait"}},
		{"operate", "outbox.drop", "memos/1", []string{"outbox", "drop", "memos/1", "--why", "mistyped"}},
		{"operate", "clock.trust", "", []string{"clock", "trust"}},
		{"keys", "keys.set", "primary", []string{"keys", "set", "primary", "--file", filepath.Join(s.dir, "key")}},
	} {
		for _, who := range []struct{ name, roles string }{{"nobody", ""}, {"daemon", "look"}, {"sys", "look keys"}, {"bin", "look operate"}} {
			said, done := s.as(who.name, x.args...)
			may := strings.Contains(who.roles, x.role)
			trail := s.trail()
			more := trail[before:]
			before = len(trail)
			switch {
			case done != may:
				t.Errorf("%s: %v: done %v: %s", who.name, x.args, done, said)
			case !may && (!strings.Contains(said, "needs the role "+x.role) || !strings.Contains(said, "usermod -aG")) && !strings.Contains(said, "needs the role look"):
				t.Errorf("%s: %v: %s", who.name, x.args, said)
			case !may && (len(more) != 1 || more[0].Result != audit.Denied || more[0].Name != who.name):
				t.Errorf("%s: %v left %+v", who.name, x.args, more)
			case may && x.verb == "" && len(more) != 0:
				t.Errorf("%s: %v only looks and left %+v", who.name, x.args, more)
			case may && x.verb != "" && (len(more) != 1 || more[0].Result != audit.Done || more[0].Name != who.name || more[0].Verb != x.verb || more[0].Record != x.record || more[0].PID == 0):
				t.Errorf("%s: %v left %+v", who.name, x.args, more)
			}
		}
	}
}

// TestAKillLosesNothingThatWasAnswered: the daemon is killed while a user's commands go on.
func TestAKillLosesNothingThatWasAnswered(t *testing.T) {
	s := newUsersSite(t)
	for round := range 3 {
		s.start()
		before := len(s.trail())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for limit := time.Now().Add(most); time.Now().Before(limit); <-tick.C {
				if all, err := audit.New(filepath.Join(s.dir, "store")).Read(time.Time{}); err == nil && len(all.Entries) >= before+2 {
					break
				}
			}
			s.kill()
		}()
		answered := 0
		for done := true; done && answered < 1000; {
			if _, done = s.as("bin", "memo", "add", "1", fmt.Sprint(round, answered), "--no-wait"); done {
				answered++
			}
		}
		<-ended
		kept := 0
		for _, e := range s.trail()[before:] {
			if e.Verb == "queue" && e.Result == audit.Done {
				kept++
			}
		}
		if kept < answered || kept > answered+1 {
			t.Errorf("%d commands were answered, %d stand in the trail", answered, kept)
		}
	}
}
