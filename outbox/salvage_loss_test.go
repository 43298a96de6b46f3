package outbox_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gauger/outbox"
)

// The box file is damaged from one end to the other. With the marks or the receipts beside it the loss is counted; with
// nothing beside it nobody knows how many are lost, and that is what is told, also after the next start.
func TestAnUnknownLossIsToldAsUnknown(t *testing.T) {
	const records = 1069
	for _, tt := range []struct {
		name    string
		without []string
		want    outbox.Counts
		says    string
	}{
		{"marks", []string{".receipts"}, outbox.Counts{Accepted: records, Lost: records}, "mended: 1069 are lost (by the marks"},
		{"marks of a killed run", []string{".receipts"}, outbox.Counts{Accepted: records, Lost: records},
			"at least 1069 are lost, and of events, refused, tags perhaps what came in the last seconds before it stopped, which the marks do not count (by the marks"},
		{"nothing", []string{".receipts", ".high"}, outbox.Counts{LostUnknown: true},
			"how many of events, refused, tags, tickets are lost is not known"},
	} {
		path := boxPath(t)
		b := open(t, path, outbox.Options{})
		put(t, b, "tickets", repeat("a ticket", records)...)
		marks := read(t, path+".high")
		shut(t, b)
		if strings.HasSuffix(tt.name, "killed run") {
			write(t, path+".high", marks)
		}
		file := read(t, path)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range file {
			file[i] = byte(random.Uint32())
		}
		write(t, path, file)
		for _, suffix := range tt.without {
			if err := os.Remove(path + suffix); err != nil {
				t.Fatal(err)
			}
		}
		var told notes
		b = open(t, path, outbox.Options{Notify: told.add, Preflight: checkHere})
		if c := counts(t, b, "tickets"); c != tt.want {
			t.Errorf("with %s: %+v, want %+v", tt.name, c, tt.want)
		}
		if told.count(outbox.NoteSalvaged) != 1 || !strings.Contains(told.all[0].Message, tt.says) {
			t.Errorf("with %s it told %+v, want %q", tt.name, told.all, tt.says)
		}
		put(t, b, "tickets", "one more")
		shut(t, b)
		r, err := outbox.Check(path)
		if err != nil || r.LostUnknown != tt.want.LostUnknown {
			t.Errorf("with %s the check says %+v, %v", tt.name, r, err)
		}
		b = open(t, path, outbox.Options{})
		if c := counts(t, b, "tickets"); c.LostUnknown != tt.want.LostUnknown || c.Lost != tt.want.Lost {
			t.Errorf("with %s: %+v after the next start", tt.name, c)
		}
		shut(t, b)
	}
}

// The box file is gone, and with it the marks: the receipts tell how far it had been at least.
func TestReceiptsAloneTellTheLeastLoss(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{})
	put(t, b, "tickets", repeat("a ticket", 20)...)
	if _, err := b.Drop("tickets", "a test", 7); err != nil {
		t.Fatal(err)
	}
	shut(t, b)
	for _, name := range []string{path, path + ".high"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	b = open(t, path, outbox.Options{})
	defer shut(t, b)
	for stream, want := range map[string]outbox.Counts{
		"tickets": {Accepted: 7, Dropped: 1, Lost: 6, LostUnknown: true}, "tags": {LostUnknown: true},
	} {
		if c := counts(t, b, stream); c != want {
			t.Errorf("%s: %+v, want %+v", stream, c, want)
		}
	}
}
