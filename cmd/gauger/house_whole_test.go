package main

import (
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// What can only be judged by the whole tree: permissions that nobody uses any more, files that their package comment leaves out,
// names in comments that are nowhere.

// houseTold is the number of files that a reader finds his way in without being told their order.
const houseTold = 5

var houseFileName = regexp.MustCompile(`[a-z0-9_*]+`)

// houseUntold are the files that a package comment does not name: by their name with or without .go, or with others by a
// pattern as in kind_*.go. The comment's own file, doc.go or main.go, needs no word.
func houseUntold(comment string, files []string) (untold []string) {
	if len(files) <= houseTold {
		return nil
	}
	words := houseFileName.FindAllString(comment, -1)
	for _, file := range files {
		name := strings.TrimSuffix(file, ".go")
		told := func(word string) bool { ok, err := path.Match(word, name); return ok && err == nil && word != "*" }
		if name != "doc" && name != "main" && !slices.ContainsFunc(words, told) {
			untold = append(untold, file)
		}
	}
	return untold
}

var (
	houseWord  = regexp.MustCompile(`\w+`)
	houseCamel = regexp.MustCompile(`\b[a-z]{2,}[A-Z]\w*\b`) // not mA
	houseGo    = regexp.MustCompile(`\b[a-z_0-9]+\.go\b`)
)

// houseNames is what comments may name, and what they do.
type houseNames struct {
	known   map[string]bool   // identifiers, words of strings, files
	claimed map[string]string // names of mixed case and Go files in comments, and the place of one such comment
}

// note takes a file's names, and those that its comments claim there are.
func (n *houseNames) note(fset *token.FileSet, name string, file *ast.File) {
	n.known[path.Base(name)] = true
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Ident:
			n.known[node.Name] = true
		case *ast.BasicLit:
			for _, word := range houseWord.FindAllString(node.Value, -1) {
				n.known[word] = true
			}
		}
		return true
	})
	for _, group := range file.Comments {
		for _, c := range group.List {
			for _, claim := range append(houseCamel.FindAllString(c.Text, -1), houseGo.FindAllString(c.Text, -1)...) {
				n.claimed[claim] = fset.Position(c.Pos()).String()
			}
		}
	}
}

// use notes an import.
func (j *houseJudge) use(room string, test bool, imported string) {
	if test {
		imported = houseTests + imported
	}
	houseAdd(j.used, room, imported)
}

// whole finds permissions of the table and of the fences that nobody uses, and files without a word in their package comment,
// names in comments that are nowhere.
func (j *houseJudge) whole() {
	for name, place := range j.names.claimed {
		if !j.names.known[name] {
			j.fault(place, "names %s, which exists nowhere", name)
		}
	}
	for room, rules := range houseRooms {
		for _, other := range strings.Fields(rules.may) {
			if !j.used[room]["gauger/"+other] {
				j.fault(room, "may import %s and does not: take it out of the table", other)
			}
		}
		for _, other := range strings.Fields(rules.tests) {
			if !j.used[room][houseTests+"gauger/"+other] {
				j.fault(room, "its tests may import %s and do not: take it out of the table", other)
			}
		}
	}
	for room, files := range j.files {
		if room == "cmd/gauger" { // its files are named by their commands
			continue
		}
		for _, file := range houseUntold(j.comments[room], files) {
			j.fault(room, "its package comment, which says the order of its files, leaves out %s", file)
		}
	}
	for _, fence := range houseFences {
		for _, room := range strings.Fields(fence.rooms) {
			if !j.usesModule(room, fence.module) {
				j.fault(fence.module, "may be used in %s and is not: take it out of the fence", room)
			}
		}
	}
}

// usesModule says whether a room imports something of a module; houseTests stands for the tests of whichever room.
func (j *houseJudge) usesModule(room, module string) bool {
	for user, imports := range j.used {
		for imported := range imports {
			ofTest, test := strings.CutPrefix(imported, houseTests)
			if (ofTest == module || strings.HasPrefix(ofTest, module+"/")) && (user == room || test && room == houseTests) {
				return true
			}
		}
	}
	return false
}

// TestHouseSeesWhatIsUnused gives the judge one package that uses one of its permissions.
func TestHouseSeesWhatIsUnused(t *testing.T) {
	const source = "// Package tank decides.\npackage tank\n"
	j, err := houseWalk(fstest.MapFS{
		"agent/tank/a.go":           {Data: []byte(source + "import _ \"gauger/agent/tank/codec\"\n")},
		"outbox/a.go":               {Data: []byte("// Package outbox keeps.\npackage outbox\nimport _ \"go.etcd.io/bbolt\"\n")},
		"collectors/mqtt/a_test.go": {Data: []byte("package mqtt\nimport _ \"github.com/mochi-mqtt/server/v2/listeners\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	j.whole()
	faults := strings.Join(j.sorted(), "\n")
	for fault, want := range map[string]bool{
		"agent/tank: may import agent/tank/stats and does not":                   true,
		"agent/tank: may import agent/tank/codec and does not":                   false,
		"agent/tank: its tests may import agent/tank/tanktest and do not":        true,
		"go.etcd.io/bbolt: may be used in deploy/bench/outbox and is not":        true,
		"go.etcd.io/bbolt: may be used in outbox and is not":                     false,
		"github.com/mochi-mqtt/server/v2: may be used in cmd/wellsim and is not": true,
		"github.com/mochi-mqtt/server/v2: may be used in (tests) and is not":     false,
	} {
		if strings.Contains(faults, fault) != want {
			t.Errorf("%q is told: %v, want %v", fault, !want, want)
		}
	}
}

func TestHouseSeesUntoldFiles(t *testing.T) {
	files := []string{"doc.go", "ring.go", "kind_a.go", "kind_b.go", "page.go", "row.go"}
	if got := houseUntold("ring.go, kind_*.go, and page, which goes round.", files); !slices.Equal(got, []string{"row.go"}) {
		t.Errorf("untold %q, want row.go", got)
	}
	if got := houseUntold("", files[1:]); got != nil {
		t.Errorf("untold %q of five, want none", got)
	}
}

func TestHouseSeesStaleNames(t *testing.T) {
	j, err := houseWalk(fstest.MapFS{"agent/plot/a.go": {Data: []byte(
		"// Package plot draws, as a.go and gone.go say, from 4 to 20 mA.\npackage plot\n\n// oldName is newName.\nvar newName int\n")}})
	if err != nil {
		t.Fatal(err)
	}
	j.whole()
	var stale []string
	for _, fault := range j.sorted() {
		if _, name, found := strings.Cut(fault, "names "); found && strings.HasSuffix(fault, "nowhere") {
			stale = append(stale, strings.TrimSuffix(name, ", which exists nowhere"))
		}
	}
	if want := []string{"gone.go", "oldName"}; !slices.Equal(stale, want) {
		t.Errorf("stale names %q, want %q", stale, want)
	}
}

// Before main begins no room of ours makes more than a little: what is made there stays in memory of each site for ever.
func TestLittleIsMadeBeforeTheProgramBegins(t *testing.T) {
	const most = 100_000 // bytes of a package
	cmd := exec.Command(os.Args[0], "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", asProgram+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seen := 0
	for _, x := range regexp.MustCompile(`(?m)^init (gauger\S*) .* (\d+) bytes`).FindAllStringSubmatch(string(out), -1) {
		seen++
		if n, err := strconv.Atoi(x[2]); err != nil || n > most {
			t.Errorf("%s makes %s bytes at the start, and may make %d", x[1], x[2], most)
		}
	}
	if seen == 0 {
		t.Errorf("no room was seen to begin:\n%s", out)
	}
}
