package line

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// answerWith asks for two registers on a line that answers with the given bytes, whatever they are.
func answerWith(t *testing.T, url string, answer []byte) (data []byte, err error) {
	synctest.Test(t, func(t *testing.T) {
		near, far := modbustest.Pipe()
		lines := &Lines{Dial: func(context.Context, string) (Stream, error) { return near, nil }}
		line := linetest.Open(t, lines, url)
		done := make(chan struct{})
		go func() {
			defer close(done)
			var request [64]byte
			if _, err := far.Read(request[:]); err == nil {
				_, _ = far.Write(answer) // a line that has been closed meanwhile takes nothing
			}
		}()
		data, err = line.Read(t.Context(), Request{1, Holding, 16, 2}, time.Second)
		linetest.Close(t, lines)
		<-done
	})
	return data, err
}

func FuzzAnswerOverTCP(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 7, 1, 3, 4, 1, 2, 3, 4})
	f.Add([]byte{0, 9, 0, 0, 0, 7, 1, 3, 4, 1, 2, 3, 4, 0, 1, 0, 0, 0, 3, 1, 0x83, 2})
	f.Add([]byte{0, 1, 0, 0, 0, 2, 1, 3})
	f.Fuzz(func(t *testing.T, answer []byte) {
		data, err := answerWith(t, "tcp://site", answer)
		if err == nil && (len(data) != 4 || len(answer) < 13) {
			t.Errorf("% x was taken for % x", answer, data)
		}
	})
}

func FuzzAnswerOverRTU(f *testing.F) {
	f.Add([]byte{1, 3, 4, 0, 6, 0, 5, 0xDA, 0x31})
	f.Add([]byte{1, 0x83, 2, 0xC0, 0xF1})
	f.Add([]byte{0, 1, 3, 4, 0, 6, 0, 5, 0xDA, 0x31, 0})
	f.Add([]byte{2, 3, 4, 0, 6, 0, 5, 0xE9, 0x31, 1, 3, 2, 0, 0, 0xB8, 0x44})
	f.Fuzz(func(t *testing.T, answer []byte) {
		data, err := answerWith(t, "rtu:///dev/x", answer)
		if err != nil {
			return
		}
		want := append([]byte{1, 3, 4}, data...)
		crc := crc16(want)
		want = append(want, byte(crc), byte(crc>>8))
		if start, end := findAnswer(rtu{}, answer, Request{1, Holding, 16, 2}); len(data) != 4 || string(answer[start:end]) != string(want) {
			t.Errorf("% x was taken for % x", answer, data)
		}
	})
}

// FuzzWhatFollowsAnAnswer has a line answer anything once, as it is or in a right envelope, and then as it should:
// nothing but that one answer may be spoilt.
func FuzzWhatFollowsAnAnswer(f *testing.F) {
	f.Add(byte(0), true, []byte{3, 4, 1, 2, 3, 4})
	f.Add(byte(1), true, []byte{0x83, 2})
	f.Add(byte(2), false, []byte{1, 3, 4, 0, 6, 0, 5, 0xDA, 0x31, 1, 3, 4})
	f.Add(byte(3), true, []byte{3, 200, 0})
	f.Fuzz(func(t *testing.T, kind byte, sealed bool, answer []byte) {
		l := linetest.Wires[int(kind)%len(linetest.Wires)]
		if l.Envelope == linetest.InTCP && !sealed || len(answer) > 250 {
			return // it could carry the number of a request to come
		}
		var said []byte
		once := linetest.Spoiling{Do: func(w *linetest.Witness, q linetest.Asked, _ []byte) []linetest.Piece {
			if said = answer; sealed {
				said = w.Envelope.Answer(q, answer)
			}
			return linetest.Soon(said)
		}}
		c := trial{Wire: l, Sequence: linetest.Sequence{Spoilings: []linetest.Spoiling{once}, First: 12, Times: 1}, beat: time.Second, timeouts: unequal, itsWord: true}
		for _, fault := range c.run(t).faults {
			t.Errorf("%s after % x: %s", c.URL, said, fault)
		}
	})
}

func FuzzEndpoint(f *testing.F) {
	f.Add("tcp://10.0.0.1")
	f.Add("rtu:///dev/ttyS0?baud=9600&data=8&parity=N&stop=2")
	f.Add("rtu+tcp://[fe80::1]:4001?parity=even")
	f.Fuzz(func(t *testing.T, url string) {
		at, err := ParseEndpoint(url)
		if err != nil || strings.ContainsAny(at.Place, "%?#\"<>^`{}|\\ ") || strings.ContainsFunc(at.Place, func(c rune) bool { return c <= ' ' || c > '~' }) {
			return // a place that would have to be escaped
		}
		again, err := ParseEndpoint(at.String())
		if err != nil || again != at {
			t.Errorf("%q is %q, which is %+v (%v) and not %+v", url, at, again, err, at)
		}
	})
}
