package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTokensOfThePage: each is named by reference and by a person's name; where nobody could show one, check says so and run goes on.
func TestTokensOfThePage(t *testing.T) {
	const listen = "http: {listen: 127.0.0.1:8480}"
	with := func(http string) string { return strings.Replace(good(t), listen, "http: {"+http+"}", 1) }
	for text, place := range map[string]string{
		`listen: 127.0.0.1:8480, tokens: {ann: hunter2}`:                                "http.tokens.ann",
		`listen: 127.0.0.1:8480, tokens: {ann: {file: a, env: B}}`:                      "http.tokens.ann",
		`listen: 127.0.0.1:8480, tokens: {ann: {}}`:                                     "http.tokens.ann",
		`listen: 127.0.0.1:8480, tokens: {ann: }`:                                       "http.tokens.ann",
		`listen: 127.0.0.1:8480, tokens: {"an n": {env: B}}`:                            "http.tokens",
		`listen: 127.0.0.1:8480, tokens: {"` + strings.Repeat("a", 33) + `": {env: B}}`: "http.tokens",
	} {
		_, err := Parse("f", []byte(with(text)), "testdata")
		if ps, _ := errors.AsType[Problems](err); len(ps) != 1 || ps[0].Path != place || strings.Contains(ps.Error(), "hunter2") {
			t.Errorf("%s: %v, want a problem at %s", text, err, place)
		}
	}
	cfg := edited(t, listen, "http: {listen: 127.0.0.1:8480, tokens: {ann: {file: token}, Jürgen.K-2: {credential: page-token}}}")
	if print := printed(t, cfg); len(cfg.Strict) > 0 || cfg.HTTP.Tokens["ann"].File != "testdata/token" || !strings.Contains(print, "testdata/token") {
		t.Errorf("by reference: %v\n%s", cfg.Strict, print)
	}
	cfg = edited(t, listen, "http: {listen: 0.0.0.0:8480, tokens: {ann: {env: B}}}")
	if said := told(cfg.Warnings, "http.tokens"); !strings.Contains(said, "in clear") {
		t.Errorf("on the network: %q", said)
	}
	cfg = edited(t, listen, "http: {tokens: {ann: {env: B}}}")
	if said := told(cfg.Strict, "http.tokens"); !strings.Contains(said, "http.listen") {
		t.Errorf("without a page: %q", said)
	}
}

// TestCheckJudgesTokensAsRunDoes: what nobody could come in with, and one token of two names; none of them is shown. Run goes on.
func TestCheckJudgesTokensAsRunDoes(t *testing.T) {
	dir := t.TempDir()
	const fine = "hunter2hunter2hun"
	for name, c := range map[string]struct{ ann, bob, want string }{
		"good":          {fine + "\n", fine + "3\n", ""},
		"short":         {fine, "hunter2", "fewer than 16 characters"},
		"long":          {fine, strings.Repeat("hunter2", 100), "has 700 characters"},
		"much too long": {fine, strings.Repeat("hunter2", 14300), "cannot be read"},
		"marked":        {fine, "\ufeff" + fine, "characters that nobody sees"},
		"one for two":   {fine, fine + "\n", "the token of ann too"},
	} {
		for file, text := range map[string]string{"ann": c.ann, "bob": c.bob,
			"gauger.yaml": strings.NewReplacer("http: {listen: 127.0.0.1:8480}", "http: {listen: 127.0.0.1:8480, tokens: {ann: {file: ann}, bob: {file: bob}}}",
				"strapping: tk-1001.csv", "strapping: [[0, 0], [240, 402.87]]").Replace(good(t))} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		site := filepath.Join(dir, "gauger.yaml")
		cfg, _, err := Look{}.Examine(site)
		if err != nil {
			t.Fatal(err)
		}
		if said := told(cfg.Strict, "http.tokens.bob"); (said != "") != (c.want != "") || !strings.Contains(said, c.want) || strings.Contains(said, "hunter2") || told(cfg.Strict, "http.tokens.ann") != "" {
			t.Errorf("%s: check says %q", name, said)
		}
		if cfg, err = Load(site); err != nil || len(cfg.Strict) > 0 {
			t.Errorf("%s: run: %v, %v", name, err, cfg.Strict)
		}
		tokens, doubts := cfg.HTTP.ReadTokens()
		all := strings.Join(doubts, "\n")
		if both := c.want == "" || name == "one for two"; tokens["ann"] != fine || (tokens["bob"] != "") != both || (all != "") != (c.want != "") || strings.Contains(all, "hunter2") ||
			all != "" && !strings.HasPrefix(all, "http.tokens.bob: ") {
			t.Errorf("%s: run says %q", name, all)
		}
	}
}
