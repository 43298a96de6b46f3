package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Bars of a room, in files. A circle is the largest set of files of which each uses, over others of it, names of every
// other: what has to be read together.
const (
	houseCircle   = 20
	houseFiles    = 35
	houseReceiver = 12 // files that hold one receiver's methods
)

// houseLarger are the rooms above the bar of files, with the number that they may not pass: only what a person asked for raises it. Their package
// comments say why, and in which order the files are read.
var houseLarger = map[string]int{"agent/tank": 45, "agent/ledger": 36, "config": 27, "cmd/gauger": 66}

// housePackage is what the Go command tells of a package.
type housePackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// houseRoomFiles is what one room's source tells by its types.
type houseRoomFiles struct {
	name      string
	files     []string
	uses      map[string]map[string]bool // file by file
	receivers map[string]map[string]bool // files of each receiver's methods
	unspoken  []string                   // exported names without a comment
}

// houseBuilt lists the module's packages, with the export data of whatever they import.
func houseBuilt() (ours []housePackage, exports map[string]string, err error) {
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	exports = map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p housePackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return ours, exports, nil
		} else if err != nil {
			return nil, nil, err
		}
		exports[strings.TrimPrefix(p.ImportPath, "vendor/")] = p.Export
		if strings.HasPrefix(p.ImportPath, "gauger/") {
			ours = append(ours, p)
		}
	}
}

// houseRead type-checks one package from its source.
func houseRead(p housePackage, exports map[string]string) (houseRoomFiles, error) {
	room := houseRoomFiles{name: strings.TrimPrefix(p.ImportPath, "gauger/"), files: p.GoFiles,
		uses: map[string]map[string]bool{}, receivers: map[string]map[string]bool{}}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return room, err
		}
		parsed = append(parsed, file)
		room.declared(name, file)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	checked, err := (&types.Config{Importer: importer.ForCompiler(fset, "gc", open)}).Check(p.ImportPath, fset, parsed, info)
	if err != nil {
		return room, err
	}
	for name, object := range info.Uses {
		if object.Pkg() != checked || !object.Pos().IsValid() {
			continue
		}
		from, to := filepath.Base(fset.Position(name.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)
		houseAdd(room.uses, from, to)
	}
	return room, nil
}

func houseAdd(sets map[string]map[string]bool, key, member string) {
	if sets[key] == nil {
		sets[key] = map[string]bool{}
	}
	sets[key][member] = true
}

// declared notes receivers and exported names without a comment.
func (r *houseRoomFiles) declared(name string, file *ast.File) {
	say := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if id.IsExported() && !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d != nil }) {
			r.unspoken = append(r.unspoken, name+": "+id.Name)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			receiver := ""
			if d.Recv != nil {
				receiver = strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")
				houseAdd(r.receivers, receiver, name)
			}
			if receiver == "" || ast.IsExported(receiver) {
				say(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					say(s.Name, s.Doc, s.Comment, d.Doc)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						say(id, s.Doc, s.Comment, d.Doc)
					}
				}
			}
		}
	}
}

// circle is the largest set of files that all reach each other.
func (r *houseRoomFiles) circle() (largest []string) {
	reach := map[string]map[string]bool{}
	for _, from := range r.files {
		reach[from] = map[string]bool{}
		for todo := []string{from}; len(todo) > 0; {
			at := todo[0]
			todo = todo[1:]
			for to := range r.uses[at] {
				if !reach[from][to] {
					reach[from][to] = true
					todo = append(todo, to)
				}
			}
		}
	}
	for _, from := range r.files {
		both := []string{from}
		for to := range reach[from] {
			if to != from && reach[to][from] {
				both = append(both, to)
			}
		}
		if len(both) > len(largest) {
			largest = both
		}
	}
	slices.Sort(largest)
	return largest
}

// faults holds one room against the bars.
func (r *houseRoomFiles) faults() (found []string) {
	if circle := r.circle(); len(circle) > houseCircle {
		found = append(found, fmt.Sprintf("%d of its %d files are one circle, at most %d: %s", len(circle), len(r.files), houseCircle, strings.Join(circle, " ")))
	}
	larger, isLarger := houseLarger[r.name]
	if most := max(houseFiles, larger); len(r.files) > most {
		found = append(found, fmt.Sprintf("%d files, at most %d", len(r.files), most))
	} else if isLarger && len(r.files) < larger {
		found = append(found, fmt.Sprintf("%d files where %d may be: lower the number in houseLarger", len(r.files), larger))
	}
	for receiver, files := range r.receivers {
		if len(files) > houseReceiver {
			found = append(found, fmt.Sprintf("%s has methods in %d files, at most %d", receiver, len(files), houseReceiver))
		}
	}
	for _, name := range r.unspoken {
		found = append(found, "exported without a comment: "+name)
	}
	slices.Sort(found)
	return found
}

// TestHouseRooms measures how much of each room has to be read together, and prints it (-v).
func TestHouseRooms(t *testing.T) {
	ours, exports, err := houseBuilt()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range ours {
		room, err := houseRead(p, exports)
		if err != nil {
			t.Fatal(err)
		}
		seen[room.name] = true
		t.Logf("%-32s %3d files, largest circle %2d", room.name, len(room.files), len(room.circle()))
		for _, fault := range room.faults() {
			t.Errorf("%s: %s", room.name, fault)
		}
	}
	for room := range houseLarger {
		if !seen[room] {
			t.Errorf("%s may be larger than others and is no room", room)
		}
	}
}

// A measure that finds nothing proves nothing.
func TestHouseRoomsSeesFaults(t *testing.T) {
	ring := houseRoomFiles{name: "ring", uses: map[string]map[string]bool{}, receivers: map[string]map[string]bool{}}
	for i := range 36 {
		file, next := fmt.Sprintf("f%02d.go", i), fmt.Sprintf("f%02d.go", (i+1)%21)
		ring.files = append(ring.files, file)
		houseAdd(ring.uses, file, next)
		if i < 13 {
			houseAdd(ring.receivers, "Box", file)
		}
	}
	source := "// Package a does.\npackage a\n\nfunc F() {}\n\n// T is told.\ntype T int\n\nfunc (T) M() {}\nfunc (t) M() {}\n"
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ring.declared("a.go", file)
	want := []string{"21 of its 36 files are one circle", "36 files, at most 35", "Box has methods in 13 files", "exported without a comment: a.go: F", "exported without a comment: a.go: M"}
	found := ring.faults()
	if len(found) != len(want) {
		t.Fatalf("found %q", found)
	}
	for i := range want {
		if !strings.HasPrefix(found[i], want[i]) {
			t.Errorf("found %q, want %q", found[i], want[i])
		}
	}
	if got := slices.Sorted(maps.Keys(ring.receivers)); !slices.Equal(got, []string{"Box", "T", "t"}) {
		t.Errorf("receivers %q", got)
	}
}
