package main

import (
	"context"
	"encoding/pem"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
	"gauger/collectors/modbus/modbustest"
	"gauger/config/draft"
)

// typist types a line as soon as it is asked to.
type typist struct {
	keyboard io.Writer
	text     string
	asked    strings.Builder
}

func (ty *typist) Write(p []byte) (int, error) {
	if ty.asked.Len() == 0 {
		if _, err := io.WriteString(ty.keyboard, ty.text); err != nil {
			return 0, err
		}
	}
	return ty.asked.Write(p)
}

// TestSecretFromTerminal: what is typed does not show, and afterwards typing shows again.
func TestSecretFromTerminal(t *testing.T) {
	pty, err := modbustest.OpenPty()
	if err != nil {
		t.Fatal(err)
	}
	defer pty.Close()
	terminal, err := os.OpenFile(pty.Path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	fd := int(terminal.Fd())
	usual, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	usual.Lflag |= unix.ECHO | unix.ICANON
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, usual); err != nil {
		t.Fatal(err)
	}
	asked := &typist{keyboard: pty, text: "hand-made-key\n"}
	got, err := readSecret(t.Context(), &call{in: terminal, err: asked}, "", "the key")
	if err != nil || got != "hand-made-key" {
		t.Errorf("%q, %v", got, err)
	}
	if !strings.Contains(asked.asked.String(), "paste the key") {
		t.Errorf("asked %q", asked.asked.String())
	}
	if err := pty.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if shown, _ := io.ReadAll(pty); len(shown) > 0 {
		t.Errorf("the terminal showed %q", shown)
	}
	after, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil || after.Lflag&unix.ECHO == 0 {
		t.Errorf("typing does not show any more: %v", err)
	}
}

// TestKeysInPlainWords: what a person at the site reads first.
func TestKeysInPlainWords(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2127, 3, d, 7, 0, 0, 0, time.UTC) }
	works := keys.Status{Slot: "primary", Fingerprint: "11111111", State: "proven", Accepted: day(1), Expires: day(20), Next: day(5)}
	second := keys.Status{Slot: "secondary", State: "proven", Expires: day(25), Assumed: true, Next: day(8)}
	refused := keys.Status{Slot: "primary", State: "refused", Refused: day(2)}
	ends, twice, ended := second, second, works
	ended.Expires = day(0)
	twice.Fingerprint = works.Fingerprint
	ends.Warning = "the secondary key ends in 7 days"
	for _, c := range []struct {
		keys []keys.Status
		want string
	}{
		{[]keys.Status{works, second}, "Both keys work.|" +
			"The primary key works, last used 2127-03-01 07:00; it ends 2127-03-20 07:00; it is renewed by itself 2127-03-05 07:00, nothing to do.|" +
			"The secondary key works; it ends about 2127-03-25; it is renewed by itself 2127-03-08 07:00, nothing to do."},
		{[]keys.Status{refused, {Slot: "primary", State: "untried", Doubt: day(3)}, ends}, "A key works, and records are sent with it.|" +
			"The primary key is not tried yet; it was to be renewed at 2127-03-03 07:00 and no answer has shown that it was, so that gauger asks again by itself.|" +
			"The secondary key works; it ends about 2127-03-25; it is renewed by itself 2127-03-08 07:00, nothing to do.|" +
			"WARNING: the secondary key ends in 7 days."},
		{[]keys.Status{{Slot: "primary", State: "untried", Fingerprint: "12ab34cd"}, works, {Slot: "secondary", State: "refused", Fingerprint: "56ef7890", Refused: day(2)}, second}, "Records are sent with keys of before; of a newer one nobody knows that it works.|" +
			"The primary key works, last used 2127-03-01 07:00; it ends 2127-03-20 07:00; it is renewed by itself 2127-03-05 07:00, nothing to do.|" +
			"That is the primary key of before. The newer one (12ab34cd) is not tried yet: records that are sent try it.|" +
			"The secondary key works; it ends about 2127-03-25; it is renewed by itself 2127-03-08 07:00, nothing to do.|" +
			"WARNING: that is the secondary key of before. The newer one (56ef7890) is refused since 2127-03-02 07:00: give the right one with `gauger keys set secondary`."},
		{[]keys.Status{works, twice}, "One key works, and stands in both places: refused, it stops the sending. Give the other one with `gauger keys set secondary`.|" +
			"The primary key works, last used 2127-03-01 07:00; it ends 2127-03-20 07:00; it is renewed by itself 2127-03-05 07:00, nothing to do.|" +
			"The secondary key works; it ends about 2127-03-25; it is renewed by itself 2127-03-08 07:00, nothing to do."},
		{[]keys.Status{ended, second}, "Both keys work.|" +
			"The primary key works, last used 2127-03-01 07:00, though the service said that it ends 2127-02-28 07:00; it is renewed by itself 2127-03-05 07:00, nothing to do.|" +
			"The secondary key works; it ends about 2127-03-25; it is renewed by itself 2127-03-08 07:00, nothing to do."},
		{[]keys.Status{refused}, "NO KEY WORKS: nothing is sent, everything is kept. Get a new key from whoever runs the service and give it with `gauger keys set primary`, unless `gauger status` shows that it answers otherwise since.|" +
			"The primary key is refused since 2127-03-02 07:00, and no other works with which gauger could ask for a new one.|" +
			"The secondary key is missing. With one key alone a refused key stops the sending: `gauger keys set secondary` takes it."},
	} {
		if got := strings.Join(keySentences(c.keys, nil, true, time.UTC), "|"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestSecretInterrupted: a person who changes her mind gets the prompt back.
func TestSecretInterrupted(t *testing.T) {
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := readSecret(ctx, &call{in: in}, "", "the key"); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v", err)
	}
}

// A key whose file cannot be read is not missing: why is told.
func TestAKeyThatCannotBeReadIsNotMissing(t *testing.T) {
	got := strings.Join(keySentences(nil, map[string]string{"primary": "open /etc/gauger/primary-key: permission denied"}, true, time.UTC), "|")
	const want = "NO KEY CAN BE READ: nothing is sent, everything is kept.|The primary key cannot be read: open /etc/gauger/primary-key: permission denied|" +
		"The secondary key is missing. With one key alone a refused key stops the sending: `gauger keys set secondary` takes it."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Where gauger does not run, that the person may not read it, or has not its environment, is no alarm.
	got = strings.Join(keySentences(nil, map[string]string{"primary": "permission denied"}, false, time.UTC), "|")
	if strings.Contains(got, "NO KEY") || !strings.HasPrefix(got, "Whether a key can be read is not known: ") || !strings.Contains(got, "|The primary key cannot be read by this command: permission denied|") {
		t.Errorf("without a daemon it says %s", got)
	}
}

// init asks the service with the keys that it was given alone: the store in the usual place may be another site's.
func TestInitTouchesNoStore(t *testing.T) {
	const store = "/var/lib/gauger"
	look := func() (all []string) {
		found, _ := filepath.Glob(store + "*/*") // the pattern is good
		for _, name := range found {
			if s, err := os.Stat(name); err == nil {
				all = append(all, name, s.ModTime().String())
			}
		}
		return all
	}
	before := look()
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("GAUGER_PRIMARY_KEY", primaryKey)
	known := &cloudtest.Service{PrimaryKey: primaryKey, SecondaryKey: secondaryKey}
	known.AddDevices(cloudtest.Device{ID: "1", ExternalID: "X1"})
	service := httptest.NewServer(known)
	defer service.Close()
	signed := httptest.NewTLSServer(known)
	defer signed.Close()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][3]string{{service.URL, "", ""}, {signed.URL, "ca.pem", ""}, {signed.URL, "", "give the authority's certificate with --ca-file FILE, or"}} {
		field := siteField{&call{err: t.Output(), getenv: os.Getenv, config: filepath.Join(folder, "gauger.yaml")}, &initOptions{caFile: x[1]}}
		devices, err := field.devices(t.Context(), &draft.Site{Name: "new", ID: "NEW", Zone: "UTC", URL: x[0], PrimaryKey: "env:GAUGER_PRIMARY_KEY", SecondKey: "none"})
		if x[2] != "" {
			if err == nil || !strings.Contains(err.Error(), x[2]) {
				t.Errorf("%q: %v", x, err)
			}
		} else if err != nil || len(devices) != 1 || devices[0].ExternalID != "X1" {
			t.Errorf("%q: devices %+v, %v", x, devices, err)
		}
	}
	if after := look(); !slices.Equal(after, before) {
		t.Errorf("the store of the box was %v, and is %v", before, after)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A renewal whose answer was none that it was made may well have been answered, as with a 503: nobody says that the answer is lost.
func TestARenewalInDoubtIsNotCalledLost(t *testing.T) {
	at := time.Date(2026, 3, 2, 15, 53, 0, 0, time.UTC)
	if got := keyRenewalText(keys.Status{Doubt: at}, time.UTC); got != "asked at 2026-03-02 15:53, no answer that it was renewed" {
		t.Error(got)
	}
}
