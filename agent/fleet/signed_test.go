package fleet

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
)

// minisign signs as minisign's documents say: Ed the text itself, ED its BLAKE2b sum.
func minisign(t *testing.T, private ed25519.PrivateKey, kind, text string) (public string, signature []byte) {
	t.Helper()
	id := []byte("12345678")
	message := []byte(text)
	if kind == "ED" {
		sum := blake2b.Sum512(message)
		message = sum[:]
	}
	sig := ed25519.Sign(private, message)
	const comment = "timestamp:1"
	global := ed25519.Sign(private, append(append([]byte{}, sig...), comment...))
	b64 := base64.StdEncoding.EncodeToString
	return b64(append(append([]byte("Ed"), id...), private.Public().(ed25519.PublicKey)...)),
		[]byte("untrusted comment: x\n" + b64(append(append([]byte(kind), id...), sig...)) + "\ntrusted comment: " + comment + "\n" + b64(global) + "\n")
}

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

func TestMinisign(t *testing.T) {
	private := newKey(t)
	for _, kind := range []string{"Ed", "ED"} {
		public, sig := minisign(t, private, kind, "site: A\n")
		key, err := ParseKey("untrusted comment: minisign public key\n" + public + "\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := key.Verify([]byte("site: A\n"), sig); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		_, others := minisign(t, newKey(t), kind, "site: A\n")
		for name, c := range map[string]struct {
			text string
			sig  []byte
		}{
			"another text": {"site: B\n", sig}, "another's": {"site: A\n", others}, "none": {"site: A\n", nil}, "half": {"site: A\n", sig[:len(sig)/2]},
			"another comment": {"site: A\n", []byte(strings.Replace(string(sig), "timestamp:1", "timestamp:2", 1))},
			"another kind":    {"site: A\n", []byte(strings.Replace(string(sig), base64.StdEncoding.EncodeToString([]byte(kind))[:2], "QQ", 1))},
		} {
			if key.Verify([]byte(c.text), c.sig) == nil {
				t.Errorf("%s: %s is believed", kind, name)
			}
		}
	}
}

// sshKeygen is the judge of what ssh signs.
func sshKeygen(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ssh-keygen", args...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen %q: %v: %s", args, err, out)
	}
}

func TestSSH(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("there is no ssh-keygen here")
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "site.yaml")
	if err := os.WriteFile(file, []byte("site: A\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	signed := func(name, namespace string) (Key, []byte) {
		private := filepath.Join(folder, name)
		sshKeygen(t, "-q", "-t", "ed25519", "-N", "", "-C", "ann@office", "-f", private)
		sshKeygen(t, "-q", "-Y", "sign", "-n", namespace, "-f", private, file)
		public, err1 := os.ReadFile(private + ".pub")
		sig, err2 := os.ReadFile(file + ".sig")
		if err1 != nil || err2 != nil || os.Remove(file+".sig") != nil {
			t.Fatal(err1, err2)
		}
		key, err := ParseKey(string(public))
		if err != nil {
			t.Fatal(err)
		}
		return key, sig
	}
	key, sig := signed("a", Namespace)
	if err := key.Verify([]byte("site: A\n"), sig); err != nil {
		t.Error(err)
	}
	other, _ := signed("b", Namespace)
	wrong, mail := signed("c", "file")
	if key.Verify([]byte("site: B\n"), sig) == nil || other.Verify([]byte("site: A\n"), sig) == nil || wrong.Verify([]byte("site: A\n"), mail) == nil || key.Verify([]byte("site: A\n"), nil) == nil {
		t.Error("another text, another's, another use's or no signature is believed")
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ==\n-----END SSH SIGNATURE-----\n"))
	ssh := Key{public: make([]byte, ed25519.PublicKeySize)}
	mini := Key{public: make([]byte, ed25519.PublicKeySize), id: make([]byte, 8)}
	f.Fuzz(func(t *testing.T, sig []byte) {
		long := binary.BigEndian.AppendUint32(nil, uint32(len(sig)))
		if ssh.Verify(long, sig) == nil || mini.Verify(long, sig) == nil {
			t.Error("it is believed")
		}
	})
}

func TestParseKeyRefuses(t *testing.T) {
	for _, text := range []string{"", "ssh-rsa AAAA", "ssh-ed25519 AAAA", "RWQ=", "ssh-ed25519"} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q is taken for a key", text)
		}
	}
}

func TestPull(t *testing.T) {
	private := newKey(t)
	public, sig := minisign(t, private, "ED", "site: A\n")
	key, err := ParseKey(public)
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{"/A.yaml": "site: A\n", "/A.yaml.minisig": string(sig), "/B.yaml": "site: B\n", "/B.yaml.minisig": string(sig), "/C.yaml": "site: C\n"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, there := answers[r.URL.Path]
		switch {
		case !there:
			http.NotFound(w, r)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("ETag", `"1"`)
			_, _ = w.Write([]byte(text))
		}
	}))
	defer server.Close()
	for site, c := range map[string]struct {
		etag, text string
		newer      string
		fails      bool
	}{
		"A": {"", "site: A\n", `"1"`, false}, "B": {"", "", `"1"`, true}, "C": {"", "", "", true}, "D": {`"0"`, "", `"0"`, true},
	} {
		text, newer, err := Pull(context.Background(), server.Client(), Address(server.URL+"/{id}.yaml", site), key, c.etag)
		if string(text) != c.text || newer != c.newer || (err != nil) != c.fails {
			t.Errorf("%s: %q, %s, %v", site, text, newer, err)
		}
	}
	if text, newer, err := Pull(context.Background(), server.Client(), server.URL+"/A.yaml", key, `"1"`); text != nil || newer != `"1"` || err != nil {
		t.Errorf("the same file again: %q, %s, %v", text, newer, err)
	}
}

func TestTakes(t *testing.T) {
	for percent, most := range map[int]int{0: 0, 1: 40, 10: 260, 100: 2000} {
		n := 0
		for i := range 2000 {
			id := "SITE-" + string(rune('A'+i%26)) + strings.Repeat("x", i/26)
			if Takes(id, percent) {
				n++
				if !Takes(id, min(100, percent+1)) {
					t.Fatalf("%s takes a file of %d %% and not of more", id, percent)
				}
			}
		}
		if n > most || n < most/4 {
			t.Errorf("%d %%: %d of 2000 sites", percent, n)
		}
	}
}
