package console

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

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
