package main

import (
	"os"
	"strings"
	"testing"

	"gauger/config"
)

// TestTokensThatNobodyCanUse: each is told with its name, never with what it is, and the others are good.
func TestTokensThatNobodyCanUse(t *testing.T) {
	t.Setenv("GOOD", "0123456789abcdef")
	t.Setenv("SHORT", "hunter2")
	from := func(env string) config.Secret { return config.Secret{Env: env} }
	tokens, doubts := pageTokens(config.HTTP{Tokens: map[string]config.Secret{"ann": from("GOOD"), "bob": from("SHORT"), "cat": from("NOT_SET")}})
	if len(tokens) != 1 || tokens["ann"] != "0123456789abcdef" {
		t.Errorf("tokens %v", tokens)
	}
	if all := strings.Join(doubts, "\n"); len(doubts) != 2 || !strings.HasPrefix(all, "http.tokens.bob: ") || !strings.Contains(all, "\nhttp.tokens.cat: ") || strings.Contains(all, "hunter2") {
		t.Errorf("doubts %q", doubts)
	}
}

func TestTheAddressOfThePage(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for listen, want := range map[string]string{
		"127.0.0.1:8480": "http://127.0.0.1:8480/", "10.20.0.5:80": "http://10.20.0.5:80/", "[fd00::5]:8480": "http://[fd00::5]:8480/",
		":8480": "http://" + own + ":8480/", "0.0.0.0:8480": "http://" + own + ":8480/", "[::]:8480": "http://" + own + ":8480/",
	} {
		if got := pageURL(listen); got != want {
			t.Errorf("%s is %s, want %s", listen, got, want)
		}
	}
}
