package modbus

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// TestAUnitThatHasNotAnsweredYetIsSilent: exception 2 would tell a second master that there is no such register.
func TestAUnitThatHasNotAnsweredYetIsSilent(t *testing.T) {
	d, err := newDevice(&line.Lines{}, Device{Name: "d", URL: "tcp://site", Share: "127.0.0.1:1502", Points: []Point{holding("a", 5), holding("b", 900)}})
	if err != nil {
		t.Fatal(err)
	}
	for pdu, want := range map[string]byte{"\x03\x00\x05\x00\x01": 11, "\x03\x03\x84\x00\x01": 11, "\x03\x00\x64\x00\x01": 2, "\x04\x00\x05\x00\x01": 2} {
		if got := d.cache.answer([]byte(pdu), time.Now()); !bytes.Equal(got, []byte{pdu[0] | 0x80, want}) {
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
			lines := pipeLines(t, only(slave))
			defer closeLines(t, lines)
			changed := &change{after: 1, do: func() { slave.Unit(1).Set(modbustest.Holding, 5, level) }}
			lines.Dial = changed.under(lines.Dial)
			twice := func(p *Point) { p.Verify = "twice" }
			d, err := newDevice(lines, Device{Name: "d", URL: "rtu+tcp://site:4001", Share: "127.0.0.1:1502", Points: []Point{holding("level", 5, twice), holding("other", 20)}})
			if err != nil {
				t.Fatal(err)
			}
			returnBatch(d.read(t.Context()).batch)
			if got := d.cache.answer([]byte{3, 0, 5, 0, 1}, time.Now()); !bytes.Equal(got, want) {
				t.Errorf("first 100, then %d: % x, want % x", level, got, want)
			}
			if got := d.cache.answer([]byte{3, 0, 20, 0, 1}, time.Now()); got[0] != 3 {
				t.Errorf("the point that is read once: % x", got)
			}
		})
	}
}
