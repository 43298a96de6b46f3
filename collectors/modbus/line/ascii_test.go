package line

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

func TestTheFramesOfASCIIAreTheStandards(t *testing.T) {
	// Unit 1, function 3, address 0, two registers: 1 + 3 + 2 is 6, and FA is missing from 256.
	if got := (ascii{}).appendRequest(nil, 1, Request{1, Holding, 0, 2}.pdu()); string(got) != ":010300000002FA\r\n" {
		t.Errorf("%q", got)
	}
	for frame, want := range map[string]int{
		":01030400060005ED\r\n":      19,
		":01030400060005ed\r\n":      19, // digits of either case
		":01840279\r\n":              11, // a refusal
		":01030400060005ED\r\n:01":   19,
		":01030400060005EE\r\n":      0, // wrong checksum
		":0103040006000ED\r\n":       0, // half a byte
		":010304000600ED\r\n":        0, // the count says four
		":01030400060005ED\r":        0, // not at its end yet
		":0103:01030400060005ED\r\n": 0, // another frame begins inside
		"01030400060005ED\r\n":       0,
		":\r\n":                      0,
		"\r\n":                       0,
		"":                           0,
	} {
		if got := (ascii{}).answerLength([]byte(frame)); got != want {
			t.Errorf("%q: %d characters, want %d", frame, got, want)
		}
	}
}

func TestAnASCIIAnswerBehindPartsOfOthers(t *testing.T) {
	r := Request{1, Holding, 0, 2}
	for _, before := range []string{"", "\x00\xff", ":0103", ":01030400", ":02030400060005EC\r\n", "\r\n\r\n"} {
		b := []byte(before + ":01030400060005ED\r\n")
		start, end := findAnswer(ascii{}, b, r)
		if start != len(before) || end != len(b) {
			t.Errorf("behind %q: found at %d to %d", before, start, end)
		}
		for n := range b {
			if _, end := findAnswer(ascii{}, b[:n], r); end != 0 {
				t.Errorf("%q was taken for the whole", b[:n])
			}
		}
	}
}

// TestSlowCharacters: in ASCII a second may pass between two characters, as long as the whole comes in time.
func TestSlowCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Torn: 8, Rest: 950 * time.Millisecond, Times: 1}, modbustest.Fault{Torn: 12, Rest: 2500 * time.Millisecond, Times: 1})
		lines, line, _ := earLine(t, linetest.ASCIIURL, slave)
		defer linetest.Close(t, lines)
		if data, err := line.Read(t.Context(), conversation[0], 2*time.Second); err != nil || !carries(data, conversation[0]) {
			t.Errorf("0.95 s in the middle: % x, %v", data, err)
		}
		if _, err := line.Read(t.Context(), conversation[1], 2*time.Second); !errors.Is(err, ErrDamaged) {
			t.Errorf("2.5 s in the middle: %v, want the end of the time-out", err)
		}
		for _, r := range conversation[2:] {
			if data, err := line.Read(t.Context(), r, 2*time.Second); err != nil || !carries(data, r) {
				t.Errorf("%s: % x, %v", r, data, err)
			}
		}
	})
}

func TestAllSettingsOfAURL(t *testing.T) {
	for raw, want := range map[string]string{
		"ascii:///dev/x": "ascii:///dev/x?baud=19200&data=7&parity=E&stop=1",
		"ascii:///dev/x?data=8&parity=n&pause=20ms": "ascii:///dev/x?baud=19200&data=8&parity=N&stop=1&pause=20ms",
		"ascii+tcp://H:9":                                     "ascii+tcp://h:9",
		"ascii+tcp://h:9?baud=1200":                           "ascii+tcp://h:9?baud=1200&data=7&parity=E&stop=1",
		"rtu:///dev/x?rs485=low&rts_after=2&connect_pause=1s": "rtu:///dev/x?baud=19200&parity=E&stop=1&rs485=low&rts_after=2&connect_pause=1s",
		"tls://h?ca_file=/a/b%26c.pem&server_name=x":          "tls://h:802?ca_file=/a/b%26c.pem&server_name=x",
		"tcp://h?pause=0s":                                    "tcp://h:502",
		"rtu+tcp://h:1?pause=5ms":                             "rtu+tcp://h:1?pause=5ms",
	} {
		at, err := ParseEndpoint(raw)
		if err != nil || at.String() != want {
			t.Errorf("%s: %s (%v), want %s", raw, at, err, want)
		}
		if again, err := ParseEndpoint(at.String()); err != nil || again != at {
			t.Errorf("%s is read as %+v (%v)", at, again, err)
		}
	}
	for raw, says := range map[string]string{
		"ascii:///dev/x?data=9":                 "7 or 8",
		"ascii+tcp://h":                         "port",
		"ascii+tcp://h:1?rs485=high":            "no option",
		"ascii://dev/x":                         "ascii:///dev/",
		"rtu:///dev/x?rs485=up":                 "high or low",
		"rtu:///dev/x?rs485=high&rts_before=1s": "whole milliseconds",
		"rtu:///dev/x?rts_before=1":             "need rs485=",
		"tls://h:1?key_file=a":                  "belong together",
		"tls://h?baud=9600":                     "no option",
		"tcp://h?pause=-1s":                     "from 0s to 10s",
		"tcp://h?connect_pause=2m":              "from 0s to 1m",
	} {
		if _, err := ParseEndpoint(raw); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", raw, err, says)
		}
	}
}

func FuzzAnswerOverASCII(f *testing.F) {
	f.Add([]byte(":01030400060005ED\r\n"))
	f.Add([]byte(":0183027A\r\n"))
	f.Add([]byte("\xff:0103:01030400060005ed\r\n"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		data, err := answerWith(t, "ascii:///dev/x", answer)
		if err != nil {
			return
		}
		text := strings.ToUpper(string(answer))
		if want := string((ascii{}).appendRequest(nil, 1, append([]byte{3, 4}, data...))); len(data) != 4 || !strings.Contains(text, want) {
			t.Errorf("% x was taken for %q", data, answer)
		}
	})
}
