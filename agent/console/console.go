// Package console lets people and commands look at a running agent and ask it for things: a unix socket for the
// commands, and metrics.
//
// console.go is the socket and finds who asks where the kernel hides it; client.go asks. metrics.go writes the metrics,
// beside the page that it is given. guard.go is what browsers are told, by which names they may ask, and the limits of both.
//
// The metrics are in Prometheus' text format, written here: its own client would make the program 2 MB longer, and 1.4 MB of more
// memory stay resident. Its judge, promlint, which is behind `promtool check metrics`, is a test.
package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gauger/agent/control"
	"gauger/collectors"
)

// Answer of the socket: a result, or an error in words. A live stream gives many results and a last one that
// says that it is over.
type Answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Over   bool            `json:"over,omitempty"`
}

// Listen opens the control socket with mode 0660, so that the group may use it. A socket that nobody answers on is left over from
// a crash and is replaced; what is no socket is somebody's.
func Listen(path string) (net.Listener, error) {
	old, err := os.Lstat(path)
	if err == nil && old.Mode().Type() != os.ModeSocket {
		return nil, fmt.Errorf("listen on %s: what is there is no socket, and stays; move it away, or give another --socket", path)
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return nil, fmt.Errorf("listen on %s: another gauger answers there; stop it first, or give --socket", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the socket's folder: %w; may this user write there? --socket names another place", err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove the old socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for commands: %w; does the folder exist, and may this user write to it?", err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		l.Close()
		return nil, fmt.Errorf("let the group use the socket: %w", err)
	}
	return l, nil
}

// peer is the local user at the other end of a unix socket; nobody when the kernel does not tell.
func peer(c net.Conn) (who control.Caller) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return who
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return who
	}
	var cred *unix.Ucred
	if err := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil || cred == nil {
		return who
	}
	if cred.Uid == strangers {
		if uid, ok := loginOf("/sys/fs/cgroup", int(cred.Pid)); ok {
			return control.Caller{UID: uid, PID: int(cred.Pid), Name: UserName(uid)}
		}
	}
	return control.Caller{UID: int(cred.Uid), PID: int(cred.Pid), Name: UserName(int(cred.Uid))}
}

// UserName is the name of a local user, or the number where there is none.
func UserName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}

// Control is the handler behind the socket: POST /REQUEST with JSON, POST /follow/FEED with JSON for one result after the
// other, and GET /watch, which goes on until it is left.
func Control(server *control.Server) http.Handler {
	mux, few := http.NewServeMux(), newSeats()
	mux.HandleFunc("POST /{request}", func(w http.ResponseWriter, r *http.Request) {
		args, done, err := few.body(w, r)
		defer done()
		if err == nil {
			var result any
			if result, err = server.Call(r.Context(), r.PathValue("request"), args); err == nil {
				answer(w, result)
				return
			}
		}
		reply(w, Answer{Error: said(r.Context(), err)})
	})
	stream := func(pattern string, stream func(http.ResponseWriter, *http.Request)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			who := control.Person(r.Context())
			if !few.streams.Take(who) {
				w.WriteHeader(http.StatusServiceUnavailable)
				reply(w, Answer{Error: errStreams.Error()})
				return
			}
			defer few.streams.Leave(who)
			stream(w, r)
		})
	}
	stream("POST /follow/{feed}", func(w http.ResponseWriter, r *http.Request) { follow(w, r, server, few) })
	stream("GET /watch", func(w http.ResponseWriter, r *http.Request) { watch(w, r, server) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := control.CallerOf(r.Context())
		who.Means = r.Header.Get(siteHeader)
		w.Header().Set(siteHeader, server.Site.ID)
		mux.ServeHTTP(w, r.WithContext(control.WithCaller(r.Context(), who)))
	})
}

// said is an error as the client reads it. A request ends before its time when the client leaves, who reads nothing then, or
// with the daemon.
func said(ctx context.Context, err error) string {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return "the running gauger is ending; ask again when it runs"
	}
	return Words(err, "stopped before it was done")
}

// Words is an error's text with ended in the place of Go's words for what was cancelled, and plain ones for a time limit.
func Words(err error, ended string) string {
	return strings.NewReplacer(context.Canceled.Error(), ended, context.DeadlineExceeded.Error(), "it took longer than its time limit").Replace(err.Error())
}

func answer(w http.ResponseWriter, result any) {
	b, err := json.Marshal(result)
	if err != nil {
		reply(w, Answer{Error: "write down the answer: " + err.Error()})
		return
	}
	reply(w, Answer{Result: b})
}

// reply writes the answer; a client that has gone away is nobody's loss.
func reply(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a)
}

// follow writes each thing of a feed as a line of JSON while it comes, and at last that it is over or what went wrong.
func follow(w http.ResponseWriter, r *http.Request, server *control.Server, few *seats) {
	last := Answer{Over: true}
	flush := http.NewResponseController(w)
	args, done, err := few.body(w, r)
	done() // what a stream is asked for is small, and it goes on for long
	if err == nil && len(args) >= plainBody {
		err = errors.New("what a stream is asked for is longer than 64 kB")
	}
	if err == nil {
		err = server.Follow(r.Context(), r.PathValue("feed"), args, func(thing any) error {
			b, err := json.Marshal(thing)
			if err != nil {
				return fmt.Errorf("write down the answer: %w", err)
			}
			reply(w, Answer{Result: b})
			return flush.Flush()
		})
	}
	if err != nil {
		last.Error = said(r.Context(), err)
	}
	reply(w, last)
}

// watch writes each reading of the points in the query as a line of JSON while it arrives.
func watch(w http.ResponseWriter, r *http.Request, server *control.Server) {
	wanted := map[collectors.Point]bool{}
	for _, p := range r.URL.Query()["point"] {
		wanted[collectors.Point(p)] = true
	}
	if err := server.Allow(r.Context(), "watch", control.Look, nil); err != nil {
		w.WriteHeader(http.StatusForbidden)
		reply(w, Answer{Error: err.Error()})
		return
	}
	flush := http.NewResponseController(w)
	if err := flush.Flush(); err != nil {
		return
	}
	lines := json.NewEncoder(w)
	_ = server.Ledger.Watch(r.Context(), func(batch []collectors.Reading) error { // it ends when the client leaves
		for _, x := range batch {
			if len(wanted) > 0 && !wanted[x.Point] {
				continue
			}
			if err := lines.Encode(control.PointReadingOf(x)); err != nil {
				return err
			}
		}
		return flush.Flush()
	})
}

// strangers is the user id of everybody but root and the agent itself in a user namespace (PrivateUsers=yes).
const strangers = 65534

var loginSlice = regexp.MustCompile(`^user-(\d+)\.slice$`)

// loginOf finds the user in whose login session a process is. The kernel translates every number that it hands out, but not
// the names of the control groups below root: systemd-logind puts each session below user-UID.slice, and only root can
// move a process out of there. A process that has ended meanwhile, or is in no session, has no login. It is asked for
// when the connection is made, so that the number of the process is not another's by then.
func loginOf(root string, pid int) (uid int, ok bool) {
	for _, hierarchy := range []string{root, filepath.Join(root, "systemd")} {
		users := filepath.Join(hierarchy, "user.slice")
		entries, err := os.ReadDir(users)
		if err != nil {
			continue // the other hierarchy has the sessions, or nobody has
		}
		for _, e := range entries {
			if m := loginSlice.FindStringSubmatch(e.Name()); m != nil && holds(filepath.Join(users, e.Name()), strconv.Itoa(pid)) {
				uid, err := strconv.Atoi(m[1])
				return uid, err == nil
			}
		}
	}
	return 0, false
}

// holds says whether a process is in a control group or in one below it.
func holds(group, pid string) bool {
	found := false
	err := filepath.WalkDir(group, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "cgroup.procs" {
			return nil // a session that ends takes its group with it
		}
		if b, err := os.ReadFile(path); err == nil && slices.Contains(strings.Fields(string(b)), pid) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found && err == nil
}
