package outbox_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"gauger/outbox"
)

// filled makes a box with state alone, and returns its file as it is now.
func filled(t *testing.T, path string, round int) []byte {
	t.Helper()
	b := open(t, path, outbox.Options{MaxBytes: mib})
	for i := range 40 {
		err := b.Update(func(tx *outbox.Tx) error {
			tx.Put(fmt.Sprint("tank/TK-", i), fmt.Appendf(nil, "state %d of TK-%d %s", round, i, strings.Repeat("x", 400)))
			tx.Put("tank/away", []byte("x"))
			if i%2 == 0 {
				tx.Put("tank/away", nil)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	shut(t, b)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A tank's state is gone, or the disk has lost the newest write of it and the older page is in its place, consistent in
// itself: it is noticed, also when nobody examined the file, and told by name or number.
func TestLostStateIsNoticed(t *testing.T) {
	path := boxPath(t)
	older, newer := filled(t, path, 1), filled(t, path, 2)
	mark := []byte("state 2 of TK-7 ")
	at := bytes.LastIndex(newer, mark) / filePage * filePage
	for name, spoil := range map[string]func(file []byte){
		"page gone":   func(file []byte) { clear(file[at : at+filePage]) },
		"one bit":     func(file []byte) { file[bytes.LastIndex(file, mark)] ^= 1 },
		"stale pages": func(file []byte) { copy(file[2*filePage:], older[2*filePage:min(len(older), len(file))]) },
	} {
		for _, preflight := range []func(string) error{nil, checkHere} {
			n, file := &notes{}, bytes.Clone(newer)
			spoil(file)
			write(t, path, file)
			b := open(t, path, outbox.Options{MaxBytes: mib, Notify: n.add, Preflight: preflight})
			lost := 0
			for i := range 40 {
				if v, err := b.Get(fmt.Sprint("tank/TK-", i)); err != nil || !strings.HasPrefix(string(v), "state 2 ") {
					lost++
				}
			}
			told := n.count(outbox.NoteSalvaged) == 1 && strings.Contains(n.all[0].Message, "state")
			if lost > 0 && preflight != nil && !told {
				t.Errorf("%s: %d pieces are lost or older, notes %+v", name, lost, n.all)
			}
			if v, err := b.Get("tank/away"); name == "one bit" && string(v) != "x" || err != nil {
				t.Errorf("%s: the last piece is %q, %v", name, v, err)
			}
			shut(t, b)
			if _, err := outbox.Check(path); preflight != nil && err != nil {
				t.Errorf("%s, after mending: %v", name, err)
			}
			if len(n.all) > 0 {
				t.Logf("%s: %s", name, n.all[0].Message)
			}
		}
	}
}
