package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gauger/agent/cloud"
)

// told is everything that is told of one path.
func told(problems []Problem, path string) string {
	var all []string
	for _, p := range problems {
		if p.Path == path {
			all = append(all, p.Message)
		}
	}
	return strings.Join(all, "\n")
}

// TestCheckLooksAtTheFilesOfSecrets: elsewhere it warns, on the box it refuses; the agent's user counts and not who asks.
func TestCheckLooksAtTheFilesOfSecrets(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("hunter2hunter2hunter2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file("behind", 0o600), link); err != nil {
		t.Fatal(err)
	}
	const path = "service.secondary_key"
	for name, c := range map[string]struct{ file, want string }{
		"missing":     {filepath.Join(dir, "none"), "no file"},
		"link":        {link, "is a link"},
		"everybody's": {file("open", 0o644), "everybody on this box can read or change"},
		"group's":     {file("group", 0o640), ""},
		"not for it":  {file("closed", 0o600), "the user gauger cannot read"},
	} {
		site := filepath.Join(dir, "gauger.yaml")
		text := strings.Replace(good(t), "{file: /etc/gauger/secondary-key}", "{file: "+c.file+"}", 1)
		text = strings.Replace(text, "strapping: tk-1001.csv", "strapping: [[0, 0], [240, 402.87]]", 1)
		if err := os.WriteFile(site, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		open := func(f string) error {
			if strings.HasSuffix(f, "closed") {
				return fs.ErrPermission
			}
			return nil
		}
		for _, onBox := range []bool{false, true} {
			cfg, doubts, err := Look{OnBox: onBox, Daemon: "gauger", Open: open}.Examine(site)
			if err != nil {
				t.Fatal(err)
			}
			said, other := told(doubts, path), told(cfg.Strict, path)
			if onBox {
				said, other = other, said
			}
			if other != "" || (said != "") != (c.want != "") || !strings.Contains(said, c.want) || strings.Contains(said, "hunter2") {
				t.Errorf("%s, on the box %v: %q and %q", name, onBox, said, other)
			}
		}
		if cfg, err := Load(site); err != nil || told(cfg.Strict, path) != "" {
			t.Errorf("%s: run: %v, %v", name, err, cfg.Strict)
		}
	}
}

// TestSecretsThatThePackageTookAwayComeAsCredentials: the file is root's alone after each boot, and a site of before names it.
func TestSecretsThatThePackageTookAwayComeAsCredentials(t *testing.T) {
	given := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", given)
	for name, text := range map[string]string{"secondary-key": "abc\n", "token": "\n"} {
		if err := os.WriteFile(filepath.Join(given, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	denied := func(file string) (string, error) {
		return "", &fs.PathError{Op: "open", Path: file, Err: fs.ErrPermission}
	}
	missing := func(file string) (string, error) {
		return "", &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
	}
	for _, c := range []struct {
		state, file string
		read        func(string) (string, error)
		want        string
	}{
		{"/var/lib/gauger", "/etc/gauger/secondary-key", denied, "abc\n"},
		{"/var/lib/gauger-north", "/etc/gauger/north.secondary-key", denied, "abc\n"},
		{"/var/lib/gauger-north", "/etc/gauger/secondary-key", denied, ""}, // another site's
		{"/var/lib/gauger", "/etc/gauger/north.secondary-key", denied, ""},
		{"/var/lib/gauger", "/etc/gauger/token", denied, ""}, // systemd had none
		{"/var/lib/gauger", "/etc/gauger/primary-key", denied, ""},
		{"/var/lib/gauger", "/srv/secondary-key", denied, ""},
		{"/var/lib/gauger", "/etc/gauger/secondary-key", missing, ""},
		{"", "/etc/gauger/secondary-key", denied, ""},
	} {
		t.Setenv("STATE_DIRECTORY", c.state)
		got, err := fileOrCredential(c.file, c.read)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s in %s: %q, %v", c.file, c.state, got, err)
		}
	}
}

// TestCheckLooksAtEveryFileWithTheAgentsEyes: the configuration itself, its tables and certificates.
func TestCheckLooksAtEveryFileWithTheAgentsEyes(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(good(t), "strapping: tk-1001.csv", "strapping: table.csv", 1)
	text = strings.Replace(text, "segments: {", "ca_file: ca.pem\n  segments: {", 1)
	for name, content := range map[string]string{"gauger.yaml": text, "table.csv": "0,0\n240,402.87\n", "ca.pem": "none\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for closed, path := range map[string]string{"gauger.yaml": "", "table.csv": "tanks[0].strapping", "ca.pem": "service.ca_file"} {
		open := func(f string) error {
			if filepath.Base(f) == closed {
				return fs.ErrPermission
			}
			return nil
		}
		cfg, _, err := Look{OnBox: true, Daemon: "gauger", Open: open}.Examine(filepath.Join(dir, "gauger.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if said := told(cfg.Strict, path); !strings.Contains(said, "the user gauger cannot read") || !strings.Contains(said, closed) {
			t.Errorf("%s: %q of %v", closed, said, cfg.Strict)
		}
	}
}

// TestUnitCredentialsAreThoseOfTheUnits: what the program knows of them is what stands there.
func TestUnitCredentialsAreThoseOfTheUnits(t *testing.T) {
	for unit, prefix := range map[string]string{"gauger.service": "", "gauger@.service": "%i."} {
		b, err := os.ReadFile(filepath.Join("../systemd", unit))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, m := range regexp.MustCompile(`(?m)^LoadCredential=(.*):/etc/gauger/(.*)$`).FindAllStringSubmatch(string(b), -1) {
			if names = append(names, m[1]); prefix+m[1] != m[2] {
				t.Errorf("%s: %s comes from %s", unit, m[1], m[2])
			}
		}
		if !slices.Equal(names, unitCredentials) {
			t.Errorf("%s hands over %v, known are %v", unit, names, unitCredentials)
		}
	}
}

// TestSecretsInTheFileItself: check refuses them and hides them, run goes on with them.
func TestSecretsInTheFileItself(t *testing.T) {
	const secret = "s3cr3tTokenOfTheGateway99"
	for header, literal := range map[string]bool{
		"Authorization: Bearer " + secret: true, "X-Api-Key: short": true, "X-Site: " + secret: true, "Cookie: a=b": true,
		`Authorization: "Bearer {idToken}"`: false, "X-Tenant: 6f9619ff-8b86-d011-b42d-00c04fc964ff": false, "X-Site: Cooper 12-7": false, "X-Keyed: \"\"": false,
	} {
		name, value, _ := strings.Cut(header, ": ")
		cfg := edited(t, "wire: {level_unit: in,", "wire: {headers: {"+header+"}, level_unit: in,")
		said := told(cfg.Strict, "service.wire.headers."+name)
		if (said != "") != literal || strings.Contains(said, value) {
			t.Errorf("%s: %q", header, said)
		}
		if print := printed(t, cfg); value != `""` && strings.Contains(print, strings.Trim(value, `"`)) == literal {
			t.Errorf("%s: printed is\n%s", header, print)
		}
		if cfg.Service.Wire.Headers[name] != strings.Trim(value, `"`) {
			t.Errorf("%s: run has %q", header, cfg.Service.Wire.Headers)
		}
	}
	cfg := edited(t, "wire: {level_unit: in,", "secret_headers: {Authorization: {file: gateway}}\n  wire: {level_unit: in,")
	if print := printed(t, cfg); len(cfg.Strict) > 0 || !strings.Contains(print, "testdata/gateway") {
		t.Errorf("by reference: %v\n%s", cfg.Strict, print)
	}
	for _, bad := range []string{"secret_headers: {Host: {env: A}}", "secret_headers: {\"a b\": {env: A}}", "secret_headers: {X-A: hunter2}"} {
		_, err := Parse("f", []byte(strings.Replace(good(t), "segments: {", bad+"\n  segments: {", 1)), "testdata")
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if cloud.SecretHeader("X-A", "{idToken}") {
		t.Error("a login's token is taken for one that stands there")
	}
}

// TestAddressesWithPasswords: none is quoted, and Modbus has none.
func TestAddressesWithPasswords(t *testing.T) {
	cfg := edited(t, "tcp://10.20.0.5:502", "tcp://admin:hunter2@10.20.0.5:502")
	if said := told(cfg.Strict, "devices[0].modbus"); !strings.Contains(said, "user or password") || strings.Contains(printed(t, cfg), "hunter2") {
		t.Errorf("modbus: %q", said)
	}
	for _, address := range []string{"mqtts://gauger:hunter2@10.20.0.9:8883", "mqtts://gauger:hunter2%zz@10.20.0.9", "gauger:hunter2@10.20.0.9", "mqtts://gauger:hunter2 @[10.20.0.9",
		"tcp://gauger:hunter2@10.20.0.9", "mqtts://10.20.0.9?password=hunter2", "mqtts://10.20.0.9:x?password=hunter2", "mqtts://:hunter2@"} {
		for key, was := range map[string]string{"mqtt": "mqtts://10.20.0.9:8883", "modbus": "tcp://10.20.0.5:502"} {
			_, err := Parse("f", []byte(strings.Replace(good(t), key+": "+was, key+": \""+address+"\"", 1)), "testdata")
			ps, _ := errors.AsType[Problems](err)
			if key == "mqtt" && len(ps) == 0 || strings.Contains(ps.Error(), "hunter2") {
				t.Errorf("%s: %s: %v", key, address, err)
			}
		}
	}
}

// TestAPasswordInClearIsAWarning until somebody has written that it may be.
func TestAPasswordInClearIsAWarning(t *testing.T) {
	for address, clear := range map[string]bool{"mqtt://10.20.0.9": true, "ws://10.20.0.9/mqtt": true, "mqtts://10.20.0.9": false, "mqtt://127.0.0.1": false, "mqtt://localhost": false} {
		said := told(edited(t, "mqtts://10.20.0.9:8883", address).Warnings, "devices[2].mqtt")
		if (said != "") != clear {
			t.Errorf("%s: %q", address, said)
		}
		if said := told(edited(t, "mqtts://10.20.0.9:8883", address+"\n    password_in_clear: true").Warnings, "devices[2].mqtt"); said != "" {
			t.Errorf("%s, silenced: %q", address, said)
		}
	}
}

// checked is the good file with another source of the second key, as check sees it.
func checked(t *testing.T, source string) *Config {
	t.Helper()
	cfg, _, err := examine("f", []byte(strings.Replace(good(t), "{file: /etc/gauger/secondary-key}", source, 1)), "testdata", nil, &Look{})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestCheckLooksAtWhatASecretHolds as the daemon will use it, and shows nothing of it.
func TestCheckLooksAtWhatASecretHolds(t *testing.T) {
	dir := t.TempDir()
	const key = "service.secondary_key"
	for _, c := range []struct{ holds, refused, doubted string }{
		{"0123456789abcdef0123456789abcdef\n", "", ""},
		{"0123456789abcdef0123456789abcdef\r\n", "", ""},
		{"", "is empty", ""},
		{"\n", "is empty", ""},
		{"0123456789abcdef\nhunter2\n", "more than one line", ""},
		{"0123456789abcdef\n\n", "more than one line", ""},
		{"0123456789abcdef hunter2", "holds a blank", ""},
		{" 0123456789abcdefhunter2", "holds a blank", ""},
		{"0123456789abcdef\u00fchunter2", "another character that no key has", ""},
		{"\"0123456789abcdefhunter2\"", "", "stands in quotes"},
		{"hunter2", "", "not as long as keys are"},
		{strings.Repeat("hunter2", 40), "", "not as long as keys are"},
	} {
		file := filepath.Join(dir, "a-key")
		if err := os.WriteFile(file, []byte(c.holds), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GAUGER_TEST_KEY", c.holds)
		for _, source := range []string{"{file: " + file + "}", "{env: GAUGER_TEST_KEY}"} {
			cfg := checked(t, source)
			refused, doubted := told(cfg.Strict, key), told(cfg.Warnings, key)
			if strings.HasPrefix(source, "{env") && refused == "" && c.refused != "" { // the agent's may be another
				refused, doubted = doubted, ""
			}
			if (refused != "") != (c.refused != "") || !strings.Contains(refused, c.refused) || (doubted != "") != (c.doubted != "") || !strings.Contains(doubted, c.doubted) {
				t.Errorf("%s of %q: refused %q, doubted %q", source, c.holds, refused, doubted)
			}
			if strings.Contains(refused+doubted, "hunter2") || strings.Contains(refused+doubted, "0123") {
				t.Errorf("%s of %q is shown: %q %q", source, c.holds, refused, doubted)
			}
		}
	}
	t.Setenv("GAUGER_TEST_KEY", "0123456789abcdef0123456789abcdef")
	t.Setenv("GAUGER_TEST_KEY_TWO", "0123456789abcdef0123456789abcdef")
	text := strings.Replace(good(t), "{credential: primary-key}", "{env: GAUGER_TEST_KEY}", 1)
	cfg, _, err := examine("f", []byte(strings.Replace(text, "{file: /etc/gauger/secondary-key}", "{env: GAUGER_TEST_KEY_TWO}", 1)), "testdata", nil, &Look{})
	if err != nil || !strings.Contains(told(cfg.Warnings, key), "the same key as primary_key") {
		t.Errorf("one key twice: %v", err)
	}
}

// TestNamesThatNobodyHandsOver: on the box the units and their drop-ins tell, elsewhere nobody can.
func TestNamesThatNobodyHandsOver(t *testing.T) {
	units := t.TempDir()
	for name, text := range map[string]string{
		"gauger.service":             "[Service]\nLoadCredential=primary-key:/etc/gauger/primary-key\n",
		"gauger.service.d/more.conf": "[Service]\nLoadCredential=scada-key:/srv/scada\nSetCredentialEncrypted=sealed-key: \\\nEnvironment=A=1 \"SCADA_KEY=x\"\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(units, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(units, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	site := filepath.Join(t.TempDir(), "gauger.yaml")
	for _, c := range []struct{ source, onBox, elsewhere string }{
		{"{credential: secondary-key}", "no file /etc/gauger/secondary-key", ""},
		{"{credential: secundary-key}", "hand over no credential secundary-key (did you mean secondary-key?)", "hand over no credential secundary-key"},
		{"{credential: scada-key}", "", "hand over no credential scada-key"},
		{"{credential: sealed-key}", "", "hand over no credential sealed-key"},
		{"{env: SCADA_KEY}", "", "environment variable SCADA_KEY is not set here"},
		{"{env: SCADA_KEI}", "neither gauger's unit nor a drop-in sets", "environment variable SCADA_KEI is not set here"},
	} {
		text := strings.Replace(good(t), "{file: /etc/gauger/secondary-key}", c.source, 1)
		text = strings.Replace(text, "strapping: tk-1001.csv", "strapping: [[0, 0], [240, 402.87]]", 1)
		if err := os.WriteFile(site, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for want, look := range map[*string]Look{&c.onBox: {OnBox: true, Units: []string{units}}, &c.elsewhere: {}} {
			cfg, doubts, err := look.Examine(site)
			if err != nil {
				t.Fatal(err)
			}
			said := told(doubts, "service.secondary_key") + told(cfg.Strict, "service.secondary_key")
			if (said != "") != (*want != "") || !strings.Contains(said, *want) {
				t.Errorf("%s, on the box %v: %q", c.source, look.OnBox, said)
			}
		}
	}
}

// TestASecretInTheNamesPlaceIsNotShown, by check, by print and by who reads it; names are.
func TestASecretInTheNamesPlaceIsNotShown(t *testing.T) {
	for _, secret := range []string{"hunter2", "Zk3x9QpL7vW2mB8tR5nY", "3f9a1c77e0b24d5c8a6f1e2d3c4b5a69", "5e8508ee-7a75-c900-a31c-00b03eb853ee", "ab/CD3ef+gh4ij==", "pa55 w0rd!", "/3f9a1c77e0b24d5c8a6f"} {
		for _, key := range []string{"file", "env", "credential"} {
			text := strings.Replace(good(t), "{file: /etc/gauger/secondary-key}", "{"+key+": \""+secret+"\"}", 1)
			cfg, _, err := examine("f", []byte(text), "testdata", nil, &Look{})
			if err != nil {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s %s: %v", key, secret, err)
				}
				continue
			}
			_, unread := cfg.Service.SecondaryKey.Read()
			said := told(cfg.Warnings, "service.secondary_key") + told(cfg.Strict, "service.secondary_key") + unread.Error() + printed(t, cfg)
			if said == "" || strings.Contains(said, secret) || strings.Contains(said, strings.TrimLeft(secret, "/")) {
				t.Errorf("%s %s is shown: %s", key, secret, said)
			}
		}
	}
	for _, name := range []string{"primary-key", "/etc/gauger/north.secondary-key", "key", "keys/2026-03-01.key", "../key2", "gateway", "/tmp/TestX562014078/001/none", "no-such-password", "token.txt"} {
		if !looksLikeName(name) {
			t.Errorf("%s is a name", name)
		}
	}
	for _, name := range []string{"GAUGER_PRIMARY_KEY", "KEY2", "mqtt_password"} {
		cfg := checked(t, "{env: "+name+"}")
		if said := told(cfg.Warnings, "service.secondary_key"); !strings.Contains(said, name) {
			t.Errorf("%s: %q", name, said)
		}
	}
}
