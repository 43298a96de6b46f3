package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"gauger/collectors"

	"go.yaml.in/yaml/v3"
)

// Load reads the configuration at path. Mistakes in it come as Problems; relative file names in it are taken from
// the folder of path.
func Load(path string) (*Config, error) {
	cfg, _, err := read(path, nil, nil)
	return cfg, err
}

// LoadShard is Load for another shard than the process's own.
func LoadShard(path string, s Shard) (*Config, error) {
	cfg, _, err := read(path, &s, nil)
	return cfg, err
}

// Examine is Load for check: it gives what is legal but doubtful also of a file with mistakes, since whoever mends it sees both
// at once, takes no more memory for aliases than check may, and has a look of its own at the secrets' files.
func (l Look) Examine(path string) (cfg *Config, doubts []Problem, err error) {
	return read(path, nil, &l)
}

func read(path string, shard *Shard, look *Look) (*Config, []Problem, error) {
	b, err := collectors.ReadFile(path, maxBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	return examine(path, b, filepath.Dir(path), shard, look)
}

// Parse reads a configuration from b. name is what mistakes call the file; dir is where its relative file names
// begin. Every mistake is reported: the error is Problems, and there is no Config then. A file in which nothing is wrong
// but what only `check` refuses gives a Config that can be worked with, and Strict says what that is.
func Parse(name string, b []byte, dir string) (*Config, error) {
	cfg, _, err := examine(name, b, dir, nil, nil)
	return cfg, err
}

// examine reads b as a shard, the process's own where it is nil; look is nil for who works with the configuration and does not check it.
func examine(name string, b []byte, dir string, shard *Shard, look *Look) (*Config, []Problem, error) {
	if shard == nil {
		own, err := ParseShard(os.Getenv(ShardVariable))
		if err != nil {
			return nil, nil, fmt.Errorf("--shard, or %s: %w", ShardVariable, err)
		}
		shard = &own
	}
	root, flaw := parse(b)
	if flaw != nil {
		return nil, nil, Problems{{name, flaw.line, flaw.column, "", flaw.message}}
	}
	cfg := new(defaultConfig())
	cfg.Shard = *shard
	d := &decoder{file: name, last: lastLine(b), loads: &cfg.Loads, home: homeOf, open: map[*yaml.Node]bool{}, written: countNodes(root), sparing: look != nil}
	d.decode(root, settable(cfg), "")
	if d.ended { // whatever else is found would be found in half a configuration
		return nil, nil, Problems(sorted(d.problems))
	}
	cfg.referToTemplates()
	c := newChecker(cfg, d, root, dir)
	if look != nil {
		c.look, c.checking = *look, true
	}
	c.check()
	c.checkShard()
	if d.visits > d.written+mostRepeats {
		c.strictf("", "%s", d.repeats(mostRepeats))
	}
	if len(d.problems) > 0 {
		return nil, sorted(c.warnings), Problems(sorted(append(d.problems, c.strictProblems()...)))
	}
	cfg.takeShard()
	cfg.complete(dir)
	c.busTime()
	cfg.Warnings, cfg.Strict = sorted(c.warnings), c.strictProblems()
	var err error
	if cfg.hash, err = cfg.checksum(); err != nil {
		return nil, nil, err
	}
	return cfg, cfg.Warnings, nil
}

var homes = sync.OnceValue(func() map[string]string { return keyHomes(reflect.TypeFor[Config]()) })

// homeOf is the path of the one place in the configuration where a key of this name stands; empty when there is none or
// more than one.
func homeOf(name string) string {
	if home := homes()[name]; home != ambiguousHome {
		return home
	}
	return ""
}

// Whole is the text that cfg was read from with each strapping file's rows in the place of its name, so that it can be read again
// when that file is gone; the text itself where that would be more than one file may hold.
func (c *Config) Whole(text []byte) ([]byte, error) {
	root, flaw := parse(text)
	if flaw != nil {
		return nil, fmt.Errorf("line %d: %s", flaw.line, flaw.message)
	}
	files := 0
	for i, t := range c.Tanks {
		if t.Strapping.File == "" {
			continue
		}
		files++
		if c.tankAt != nil {
			i = c.tankAt[i]
		}
		at, found := locate(root, fmt.Sprintf("tanks[%d].strapping", i))
		if !found {
			return nil, fmt.Errorf("tank %s: its strapping does not stand with it", t.ID)
		}
		anchor := at.Anchor
		if err := at.Encode(t.Table.Rows()); err != nil {
			return nil, fmt.Errorf("tank %s: write its table: %w", t.ID, err)
		}
		at.Anchor = anchor
	}
	if files == 0 {
		return text, nil
	}
	whole, err := yaml.Marshal(root)
	if len(whole) > maxBytes { // it could not be read again at all
		return text, err
	}
	return whole, err
}

// StorePath is store.path of a file that may be full of mistakes, or the default: where the last good configuration of
// a site is looked for when the present one is bad.
func StorePath(path string) string { return cmp.Or(WrittenStorePath(path), defaultConfig().Store.Path) }

// WrittenStorePath is what StorePath found in the file; empty: nothing. In a file that cannot be parsed, or where no such key is, the
// text is searched for what a slip of the pen has left of one.
func WrittenStorePath(path string) string {
	b, err := collectors.ReadFile(path, maxBytes)
	if err != nil {
		return ""
	}
	found := ""
	if root, flaw := parse(b); flaw == nil {
		if at, ok := locate(root, "store.path"); ok {
			found = at.Value
		}
	}
	if found == "" {
		found = scanStorePath(string(b))
	}
	if found == "" || filepath.IsAbs(found) {
		return found
	}
	return filepath.Join(filepath.Dir(path), found)
}

var (
	topKey  = regexp.MustCompile(`^ ?["']?([A-Za-z_]+)["']?[ \t]*:?(.*)$`)
	pathKey = regexp.MustCompile(`(?:^|[\s{,])["']?path["']?[ \t]*:?[ \t]*["']?([^\s"',{}#:]+)`)
)

// scanStorePath finds a path behind a key at the margin that is store but for a letter, in its line or the indented ones below.
func scanStorePath(text string) string {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		rest := line
		if m := topKey.FindStringSubmatch(line); m != nil {
			inside, rest = distance(strings.ToLower(m[1]), "store") <= 1, m[2]
		}
		if at := strings.Index(rest, " #"); at >= 0 {
			rest = rest[:at]
		}
		if !inside || strings.HasPrefix(strings.TrimSpace(rest), "#") {
			continue
		}
		if m := pathKey.FindStringSubmatch(rest); m != nil {
			return m[1]
		}
	}
	return ""
}
