package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gauger/config"
)

// Places are where a box keeps secrets.
type Places struct {
	Configs  []string          // configuration files
	Folders  []string          // of credentials and private files
	Instance string            // one of several sites on the box; its credentials' files begin with its name
	Store    string            // whose key file holds renewed keys
	Environ  map[string]string // of this process and of the agent's
}

// Secrets are the values of all secrets that can be read here, and the places that cannot.
func (p Places) Secrets() (values, unread []string) {
	all, closed := map[string]bool{}, map[string]bool{}
	see := func(text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) > 3 && !strings.HasPrefix(line, "-----") {
				all[line] = true
			}
		}
	}
	for _, file := range p.Configs {
		b, err := os.ReadFile(file)
		texts, sources, flaw := config.FindSecrets(b)
		if err = errors.Join(err, flaw); err != nil && !errors.Is(err, fs.ErrNotExist) {
			unread = append(unread, fmt.Sprintf("%s (%s)", file, firstLine(err)))
		}
		for _, text := range texts {
			see(text)
		}
		for _, s := range sources {
			p.source(s, see, closed)
		}
	}
	for name, value := range p.Environ {
		if secretVariable().MatchString(name) && len(value) >= shortForm && !strings.Contains(value, "/") {
			see(value)
		}
	}
	for _, folder := range p.Folders {
		p.private(folder, see, closed)
	}
	p.keptKeys(see, closed)
	return slices.Sorted(maps.Keys(all)), append(unread, slices.Sorted(maps.Keys(closed))...)
}

// secretVariable are variables that hold one, whatever a configuration says that nobody can parse.
var secretVariable = pattern(`(?i)^GAUGER_.*(KEY|SECOND|PRIM)|PASS|SECRET|TOKEN|API_?KEY|PRIVATE|CREDENTIAL`)

// source takes what a secret's source holds; what may be the secret itself, and names nothing, is one.
func (p Places) source(s config.Secret, see func(string), closed map[string]bool) {
	found := p.Environ[s.Env]
	see(found)
	for _, path := range p.filesOf(s) {
		text, err := config.SecretFile(path)
		if errors.Is(err, fs.ErrPermission) {
			closed[path] = true
		}
		see(text)
		found += text
	}
	if name, strange := s.Name(); strange && found == "" {
		see(name)
	}
}

// filesOf a source are where it may lie.
func (p Places) filesOf(s config.Secret) (paths []string) {
	if s.File != "" {
		if !filepath.IsAbs(s.File) {
			s.File = filepath.Join(filepath.Dir(p.Configs[0]), s.File)
		}
		return []string{s.File}
	}
	if s.Credential == "" {
		return nil
	}
	for _, folder := range p.Folders {
		paths = append(paths, filepath.Join(folder, s.Credential))
		if p.Instance != "" {
			paths = append(paths, filepath.Join(folder, p.Instance+"."+s.Credential))
		}
	}
	return paths
}

// private takes what else lies in a folder and is nobody's but its owner's: a line of text, or a private key.
func (p Places) private(folder string, see func(string), closed map[string]bool) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrPermission) {
		closed[folder] = true
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || strings.Contains(e.Name(), ".yaml") {
			continue
		}
		path := filepath.Join(folder, e.Name())
		text, err := config.SecretFile(path)
		line := strings.TrimSpace(text)
		switch {
		case errors.Is(err, fs.ErrPermission):
			closed[path] = true
		case strings.Contains(text, "PRIVATE KEY-----"), info.Mode().Perm()&0o007 == 0 && !strings.Contains(line, "\n"):
			see(text)
		}
	}
}

// keptKeys takes the keys that the store keeps, which may be others than the configured ones.
func (p Places) keptKeys(see func(string), closed map[string]bool) {
	files, _ := filepath.Glob(filepath.Join(p.Store, "keys*")) // the pattern is a good one
	if _, err := os.ReadDir(p.Store); errors.Is(err, fs.ErrPermission) {
		closed[p.Store] = true
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrPermission) {
			closed[path] = true
		}
		for _, found := range keptValue().FindAllSubmatch(b, -1) {
			see(string(found[1]))
		}
	}
}

// keptValue is a key in the store's file of them, damaged or not.
var keptValue = pattern(`"value"\s*:\s*"((?:[^"\\]|\\.)+)`)

// Environ is the environment of a process; nothing where it may not be seen.
func Environ(pid int) map[string]string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	all := map[string]string{}
	for _, v := range slices.Concat(strings.Split(string(b), "\x00"), os.Environ()) {
		name, value, _ := strings.Cut(v, "=")
		all[name] = cmp.Or(all[name], value)
	}
	return all
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
