package console

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhoEditsInAUserNamespaceIsTheLogin(t *testing.T) {
	for _, hierarchy := range []string{"", "systemd"} {
		root := t.TempDir()
		for group, pids := range map[string]string{
			"user.slice/user-1000.slice/session-3.scope":                       "70\n71\n",
			"user.slice/user-1001.slice/user@1001.service/app.slice/a.service": "80\n",
			"user.slice/user-bob.slice":                                        "90\n",
			"system.slice/cron.service":                                        "91\n",
		} {
			folder := filepath.Join(root, hierarchy, group)
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(pids), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for pid, want := range map[int]int{70: 1000, 71: 1000, 80: 1001, 7: 0, 90: 0, 91: 0, 0: 0} {
			if uid, ok := loginOf(root, pid); uid != want || ok != (want != 0) {
				t.Errorf("process %d in hierarchy %q has login %d (%t), want %d", pid, hierarchy, uid, ok, want)
			}
		}
	}
}
