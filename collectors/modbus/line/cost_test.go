package line

import (
	"testing"
	"time"
)

// TestTheTimeOfARequest is against figures worked out by hand: the characters of request and answer, 3.5 characters
// of silence after each (1.75 ms above 19200 baud), and the time that the unit thinks.
func TestTheTimeOfARequest(t *testing.T) {
	for _, tt := range []struct {
		name       string
		url        string
		turnaround time.Duration
		s          Span
		want       time.Duration // to the next 10 us
	}{
		// 11 bits a character: 1.1458 ms at 9600. 13 + 60 + 7 characters = 91.67 ms, and 5 ms.
		{"30 registers at 9600", "rtu:///dev/x?baud=9600", 0, Span{Holding, 0, 30}, 96670 * time.Microsecond},
		{"30 registers at 19200", "rtu:///dev/x", 0, Span{Holding, 0, 30}, 50830 * time.Microsecond},
		// 95.49 us a character: 73 of them 6.97 ms, twice 1.75 ms, 5 ms.
		{"30 registers at 115200", "rtu:///dev/x?baud=115200", 0, Span{Input, 0, 30}, 15470 * time.Microsecond},
		{"125 registers at 19200, 20 ms", "rtu:///dev/x", 20 * time.Millisecond, Span{Holding, 0, 125}, 174690 * time.Microsecond},
		// 10 bits: 1.0417 ms. 13 + 2 + 7 characters = 22.92 ms.
		{"a register at 9600 8N1", "rtu+tcp://s:1?baud=9600&parity=N", 0, Span{Holding, 7, 1}, 27920 * time.Microsecond},
		// 17 coils are three bytes: 13 + 3 + 7 characters = 13.18 ms.
		{"17 coils at 19200", "rtu:///dev/x", 0, Span{Coil, 0, 17}, 18180 * time.Microsecond},
		// 10 bits: 0.5208 ms. 17 and 11 characters, two for each of 60 bytes, 3.5 of silence: 78.91 ms.
		{"30 registers in ASCII at 19200", "ascii:///dev/x", 0, Span{Holding, 0, 30}, 83910 * time.Microsecond},
		// 11 bits at 19200: 13 + 28 + 7 characters = 27.5 ms, and 20 ms of pause.
		{"seven of Enron's values, with a pause", "rtu:///dev/x?pause=20ms", 0, Span{EnronHolding, 7001, 7}, 52500 * time.Microsecond},
		// 21 and 250 bytes at 0.8 us.
		{"125 registers on a socket", "tcp://s", 20 * time.Millisecond, Span{Holding, 0, 125}, 20220 * time.Microsecond},
	} {
		at, err := ParseEndpoint(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := at.Cost(tt.turnaround).Duration(tt.s).Round(10 * time.Microsecond); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
