package collectors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesThatNeverEndAreNotRead: a device in the place of a certificate would fill the memory, a pipe would wait for ever.
func TestFilesThatNeverEndAreNotRead(t *testing.T) {
	long := filepath.Join(t.TempDir(), "long.pem")
	if err := os.WriteFile(long, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, 1<<40); err != nil { // it takes no room
		t.Fatal(err)
	}
	for file, want := range map[string]string{"/dev/zero": "not a regular file", long: "more than 4194304 bytes"} {
		for _, f := range []TLSFiles{{CA: file}, {Cert: file, Key: file}} {
			if _, ours, err := f.Config("host"); err == nil || !strings.Contains(err.Error(), want) || ours != (f.Cert != "") {
				t.Errorf("%+v: %v, %v", f, ours, err)
			}
		}
	}
}
