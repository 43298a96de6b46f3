package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"gauger/agent/cloud/cloudtest"
	"gauger/collectors/addresstest"
)

// secretsYAML names secrets in every way there is. The log tells everything.
const secretsYAML = `site: Test battery
id: TEST
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service:
  url: %s
  primary_key: {file: primary}
  secondary_key: {env: GAUGER_SECONDARY}
  login: {user: ann, password_hash: {file: hash}, token: {credential: token}, api_key: {file: api}, subscription_key: {file: gate}}
  wire: {headers: {X-Token: "{idToken}"}}
store: {path: store, max_bytes: 2MiB}
http: {listen: %s}
log: {level: trace}
`

// tattler is a service that repeats what it was shown, in every kind of answer, before it does what was asked.
type tattler struct {
	asked atomic.Int64
	store *cloudtest.Service
}

func (s *tattler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := int(s.asked.Add(1))
	status := []int{400, 200, 401, 302, 503, 200, 403, 422, 200, 409}[n%10]
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case r.Method == http.MethodGet && !strings.HasSuffix(r.URL.Path, "/renew"), bytes.Contains(body, []byte("poison")):
		status = 400
	case n > 20:
		status = 200
	}
	if status == 200 {
		s.store.ServeHTTP(w, r)
		return
	}
	key := r.Header.Get("Ocp-Apim-Subscription-Key")
	w.Header().Set("Location", "https://portal.example.com/?key="+key)
	w.Header().Set("X-Correlation-Id", "c-"+key)
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":"%s the key %s%s was refused","errorDescription":%q,"correlationId":%q,"key":%q}`,
		strings.Repeat("x", n%600), strings.ToUpper(key), key, key[:len(key)-3], key, body)
}

// secretsSite is a folder with a configuration and its secrets.
type secretsSite struct {
	t       *testing.T
	dir     string
	page    string
	program string
	values  map[string]string // of each secret by what it is
	said    bytes.Buffer      // by all commands
}

func newSecretsSite(t *testing.T) *secretsSite {
	program, err := exec.LookPath("gauger") // this test binary, by the name under which it is gauger
	if err != nil {
		t.Fatal(err)
	}
	s := &secretsSite{t: t, dir: t.TempDir(), page: addresstest.New(t), program: program, values: map[string]string{}}
	rng := rand.New(rand.NewPCG(7, 7))
	for _, what := range []string{"primary", "secondary", "hash", "token", "api", "gate", "new"} {
		s.values[what] = fmt.Sprintf("%016x%016x", rng.Uint64(), rng.Uint64())
		if what != "secondary" {
			s.write(what, s.values[what]+"\n")
		}
	}
	t.Setenv("GAUGER_SECONDARY", s.values["secondary"])
	t.Setenv("CREDENTIALS_DIRECTORY", s.dir)
	service := httptest.NewServer(&tattler{store: &cloudtest.Service{
		PrimaryKey: s.values["primary"], SecondaryKey: s.values["secondary"], LoginKey: s.values["gate"],
		Users: []cloudtest.User{{UserName: "ann", PasswordHash: s.values["hash"], Token: s.values["token"], APIKey: s.values["api"]}},
	}})
	t.Cleanup(service.Close)
	s.write("gauger.yaml", fmt.Sprintf(secretsYAML, service.URL, s.page))
	return s
}

func (s *secretsSite) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// gauger runs a command, however it ends, and keeps what it says.
func (s *secretsSite) gauger(args ...string) {
	s.t.Helper()
	cmd := exec.Command(s.program, args...)
	cmd.Dir = s.dir
	cmd.Stdin = strings.NewReader(s.values["new"] + "\n")
	cmd.Env = append(os.Environ(), "GAUGER_CONFIG=gauger.yaml", "GAUGER_SOCKET="+filepath.Join(s.dir, "s"))
	out, err := cmd.CombinedOutput()
	fmt.Fprintf(&s.said, "gauger %s: %v\n%s\n", strings.Join(args, " "), err, out)
}

// search fails when eight bytes in a row of any secret are in a text, whatever their case.
func (s *secretsSite) search(where string, text []byte) {
	s.t.Helper()
	low := bytes.ToLower(text)
	for what, value := range s.values {
		for i := range len(value) - 7 {
			if at := bytes.Index(low, []byte(value[i:i+8])); at >= 0 {
				s.t.Errorf("%s shows eight bytes or more of the %s: ...%q...", where, what, text[max(0, at-60):min(len(text), at+30)])
				break
			}
		}
	}
}

// TestNoByteOfASecretShows runs the real program beside a service that repeats every key it is shown, asks it for all that
// it tells of keys, records, files and itself, lets it dump its goroutines and die, and searches everything that it said,
// stored and passed on.
func TestNoByteOfASecretShows(t *testing.T) {
	s := newSecretsSite(t)
	t.Chdir(s.dir)
	gauger := launch(t, nil, s.program, "run", "-c", "gauger.yaml", "--socket", filepath.Join(s.dir, "s"))
	wait(t, "gauger is at work", func() bool { return strings.Contains(gauger.said(), "gauger is at work") })
	for _, text := range []string{"one", "two", "poison", "three"} {
		s.gauger("memo", "add", "1", text, "--no-wait")
		s.gauger("events", "save", "--rule", text, "--start", "2026-07-01 10:00", "--no-wait")
		s.gauger("login", "--keep")
		s.gauger("keys", "renew", "primary")
		s.gauger("devices", "query")
	}
	wait(t, "the poison is a dead letter", func() bool {
		s.gauger("outbox", "dead", "memos")
		return strings.Contains(s.said.String(), `memos/3  refused`)
	})
	for _, command := range []string{
		"keys show", "keys show --format json", "keys set secondary", "keys set secondary --file new", "status", "status --format json",
		"outbox list", "outbox dead", "outbox export", "outbox export --format json", "tickets list", "check", "check --print",
		"login --format json", "login --user ann --token-file new", "keys renew tertiary", "keys set " + "primary --file nowhere", "version",
		"events get Diagnostic --start 2026-01-01T00:00:00Z --end 2026-01-02T00:00:00Z",
	} {
		s.gauger(strings.Fields(command)...)
	}
	for _, path := range []string{"/", "/metrics", "/healthz"} {
		answer, err := http.Get("http://" + s.page + path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.said.ReadFrom(answer.Body); err != nil {
			t.Error(err)
		}
		answer.Body.Close()
	}
	if err := gauger.Process.Signal(syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	wait(t, "the keys are read again", func() bool { return strings.Contains(gauger.said(), "the keys were read again") })
	argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", gauger.Process.Pid))
	if err != nil {
		t.Error(err)
	}
	s.search("the argument list", argv)
	gauger.stop(syscall.SIGQUIT)
	if !strings.Contains(gauger.said(), "goroutine ") {
		t.Error("there was no dump of the goroutines")
	}
	s.write("gauger.yaml", "service: {primary_key: "+s.values["primary"]+", url: \"https://u:"+s.values["token"]+"@x\"}\n")
	s.gauger("check")
	s.gauger("run", "--strict")
	s.search("what the daemon said", []byte(gauger.said()))
	s.search("what the commands said", s.said.Bytes())
	if !bytes.Contains(s.said.Bytes(), []byte("(hidden)")) || !strings.Contains(s.said.String(), "was refused") {
		t.Errorf("the service had no chance to repeat a key:\n%s", s.said.String())
	}
	s.searchStore()
}

// searchStore searches every file of the store but the key file itself, which is for gauger alone.
func (s *secretsSite) searchStore() {
	files := 0
	err := filepath.WalkDir(filepath.Join(s.dir, "store"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if strings.HasPrefix(entry.Name(), "keys") {
			if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
				s.t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
			}
			return nil
		}
		files++
		b, err := os.ReadFile(path)
		s.search(entry.Name(), b)
		return err
	})
	if err != nil || files < 2 {
		s.t.Errorf("%d files of the store searched, %v", files, err)
	}
}
