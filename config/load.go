package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// Load reads the configuration at path. Mistakes in it come as Problems; relative file names in it are taken from
// the folder of path.
func Load(path string) (*Config, error) {
	cfg, _, err := Examine(path)
	return cfg, err
}

// Examine is Load, and gives what is legal but doubtful also of a file with mistakes: whoever mends it sees both at once.
func Examine(path string) (cfg *Config, doubts []Problem, err error) {
	b, err := readRegular(path, maxBytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	return examine(path, b, filepath.Dir(path))
}

// Parse reads a configuration from b. name is what mistakes call the file; dir is where its relative file names
// begin. Every mistake is reported: the error is Problems, and there is no Config then. A file in which nothing is wrong
// but what only `check` refuses gives a Config that can be worked with, and Strict says what that is.
func Parse(name string, b []byte, dir string) (*Config, error) {
	cfg, _, err := examine(name, b, dir)
	return cfg, err
}

func examine(name string, b []byte, dir string) (*Config, []Problem, error) {
	root, flaw := parse(b)
	if flaw != nil {
		return nil, nil, Problems{{name, flaw.line, flaw.column, "", flaw.message}}
	}
	cfg := new(defaultConfig())
	d := &decoder{file: name, last: lastLine(b), cfg: cfg, open: map[*yaml.Node]bool{}}
	d.decode(root, settable(cfg), "")
	cfg.referAll()
	c := newChecker(d, root, dir)
	c.check()
	if len(d.problems) > 0 {
		return nil, sorted(c.warnings), Problems(sorted(append(d.problems, c.stricter()...)))
	}
	cfg.complete(dir)
	c.busTime()
	cfg.Warnings, cfg.Strict = sorted(c.warnings), c.stricter()
	var err error
	if cfg.hash, err = cfg.checksum(); err != nil {
		return nil, nil, err
	}
	return cfg, cfg.Warnings, nil
}

// readRegular reads a file of at most limit bytes. Anything but a regular file is refused: a pipe or a device could
// hold the start up for ever.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return b, nil
}
