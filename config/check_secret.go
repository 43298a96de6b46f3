package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gauger/agent/cloud"
	"gauger/collectors"
)

// Look is how a configuration is examined. The zero value is for any machine, where credentials and keys need not be.
type Look struct {
	// OnBox is for the box that the configuration is for: what is wrong with a secret's file is then refused by check.
	OnBox bool
	// Daemon is the name of the agent's user, and Open tries to read a file as that user. Open is nil for who cannot tell.
	Daemon string
	Open   func(file string) error
	// Units are the folders of systemd's units, where drop-ins hand over more; none: nobody can tell here.
	Units []string
}

// unitSecrets is the folder of the files that the units hand over as credentials.
const unitSecrets = "/etc/gauger"

// unitCredentials are those that the units hand over, each from the file of its name.
var unitCredentials = []string{"primary-key", "secondary-key", "mqtt-password", "password-hash", "token", "api-key", "login-key", "gateway-key", "page-token"}

// unitCredential is the credential that the units hand over from a file; instance is the name of one of several sites on the box.
func unitCredential(file, instance string) (name string, ok bool) {
	folder, name := filepath.Split(file)
	if instance != "" {
		if name, ok = strings.CutPrefix(name, instance+"."); !ok {
			return "", false
		}
	}
	return name, filepath.Clean(folder) == unitSecrets && slices.Contains(unitCredentials, name)
}

// handedOver is what systemd has handed the agent of a file that it may not read itself: the package makes the files of the
// units' credentials root's alone, and sites of before name them with {file: PATH}.
func handedOver(file string) (string, bool) {
	given, state := os.Getenv("CREDENTIALS_DIRECTORY"), filepath.Base(os.Getenv("STATE_DIRECTORY"))
	instance, several := strings.CutPrefix(state, "gauger-")
	if given == "" || !several && state != "gauger" {
		return "", false
	}
	if !several {
		instance = ""
	}
	name, ok := unitCredential(file, instance)
	if !ok {
		return "", false
	}
	text, err := SecretFile(filepath.Join(given, name))
	return text, err == nil && strings.TrimSpace(text) != ""
}

// Instance is the name of the instance whose configuration a file is; empty for that of gauger.service.
func Instance(config string) string {
	if name := strings.TrimSuffix(filepath.Base(config), ".yaml"); name != "gauger" && filepath.Dir(config) == unitSecrets {
		return name
	}
	return ""
}

// doubtf tells of a secret's file: on the box itself check refuses what it warns of elsewhere.
func (r *report) doubtf(path, format string, args ...any) {
	if r.look.OnBox {
		r.strictf(path, format, args...)
		return
	}
	r.warnf(path, format, args...)
}

// checkSecret looks at a secret as the agent will read it, and returns it where that could be done here. No message has any of it.
func (r *report) checkSecret(path string, s Secret) (text string) {
	read := false
	switch {
	case s.File != "":
		text, read = r.checkSecretFile(path, s)
	case !r.checking:
	case s.Credential != "":
		text, read = r.checkCredential(path, s)
	case s.Env != "":
		text, read = r.checkEnvironment(path, s)
	}
	if !read {
		return ""
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	refuse, doubt := r.tellContent, r.doubtf
	if s.Env != "" {
		doubt = r.warnf
	}
	key := path == "service.primary_key" || path == "service.secondary_key" || path == "service.login.subscription_key"
	switch first, last := byte(0), byte(0); {
	case text == "":
		refuse(s, path, "%s is empty; put the secret there", s)
	case strings.ContainsAny(text, "\r\n\x00"):
		refuse(s, path, "%s has more than one line, and gauger takes none of them; leave the secret alone there", s)
	case key && strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }):
		refuse(s, path, "%s holds a blank or another character that no key has; leave the key alone there", s)
	case strings.TrimSpace(text) != text:
		doubt(path, "%s begins or ends with a blank, which gauger takes for a part of the secret", s)
	default:
		if first, last = text[0], text[len(text)-1]; len(text) > 1 && first == last && strings.ContainsRune("\"'`", rune(first)) {
			doubt(path, "%s stands in quotes, which gauger takes for a part of the secret; take them away", s)
		} else if key && (len(text) < LeastKey || len(text) > MostKey) {
			r.warnf(path, "%s is not as long as keys are, %d to %d characters; look whether all of it is there and nothing else", s, LeastKey, MostKey)
		}
	}
	return text
}

// tellContent tells what check refuses of a secret's content. A variable is that of whoever asks; the agent's may be another.
func (r *report) tellContent(s Secret, path, format string, args ...any) {
	if s.Env != "" {
		r.warnf(path, format, args...)
		return
	}
	r.strictf(path, format, args...)
}

// Usual lengths of a subscription key, in characters.
const LeastKey, MostKey = 16, 256

// readHere reads a file for its content; where this user may not, that is told.
func (r *report) readHere(path, file string, s Secret) (text string, read bool) {
	text, err := SecretFile(file)
	if errors.Is(err, fs.ErrPermission) {
		r.warnf(path, "this user may not read %s, so that nobody has looked at what it holds; sudo gauger check does", s)
	} else if err != nil {
		r.strictf(path, "%s cannot be read, and gauger does without it: %v; leave the secret alone there", s, err)
	}
	return text, err == nil
}

// checkReadable looks whether the agent will be able to read a file: root can, and would call it good.
func (r *report) checkReadable(path, file string) {
	if r.look.Open == nil {
		return
	}
	if err := r.look.Open(file); err != nil {
		r.doubtf(path, "the user %s cannot read %s: %v; chgrp %s and chmod 640 it, and look at the folders above it", r.look.Daemon, file, err, r.look.Daemon)
	}
}

func (r *report) checkSecretFile(path string, s Secret) (text string, read bool) {
	file := resolve(r.dir, s.File)
	credential, unit := unitCredential(file, Instance(r.d.file))
	written, full := quote(s.File), file
	if s.strange {
		written, full = s.show(""), "it"
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.doubtf(path, "no file %s here; put it there before gauger starts", written)
		return "", false
	case err != nil:
		r.warnf(path, "nobody can tell as this user whether %s is there: %v", written, errors.Unwrap(err))
		return "", false
	case info.Mode()&fs.ModeSymlink != 0:
		r.doubtf(path, "%s is a link, and whoever may change it decides what is sent as the secret; name the file itself", written)
		return "", false
	case !info.Mode().IsRegular():
		r.strictf(path, "%s is not a file; name the file itself", written)
		return "", false
	case info.Mode().Perm()&0o007 != 0:
		r.doubtf(path, "everybody on this box can read or change %s (%s); chmod o= %s", written, info.Mode().Perm(), full)
	}
	if r.look.Open != nil {
		switch err := r.look.Open(file); {
		case err == nil:
		case unit:
			r.warnf(path, "the user %s cannot read %s and does not have to: systemd hands it over, and gauger takes that; write {credential: %s}", r.look.Daemon, written, credential)
		default:
			r.doubtf(path, "the user %s cannot read %s: %v; chgrp %s %s and chmod 640 it, or hand it over as a credential", r.look.Daemon, written, err, r.look.Daemon, full)
		}
	}
	if !r.checking {
		return "", false
	}
	return r.readHere(path, file, s)
}

// checkCredential looks at the file that the units hand a credential over from. A drop-in may take another one instead, so
// that a missing file is no mistake yet; but a name that no unit and no drop-in has is one.
func (r *report) checkCredential(path string, s Secret) (text string, read bool) {
	if !slices.Contains(unitCredentials, s.Credential) {
		given, known := r.unitsSay(func(line string) bool {
			key, value, _ := strings.Cut(line, "=")
			name, _, _ := strings.Cut(value, ":")
			return strings.HasSuffix(strings.TrimSuffix(key, "Encrypted"), "Credential") && strings.TrimSpace(name) == s.Credential
		})
		say := r.warnf
		if known {
			say = r.doubtf
		}
		if !given {
			say(path, "gauger's units hand over no %s%s; they hand over %s, and a drop-in with LoadCredential=NAME:PATH can hand over another",
				s, s.meant(unitCredentials), strings.Join(unitCredentials, ", "))
		}
		return "", false
	}
	if !r.look.OnBox {
		return "", false
	}
	file := filepath.Join(unitSecrets, strings.TrimPrefix(Instance(r.d.file)+"."+s.Credential, "."))
	info, err := os.Stat(file)
	switch {
	case err != nil:
		r.warnf(path, "no file %s here, from which systemd hands this credential over; put it there, for root alone, unless a drop-in takes it from elsewhere", file)
		return "", false
	case info.Mode().Perm()&0o077 != 0:
		r.doubtf(path, "others than root can read %s (%s), which nobody but systemd has to; chmod 600 it", file, info.Mode().Perm())
	}
	return r.readHere(path, file, s)
}

// meant offers the name that was probably meant.
func (s Secret) meant(names []string) string {
	if name := Nearest(s.Credential, names); name != "" && !s.strange {
		return " (did you mean " + name + "?)"
	}
	return ""
}

// checkEnvironment looks at a variable: here, else whether a unit or a drop-in sets it.
func (r *report) checkEnvironment(path string, s Secret) (text string, read bool) {
	if text, set := os.LookupEnv(s.Env); set {
		return text, true
	}
	set, known := r.unitsSay(func(line string) bool {
		value, here := strings.CutPrefix(line, "Environment=")
		return here && slices.ContainsFunc(strings.Fields(value), func(one string) bool {
			return strings.HasPrefix(strings.TrimLeft(one, `"'`), s.Env+"=")
		}) || strings.HasPrefix(line, "EnvironmentFile=") || strings.HasPrefix(line, "PassEnvironment=")
	})
	switch {
	case set:
	case known:
		r.doubtf(path, "the %s is not set here, and neither gauger's unit nor a drop-in sets one of that name; look whether the name is right", s)
	default:
		r.warnf(path, "the %s is not set here; it must be where gauger starts", s)
	}
	return "", false
}

// unitsSay asks of each line of the agent's unit and of its drop-ins; known is false where there is no unit to look at.
func (r *report) unitsSay(holds func(line string) bool) (said, known bool) {
	units := []string{"gauger.service"}
	if name := Instance(r.d.file); name != "" {
		units = []string{"gauger@.service", "gauger@" + name + ".service"}
	}
	for _, folder := range r.look.Units {
		for _, unit := range units {
			files, _ := filepath.Glob(filepath.Join(folder, unit+".d", "*.conf")) // its only error is a bad pattern
			for _, file := range append(files, filepath.Join(folder, unit)) {
				b, err := collectors.ReadFile(file, maxBytes)
				if err != nil {
					continue
				}
				known = true
				for line := range strings.Lines(string(b)) {
					said = said || holds(strings.TrimSpace(line))
				}
			}
		}
	}
	return said, known
}

// checkHeaders looks at the headers of every request: a secret among them does not stand in this file.
func (c *checker) checkHeaders() {
	s := c.cfg.Service
	for _, name := range slices.Sorted(maps.Keys(s.Wire.Headers)) {
		if cloud.SecretHeader(name, s.Wire.Headers[name]) {
			c.strictf(fmt.Sprintf("service.wire.headers.%s", name), "what looks like a secret stands here, where anyone who reads the file sees it; put it into a file of its own, "+
				"and write service.secret_headers: {%s: {credential: gateway-key}}. Until then gauger sends it as it is", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.SecretHeaders)) {
		path := "service.secret_headers." + name
		if problem := cloud.HeaderProblem(name); problem != "" {
			c.problemf(path, "%s", problem)
		}
		for same := range s.Wire.Headers {
			if strings.EqualFold(same, name) {
				c.problemf(path, "stands in service.wire.headers too; keep this one")
			}
		}
		c.checkSecret(path, s.SecretHeaders[name])
	}
}
