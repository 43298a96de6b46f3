package modbus

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

	"gauger/collectors"
)

// nodeModules is a folder with the packages of testdata/node, installed once for each of their versions and kept
// in the user's cache, outside the tree.
func nodeModules(t *testing.T) (node, folder string) {
	t.Helper()
	node, npm := needs(t, "node", "install Node.js 20 or newer"), needs(t, "npm", "install npm")
	version, err := exec.Command(node, "--version").Output()
	if major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), "."); err != nil || len(major) < 2 || major < "20" {
		t.Skipf("node is %s (%v), and the strangers of testdata/node need 20 or newer", version, err)
	}
	wanted, err := os.ReadFile("testdata/node/package.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("no cache folder for npm's packages: %v", err)
	}
	folder = filepath.Join(cache, "gauger", fmt.Sprintf("node-%.6x", sha256.Sum256(wanted)))
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "jsmodbus")); err == nil {
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
		t.Skipf("npm cannot install the strangers of testdata/node, for which it needs the network once: %v\n%s", err, said)
	}
	if err := os.Rename(fresh, folder); err != nil {
		if _, there := os.Stat(filepath.Join(folder, "node_modules", "jsmodbus")); there != nil {
			t.Fatal(err) // not another test that was faster
		}
	}
	return node, folder
}

func TestAgainstNodesModbusSerial(t *testing.T) {
	node, folder := nodeModules(t)
	d, want, values := everything()
	d.Points = append(d.Points, holding("nowhere", 899))
	command := []string{node, "testdata/node/slave.js", folder, "modbus-serial", toldIn(t, values)}
	over(t, []string{"tcp", "rtu"}, Request{7, Holding, 0, 1}, command, func(t *testing.T, s stranger) {
		d.URL = s.url
		s.holds(t, d, want)
	})
}

func TestAgainstNodesJsmodbus(t *testing.T) {
	node, folder := nodeModules(t)
	d, want, values := everything()
	command := []string{node, "testdata/node/slave.js", folder, "jsmodbus", toldIn(t, values)}
	over(t, []string{"tcp", "rtu", "rtu+tcp"}, Request{7, Holding, 0, 1}, command, func(t *testing.T, s stranger) {
		d.URL = s.url
		s.holds(t, d, want)
	})
}

func TestEnronAgainstNodesModbusSerial(t *testing.T) {
	node, folder := nodeModules(t)
	d := Device{Name: "d", Unit: new(7), Enron: true, Timeout: 2 * time.Second}
	want, told := map[collectors.Point]truth{}, &strings.Builder{}
	for i, tr := range []truth{
		{"float32", "123.456", float64(float32(123.456)), ""}, {"float32", "-0.25", -0.25, ""}, {"int32", "-100000", -100000, ""}, {"uint32", "4294867296", 4294867296, ""},
	} {
		for j, o := range wireOrders {
			address := 5001 + 4*i + j
			if tr.kind == "float32" {
				address += 2000
			}
			p := holding(fmt.Sprint(address), address, typed(tr.kind, string(o)))
			d.Points, want[collectors.PointOf("d", p.Name)] = append(d.Points, p), tr
			fmt.Fprintf(told, "7 enron %d %s %s %s\n", address, tr.kind, o, tr.told)
		}
	}
	d.Points = append(d.Points, holding("short", 3001, typed("int16", "")), holding("nowhere", 7900, typed("float32", "")))
	want["d/short"] = truth{value: -200}
	fmt.Fprintln(told, "7 holding 3001 int16 ABCD -200")
	command := []string{node, "testdata/node/slave.js", folder, "modbus-serial", toldIn(t, told.String())}
	over(t, []string{"tcp", "rtu"}, Request{7, Holding, 3001, 1}, command, func(t *testing.T, s stranger) {
		d.URL = s.url
		s.holds(t, d, want)
	})
}
