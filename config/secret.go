package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
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

	strange bool // what stands there in the configuration does not look like a name: it may be the secret itself, and is not shown
}

// maxSecret bounds a secret's file, so that a wrong path cannot fill the memory.
const maxSecret = 16 << 10

// Given says that the secret is configured.
func (s Secret) Given() bool { return s != Secret{} }

// String is the secret's source, as it stands in the file; never its content.
func (s Secret) String() string {
	switch {
	case s.Credential != "":
		return "credential " + s.show(s.Credential)
	case s.File != "":
		return "file " + s.show(s.File)
	case s.Env != "":
		return "environment variable " + s.show(s.Env)
	}
	return "none"
}

// show is a name of the secret's source for a message.
func (s Secret) show(name string) string {
	if s.strange {
		return "(not shown, since it may be the secret itself: that belongs into a file of its own)"
	}
	return name
}

var (
	secretWord = regexp.MustCompile(`(?i)key|secret|pass|pasw|pwd|token|hash|cred|login|auth|api|mqtt|gateway|broker`)
	nameRunes  = regexp.MustCompile(`^[A-Za-z0-9._@:~/ -]+$`)
	namePart   = regexp.MustCompile(`^[A-Za-z]*[0-9]{0,8}$`)
	envName    = regexp.MustCompile(`^([A-Z_][A-Z0-9_]*|[a-z]+(_[a-z0-9]+)+)$`)
)

// switches counts how often letters and digits take turns: in a key often, in a name hardly ever.
func switches(text string) (n int) {
	last := 0
	for _, r := range text {
		kind := 1
		if r >= '0' && r <= '9' {
			kind = 2
		}
		if last != 0 && kind != last {
			n++
		}
		last = kind
	}
	return n
}

// looksLikeName says that a text is more probably the name of a credential or of a file than a secret that was pasted in its place.
func looksLikeName(text string) bool {
	if !nameRunes.MatchString(text) || GUID.MatchString(text) {
		return false
	}
	for part := range strings.SplitSeq(text, "/") {
		if len(part) >= 16 && switches(part) >= 4 || GUID.MatchString(part) {
			return false
		}
	}
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.HasPrefix(text, ".") {
		return true // a path, and what is long and mixed in it was found above
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("-_.@:/ ", r) }) {
		if !namePart.MatchString(part) {
			return false
		}
	}
	return strings.ContainsAny(text, "-_./") || secretWord.MatchString(text)
}

// Read is the secret, without the newline at its end. The error names the source and what to do, never the content.
func (s Secret) Read() (string, error) {
	text, err := s.read()
	if err != nil {
		if denied, ok := errors.AsType[*fs.PathError](err); ok && s.strange {
			err = denied.Err
		}
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
			return "", fmt.Errorf("CREDENTIALS_DIRECTORY is not set; let systemd start gauger with LoadCredential=%s:PATH, or use file or env", s.show(s.Credential))
		}
		return SecretFile(filepath.Join(dir, s.Credential))
	case s.File != "":
		return fileOrCredential(s.File, SecretFile)
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

// SecretFile is the text of a file that may hold a secret.
func SecretFile(path string) (string, error) {
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
	s.strange = s.Credential != "" && !looksLikeName(s.Credential) || s.File != "" && !looksLikeName(s.File) ||
		s.Env != "" && (!envName.MatchString(s.Env) || len(s.Env) >= 16 && switches(s.Env) >= 4)
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

// FindSecrets looks through a file that may be full of mistakes for what must not leave the box: texts that stand where a secret's
// source should, or in an address, and the sources themselves. It fails where nobody can tell what stands where.
func FindSecrets(file []byte) (texts []string, from []Secret, err error) {
	root, flaw := parse(file)
	if flaw != nil {
		return nil, nil, fmt.Errorf("line %d: %s", flaw.line, flaw.message)
	}
	f := &secretFinder{}
	f.walk(root, "", false)
	return f.texts, f.from, nil
}

type secretFinder struct {
	texts []string
	from  []Secret
}

// secretKeys are words of the keys below which secrets stand, by their right name or by one like it.
var secretKeys = regexp.MustCompile(`(?i)key|secret|pass|pasw|pwd|token|hash|auth|cookie|signature`)

// walk looks at what stands under a key; secret: the key is a secret's, or what it stands under.
func (f *secretFinder) walk(n *yaml.Node, key string, secret bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		f.scalar(n.Value, key, secret)
	case yaml.AliasNode:
		return // it was seen where it stands
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			f.walk(n.Content[i+1], name, secret || secretKeys.MatchString(name))
		}
	default:
		for _, c := range n.Content {
			f.walk(c, key, secret)
		}
	}
}

func (f *secretFinder) scalar(text, key string, secret bool) {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			f.texts = append(f.texts, password)
		} else {
			f.texts = append(f.texts, u.User.Username())
		}
	}
	switch {
	case !secret || text == "":
	case key == "credential":
		f.from = append(f.from, Secret{Credential: text, strange: !looksLikeName(text)})
	case key == "env":
		f.from = append(f.from, Secret{Env: text, strange: !envName.MatchString(text)})
	case key == "file", strings.Contains(text, "/") && looksLikeName(text):
		f.from = append(f.from, Secret{File: text, strange: !looksLikeName(text)})
	default:
		f.texts = append(f.texts, text)
	}
}

// Name is what a source is called by, and whether that may be the secret itself.
func (s Secret) Name() (name string, strange bool) { return s.Credential + s.File + s.Env, s.strange }
