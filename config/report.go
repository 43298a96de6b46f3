package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// report gathers the mistakes of a file, each at its place, and knows which follow from one already told.
type report struct {
	d        *decoder
	root     *yaml.Node
	dir      string
	warnings []Problem
	strict   []Problem       // what only `check` refuses
	told     map[string]bool // paths that have a problem
	broken   map[string]bool // blocks in which the decoder found a mistake
}

func newReport(d *decoder, root *yaml.Node, dir string) *report {
	r := &report{d: d, root: root, dir: dir, told: map[string]bool{}, broken: map[string]bool{}}
	for _, p := range d.problems {
		r.told[p.Path] = true
		for path := p.Path; path != ""; path = parent(path) {
			r.broken[parent(path)] = true
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
	r.told[path] = true
	r.d.addf(n, path, format, args...)
}

// warnf tells of something legal but doubtful at a path.
func (r *report) warnf(path, format string, args ...any) {
	n, there := locate(r.root, path)
	if r.follows(path, there) || len(r.warnings) >= maxProblems {
		return
	}
	r.warnings = append(r.warnings, r.d.at(n, path, fmt.Sprintf(format, args...)))
}

func (r *report) follows(path string, there bool) bool {
	if r.told[path] {
		return true
	}
	if there {
		return path != "" && r.broken[path]
	}
	up := parent(path)
	return up != "" && r.broken[up]
}

// given says that a key is written in the file.
func (r *report) given(path string) bool {
	_, there := locate(r.root, path)
	return there
}

// positive refuses a duration that is written as zero.
func (r *report) positive(path string, d time.Duration) {
	if d <= 0 && r.given(path) {
		r.problemf(path, "0 is no interval; write one such as 10s")
	}
}

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

func (r *report) guid(path, s string) {
	if (s != "" || r.given(path)) && !guid.MatchString(s) {
		r.problemf(path, "%s is not a GUID; write one such as 6f9619ff-8b86-d011-b42d-00c04fc964ff", quote(s))
	}
}

// exists warns of a file that is not there: a configuration may be checked on another box than its own.
func (r *report) exists(path, file string) {
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
	}
}

// there says that a file can be found.
func there(file string) bool {
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
	if r.follows(path, there) || len(r.strict) >= maxProblems {
		return
	}
	r.strict = append(r.strict, r.d.at(n, path, fmt.Sprintf(format, args...)))
}

// stricter is what `check` refuses besides the mistakes: each place is told once, and a mistake there is enough.
func (r *report) stricter() []Problem {
	first := map[string]bool{}
	return sorted(slices.DeleteFunc(r.strict, func(p Problem) bool {
		again := first[p.Path] || r.told[p.Path]
		first[p.Path] = true
		return again
	}))
}

// within keeps a duration that is written between two bounds: instead takes the place of one that is shorter, and the
// greater bound that of a longer one.
func (r *report) within(path string, v *time.Duration, least, most, instead time.Duration) {
	switch {
	case *v > 0 && *v < least:
		r.strictf(path, "%s is too short to work with; write at least %s. Until then gauger works with %s", short(*v), short(least), short(instead))
		*v = instead
	case *v > most:
		r.strictf(path, "%s is longer than %s; write at most that. Until then gauger works with %s", short(*v), short(most), short(most))
		*v = most
	}
}

// most puts the greatest value in the place of one that is beyond it.
func most(r *report, path string, v *int, limit int) {
	if *v > limit {
		r.strictf(path, "%d is more than %d; write at most that. Until then gauger works with %d", *v, limit, limit)
		*v = limit
	}
}

// longest is the longest interval that a site can mean.
const longest = 31 * 24 * time.Hour

// realPort says that a port can be dialled; none is the usual one.
func realPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n >= 1 && n <= 65535
}
