package main

import (
	"os"
	"testing"
)

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
