package outbox

import (
	"path/filepath"
	"testing"
)

// stage stages n records of "tags" and returns their commit.
func stage(t *testing.T, b *Box, n int) *Commit {
	t.Helper()
	c, err := b.Stage(appends(n, "staged"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// commitsOf counts the commits that the file has seen since the box was opened.
func commitsOf(b *Box) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.generation
}

// What was staged before anybody waits is one commit, whoever waits for it, and waiting twice is no other.
func TestStagingsShareTheCommitOfTheFirstWhoWaits(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 4<<20)
	before := commitsOf(b)
	first, second := stage(t, b, 1), stage(t, b, 2)
	if done, err := first.Done(); done || err != nil {
		t.Errorf("nobody has waited, and it is done %v, %v", done, err)
	}
	for range 2 {
		if err := second.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := first.Done(); !done || err != nil {
		t.Errorf("the commit that it shares is on disk: done %v, %v", done, err)
	}
	if n := commitsOf(b) - before; n != 1 {
		t.Errorf("%d commits, want 1", n)
	}
	if c := b.Counts()["tags"]; c.Waiting != 3 {
		t.Errorf("counts %+v", c)
	}
	none, err := b.Stage(func(*Tx) error { return nil })
	if err != nil || none.Wait() != nil {
		t.Errorf("nothing staged: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// What nobody waits for is on disk when the box was closed.
func TestCloseCommitsWhatNobodyWaitsFor(t *testing.T) {
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), 4<<20)
	c := stage(t, b, 3)
	b = reopened(t, b)
	if done, err := c.Done(); !done || err != nil {
		t.Errorf("done %v, %v", done, err)
	}
	if n := b.Counts()["tags"].Waiting; n != 3 {
		t.Errorf("%d records, want 3", n)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
