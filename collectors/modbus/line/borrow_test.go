package line

import (
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

func TestABorrowedLineIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := modbustest.NewSlave()
		slave.Unit(1)
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		count := func() (n int) { lines.Each(func(*Line) { n++ }); return n }
		kept := linetest.Open(t, lines, "tcp://kept")
		for _, place := range []string{"tcp://kept", "tcp://other", "tcp://third"} {
			one, back, err := lines.Borrow(place)
			two, backToo, err2 := lines.Borrow(place)
			if err != nil || err2 != nil || one != two {
				t.Fatalf("%v, %v", err, err2)
			}
			if _, err := one.Read(t.Context(), Request{Unit: 1, Quantity: 1}, time.Second); err != nil {
				t.Fatal(err)
			}
			if err := back(); err != nil || one.stream == nil {
				t.Errorf("%s: closed under the other borrower (%v)", place, err)
			}
			if err := backToo(); err != nil || (one.stream == nil) != (one != kept) {
				t.Errorf("%s: open %t (%v)", place, one.stream != nil, err)
			}
		}
		if count() != 1 {
			t.Errorf("%d lines are left, want the one that was opened", count())
		}
		lent, back, err := lines.Borrow("tcp://later")
		if err != nil || linetest.Open(t, lines, "tcp://later") != lent {
			t.Fatalf("the device got another line than the borrower (%v)", err)
		}
		if err := back(); err != nil || count() != 2 {
			t.Errorf("a line that a device took over was given back: %d lines, %v", count(), err)
		}
	})
}
