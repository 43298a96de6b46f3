package collectorstest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// NodeModules is a folder with the npm packages of a package.json, installed once for each of their versions and kept
// in the user's cache, outside the tree; one of them names what must be there. Where Node.js 20 or npm is missing the
// test is skipped, and so it is without network at the first time.
func NodeModules(t *testing.T, packages, one string) (node, folder string) {
	t.Helper()
	node, npm := program(t, "node", "install Node.js 20 or newer"), program(t, "npm", "install npm")
	version, err := exec.Command(node, "--version").Output()
	if major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), "."); err != nil || len(major) < 2 || major < "20" {
		t.Skipf("node is %s (%v), and the strangers of %s need 20 or newer", version, err, packages)
	}
	wanted, err := os.ReadFile(packages)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no cache folder for npm's packages: %v", err)
	}
	folder = filepath.Join(cache, "gauger", fmt.Sprintf("node-%.6x", sha256.Sum256(wanted)))
	if _, err := os.Stat(filepath.Join(folder, "node_modules", one)); err == nil {
		return node, folder
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(folder), "installing-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	if err := os.WriteFile(filepath.Join(fresh, "package.json"), wanted, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, npm, "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = fresh
	if said, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install the strangers of %s, for which it needs the network once: %v\n%s", packages, err, said)
	}
	if err := os.Rename(fresh, folder); err != nil {
		if _, there := os.Stat(filepath.Join(folder, "node_modules", one)); there != nil {
			t.Fatal(err) // not another test that was faster
		}
	}
	return node, folder
}

// program is the path of a program of the machine; without it the test is skipped.
func program(t *testing.T, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not here; %s", name, install)
	}
	return path
}
