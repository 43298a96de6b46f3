package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gauger/collectors/mqtt"
)

func TestSecretIsReadFromItsPlace(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", dir)
	t.Setenv("GAUGER_TEST_KEY", "from-env")
	file := filepath.Join(dir, "key")
	write := func(body string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for body, want := range map[string]string{"abc": "abc", "abc\n": "abc", "abc\r\n": "abc", " a b ": " a b "} {
		write(body)
		for _, s := range []Secret{{Credential: "key"}, {File: file}} {
			if got, err := s.Read(); got != want || err != nil {
				t.Errorf("%v of %q: %q, %v", s, body, got, err)
			}
		}
	}
	if got, err := (Secret{Env: "GAUGER_TEST_KEY"}).Read(); got != "from-env" || err != nil {
		t.Errorf("environment: %q, %v", got, err)
	}
}

func TestSecretErrorsNameThePlaceAndNotTheContent(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "two-lines")
	if err := os.WriteFile(file, []byte("hunter2\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	for _, c := range []struct {
		secret Secret
		say    string
	}{
		{Secret{File: file}, "more than one line"},
		{Secret{File: empty}, "empty"},
		{Secret{File: dir}, "not a regular file"},
		{Secret{File: filepath.Join(dir, "none")}, "no such file"},
		{Secret{Credential: "primary-key"}, "LoadCredential=primary-key"},
		{Secret{Env: "GAUGER_TEST_NOT_SET"}, "GAUGER_TEST_NOT_SET"},
		{Secret{}, "not configured"},
	} {
		_, err := c.secret.Read()
		if err == nil || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v; want ...%s...", c.secret, err, c.say)
		}
	}
}

func TestNoMessageRepeatsASecret(t *testing.T) {
	for _, wrong := range []string{"hunter2", "[hunter2]", "{file: [hunter2]}", "{key: hunter2}", "{file: a, env: hunter2}", "{credential: a/hunter2}", "{env: hunter2 x}", "\"hunter2"} {
		for _, where := range []string{"{credential: primary-key}", "{file: /etc/gauger/secondary-key}", "{credential: mqtt-password}"} {
			ps := problemsOf(t, strings.Replace(good(t), where, wrong, 1))
			if strings.Contains(ps.Error(), "hunter2") {
				t.Errorf("%s: %v", wrong, ps)
			}
		}
	}
	ps := problemsOf(t, strings.Replace(good(t), "https://api", "https://user:hunter2@ api", 1))
	if strings.Contains(ps.Error(), "hunter2") {
		t.Error(ps)
	}
}

func TestMQTTPasswordIsReadWhenAsked(t *testing.T) {
	t.Setenv("GAUGER_TEST_PASSWORD", "one")
	cfg := edited(t, "{credential: mqtt-password}", "{env: GAUGER_TEST_PASSWORD}")
	for _, want := range []string{"one", "two"} {
		t.Setenv("GAUGER_TEST_PASSWORD", want)
		if got, err := Options[mqtt.Device](cfg.Devices[2]).Password(); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if cfg.Devices[0].Kind() != "modbus" || cfg.Devices[2].Kind() != "mqtt" {
		t.Error("kinds")
	}
}
