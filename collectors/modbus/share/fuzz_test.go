package share

import (
	"bytes"
	"net"
	"testing"
	"time"

	"gauger/collectors/modbus/line"
)

// told is a connection that has these bytes and no more.
type told struct {
	net.Conn
	*bytes.Reader
}

func (t told) Read(p []byte) (int, error)    { return t.Reader.Read(p) }
func (told) SetReadDeadline(time.Time) error { return nil }

// FuzzMasters gives any bytes for what another master asks: each whole request has an answer that fits into a frame and is of
// its function, and what is none ends the connection.
func FuzzMasters(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 6, 1, 3, 0, 10, 0, 2})
	f.Add([]byte{0, 1, 0, 0, 0, 6, 1, 1, 0, 0, 0xff, 0xff, 0, 2, 0, 0, 0, 2, 1, 43})
	f.Add([]byte{0, 1, 0, 0, 0, 254, 1, 3})
	cache := NewCache("127.0.0.1:1502", 1, time.Hour, nil)
	cache.StoreAnswer(line.Span{Table: line.Holding, From: 10, Count: 2}, []byte{0, 1, 0, 2})
	cache.StoreAnswer(line.Span{Table: line.Coil, From: 0, Count: 9}, []byte{0xff, 1})
	cache.StoreAnswer(line.Span{Table: line.EnronHolding, From: 7000, Count: 2}, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, said []byte) {
		from := told{Reader: bytes.NewReader(said)}
		for {
			request, err := readMBAPRequest(from)
			if err != nil {
				return
			}
			pdu := request[line.MBAPHeaderSize:]
			answer := cache.Answer(pdu, time.Now())
			if len(answer) < 2 || len(answer) >= line.MBAPMaxLength || answer[0]&0x7f != pdu[0]&0x7f {
				t.Fatalf("% x was answered with % x", request, answer)
			}
			if whole := appendMBAP(request, request[6], answer); !line.ValidMBAP(whole) {
				t.Fatalf("% x was answered with % x", request, whole)
			}
		}
	})
}
