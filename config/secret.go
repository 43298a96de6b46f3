package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gauger/collectors"

	"go.yaml.in/yaml/v3"
)

// Secret says where a key or password is kept; it never holds it. Exactly one of the three is set, or none when the
// secret is not configured.
type Secret struct {
	Credential string `yaml:"credential" doc:"name of a systemd credential (LoadCredential=)"`
	File       string `yaml:"file" doc:"file that holds the secret and nothing else, readable by gauger alone"`
	Env        string `yaml:"env" doc:"environment variable that holds the secret"`
}

// maxSecret bounds a secret's file, so that a wrong path cannot fill the memory.
const maxSecret = 16 << 10

// Given says that the secret is configured.
func (s Secret) Given() bool { return s != Secret{} }

// String is the secret's source, as it stands in the file; never its content.
func (s Secret) String() string {
	switch {
	case s.Credential != "":
		return "credential " + s.Credential
	case s.File != "":
		return "file " + s.File
	case s.Env != "":
		return "environment variable " + s.Env
	}
	return "none"
}

// Read is the secret, without the newline at its end. The error names the source and what to do, never the content.
func (s Secret) Read() (string, error) {
	text, err := s.read()
	if err != nil {
		return "", fmt.Errorf("read secret from %s: %w", s, err)
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	switch {
	case text == "":
		return "", fmt.Errorf("read secret from %s: it is empty; put the secret there", s)
	case strings.ContainsAny(text, "\r\n\x00"):
		return "", fmt.Errorf("read secret from %s: more than one line; keep only the secret there", s)
	}
	return text, nil
}

func (s Secret) read() (string, error) {
	switch {
	case s.Credential != "":
		dir := os.Getenv("CREDENTIALS_DIRECTORY")
		if dir == "" {
			return "", fmt.Errorf("CREDENTIALS_DIRECTORY is not set; let systemd start gauger with LoadCredential=%s:PATH, or use file or env", s.Credential)
		}
		return readSecretFile(filepath.Join(dir, s.Credential))
	case s.File != "":
		return fileOrCredential(s.File, readSecretFile)
	case s.Env != "":
		if text, ok := os.LookupEnv(s.Env); ok {
			return text, nil
		}
		return "", errors.New("it is not set; set it before gauger starts")
	}
	return "", errors.New("not configured")
}

// fileOrCredential reads a file, or what systemd has handed over of it.
func fileOrCredential(file string, read func(file string) (string, error)) (string, error) {
	text, err := read(file)
	if errors.Is(err, fs.ErrPermission) {
		if given, ok := handedOver(file); ok {
			return given, nil
		}
	}
	return text, err
}

func readSecretFile(path string) (string, error) {
	b, err := collectors.ReadFile(path, maxSecret)
	return string(b), err
}

// decodeNode refuses a secret that stands in the file itself, without repeating it.
func (s *Secret) decodeNode(d *decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		d.addf(n, path, "the secret itself stands here, where anyone who reads the file sees it; put it into a file of its own and write {file: PATH}, {credential: NAME} or {env: NAME}")
		return
	}
	before := len(d.problems)
	d.decodeStruct(n, settable(s), path)
	if len(d.problems) > before {
		return
	}
	sources := 0
	for _, one := range []string{s.Credential, s.File, s.Env} {
		if one != "" {
			sources++
		}
	}
	switch {
	case sources != 1:
		d.addf(n, path, "%d sources; write exactly one of {credential: NAME}, {file: PATH} and {env: NAME}", sources)
	case strings.ContainsAny(s.Credential, "/\x00") || s.Credential == "." || s.Credential == "..":
		d.addf(n, path, "a credential is a name, not a path; write {credential: primary-key}, or {file: PATH}")
	case strings.ContainsAny(s.Env, "= \x00"):
		d.addf(n, path, "the name of an environment variable has no blank and no =; write {env: GAUGER_PRIMARY_KEY}")
	}
}
