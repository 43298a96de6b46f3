package modbus

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/modbustest"
)

// answerWith asks for two registers on a line that answers with the given bytes, whatever they are.
func answerWith(t *testing.T, url string, answer []byte) (data []byte, err error) {
	synctest.Test(t, func(t *testing.T) {
		near, far := modbustest.Pipe()
		lines := &Lines{Dial: func(context.Context, string) (Stream, error) { return near, nil }}
		line := openLine(t, lines, url)
		done := make(chan struct{})
		go func() {
			defer close(done)
			var request [64]byte
			if _, err := far.Read(request[:]); err == nil {
				_, _ = far.Write(answer) // a line that has been closed meanwhile takes nothing
			}
		}()
		data, err = line.Read(t.Context(), Request{1, Holding, 16, 2}, time.Second)
		closeLines(t, lines)
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

func FuzzDeviceOptions(f *testing.F) {
	f.Add("tcp://10.0.0.1:502", "CDAB", "float32", 40001, 3)
	f.Add("rtu:///dev/ttyS0?baud=9600", "GHEFCDAB", "uint64", 400001, 0)
	f.Add("rtu+tcp://[::1]:4001", "", "string", 1, 125)
	f.Fuzz(func(t *testing.T, url, order, kind string, number, length int) {
		d := Device{Name: "d", URL: url, Order: order, Points: []Point{{Name: "p", Modicon: &number, Type: kind, Order: order, Length: length}}}
		if len(d.Check()) > 0 {
			return
		}
		points, err := compile(d)
		if err != nil {
			t.Fatalf("Check passes what cannot be compiled: %v", err)
		}
		p := points[0]
		if p.span().End() > 1<<16 || p.count < 1 || int(p.count) > p.table.MaxQuantity() {
			t.Fatalf("%+v", p.span())
		}
		if err := sound(p.decode(make([]byte, 2*p.count), testTime)); err != nil {
			t.Error(err)
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
		l := wraps[int(kind)%len(wraps)]
		if l.wrap == inTCP && !sealed || len(answer) > 250 {
			return // it could carry the number of a request to come
		}
		var said []byte
		once := spoiling{do: func(w *witness, q asked, _ []byte) []piece {
			if said = answer; sealed {
				said = w.wrap.answer(q, answer)
			}
			return soon(said)
		}}
		c := trial{url: l.url, wrap: l.wrap, spoils: []spoiling{once}, first: 12, times: 1, beat: time.Second, timeouts: unequal, itsWord: true}
		for _, fault := range c.run(t).faults {
			t.Errorf("%s after % x: %s", c.url, said, fault)
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

func FuzzRememberedHoles(f *testing.F) {
	f.Add([]byte(`[[0,17,1],[3,100,0]]`))
	f.Add([]byte(`[[0,-5,70000],[9,1,1]]`))
	f.Fuzz(func(t *testing.T, memory []byte) {
		d, err := newDevice(&Lines{}, Device{Name: "d", URL: "tcp://site", Points: []Point{holding("a", 0), holding("b", 9), holding("c", 65535)}})
		if err != nil {
			t.Fatal(err)
		}
		_ = d.loadHoles(memory) // whatever it says, a poll must ask for every point
		asked := map[uint16]bool{}
		for _, b := range d.blocks {
			if b.From < 0 || b.End() > 1<<16 || b.Count < 1 || b.Count > b.Table.MaxQuantity() {
				t.Fatalf("%s makes a request for %+v", memory, b.Span)
			}
			for _, p := range b.points {
				asked[p] = true
			}
		}
		if len(asked) != len(d.points) {
			t.Fatalf("%s leaves %d of %d points", memory, len(asked), len(d.points))
		}
	})
}
