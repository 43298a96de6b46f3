package eventrules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPage holds the page of the manual against the list; with GAUGER_WRITE set it writes the page.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Gauger's own events\n\nThe service files each under its name. A site's own alarms stand in its configuration (`events:`) and have names of their own.\n\n" +
		"| event | when | what to do |\n|---|---|---|\n")
	for _, r := range List {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Name, r.When, r.Do)
	}
	page := filepath.Join("..", "..", "deploy", "doc", "events.md")
	if os.Getenv("GAUGER_WRITE") != "" {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(page); err != nil || string(is) != b.String() {
		t.Errorf("%s is not what the list says (%v): GAUGER_WRITE=1 go test ./agent/eventrules writes it", page, err)
	}
}

// TestList holds the lines against the constants: each has one, in the same order, and says everything.
func TestList(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "eventrules.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if text, ok := v.Values[0].(*ast.BasicLit); ok {
				name, _ := strconv.Unquote(text.Value)
				constants = append(constants, name)
			}
		}
		return true
	})
	if len(constants) != len(List) {
		t.Errorf("%d constants, %d lines", len(constants), len(List))
	}
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for i, r := range List {
		if i < len(constants) && r.Name != constants[i] {
			t.Errorf("line %d is of %s, the constant in its place is %s", i+1, r.Name, constants[i])
		}
		if !kebab.MatchString(r.Name) || seen[r.Name] {
			t.Errorf("%q: not in kebab-case, or there twice", r.Name)
		}
		if r.Teller == "" || r.When == "" || r.Do == "" {
			t.Errorf("%s does not say who tells it, when, or what to do about it", r.Name)
		}
		seen[r.Name] = true
	}
}
