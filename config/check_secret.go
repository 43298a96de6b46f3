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
)

// Look is how a configuration is examined. The zero value is for any machine, where credentials and keys need not be.
type Look struct {
	// OnBox is for the box that the configuration is for: what is wrong with a secret's file is then refused by check.
	OnBox bool
	// Daemon is the name of the agent's user, and Open tries to read a file as that user. Open is nil for who cannot tell.
	Daemon string
	Open   func(file string) error
}

// unitSecrets is the folder of the files that the units hand over as credentials.
const unitSecrets = "/etc/gauger"

// unitCredentials are those that the units hand over, each from the file of its name.
var unitCredentials = []string{"primary-key", "secondary-key", "mqtt-password", "password-hash", "token", "api-key", "login-key", "gateway-key"}

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
	text, err := readSecretFile(filepath.Join(given, name))
	return text, err == nil && strings.TrimSpace(text) != ""
}

// instanceOf is the name of the instance whose configuration a file is; empty for that of gauger.service.
func instanceOf(config string) string {
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

// checkSecret looks at the file that a secret is read from, without reading what is in it.
func (r *report) checkSecret(path string, s Secret) {
	switch {
	case s.File != "":
		r.checkSecretFile(path, resolve(r.dir, s.File), s.File)
	case s.Credential != "" && r.look.OnBox && slices.Contains(unitCredentials, s.Credential):
		r.checkCredential(path, s.Credential)
	}
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

func (r *report) checkSecretFile(path, file, written string) {
	credential, unit := unitCredential(file, instanceOf(r.d.file))
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.doubtf(path, "no file %s here; put it there before gauger starts", quote(written))
		return
	case err != nil:
		r.warnf(path, "nobody can tell as this user whether %s is there: %v", quote(written), errors.Unwrap(err))
		return
	case info.Mode()&fs.ModeSymlink != 0:
		r.doubtf(path, "%s is a link, and whoever may change it decides what is sent as the secret; name the file itself", quote(written))
		return
	case !info.Mode().IsRegular():
		r.strictf(path, "%s is not a file; name the file itself", quote(written))
		return
	case info.Mode().Perm()&0o007 != 0:
		r.doubtf(path, "everybody on this box can read or change %s (%s); chmod o= %s", quote(written), info.Mode().Perm(), file)
		return
	}
	if r.look.Open == nil {
		return
	}
	switch err := r.look.Open(file); {
	case err == nil:
	case unit:
		r.warnf(path, "the user %s cannot read %s and does not have to: systemd hands it over, and gauger takes that; write {credential: %s}", r.look.Daemon, quote(written), credential)
	default:
		r.doubtf(path, "the user %s cannot read %s: %v; chgrp %s %s and chmod 640 it, or hand it over as a credential", r.look.Daemon, quote(written), err, r.look.Daemon, file)
	}
}

// checkCredential looks at the file that the units hand a credential over from. A drop-in may take another one instead, so
// that a missing file is no mistake yet.
func (r *report) checkCredential(path, name string) {
	file := filepath.Join(unitSecrets, strings.TrimPrefix(instanceOf(r.d.file)+"."+name, "."))
	info, err := os.Stat(file)
	switch {
	case err != nil:
		r.warnf(path, "no file %s here, from which systemd hands this credential over; put it there, for root alone, unless a drop-in takes it from elsewhere", file)
	case info.Mode().Perm()&0o077 != 0:
		r.doubtf(path, "others than root can read %s (%s), which nobody but systemd has to; chmod 600 it", file, info.Mode().Perm())
	}
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
