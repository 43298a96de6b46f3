package outbox

import (
	"errors"
	"testing"
)

// Where a box cannot be brought up to its marks, Open closes their file with the others: a site tries every few seconds.
func TestMarksOfABoxThatDoesNotOpenAreClosed(t *testing.T) {
	b := oneStream(t, t.TempDir()+"/outbox.db", 2<<20)
	marks := b.highWater
	marks.Generation += 10
	b.die(errors.New("the disk is gone"))
	if err := newRollback(b, b.generation, nil).makeUp(); !errors.Is(err, ErrDead) {
		t.Errorf("made up: %v", err)
	}
	if b.highWater != marks {
		t.Error("the marks are given up, and their file stays open")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
