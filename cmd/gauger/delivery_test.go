package main

import (
	"errors"
	"fmt"
	"testing"

	"gauger/outbox"
)

// A record that is gone from the outbox without a receipt, as on a full disk, has left: nobody says that it is on disk and that gauger
// does not answer, and nobody writes it again.
func TestARecordWithoutAReceiptHasLeft(t *testing.T) {
	words := fmt.Errorf("record 1 of tickets: %w; `gauger outbox list --state all` shows those that are kept", outbox.ErrRecord).Error()
	s := sentRecord{Stream: "tickets", Seq: 1, State: "queued"}
	if err := s.goneBy(errors.New(words)); err != nil || s.State != "left" {
		t.Errorf("%+v, %v", s, err)
	}
	s = sentRecord{State: "queued"}
	if err := s.goneBy(errors.New("gauger is ending")); err == nil || s.State != "queued" {
		t.Errorf("%+v, %v", s, err)
	}
}
