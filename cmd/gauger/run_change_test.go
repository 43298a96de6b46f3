package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/apply"
	"gauger/agent/fleet"
)

// signedFiles is a place that has a site's configuration, signed as minisign does.
type signedFiles struct {
	private ed25519.PrivateKey
	text    string
	forged  bool
	asked   int
}

func (s *signedFiles) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tag := `"` + apply.HashOf([]byte(s.text)) + `"`
	if s.asked++; r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("ETag", tag)
	if !strings.HasSuffix(r.URL.Path, ".minisig") {
		_, _ = io.WriteString(w, s.text)
		return
	}
	text := s.text
	if s.forged {
		text += "#"
	}
	sig := ed25519.Sign(s.private, []byte(text))
	b64 := base64.StdEncoding.EncodeToString
	_, _ = io.WriteString(w, "untrusted comment:\n"+b64(append([]byte("Ed12345678"), sig...))+"\ntrusted comment: x\n"+b64(ed25519.Sign(s.private, append(slices.Clone(sig), 'x')))+"\n")
}

// A file that is pulled is taken if it is signed, this site's and for its ring; what is not taken is on record, and not asked for again
// until it is another one.
func TestAConfigurationIsPulled(t *testing.T) {
	t.Cleanup(func() { zerolog.SetGlobalLevel(zerolog.TraceLevel) })
	l := newPlayedSite(t, playedYAML)
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	key, err := fleet.ParseKey(base64.StdEncoding.EncodeToString(append([]byte("Ed12345678"), private.Public().(ed25519.PublicKey)...)))
	if err != nil {
		t.Fatal(err)
	}
	c := l.main()
	c.config, c.socket = l.config, filepath.Join(l.dir, "s")
	v, book, err := chooseConfig(c, l.config, true)
	if err != nil {
		t.Fatal(err)
	}
	a := &atWork{c: c, log: zerolog.Nop(), lasting: newLasting(zerolog.Nop()), hup: make(chan os.Signal), book: book}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.run(ctx, v, openNow, nil) }()
	files := &signedFiles{private: private}
	server := httptest.NewServer(files)
	defer server.Close()
	atWork := func() *daemon {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.daemon
	}
	wait(t, "the site is at work", func() bool { return atWork() != nil && a.state().Hash != "" })
	good := string(v.text)
	for _, step := range []struct {
		name, text, outcome, why string
		forged                   bool
	}{
		{"forged", good + "#1\n", apply.Refused, "not of this text by the configured key", true},
		{"another site's", strings.Replace(good, "id: ", "id: OTHER-", 1), apply.Refused, "it is of the site OTHER-", false},
		{"another ring's", good + "config: {percent: 1}\n", "", "", false},
		{"with a mistake", good + "nonsense: 1\n", apply.Refused, "nonsense", false},
		{"good", good + "book: {loss_limit: 2}\n", apply.Watched, "", false},
	} {
		files.text, files.forged = step.text, step.forged
		before := len(a.state().Past)
		if err := a.pullOnce(ctx, atWork(), server.Client(), server.URL+"/site.yaml", key); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		s, asked := a.state(), files.asked
		switch {
		case step.outcome == apply.Watched && (s.Now == nil || s.Now.By != "pull"):
			t.Errorf("%s: %+v", step.name, s)
		case step.outcome == apply.Refused && (len(s.Past) != before+1 || s.Past[before].Outcome != apply.Refused || !strings.Contains(strings.Join(s.Past[before].Reasons, " "), step.why)):
			t.Errorf("%s: %+v", step.name, s.Past)
		case step.outcome == "" && (len(s.Past) != before || s.Now != nil):
			t.Errorf("%s: %+v", step.name, s)
		}
		if step.outcome == apply.Watched {
			break
		}
		if err := a.pullOnce(ctx, atWork(), server.Client(), server.URL+"/site.yaml", key); err != nil || files.asked != asked+1 || len(a.state().Past) > before+1 {
			t.Errorf("%s: asked again it is judged again: %v, %d requests", step.name, err, files.asked-asked)
		}
	}
	wait(t, "what was pulled is at work", func() bool { return a.state().Source == server.URL+"/site.yaml" })
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it does not end")
	}
	if again, err := apply.Open(v.cfg.Store.Path); err != nil || again.Now == nil || again.Now.Outcome != apply.Cut {
		t.Errorf("the book says %+v, %v", again, err)
	}
}

// A mistake in the file that was reloaded, and is watched, ends with the next reload of a good one: of what was at work before, or of
// another; one that cannot be read changes nothing.
func TestACorrectedFileEndsTheWatchOfItsMistake(t *testing.T) {
	t.Cleanup(func() { zerolog.SetGlobalLevel(zerolog.TraceLevel) })
	l := newPlayedSite(t, playedYAML)
	c := l.main()
	c.config, c.socket = l.config, filepath.Join(l.dir, "s")
	v, book, err := chooseConfig(c, l.config, true)
	if err != nil {
		t.Fatal(err)
	}
	a := &atWork{c: c, log: zerolog.Nop(), lasting: newLasting(zerolog.Nop()), hup: make(chan os.Signal, 1), book: book}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.run(ctx, v, openNow, nil) }()
	wait(t, "the site is at work", func() bool { return a.state().Hash != "" })
	good := string(v.text)
	mistake, other := good+"book: {loss_limit: 2}\n", good+"book: {loss_limit: 3}\n"
	reload := func(text string) {
		if err := os.WriteFile(l.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a.hup <- os.Interrupt
	}
	at := func(text string, watched bool) func() bool {
		return func() bool {
			s := a.state()
			return s.Hash == apply.HashOf([]byte(text)) && (s.Now != nil) == watched
		}
	}
	reload(mistake)
	wait(t, "the mistake is watched", at(mistake, true))
	reload(good + "nonsense: 1\n")
	wait(t, "the nonsense is refused", func() bool { s := a.state(); return len(s.Past) == 1 && s.Past[0].Outcome == apply.Refused })
	if !at(mistake, true)() {
		t.Errorf("a file that cannot be read has ended the watch: %+v", a.state())
	}
	reload(other)
	wait(t, "the corrected file is watched", at(other, true))
	reload(mistake)
	wait(t, "the file that was corrected is right after all, and watched again", at(mistake, true))
	reload(other)
	wait(t, "the corrected file is watched again", at(other, true))
	reload(good)
	wait(t, "the first file is at work", at(good, false))
	for _, text := range []string{mistake, other} {
		if err := os.WriteFile(l.config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if v, _, err := chooseConfig(c, l.config, false); err != nil || v.bad != nil || v.hash != apply.HashOf([]byte(text)) {
			t.Errorf("a start takes %+v, %v", v, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What a reload refuses for the sake of what is at work, a start takes: it says so itself. What went back from its trial it does not take, and
// says why, and not that the file has mistakes.
func TestAStartTakesWhatOnlyAReloadRefuses(t *testing.T) {
	l := newPlayedSite(t, playedYAML)
	c := l.main()
	c.config = l.config
	v, book, err := chooseConfig(c, l.config, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(v.cfg.Store.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := keepLastGood(v.cfg.Store.Path, v.text); err != nil {
		t.Fatal(err)
	}
	text := append(slices.Clone(v.text), "book: {loss_limit: 2}\n"...)
	if err := os.WriteFile(l.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for outcome, taken := range map[string]bool{apply.Refused: true, apply.Back: false} {
		if _, err := book.End(apply.Trial{Hash: apply.HashOf(text)}, outcome, []string{"TK-1 has no level"}, text); err != nil {
			t.Fatal(err)
		}
		v, _, err := chooseConfig(c, l.config, false)
		if err != nil || (v.bad == nil) != taken || taken != (v.hash == apply.HashOf(text)) {
			t.Fatalf("%s: %+v, %v", outcome, v, err)
		}
		if doubts := configDoubts(nil, v.bad); !taken && (!strings.Contains(doubts[0], "went back: TK-1 has no level") || strings.Contains(doubts[0], "gauger check")) {
			t.Errorf("%s: %q", outcome, doubts)
		}
	}
}

// A changed file that a reload did not take is said to be so with the reason, also where somebody had looked before it was tried.
func TestAFileThatWasNotTakenSaysWhy(t *testing.T) {
	text, err := os.ReadFile("../../config/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "gauger.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(string(text))
	v, err := loadRevision(path)
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]string{}
	says := configOnDisk(path, v, func() standIn { return standIn{} }, func(hash string) string { return tried[hash] })
	if got := says(); got != "" {
		t.Fatalf("the file is at work, and it says %q", got)
	}
	write(strings.Replace(string(text), "every: 5s", "every: 7s", 1))
	if got := says(); !strings.Contains(got, "was changed and is not at work") {
		t.Fatalf("it says %q", got)
	}
	now, err := loadRevision(path)
	if err != nil {
		t.Fatal(err)
	}
	tried[now.hash] = "it was tried and put off: TK1 is being hauled"
	if got := says(); !strings.HasSuffix(got, "is not at work: "+tried[now.hash]) {
		t.Errorf("after a reload that did not take it it says %q", got)
	}
}

// A change that somebody ends right after it was loaded is decided before anybody began to watch it: the watch ends too, and nothing else.
func TestAChangeThatIsDecidedBeforeItIsWatched(t *testing.T) {
	book, err := apply.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := (&atWork{book: book}).watchTrial(t.Context()); err != nil {
		t.Error(err)
	}
}
