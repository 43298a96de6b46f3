package apply

import (
	"fmt"
	"os"
	"testing"
)

func TestBookRemembersWhatFailed(t *testing.T) {
	folder := t.TempDir()
	book := func() *Book {
		t.Helper()
		b, err := Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	end := func(hash, outcome string) {
		t.Helper()
		if _, err := book().End(Trial{Hash: hash}, outcome, []string{"why " + hash}, []byte("text of "+hash)); err != nil {
			t.Fatal(err)
		}
	}
	end("a", Back)
	end("b", Stands)
	end("c", Cut)
	for hash, failed := range map[string]bool{"a": true, "b": false, "c": false, "unknown": false} {
		if got := book().Failure(hash); (got != nil) != failed {
			t.Errorf("%s: failure %v", hash, got)
		}
	}
	kept := book().Failure("a").Kept
	if text, err := os.ReadFile(kept); err != nil || string(text) != "text of a" {
		t.Errorf("the file that was tried is %q, %v", text, err)
	}
	end("a", Stands)
	if got := book().Failure("a"); got != nil {
		t.Errorf("it has stood since, and still: %v", got)
	}
	for outcome, speaks := range map[string]bool{Back: true, Stands: false} {
		end("d", outcome)
		if _, err := book().End(Trial{Hash: "d"}, Back, []string{Corrected}, []byte("d")); err != nil {
			t.Fatal(err)
		}
		if got := book().Failure("d"); (got != nil) != speaks {
			t.Errorf("it was corrected after it %s: %+v", outcome, got)
		}
	}
	for i := range mostPast {
		end(fmt.Sprint("n", i), Refused)
	}
	if n := len(book().Past); n != mostPast {
		t.Errorf("%d trials are kept, want %d", n, mostPast)
	}
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("the text of a trial that is forgotten is still there: %v", err)
	}
}

// A trial that an end of the program cut is over at the next start: one that ended in order says nothing against its file.
// What is put off is on record once, says why, and speaks against nothing: it is tried again when it is handed in again.
func TestWhatIsPutOffIsOnRecord(t *testing.T) {
	b, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := b.PutOff(Trial{Hash: "a"}, []string{"TK1 is being hauled"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.NotTaken("a"); len(b.Past) != 1 || b.Failure("a") != nil || got == nil || got.Outcome != Put || got.Reasons[0] != "TK1 is being hauled" {
		t.Errorf("on record is %+v, which speaks against it: %v", b.Past, b.Failure("a"))
	}
	if _, err := b.End(Trial{Hash: "a"}, Stands, nil, nil); err != nil || b.NotTaken("a") != nil {
		t.Errorf("it is at work, and still: %v, %v", b.NotTaken("a"), err)
	}
}

func TestBookAfterAnEnd(t *testing.T) {
	for inOrder, want := range map[bool]string{true: Cut, false: Back} {
		folder := t.TempDir()
		b, err := Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Begin(Trial{Hash: "x"}); err != nil {
			t.Fatal(err)
		}
		if inOrder {
			if err := b.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		if b, err = Open(folder); err != nil {
			t.Fatal(err)
		}
		if err := b.Resume([]byte("text")); err != nil {
			t.Fatal(err)
		}
		if got := b.Past[0].Outcome; got != want || b.Now != nil || (b.Failure("x") != nil) == inOrder {
			t.Errorf("in order %v: %s, now %v, failure %v", inOrder, got, b.Now, b.Failure("x"))
		}
	}
}

func TestBookThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/apply.json", []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Open(folder)
	if err == nil || b == nil || len(b.Past) > 0 {
		t.Errorf("book %v, error %v", b, err)
	}
	if err := b.Save(); err != nil {
		t.Error(err)
	}
	if _, err := Open(folder); err != nil {
		t.Error(err)
	}
}
