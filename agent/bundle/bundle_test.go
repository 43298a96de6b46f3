package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const marked = "Zq7vR2xK9mW4tY8p/+B"

// TestKnownSecretIsHiddenInEveryForm writes a secret as programs write it.
func TestKnownSecretIsHiddenInEveryForm(t *testing.T) {
	h := NewHider([]string{marked, `quo"te\d-secret`, "pa55"})
	for _, text := range []string{
		marked, strings.ToUpper(marked), "cut here: " + marked[:11], url.QueryEscape(marked), url.PathEscape(marked), hex.EncodeToString([]byte(marked)),
		strings.ToUpper(hex.EncodeToString([]byte(marked))), `{"k":"quo\"te\\d-secret"}`, "short pa55 one",
		base64.StdEncoding.EncodeToString([]byte(marked)), base64.URLEncoding.EncodeToString([]byte("a" + marked + "z")), base64.StdEncoding.EncodeToString([]byte("ann:" + marked)),
		base64.StdEncoding.EncodeToString([]byte("an:" + marked + ":trailer")), base64.StdEncoding.EncodeToString([]byte("user1:" + marked)),
	} {
		got := h.Hide(text)
		if !strings.Contains(got, "(hidden)") || strings.Contains(got, text) {
			t.Errorf("%q became %q", text, got)
		}
		for i := range len(text) - 7 {
			if i > 12 && i < len(text)-16 && strings.Contains(got, text[i:i+8]) {
				t.Errorf("of %q is left %q", text, got)
				break
			}
		}
	}
}

// TestWhatLooksLikeASecretIsHidden though nobody knows it, and what says where one is kept is not.
func TestWhatLooksLikeASecretIsHidden(t *testing.T) {
	h := NewHider(nil)
	for _, text := range []string{
		"mqtt://gauger:" + marked + "@10.20.0.9", "https://x/?a=1&access_token=" + marked + "&b=2", "password: " + marked, `{"apiKey":"` + marked + `"}`,
		`{\"token\":\"` + marked + `\"}`, "Authorization: Bearer " + marked, "curl -H 'Ocp-Apim-Subscription-Key: " + marked + "'", "PGPASSWORD=" + marked,
		"#primary_key: '" + marked + "'", "Cookie: session=" + marked, "sent Basic " + marked, "passphrase = " + marked,
		"-----BEGIN EC PRIVATE KEY-----\n" + marked + "\n-----END EC PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\n" + marked,
		HideLines("service:\n  primary_key: |\n    " + marked + "\n  url: [\n"), HideLines("- password:\n    " + marked + "\n"), HideLines("tokens: {ann: " + marked + "}\n"),
	} {
		if got := h.Hide(text); strings.Contains(got, marked[:8]) || strings.Contains(got, marked[len(marked)-8:]) {
			t.Errorf("%q shows %q", text, got)
		}
	}
	for _, text := range []string{
		"primary_key: {credential: primary-key}", "password: {file: /etc/gauger/mqtt-password}", "token: {env: GAUGER_TOKEN}", "  password_in_clear: false",
		"level 184.25 in", "tcp://10.20.0.5:502", `"tickets/12 delivered"`, "mail ann@example.com", "secret_headers: {X-Key: {credential: gateway-key}}",
	} {
		if got := h.Hide(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestArchiveStaysSmall packs what hardly shrinks, of more length than may leave.
func TestArchiveStaysSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var parts []Part
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		noise := make([]byte, 2<<20)
		for i := range noise {
			noise[i] = byte(33 + rng.IntN(90))
			if i%80 == 79 {
				noise[i] = '\n'
			}
		}
		parts = append(parts, Part{Name: name, Text: append(noise, "the newest\n"...)})
	}
	parts = append(parts, Part{Name: "small", Text: []byte("whole\n")}, Part{Name: "none", Err: errors.New("password=" + marked)})
	var b bytes.Buffer
	if err := Write(&b, "folder", time.Unix(0, 0), []string{"token: " + marked}, parts, NewHider(nil)); err != nil || b.Len() > MaxBytes {
		t.Fatalf("%d bytes, %v", b.Len(), err)
	}
	all := map[string]string{}
	for name, text := range unpack(t, b.Bytes()) {
		all[filepath.Base(name)] = text
	}
	if all["small"] != "whole\n" || !strings.HasSuffix(all["a"], "the newest\n") || !strings.Contains(all["a"], "were left out") {
		t.Errorf("%q, %.80q", all["small"], all["a"])
	}
	if c := all["CONTENTS.txt"]; !strings.Contains(c, "none") || strings.Contains(c, marked) {
		t.Errorf("contents: %s", c)
	}
}

// unpack gives the files of an archive.
func unpack(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	all, files := map[string]string{}, tar.NewReader(zip)
	for {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		text, readErr := io.ReadAll(files)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		all[head.Name] = string(text)
	}
}

// TestSecretsAreFoundWhereABoxKeepsThem in good files and in bad ones.
func TestSecretsAreFoundWhereABoxKeepsThem(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := put("etc/gauger.yaml", `service: {url: "https://u:url-secret@x", primary_key: {file: first-key}, secondary_key: {env: SECOND}, wire: {headers: {X-Key: header-secret}}}
devices: [{name: a, mqtt: mqtt://b, password: {credential: broker}, key_file: /`+dir+`/tls.pem}, {name: b, pasword: mistyped-secret}]
http: {tokens: {ann: {credential: G5hj3kq9ZZ81abcD}}}
`, 0o644)
	last := put("store/last-good.yaml", "service: {primary_key: stands-here-itself}\n", 0o600)
	put("etc/first-key", "first-secret\n", 0o644)
	put("etc/north.broker", "broker-secret\n", 0o600)
	put("etc/forgotten", "forgotten-secret\n", 0o600)
	put("etc/table.txt", "0 0\n1 2\n", 0o600)
	put("tls.pem", "-----BEGIN PRIVATE KEY-----\nMIIEpem-secret\n-----END PRIVATE KEY-----\n", 0o644)
	put("store/keys", "gauger-keys 1 00000000\n"+`{"slots":[{"entries":[{"value":"kept-secret","source":"renewal"}]}]}`, 0o600)
	put("store/keys.old", `{"slots":[{"entries":[{"value":"torn-sec`, 0o600)
	values, unread := Places{Configs: []string{good, last}, Folders: []string{dir + "/etc"}, Instance: "north", Store: dir + "/store", Environ: map[string]string{"SECOND": "second-secret"}}.Secrets()
	want := []string{"url-secret", "first-secret", "second-secret", "header-secret", "broker-secret", "mistyped-secret", "G5hj3kq9ZZ81abcD", "stands-here-itself",
		"forgotten-secret", "MIIEpem-secret", "kept-secret", "torn-sec"}
	for _, w := range want {
		if !slices.Contains(values, w) {
			t.Errorf("%q was not found", w)
		}
	}
	if len(values) != len(want) || len(unread) != 0 {
		t.Errorf("found %q, closed %q", values, unread)
	}
}
