package main

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"gauger/agent/eventrules"
)

var (
	houseKebab = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	// Rooms that stand for the world outside: they must not share gauger's own names.
	houseOutside = []string{"cmd/wellsim", "agent/cloud/cloudtest"}
)

// rules finds names of event rules that do not come from their list, and notes which room uses which constant.
func (j *houseJudge) rules(room string, file *ast.File) {
	if room == houseWords {
		j.constants(file)
	}
	if room == houseWords || slices.Contains(houseOutside, room) {
		return
	}
	flags := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr: // Rule: "..."
			if key, ok := n.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "rule") {
				j.ruleName(n.Value)
			}
		case *ast.BinaryExpr: // e.Rule == "..."
			if houseRuleField(n.X) {
				j.ruleName(n.Y)
			}
		case *ast.SwitchStmt: // switch e.Rule { case "...":
			for _, c := range n.Body.List {
				if houseRuleField(n.Tag) {
					j.ruleName(c.(*ast.CaseClause).List...)
				}
			}
		case *ast.FuncDecl:
			j.ruleTaker(n)
		case *ast.CallExpr: // u.addEvent(v, i, "...", ...), but f.StringVar(&s.file, "key-file", ...)
			called, _ := n.Fun.(*ast.SelectorExpr)
			if called != nil {
				j.calls = append(j.calls, houseCall{called.Sel.Name, n.Args})
			}
			for _, arg := range n.Args {
				flags[arg] = called != nil && strings.HasSuffix(called.Sel.Name, "Var")
			}
		case *ast.BasicLit:
			if name, _ := strconv.Unquote(n.Value); strings.Contains(name, "-") && !flags[n] && houseRule(name) != nil {
				j.ruleName(n)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == path.Base(houseWords) {
				j.told[n.Sel.Name] = append(j.told[n.Sel.Name], room)
			}
		}
		return true
	})
}

// houseCall is a call of a method, by whatever receiver.
type houseCall struct {
	method string
	args   []ast.Expr
}

// ruleTaker notes a function with a parameter called rule, and which it is.
func (j *houseJudge) ruleTaker(f *ast.FuncDecl) {
	at := 0
	for _, field := range f.Type.Params.List {
		for _, name := range field.Names {
			if name.Name == "rule" {
				j.takers[f.Name.Name] = at
			}
			at++
		}
	}
}

// called finds names that are written out where a function takes a rule.
func (j *houseJudge) called() {
	for _, c := range j.calls {
		if at, takes := j.takers[c.method]; takes && at < len(c.args) {
			j.ruleName(c.args[at])
		}
	}
}

// houseRuleField says that an expression is the field of some event that has its rule.
func houseRuleField(x ast.Expr) bool {
	field, ok := x.(*ast.SelectorExpr)
	return ok && field.Sel.Name == "Rule"
}

// ruleName finds fault with a name that is written out.
func (j *houseJudge) ruleName(names ...ast.Expr) {
	for _, x := range names {
		lit, ok := x.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		if name, _ := strconv.Unquote(lit.Value); houseKebab.MatchString(name) {
			j.fault(j.fset.Position(lit.Pos()).String(), "%q names an event rule: take the constant of package %s", name, houseWords)
		}
	}
}

// constants reads the list's own.
func (j *houseJudge) constants(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				name, _ := strconv.Unquote(lit.Value)
				j.listed[spec.Names[0].Name] = houseRule(name)
			}
		}
		return true
	})
}

func houseRule(name string) *eventrules.Rule {
	for i := range eventrules.List {
		if eventrules.List[i].Name == name {
			return &eventrules.List[i]
		}
	}
	return nil
}

// tellers holds the list against the rooms that use its names: a rule's tellers do.
func (j *houseJudge) tellers() {
	for constant, rule := range j.listed {
		if rule == nil {
			j.fault(houseWords, "%s has no line in List", constant)
			continue
		}
		for teller := range strings.SplitSeq(rule.Teller, ", ") {
			if !slices.Contains(j.told[constant], teller) {
				j.fault(houseWords, "%s does not tell of %s: mend the list", teller, rule.Name)
			}
		}
	}
}

// TestHouseSeesRuleNames gives the judge each way in which a name can be written out.
func TestHouseSeesRuleNames(t *testing.T) {
	const head = "// Package tank decides.\npackage tank\n"
	faultsIn := func(text string) []string {
		faults, err := houseFaults(fstest.MapFS{"agent/tank/a.go": {Data: []byte(head + text)}})
		if err != nil {
			t.Fatal(err)
		}
		return faults
	}
	for _, text := range []string{
		`var e = Event{Rule: "brand-new"}`,
		`func f(e Event) bool { return e.Rule == "stuck" }`,
		`func f(e Event) { switch e.Rule { case "gap", e.Note: } }`,
		`func (u *update) addEvent(i int, rule string, note string) {}; func f(u *update) { u.addEvent(1, "brand-new", "A note.") }`,
		`func (r *ring) begin(rule, slot string) {}; func f(r *ring) { r.begin("brand-new", "primary") }`,
		`var t = trouble{"message-lost", ""}`,
	} {
		if faults := faultsIn(text); len(faults) != 1 || !strings.Contains(faults[0], "names an event rule") {
			t.Errorf("%s: faults %q, want one of a rule's name", text, faults)
		}
	}
	for _, text := range []string{
		`func f(s *set) { s.StringVar(&s.file, "key-file", "") }`,
		`var e = Event{Rule: eventrules.Gap, Note: "gap"}`,
		`var p = Paths{Rule: "ruleName|rule"}`,
		`func (u *update) addEvent(i int, rule string, note string) {}; func f(u *update) { u.addEvent(1, eventrules.Gap, "brand-new") }`,
	} {
		if faults := faultsIn(text); len(faults) > 0 {
			t.Errorf("%s: faults %q, want none", text, faults)
		}
	}
}
