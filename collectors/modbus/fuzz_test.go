package modbus

import (
	"context"
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
		if p.span.to() > 1<<16 || p.span.count < 1 || p.span.count > p.span.table.most() {
			t.Fatalf("%+v", p.span)
		}
		if err := sound(p.decode(make([]byte, 2*p.span.count), testTime)); err != nil {
			t.Error(err)
		}
	})
}
