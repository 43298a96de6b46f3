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

	"gauger/collectors/addresstest"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
	"gauger/collectors/modbus/share"
)

// shared polls two units of a slave for a second master, and returns the slave, the address to ask and the host.
func shared(t *testing.T, prepare func(a, b *modbustest.Bank)) (*modbustest.Slave, string, *collectorstest.Host) {
	t.Helper()
	slave := modbustest.NewSlave()
	prepare(slave.Unit(1), slave.Unit(7))
	address := addresstest.New(t)
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
	defer linetest.Close(t, lines)
	second := linetest.Open(t, lines, "tcp://"+address)
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

func TestSeatsAtASharedAddressAreFew(t *testing.T) {
	_, address, _ := shared(t, plc)
	var guests []net.Conn
	for range share.MaxMasters {
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

// TestAUnitThatHasNotAnsweredYetIsSilent: exception 2 would tell a second master that there is no such register.
func TestAUnitThatHasNotAnsweredYetIsSilent(t *testing.T) {
	d, err := newDevice(&line.Lines{}, Device{Name: "d", URL: "tcp://site", Share: "127.0.0.1:1502", Points: []Point{holding("a", 5), holding("b", 900)}})
	if err != nil {
		t.Fatal(err)
	}
	for pdu, want := range map[string]byte{"\x03\x00\x05\x00\x01": 11, "\x03\x03\x84\x00\x01": 11, "\x03\x00\x64\x00\x01": 2, "\x04\x00\x05\x00\x01": 2} {
		if got := d.cache.Answer([]byte(pdu), time.Now()); !bytes.Equal(got, []byte{pdu[0] | 0x80, want}) {
			t.Errorf("% x: % x, want exception %d", pdu, got, want)
		}
	}
}

// TestWhatTwoRequestsDoNotAgreeOnIsNotShared: nobody knows whose number it was.
func TestWhatTwoRequestsDoNotAgreeOnIsNotShared(t *testing.T) {
	for level, want := range map[uint16][]byte{100: {3, 2, 0, 100}, 12: {0x83, 11}} {
		synctest.Test(t, func(t *testing.T) {
			slave := linetest.NumberedSlave()
			slave.Unit(1).Set(modbustest.Holding, 5, 100)
			lines := pipeLines(t, linetest.Only(slave))
			defer linetest.Close(t, lines)
			changed := &change{after: 1, do: func() { slave.Unit(1).Set(modbustest.Holding, 5, level) }}
			lines.Dial = changed.under(lines.Dial)
			twice := func(p *Point) { p.Verify = "twice" }
			d, err := newDevice(lines, Device{Name: "d", URL: "rtu+tcp://site:4001", Share: "127.0.0.1:1502", Points: []Point{holding("level", 5, twice), holding("other", 20)}})
			if err != nil {
				t.Fatal(err)
			}
			returnBatch(d.newRound().run(t.Context()).batch)
			if got := d.cache.Answer([]byte{3, 0, 5, 0, 1}, time.Now()); !bytes.Equal(got, want) {
				t.Errorf("first 100, then %d: % x, want % x", level, got, want)
			}
			if got := d.cache.Answer([]byte{3, 0, 20, 0, 1}, time.Now()); got[0] != 3 {
				t.Errorf("the point that is read once: % x", got)
			}
		})
	}
}
