package tanktest

import (
	"slices"
	"strings"
)

// Failed names the checks that failed, so that a condition of many says which of them it was; "" when none did.
func Failed(checks map[string]bool) string {
	var names []string
	for name, failed := range checks {
		if failed {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
