package outbox_test

import (
	"errors"
	"testing"

	"gauger/outbox"
)

// TestTakeGoesWithWhatItsTransactionStores: a record leaves a held stream together with what was made of it, once, and
// the counts add up before and after a restart.
func TestTakeGoesWithWhatItsTransactionStores(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{})
	defer func() { shut(t, b) }()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(b.Update(func(tx *outbox.Tx) error {
		for _, body := range []string{"one", "two", "three", "four"} {
			tx.Append("refused", outbox.Record{Address: "mqtt", Body: []byte(body)})
		}
		return nil
	}))
	why := ""
	take := func(stream string, seqs ...uint64) error {
		return b.Update(func(tx *outbox.Tx) error {
			for _, seq := range seqs {
				tx.Take(stream, seq, why)
			}
			tx.Append("tags", outbox.Record{Address: "w", Body: []byte("made of it")})
			return nil
		})
	}
	must(take("refused", 1, 3, 3))
	for _, c := range []struct {
		stream string
		seq    uint64
		want   error
	}{{"refused", 1, outbox.ErrRecord}, {"refused", 9, outbox.ErrRecord}, {"tags", 1, outbox.ErrStream}, {"pumps", 1, outbox.ErrStream}} {
		if err := take(c.stream, c.seq); !errors.Is(err, c.want) {
			t.Errorf("taking %s/%d: %v, want %v", c.stream, c.seq, err, c.want)
		}
	}
	why = "good for nothing"
	must(take("refused", 4))
	for range 2 {
		refused, tags := b.Counts()["refused"], b.Counts()["tags"]
		if !refused.Balanced() || refused.Waiting != 1 || refused.Delivered != 2 || refused.Dropped != 1 || tags.Accepted != 2 {
			t.Errorf("refused %+v, tags %+v; want one waiting, two done, one good for nothing", refused, tags)
		}
		if e, err := b.Entry("refused", 3); err != nil || e.State != outbox.Delivered {
			t.Errorf("what was taken is %+v, %v", e, err)
		}
		if e, err := b.Entry("refused", 4); err != nil || e.State != outbox.Dropped || e.Label != why {
			t.Errorf("what is good for nothing is %+v, %v", e, err)
		}
		left, err := b.Entries("refused", outbox.Waiting, 0, 10)
		if err != nil || len(left) != 1 || string(left[0].Record.Body) != "two" {
			t.Errorf("left is %+v, %v", left, err)
		}
		shut(t, b)
		b = open(t, path, outbox.Options{})
	}
}
