package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gauger/outbox/disk"
)

// What became of a trial.
const (
	Watched = "watched"   // it is going on
	Stands  = "stands"    // it is at work
	Back    = "went back" // the one before is at work again
	Refused = "refused"   // it was never at work
	Cut     = "cut short" // gauger was stopped meanwhile; the one before is at work
	Put     = "put off"   // it was not at work, for a reason that passes
)

// Trial is one try of a changed configuration.
type Trial struct {
	Hash    string    `json:"hash"`
	Source  string    `json:"source"` // the file, or the address that it was pulled from
	By      string    `json:"by"`
	Began   time.Time `json:"began"`
	Until   time.Time `json:"until,omitzero"` // of the watch
	Ended   time.Time `json:"ended,omitzero"`
	Outcome string    `json:"outcome"`
	Confirm bool      `json:"confirm,omitempty"` // it goes back unless a person confirms
	Reasons []string  `json:"reasons,omitempty"`
	Changes []string  `json:"changes,omitempty"`
	Kept    string    `json:"kept,omitempty"` // the file that was tried, where it failed
}

// Corrected is why a trial went back whose file was changed while it was watched: that says nothing of the file, which may be right again.
const Corrected = "the file was corrected while it was watched"

// undecided says that a trial came to no end of its own, and says nothing of its file.
func (t Trial) undecided() bool {
	return t.Outcome == Cut || t.Outcome == Put || t.Outcome == Back && slices.Contains(t.Reasons, Corrected)
}

// failed says that a trial speaks against its file.
func (t Trial) failed() bool { return t.Outcome == Refused || t.Outcome == Back && !t.undecided() }

// Applied is a configuration that stands in the place of the file: until that is changed.
type Applied struct {
	Hash   string `json:"hash"`
	Base   string `json:"base"` // hash of the file in whose place it is
	Source string `json:"source"`
}

// Book is what a store remembers of trials.
type Book struct {
	Now     *Trial   `json:"now,omitempty"`
	Applied *Applied `json:"applied,omitempty"`
	Past    []Trial  `json:"past,omitempty"` // the newest last
	ETag    string   `json:"etag,omitempty"` // of what was pulled last

	folder string
}

// Bounds of a book: trials, and words of each.
const (
	mostPast  = 20
	mostWords = 50
	mostBook  = 1 << 20
)

// HashOf is what a file is known by.
func HashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

func (b *Book) path() string { return filepath.Join(b.folder, "apply.json") }

// Open reads the book of a store. One that cannot be read is empty, and the error says so.
func Open(folder string) (*Book, error) {
	b := &Book{folder: folder}
	text, err := disk.ReadFile(b.path(), mostBook)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(text, b)
	}
	if err != nil {
		return &Book{folder: folder}, fmt.Errorf("read what is known of changes of the configuration: %w; it begins anew", err)
	}
	return b, nil
}

// Save puts the book on disk.
func (b *Book) Save() error {
	text, err := json.MarshalIndent(b, "", " ")
	if err == nil {
		err = WriteFile(b.path(), text)
	}
	if err != nil {
		return fmt.Errorf("keep what is known of changes of the configuration: %w", err)
	}
	return nil
}

// WriteFile replaces a file of the store, whole or not at all.
func WriteFile(path string, text []byte) error {
	f, err := disk.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil {
		err = disk.SyncDir(path)
	}
	return err
}

// PutOff notes that a file is not loaded for now. Of one that is handed in again and again the newest is kept.
func (b *Book) PutOff(t Trial, reasons []string) error {
	if n := len(b.Past) - 1; n >= 0 && b.Past[n].Hash == t.Hash && b.Past[n].Outcome == Put {
		b.Past = b.Past[:n]
	}
	now := b.Now
	_, err := b.End(t, Put, reasons, nil)
	b.Now = now
	return err
}

// NotTaken is the newest trial of a file, where it came to nothing; nil: there is none, or it was at work.
func (b *Book) NotTaken(hash string) *Trial {
	for _, t := range slices.Backward(b.Past) {
		if t.Hash == hash && t.Outcome == Put {
			return &t
		} else if t.Hash == hash {
			break
		}
	}
	return b.Failure(hash)
}

// Failure is the newest trial of a file, where that speaks against it; nil: none does.
func (b *Book) Failure(hash string) *Trial {
	for _, t := range slices.Backward(b.Past) {
		if t.Hash == hash && !t.undecided() {
			if t.failed() {
				return &t
			}
			return nil
		}
	}
	return nil
}

// Begin notes a trial that begins.
func (b *Book) Begin(t Trial) error {
	t.Outcome, t.Changes = Watched, t.Changes[:min(len(t.Changes), mostWords)]
	b.Now = &t
	return b.Save()
}

// End notes what became of a trial. The text of one that failed is kept beside the book.
func (b *Book) End(t Trial, outcome string, reasons []string, text []byte) (Trial, error) {
	t.Outcome, t.Reasons, t.Ended = outcome, reasons[:min(len(reasons), mostWords)], time.Now().Round(0)
	t.Changes = t.Changes[:min(len(t.Changes), mostWords)]
	var err error
	if t.failed() && text != nil {
		t.Kept = filepath.Join(b.folder, "apply-"+t.Hash+".yaml")
		if err = WriteFile(t.Kept, text); err != nil {
			t.Kept = ""
		}
	}
	b.Now, b.Past = nil, append(b.Past, t)
	for len(b.Past) > mostPast {
		gone := b.Past[0]
		b.Past = b.Past[1:]
		if gone.Kept != "" && !slices.ContainsFunc(b.Past, func(t Trial) bool { return t.Kept == gone.Kept }) {
			err = errors.Join(err, os.Remove(gone.Kept))
		}
	}
	return t, errors.Join(err, b.Save())
}

// Resume ends the trial that an earlier run of the program left open. One that did not end in order speaks against its file: it may be why.
func (b *Book) Resume(text []byte) error {
	if b.Now == nil {
		return nil
	}
	outcome, why := Back, "gauger ended while it was watched, and not in order: a crash, a kill or a power cut"
	if b.Now.Outcome == Cut {
		outcome, why = Cut, "gauger was stopped while it was watched; apply it again"
	}
	_, err := b.End(*b.Now, outcome, []string{why}, text)
	return err
}

// Stop notes that the program ends in order while a trial is going on.
func (b *Book) Stop() error {
	if b.Now == nil {
		return nil
	}
	b.Now.Outcome = Cut
	return b.Save()
}
