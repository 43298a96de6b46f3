package sim

import (
	"fmt"
	"strings"

	"gauger/collectors"
)

// Check returns what is wrong with the options; nothing when they can be used.
func (d Device) Check() []collectors.Problem { return d.check("/") }

// check does so, and refuses point names that contain one of these characters, or a comma, quote or blank.
func (d Device) check(also string) []collectors.Problem {
	var found []collectors.Problem
	add := func(path, message string) { found = append(found, collectors.Problem{Path: path, Message: message}) }
	if d.Name == "" {
		add("name", "missing; the points of a recording are named NAME/POINT")
	}
	if d.File == "" {
		add("recording", "missing; name a CSV file with the columns "+header)
	}
	if d.Every < 0 {
		add("every", fmt.Sprintf("%s is negative; give the interval at which it was recorded, like 10s", d.Every))
	}
	if len(d.Points) == 0 {
		add("points", "missing; list the recorded points that shall be played, like {name: tk1-level, unit: in}")
	}
	seen := map[string]int{}
	for i, p := range d.Points {
		path := fmt.Sprintf("points[%d].name", i)
		first, twice := seen[p.Name]
		switch {
		case p.Name == "":
			add(path, "missing; give the part after the slash, like tk1-level")
		case strings.ContainsAny(p.Name, also+",\" \t\r\n"):
			add(path, fmt.Sprintf("%q has a slash, comma, quote or blank; use letters, digits, - and _", p.Name))
		case twice:
			add(path, fmt.Sprintf("%q is already points[%d]; each point needs a name of its own", p.Name, first))
		}
		seen[p.Name] = i
	}
	return found
}
