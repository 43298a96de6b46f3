package console

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
)

var (
	fleetMetric   = regexp.MustCompile(`\b(gauger_[a-z_]+)(\{[^}]*\})?`)
	fleetSelector = regexp.MustCompile(`([a-z_]+)(=~|!=|=|!~)"([^"]*)"`)
	fleetBy       = regexp.MustCompile(`by \(([a-z_, ]+)\)`)
)

// TestFleetAsksForWhatIsExported: rules and dashboard name metrics, labels and words that the program has and that do not go.
func TestFleetAsksForWhatIsExported(t *testing.T) {
	var reader expfmt.TextParser
	all, err := reader.TextToMetricFamilies(bytes.NewReader(everything().text(false)))
	if err != nil {
		t.Fatal(err)
	}
	labels, words := map[string]map[string]bool{}, map[string]map[string]bool{}
	for name, f := range all {
		labels[name] = map[string]bool{"instance": true, "job": true}
		for _, x := range f.Metric {
			for _, l := range x.Label {
				labels[name][l.GetName()] = true
				if words[l.GetName()] == nil {
					words[l.GetName()] = map[string]bool{}
				}
				words[l.GetName()][l.GetValue()] = true
			}
		}
	}
	for _, expr := range fleetExpressions(t) {
		asked := fleetMetric.FindAllStringSubmatch(expr, -1)
		var has []string
		for _, m := range asked {
			if labels[m[1]] == nil {
				t.Errorf("%s: nobody exports %s", expr, m[1])
			}
			for l := range labels[m[1]] {
				has = append(has, l)
			}
			for _, s := range fleetSelector.FindAllStringSubmatch(m[2], -1) {
				if !labels[m[1]][s[1]] {
					t.Errorf("%s: %s has no label %s", expr, m[1], s[1])
				}
				for word := range strings.SplitSeq(s[3], "|") {
					if (s[1] == "grade" || s[1] == "state") && !words[s[1]][word] {
						t.Errorf("%s: no %s is %q", expr, s[1], word)
					}
				}
			}
		}
		for _, by := range fleetBy.FindAllStringSubmatch(expr, -1) {
			for l := range strings.SplitSeq(by[1], ",") {
				if l = strings.TrimSpace(l); !slices.Contains(has, l) {
					t.Errorf("%s: nothing there has a label %s", expr, l)
				}
			}
		}
	}
}

// fleetExpressions are those of the rules and of the dashboard.
func fleetExpressions(t *testing.T) (all []string) {
	rules, err := os.ReadFile("../../deploy/fleet/gauger.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rules)) {
		if expr, ok := strings.CutPrefix(strings.TrimSpace(line), "expr: "); ok {
			all = append(all, expr)
		}
	}
	b, err := os.ReadFile("../../deploy/fleet/gauger.dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
			GridPos struct{ X, Y, W, H int }
		}
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	for i, p := range board.Panels {
		for _, q := range board.Panels[:i] {
			a, b := p.GridPos, q.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("the panels %q and %q lie over each other", q.Title, p.Title)
			}
		}
		all = append(all, p.Targets[0].Expr)
	}
	if len(all) < 25 {
		t.Fatalf("only %d expressions", len(all))
	}
	return all
}

// TestFleetRulesFireWhenTheyShould by Prometheus' own tests of rules.
func TestFleetRulesFireWhenTheyShould(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool here (Debian: prometheus)")
	}
	cmd := exec.Command(promtool, "test", "rules", "gauger.rules.test.yml")
	cmd.Dir = "../../deploy/fleet"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
