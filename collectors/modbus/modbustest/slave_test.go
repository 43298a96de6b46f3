package modbustest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// Frames as they stand in the standards and in manuals, and their answers from a bank with a few values.
var exchanges = []struct {
	name             string
	framing          Framing
	request, respond []byte
}{
	{"registers over RTU", RTU, []byte{0x01, 0x03, 0x00, 0x00, 0x00, 0x02, 0xC4, 0x0B}, []byte{0x01, 0x03, 0x04, 0x00, 0x06, 0x00, 0x05, 0xDA, 0x31}},
	{"an address that is not there", RTU, []byte{0x01, 0x04, 0x00, 0x09, 0x00, 0x01, 0xE1, 0xC8}, []byte{0x01, 0x84, 0x02, 0xC2, 0xC1}},
	{"registers over ASCII", ASCII, []byte(":010300000002FA\r\n"), []byte(":01030400060005ED\r\n")},
	{"an address that is not there, over ASCII", ASCII, []byte(":010400090001f1\r\n"), []byte(":01840279\r\n")},
	{"registers over TCP", TCP, []byte{0x15, 0x01, 0, 0, 0, 6, 1, 3, 0, 0, 0, 2}, []byte{0x15, 0x01, 0, 0, 0, 7, 1, 3, 4, 0, 6, 0, 5}},
	{"coils", TCP, []byte{0, 1, 0, 0, 0, 6, 1, 1, 0, 0, 0, 10}, []byte{0, 1, 0, 0, 0, 5, 1, 1, 2, 0x05, 0x02}},
	{"a write", TCP, []byte{0, 2, 0, 0, 0, 6, 1, 6, 0, 0, 0, 10}, []byte{0, 2, 0, 0, 0, 3, 1, 0x86, 1}},
	{"too many at once", TCP, []byte{0, 3, 0, 0, 0, 6, 1, 3, 0, 0, 0, 126}, []byte{0, 3, 0, 0, 0, 3, 1, 0x83, 3}},
}

func TestAnswersAreTheStandards(t *testing.T) {
	for _, x := range exchanges {
		synctest.Test(t, func(t *testing.T) {
			s := NewSlave()
			bank := s.Unit(1)
			bank.Strict(true)
			bank.Set(Holding, 0, 6, 5)
			for i := range uint16(10) {
				bank.SetBit(Coil, i, i == 0 || i == 2 || i == 9)
			}
			near, far := Pipe()
			ended := make(chan error, 1)
			go func() { ended <- s.ServeStream(t.Context(), far, x.framing) }()
			if got := converse(t, near, x.request); !bytes.Equal(got, x.respond) {
				t.Errorf("%s: % X, want % X", x.name, got, x.respond)
			}
			if err := near.Close(); err != nil {
				t.Error(err)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// converse sends bytes and returns what has come within a second.
func converse(t *testing.T, s *End, request []byte) []byte {
	t.Helper()
	if _, err := s.Write(request); err != nil {
		t.Fatal(err)
	}
	if err := s.SetDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(s)
	if !errors.Is(err, os.ErrDeadlineExceeded) && err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAnUnknownUnitIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlave()
		s.Unit(2)
		near, far := Pipe()
		go func() { _ = s.ServeStream(t.Context(), far, RTU) }()
		if got := converse(t, near, exchanges[0].request); len(got) != 0 || s.Requests(1) != 1 {
			t.Errorf("% X after %d requests", got, s.Requests(1))
		}
	})
}

func TestAFrozenBankKeepsWhatItHeld(t *testing.T) {
	b := newBank()
	b.Set(Input, 5, 1)
	b.Freeze(true)
	b.Set(Input, 5, 2)
	if data, _ := b.read(Input, 5, 1); data[1] != 1 || b.Get(Input, 5) != 2 {
		t.Errorf("% X while frozen", data)
	}
	b.Freeze(false)
	if data, _ := b.read(Input, 5, 1); data[1] != 2 {
		t.Errorf("% X after it was let go", data)
	}
}

func TestWords(t *testing.T) {
	for o, want := range map[Order][]uint16{ABCD: {0x0102, 0x0304}, CDAB: {0x0304, 0x0102}, BADC: {0x0201, 0x0403}, DCBA: {0x0403, 0x0201}} {
		if got := Words([]byte{1, 2, 3, 4}, o); got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s: %04X, want %04X", o, got, want)
		}
	}
}

func TestAServerEndsWithItsConnections(t *testing.T) {
	server, err := NewSlave().Start("127.0.0.1:0", TCP)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
}

func TestFaultsApplyWhereTheySay(t *testing.T) {
	f := &active{Fault: Fault{Unit: 2, From: 10, To: 11, Skip: 1, Times: 2}}
	for i, tt := range []struct {
		r    request
		want bool
	}{
		{request{unit: 1, address: 10, quantity: 1}, false}, {request{unit: 2, address: 8, quantity: 2}, false}, {request{unit: 2, address: 12, quantity: 9}, false},
		{request{unit: 2, address: 9, quantity: 2}, false}, {request{unit: 2, address: 11, quantity: 5}, true}, {request{unit: 2, address: 0, quantity: 99}, true},
		{request{unit: 2, address: 10, quantity: 1}, false},
	} {
		if got := f.meets(tt.r); got != tt.want {
			t.Errorf("request %d: %t, want %t", i, got, tt.want)
		}
	}
}
