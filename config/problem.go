package config

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
)

// Problem is one mistake of a configuration file, or one thing in it that is legal but doubtful, at its place.
type Problem struct {
	File    string `json:"-"` // as it was given to Load or Parse
	Line    int    `json:"line"`
	Column  int    `json:"column"`  // both from 1, the column in characters
	Path    string `json:"path"`    // the key's path: devices[0].points[2].topic; empty for the file as a whole
	Message string `json:"message"` // what is wrong; what would be right
}

// String is file:line:column: path: message.
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Column, p.Path, p.Message)
}

// Problems is every mistake of one file, in the order of its lines. It is the error of Load and Parse.
type Problems []Problem

// Error is one line for each mistake.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// sorted is the same problems in the order in which a person goes through the file.
func sorted(ps []Problem) []Problem {
	sort.SliceStable(ps, func(i, j int) bool {
		a, b := ps[i], ps[j]
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Path, b.Path)) < 0
	})
	return ps
}
