package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// report gathers the mistakes of a file, each at its place, and knows which follow from one already told.
type report struct {
	d            *decoder
	root         *yaml.Node
	dir          string
	look         Look
	checking     bool // a person asks; who runs reads the secrets anyway, again and again, and tells of those
	warnings     []Problem
	strict       []Problem       // what only `check` refuses
	toldPaths    map[string]bool // paths that have a problem
	brokenBlocks map[string]bool // blocks in which the decoder found a mistake
}

func newReport(d *decoder, root *yaml.Node, dir string) *report {
	r := &report{d: d, root: root, dir: dir, toldPaths: map[string]bool{}, brokenBlocks: map[string]bool{}}
	for _, p := range d.problems {
		r.toldPaths[p.Path] = true
		for path := p.Path; path != ""; path = parent(path) {
			r.brokenBlocks[parent(path)] = true
		}
	}
	return r
}

// problemf reports a mistake at a path. One that follows from a mistake already told is left out: another at the
// same path, or something that seems to be missing from a block in which a key was misspelt.
func (r *report) problemf(path, format string, args ...any) {
	n, there := locate(r.root, path)
	if r.follows(path, there) {
		return
	}
	r.toldPaths[path] = true
	r.d.addf(n, path, format, args...)
}

// warnf tells of something legal but doubtful at a path.
func (r *report) warnf(path, format string, args ...any) {
	n, there := locate(r.root, path)
	if !r.follows(path, there) {
		r.add(&r.warnings, r.d.at(n, path, fmt.Sprintf(format, args...)))
	}
}

// add puts one more on a list, and at its end that there are more than are listed.
func (r *report) add(list *[]Problem, p Problem) {
	switch n := len(*list); {
	case n > maxProblems:
		return
	case n == maxProblems:
		p = Problem{p.File, max(1, r.d.last), 1, "", "more of these follow; mend those above first"}
	}
	*list = append(*list, p)
}

func (r *report) follows(path string, there bool) bool {
	if r.toldPaths[path] {
		return true
	}
	if there {
		return path != "" && r.brokenBlocks[path]
	}
	up := parent(path)
	return up != "" && r.brokenBlocks[up]
}

// given says that a key is written in the file.
func (r *report) given(path string) bool {
	_, there := locate(r.root, path)
	return there
}

// checkPositive refuses a duration that is written as zero.
func (r *report) checkPositive(path string, d time.Duration) {
	if d <= 0 && r.given(path) {
		r.problemf(path, "0 is no interval; write one such as 10s")
	}
}

// GUID is how the service writes the id of an object.
var GUID = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

func (r *report) checkGUID(path, s string) {
	if (s != "" || r.given(path)) && !GUID.MatchString(s) {
		r.problemf(path, "%s is not a GUID; write one such as 6f9619ff-8b86-d011-b42d-00c04fc964ff", quote(s))
	}
}

// checkFile warns of a file that is not there: a configuration may be checked on another box than its own.
func (r *report) checkFile(path, file string) {
	if file == "" {
		return
	}
	info, err := os.Stat(resolve(r.dir, file))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		r.warnf(path, "nobody can tell as this user whether %s is there: %v", quote(file), errors.Unwrap(err))
	case err != nil:
		r.warnf(path, "no file %s here; put it there before gauger starts", quote(file))
	case !info.Mode().IsRegular():
		r.strictf(path, "%s is not a file; name the file itself", quote(file))
	default:
		r.checkReadable(path, resolve(r.dir, file))
	}
}

func fileExists(file string) bool {
	_, err := os.Stat(file)
	return file != "" && err == nil
}

// strictf tells of something that only `check` refuses: the version before took it, so that a site which has it in its
// file must start. What gauger works with until it is mended is part of the message.
func (r *report) strictf(path, format string, args ...any) {
	n, there := locate(r.root, path)
	if !there && strings.Contains(path, ".loads.") {
		return // a tank's from the site's, where it is told
	}
	if !r.follows(path, there) {
		r.add(&r.strict, r.d.at(n, path, fmt.Sprintf(format, args...)))
	}
}

// strictProblems are those that only `check` refuses: each place is told once, and a mistake there is enough.
func (r *report) strictProblems() []Problem {
	first := map[string]bool{}
	return sorted(slices.DeleteFunc(r.strict, func(p Problem) bool {
		again := first[p.Path] || r.toldPaths[p.Path]
		first[p.Path] = true
		return again
	}))
}

// keepWithin keeps a duration that is written between two bounds: instead takes the place of one that is shorter, and the
// greater bound that of a longer one.
func (r *report) keepWithin(path string, v *time.Duration, least, most, instead time.Duration) {
	switch {
	case *v > 0 && *v < least:
		r.strictf(path, "%s is too short to work with; write at least %s. Until then gauger works with %s", shortDuration(*v), shortDuration(least), shortDuration(instead))
		*v = instead
	case *v > most:
		r.strictf(path, "%s is longer than %s; write at most that. Until then gauger works with %s", shortDuration(*v), shortDuration(most), shortDuration(most))
		*v = most
	}
}

// longestInterval is the longest interval that a site can mean.
const longestInterval = 31 * 24 * time.Hour

// realPort says that a port can be dialled; none is the usual one.
func realPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n >= 1 && n <= 65535
}

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

// Nearest is the one of the words that a person most probably meant by got; empty when none is close.
func Nearest(got string, words []string) string {
	const longest = 64 // nobody writes such a key; it only costs time
	if len(got) > longest {
		return ""
	}
	best, least, slash := "", max(1, min(3, len(got)/3))+1, strings.IndexByte(got, '/')
	for _, w := range words {
		if strings.EqualFold(w, got) {
			return w
		}
		named := slash >= 0 && strings.HasSuffix(strings.ToLower(w), strings.ToLower(got[slash:])) // a point of that name on another device
		if len(w) > longest || !named && (len(w)-len(got) > least || len(got)-len(w) > least) {
			continue
		}
		d := distance(strings.ToLower(got), strings.ToLower(w))
		if named {
			d = min(d, 2) - 2 // it comes before another point of the same device
		}
		if d < least {
			best, least = w, d
		}
	}
	return best
}

// distance counts the letters to insert, drop, change or swap with their neighbour to make a into b.
func distance(a, b string) int {
	var before []int
	prev, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := prev[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(prev[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, make([]int, len(b)+1)
	}
	return prev[len(b)]
}

// suggest is the second half of a message about a word that is not one of those allowed: the one that was
// probably meant, else all of them.
func suggest(got string, words []string) string {
	if w := Nearest(got, words); w != "" {
		return fmt.Sprintf("did you mean %s?", w)
	}
	return "write one of: " + joinWords(words)
}

// joinWords names words for a person, the first forty at most.
func joinWords(words []string) string {
	const most = 40
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return strings.Join(slices.Concat(words[:most], []string{"..."}), ", ")
}
