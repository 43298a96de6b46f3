package tankbook

import (
	"bytes"
	"math"
	"testing"

	"gauger/agent/tank/codec"
)

// TestAPageThatIsNoNumberCostsOneTank: the others are read again as they were.
func TestAPageThatIsNoNumberCostsOneTank(t *testing.T) {
	one := func(off float64) *tankPage { return &tankPage{begun: true, clockOffset: off} }
	for _, odd := range []float64{math.NaN(), math.Inf(1)} {
		raw, err := Book{pages: []*tankPage{one(3), one(odd), one(5)}}.MarshalBinary()
		var back Book
		if err == nil {
			err = back.UnmarshalBinary(raw)
		}
		if err != nil || len(back.pages) != 3 {
			t.Fatalf("%g: %+v, %v", odd, back.pages, err)
		}
		if back.pages[0].clockOffset != 3 || back.pages[1] != nil || back.pages[2].clockOffset != 5 {
			t.Fatalf("%g: %+v", odd, back.pages)
		}
	}
}

// TestTheBookOfTheFormatBeforeIsRead.
func TestTheBookOfTheFormatBeforeIsRead(t *testing.T) {
	b := lease{inflow: 60, dumps: 0.7, noise: 0.05, every: 60}.open(t, 5).play(1.5).book
	a := archive{codec.Write(1)}
	a.book(&b)
	var n Book
	stored, err := a.Bytes()
	if err == nil {
		err = n.UnmarshalBinary(stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	if p := n.pages[0]; p.today.sumReceived(false) != 0 || p.last != b.pages[0].last || len(p.today.remarks) != len(b.pages[0].today.remarks) {
		t.Errorf("%+v", p)
	}
}

// TestABookWithNamedPartsIsReadByTheVersionBefore, which knows nothing of them: their barrels are in the day's other ones, and the
// rest is as it was. A book without any is stored as that version does.
func TestABookWithNamedPartsIsReadByTheVersionBefore(t *testing.T) {
	l := lease{inflow: 24, dumps: 0.7, noise: 0.05, every: 60}.open(t, 5).play(1.5)
	before := func(b Book) []byte {
		a := archive{codec.Write(2)}
		a.book(&b)
		raw, err := a.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	raw, err := l.book.MarshalBinary()
	if err != nil || !bytes.Equal(raw, before(l.book)) {
		t.Errorf("a book without parts is stored otherwise than before: %v", err)
	}
	l.remeasure(t, 1, 5)
	l.book.pages[0].rose = 7
	if raw, err = l.book.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	var old, now Book
	a := archive{codec.Read(raw)}
	if a.book(&old); a.Err() != nil {
		t.Fatal(a.Err())
	}
	if err := now.UnmarshalBinary(raw); err != nil {
		t.Fatal(err)
	}
	was, is := &old.pages[0].today, &now.pages[0].today
	if was.parts != nil || was.other != is.other || was.other == 0 || len(is.parts) != 1 || !is.stepBooked || now.pages[0].rose != 7 {
		t.Errorf("the version before has %.2f bbl, this one %.2f in %+v", was.other, is.other, is.parts)
	}
	if err := now.UnmarshalBinary(append(before(l.book), 99, 1, 2, 3)); err != nil || now.pages[0].today.parts != nil {
		t.Errorf("what a later version appends is not left alone: %v", err)
	}
}
