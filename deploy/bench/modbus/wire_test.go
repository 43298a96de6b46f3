package main

import (
	"testing"
	"time"
)

// The figures are counted by hand: (8 + 5 + 2n) characters of 11 bits, two silences, 5 ms.
func TestTimeOfARead(t *testing.T) {
	for _, c := range []struct {
		baud, registers int
		want            time.Duration
	}{
		{9600, 30, 96_667 * time.Microsecond},   // 80 characters of 1.1458 ms, and 5 ms
		{19200, 30, 50_833 * time.Microsecond},  // 80 characters of 0.5729 ms, and 5 ms
		{115200, 30, 15_470 * time.Microsecond}, // 73 characters of 0.0955 ms, 3.5 ms, and 5 ms
		{9600, 125, 314_375 * time.Microsecond},
	} {
		w := wire{Baud: c.baud, Turnaround: 5 * time.Millisecond}
		if got := w.read(c.registers); (got - c.want).Abs() > 2*time.Microsecond {
			t.Errorf("%d registers at %d take %s, want %s", c.registers, c.baud, got, c.want)
		}
	}
}

func TestGapIsFixedAbove19200(t *testing.T) {
	if slow, fast := (wire{Baud: 19200}).gap(), (wire{Baud: 38400}).gap(); slow.Round(time.Microsecond) != 2005*time.Microsecond || fast != 1750*time.Microsecond {
		t.Errorf("%s and %s, want 3.5 characters (2.005 ms) and 1.75 ms", slow, fast)
	}
}
