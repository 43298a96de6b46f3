package modbus

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// shared polls two units of a slave for a second master, and returns the slave, the address to ask and the host.
func shared(t *testing.T, prepare func(a, b *modbustest.Bank)) (*modbustest.Slave, string, *collectorstest.Host) {
	t.Helper()
	slave := modbustest.NewSlave()
	prepare(slave.Unit(1), slave.Unit(7))
	address := "127.0.0.1:" + freePort(t)
	url := "tcp://" + startTCP(t, slave)
	host := &collectorstest.Host{}
	points := []Point{
		{Name: "level", Holding: new(100), Type: "float32"}, {Name: "top", Holding: new(104)}, {Name: "raw", Input: new(20)},
		{Name: "valve", Discrete: new(12)}, {Name: "pump", Coil: new(3)},
	}
	s := runSite(t, &line.Lines{}, host,
		Device{Name: "plc", URL: url, Every: 20 * time.Millisecond, Timeout: time.Second, Share: address, Points: points},
		Device{Name: "far", URL: url, Unit: new(7), Every: 20 * time.Millisecond, Timeout: time.Second, Share: address,
			Points: []Point{holding("a", 5), holding("b", 9)}},
	)
	t.Cleanup(s.stop)
	ctx, cancel := context.WithTimeout(t.Context(), linetest.Patience)
	defer cancel()
	if !host.Await(ctx, func() bool { return len(host.Batches()) > 8 }) {
		t.Fatal("no polls")
	}
	return slave, address, host
}

func startTCP(t *testing.T, slave *modbustest.Slave) string {
	t.Helper()
	server, err := slave.Start("127.0.0.1:0", modbustest.TCP)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.Addr
}

func plc(a, b *modbustest.Bank) {
	a.Set(modbustest.Holding, 100, 0x432B, 0x4000, 0x1234, 0x5678, 685)
	a.Set(modbustest.Input, 20, 4711)
	a.SetBit(modbustest.Discrete, 12, true)
	a.SetBit(modbustest.Coil, 3, true)
	b.Strict(true)
	b.Set(modbustest.Holding, 5, 55)
}

func TestASecondMasterReadsWhatGaugerRead(t *testing.T) {
	_, address, _ := shared(t, plc)
	lines := &line.Lines{}
	defer closeLines(t, lines)
	second := openLine(t, lines, "tcp://"+address)
	ask := func(unit byte, table line.Table, from, count uint16) ([]byte, error) {
		return second.Read(t.Context(), line.Request{Unit: unit, Table: table, Address: from, Quantity: count}, time.Second)
	}
	for _, tt := range []struct {
		unit        byte
		table       line.Table
		from, count uint16
		want        []byte
		code        byte
	}{
		{1, line.Holding, 100, 2, []byte{0x43, 0x2B, 0x40, 0}, 0},
		{1, line.Holding, 100, 5, []byte{0x43, 0x2B, 0x40, 0, 0x12, 0x34, 0x56, 0x78, 2, 0xAD}, 0}, // the gap that the plan reads through, too
		{1, line.Holding, 104, 1, []byte{2, 0xAD}, 0},
		{1, line.Input, 20, 1, []byte{0x12, 0x67}, 0},
		{1, line.Discrete, 12, 1, []byte{1}, 0},
		{1, line.Coil, 3, 1, []byte{1}, 0},
		{1, line.Holding, 104, 2, nil, 2}, // nobody reads 105
		{1, line.Input, 21, 1, nil, 2},
		{7, line.Holding, 5, 1, []byte{0, 55}, 0},
		{7, line.Holding, 9, 1, nil, 2}, // the unit itself refuses it
		{9, line.Holding, 5, 1, nil, 11},
	} {
		got, err := ask(tt.unit, tt.table, tt.from, tt.count)
		refusal, _ := errors.AsType[*line.Exception](err)
		if !bytes.Equal(got, tt.want) || (refusal != nil) != (tt.code != 0) || refusal != nil && refusal.Code != tt.code {
			t.Errorf("unit %d, %s %d, %d: % x, %v; want % x, exception %d", tt.unit, tt.table, tt.from, tt.count, got, err, tt.want, tt.code)
		}
	}
}

// TestMbpollReadsASharedDevice lets a master that was not written here look.
func TestMbpollReadsASharedDevice(t *testing.T) {
	mbpoll := needs(t, "mbpoll", "install mbpoll")
	slave, address, host := shared(t, plc)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-a", "1", "-r", "104", "-t", "4"}, "[104]: \t685"},
		{[]string{"-a", "1", "-r", "100", "-t", "4:float", "-B"}, "[100]: \t171.25"},
		{[]string{"-a", "1", "-r", "20", "-t", "3"}, "[20]: \t4711"},
		{[]string{"-a", "1", "-r", "12", "-t", "1"}, "[12]: \t1"},
		{[]string{"-a", "1", "-r", "3", "-t", "0"}, "[3]: \t1"},
		{[]string{"-a", "7", "-r", "5", "-t", "4"}, "[5]: \t55"},
		{[]string{"-a", "7", "-r", "9", "-t", "4"}, "Illegal data address"},
	} {
		args := append([]string{"-m", "tcp", "-p", port, "-0", "-1", "-c", "1"}, append(tt.args, "127.0.0.1")...)
		out, _ := exec.CommandContext(t.Context(), mbpoll, args...).CombinedOutput() // what it says decides
		if !strings.Contains(string(out), tt.want) {
			t.Errorf("mbpoll %s: want %q in\n%s", strings.Join(tt.args, " "), tt.want, out)
		}
	}
	write := []string{"-m", "tcp", "-p", port, "-0", "-1", "-a", "1", "-r", "104", "-t", "4", "127.0.0.1", "7"}
	if out, _ := exec.CommandContext(t.Context(), mbpoll, write...).CombinedOutput(); !strings.Contains(string(out), "Illegal function") {
		t.Errorf("a write was answered with\n%s", out)
	}
	if slave.Unit(1).Get(modbustest.Holding, 104) != 685 || len(host.Notices()) > 0 {
		t.Errorf("register %d, notices %+v", slave.Unit(1).Get(modbustest.Holding, 104), host.Notices())
	}
}

func TestOldAnswersAreNotServed(t *testing.T) {
	start := time.Now()
	s := newCache("127.0.0.1:1502", &device{unit: 1, every: 10 * time.Second, timeout: time.Second})
	s.storeAnswer(line.Span{Table: line.Holding, From: 10, Count: 2}, []byte{0, 1, 0, 2})
	s.storeRefusal(block{Span: line.Span{Table: line.Holding, From: 12, Count: 1}, spans: 1}, &line.Exception{Function: 3, Code: 2})
	s.storeRefusal(block{Span: line.Span{Table: line.Holding, From: 14, Count: 3}, spans: 2}, &line.Exception{Function: 3, Code: 2}) // only one of two places is at fault
	s.storeRefusal(block{Span: line.Span{Table: line.Holding, From: 10, Count: 1}, spans: 1}, &line.Exception{Function: 3, Code: 6}) // busy is no refusal of the place
	ask := func(from, count byte, after time.Duration) []byte {
		return s.answer([]byte{3, 0, from, 0, count}, start.Add(after))
	}
	for _, tt := range []struct {
		from, count byte
		after       time.Duration
		want        []byte
	}{
		{10, 2, 20 * time.Second, []byte{3, 4, 0, 1, 0, 2}}, {11, 1, 20 * time.Second, []byte{3, 2, 0, 2}},
		{10, 2, 22 * time.Second, []byte{0x83, 11}}, {12, 1, time.Second, []byte{0x83, 2}}, {11, 2, time.Second, []byte{0x83, 2}},
		{14, 1, time.Second, []byte{0x83, 2}}, {10, 0, 0, []byte{0x83, 3}}, {10, 126, 0, []byte{0x83, 3}},
	} {
		if got := ask(tt.from, tt.count, tt.after); !bytes.Equal(got, tt.want) {
			t.Errorf("%d registers from %d after %s: % x, want % x", tt.count, tt.from, tt.after, got, tt.want)
		}
	}
	for _, pdu := range [][]byte{{6, 0, 10, 0, 1}, {16, 0, 10, 0, 1, 2, 0, 0}, {5, 0, 1, 0xFF, 0}, {43, 14, 1, 0}, {0}} {
		if got := s.answer(pdu, start); !bytes.Equal(got, []byte{pdu[0] | 0x80, 1}) {
			t.Errorf("function %d: % x, want exception 1", pdu[0], got)
		}
	}
	s.storeAnswer(line.Span{Table: line.EnronHolding, From: 7000, Count: 2}, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	if got := s.answer([]byte{3, 0x1B, 0x59, 0, 1}, start); !bytes.Equal(got, []byte{3, 4, 5, 6, 7, 8}) {
		t.Errorf("an Enron value: % x", got)
	}
}

func TestASharedAddressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &masterServer{address: "x:1", caches: map[byte]*cache{}}
		for name, sends := range map[string][]byte{
			"nothing": nil, "half a request": {0, 1, 0, 0, 0, 6, 1}, "no Modbus": []byte("GET / HTTP/1.1\r\n\r\n"), "a length of nothing": {0, 1, 0, 0, 0, 1, 1, 3},
		} {
			near, far := net.Pipe()
			start, ended := time.Now(), make(chan bool)
			go func() {
				s.answerMaster(t.Context(), far)
				close(ended)
			}()
			if len(sends) > 0 {
				_, _ = near.Write(sends) // it may be closed before it has all
			}
			<-ended
			if _, err := near.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v, want the end of the connection", name, err)
			}
			if took := time.Since(start); took > idleTimeout {
				t.Errorf("%s: closed after %s", name, took)
			}
		}
	})
}

func TestSeatsAtASharedAddressAreFew(t *testing.T) {
	_, address, _ := shared(t, plc)
	var guests []net.Conn
	for range maxMasters {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		guests = append(guests, conn)
	}
	request := []byte{0, 9, 0, 0, 0, 6, 1, 3, 0, 104, 0, 1}
	ask := func(conn net.Conn) ([]byte, error) {
		if err := errors.Join(conn.SetDeadline(time.Now().Add(linetest.Patience)), func() error { _, err := conn.Write(request); return err }()); err != nil {
			return nil, err
		}
		answer := make([]byte, 11)
		_, err := io.ReadFull(conn, answer)
		return answer, err
	}
	for _, conn := range guests {
		if got, err := ask(conn); err != nil || !slices.Equal(got, []byte{0, 9, 0, 0, 0, 5, 1, 3, 2, 2, 0xAD}) {
			t.Fatalf("% x, %v", got, err)
		}
	}
	late, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if _, err := ask(late); err == nil {
		t.Error("one more was let in")
	}
	guests[0].Close()
	linetest.Eventually(t, "a seat that became free", func() error {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = ask(conn)
		return err
	})
}

func TestAnAddressInUseIsANotice(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := &masterServer{address: taken.Addr().String()}
	host := &collectorstest.Host{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, host) }()
	patient, done := context.WithTimeout(t.Context(), linetest.Patience)
	defer done()
	if !host.Await(patient, func() bool { return len(host.Notices()) > 0 }) {
		t.Fatal("nobody was told")
	}
	if n := host.Notices()[0]; n.Rule != "share-down" || !strings.Contains(n.Note, "in use") || !n.Until.IsZero() {
		t.Errorf("%+v", n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
