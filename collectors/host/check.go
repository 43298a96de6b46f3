package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gauger/collectors"
)

// Check returns what is wrong with the options; nothing when they can be used.
func (d Device) Check() []collectors.Problem {
	var found []collectors.Problem
	add := func(path, format string, args ...any) {
		found = append(found, collectors.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if d.Name == "" {
		add("name", "missing; points are named NAME/POINT")
	}
	if d.Host != "self" {
		add("host", "%q; the only host is self, the box on which gauger runs", d.Host)
	}
	if d.Every < 0 {
		add("every", "%s is negative; give an interval like 60s, or leave it away", d.Every)
	}
	if len(d.Points) == 0 {
		add("points", "missing; list what to watch, like {name: disk-free, read: disk_free_percent}")
	}
	seen := map[string]int{}
	for i, p := range d.Points {
		for _, problem := range p.check() {
			add(fmt.Sprintf("points[%d].%s", i, problem.Path), "%s", problem.Message)
		}
		if first, twice := seen[p.Name]; twice && p.Name != "" {
			add(fmt.Sprintf("points[%d].name", i), "%q is already points[%d]; each point needs a name of its own", p.Name, first)
		}
		seen[p.Name] = i
	}
	return found
}

func (p Point) check() []collectors.Problem {
	var found []collectors.Problem
	add := func(path, format string, args ...any) {
		found = append(found, collectors.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	switch {
	case p.Name == "":
		add("name", "missing; give the part after the slash, like disk-free")
	case strings.ContainsAny(p.Name, "/,\" \t\r\n"):
		add("name", "%q has a slash, comma, quote or blank; use letters, digits, - and _", p.Name)
	}
	f, known := figures[p.Read]
	if !known {
		add("read", "%q; choose one of %s", p.Read, strings.Join(figureWords, ", "))
		return found
	}
	if units := slices.DeleteFunc([]string{f.unit, f.more}, func(u string) bool { return u == "" }); p.Unit != "" && !slices.Contains(units, p.Unit) {
		add("unit", "%s is told in %s, not %s", p.Read, cmp.Or(strings.Join(units, " or "), "a plain number"), p.Unit)
	}
	if p.Path != "" && !takesPath(p.Read) {
		add("path", "%s needs no path; leave it away", p.Read)
	}
	if p.Path != "" && p.Path[0] != '/' {
		add("path", "%s is not absolute; begin with a slash", p.Path)
	}
	if len(p.Range) != 0 && (len(p.Range) != 2 || !(p.Range[0] < p.Range[1])) {
		add("range", "%v; give two numbers, the low one first", p.Range)
	}
	return found
}

func takesPath(read string) bool {
	return strings.HasPrefix(read, "disk_free_") || read == "cpu_temperature"
}
