package tankbook

import (
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
	if p := n.pages[0]; p.today.sumReceived() != 0 || p.last != b.pages[0].last || len(p.today.remarks) != len(b.pages[0].today.remarks) {
		t.Errorf("%+v", p)
	}
}
