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
	if r.follows(path, there) || len(r.warnings) >= maxProblems {
		return
	}
	r.warnings = append(r.warnings, r.d.at(n, path, fmt.Sprintf(format, args...)))
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

var guid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

func (r *report) checkGUID(path, s string) {
	if (s != "" || r.given(path)) && !guid.MatchString(s) {
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

// fileExists says that a file can be found.
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
	if r.follows(path, there) || len(r.strict) >= maxProblems {
		return
	}
	r.strict = append(r.strict, r.d.at(n, path, fmt.Sprintf(format, args...)))
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

// capAt puts the greatest value in the place of one that is beyond it.
func capAt(r *report, path string, v *int, limit int) {
	if *v > limit {
		r.strictf(path, "%d is more than %d; write at most that. Until then gauger works with %d", *v, limit, limit)
		*v = limit
	}
}

// longestInterval is the longest interval that a site can mean.
const longestInterval = 31 * 24 * time.Hour

// realPort says that a port can be dialled; none is the usual one.
func realPort(port string) bool {
	n, err := strconv.Atoi(port)
	return port == "" || err == nil && n >= 1 && n <= 65535
}
