package modbus

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// enronSlave has floats at 7001 to 7007, whole numbers from 5001 on, and ordinary registers at some of the same
// addresses, on a unit of its own.
func enronSlave() *modbustest.Slave {
	slave := modbustest.NewSlave()
	for i := range 70 {
		slave.Unit(1).SetEnron(modbustest.Holding, uint16(7001+i), math.Float32bits(float32(i)+0.5))
	}
	slave.Unit(1).SetEnron(modbustest.Input, 5001, 100_000, ^uint32(0))
	slave.Unit(1).Set(modbustest.Holding, 3001, 17)
	slave.Unit(2).SetFloat32(modbustest.Holding, 7001, 88.5, modbustest.ABCD)
	return slave
}

func TestSevenValuesAreTwentyEightBytes(t *testing.T) {
	for _, url := range linetest.MemoryURLs {
		synctest.Test(t, func(t *testing.T) {
			lines := pipeLines(t, linetest.Only(enronSlave()))
			defer linetest.Close(t, lines)
			data, err := linetest.Open(t, lines, url).Read(t.Context(), line.Request{Unit: 1, Table: line.EnronHolding, Address: 7001, Quantity: 7}, time.Second)
			if err != nil || len(data) != 28 {
				t.Fatalf("%s: % x, %v", url, data, err)
			}
			for i := range 7 {
				if v := math.Float32frombits(binary.BigEndian.Uint32(data[4*i:])); v != float32(i)+0.5 {
					t.Errorf("%s: value %d is %v", url, i, v)
				}
			}
		})
	}
}

// TestAnEnronDeviceBesideOrdinaryPoints reads both numberings from one unit, each in requests of its own.
func TestAnEnronDeviceBesideOrdinaryPoints(t *testing.T) {
	d := Device{Name: "d", Enron: true, Points: []Point{
		holding("a", 7001, typed("float32", "")), holding("c", 7003, typed("float32", "")), holding("word", 3001),
		{Name: "total", Input: new(5001), Type: "uint32"}, {Name: "minus", Input: new(5002), Type: "int32"},
	}}
	want := map[collectors.Point]float64{"d/a": 0.5, "d/c": 2.5, "d/word": 17, "d/total": 100_000, "d/minus": -1}
	for _, url := range linetest.MemoryURLs {
		synctest.Test(t, func(t *testing.T) {
			slave := enronSlave()
			lines := pipeLines(t, linetest.Only(slave))
			defer linetest.Close(t, lines)
			d.URL = url
			for p, r := range readings(t, lines, d) {
				if r.Quality != collectors.Good || r.Value != want[p] {
					t.Errorf("%s, %s: %v (%v), want %v", url, p, r.Value, r.Err, want[p])
				}
			}
			if n := slave.Requests(1); n != 3 {
				t.Errorf("%s: %d requests, want one for the floats, one for the totals, one for the word", url, n)
			}
		})
	}
}

func TestAPointOverridesItsDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := pipeLines(t, linetest.Only(enronSlave()))
		defer linetest.Close(t, lines)
		ordinary := Device{Name: "o", URL: "tcp://site", Unit: new(2), Enron: true, Points: []Point{holding("p", 7001, typed("float32", ""), func(p *Point) { p.Enron = new(false) })}}
		if r := readings(t, lines, ordinary)["o/p"]; r.Value != 88.5 {
			t.Errorf("two registers of an Enron device: %+v", r)
		}
		one := Device{Name: "e", URL: "tcp://site", Points: []Point{holding("p", 7002, typed("float32", ""), func(p *Point) { p.Enron = new(true) })}}
		if r := readings(t, lines, one)["e/p"]; r.Value != 1.5 {
			t.Errorf("one address of 32 bits: %+v", r)
		}
	})
}

func TestTheOrderAppliesWithinTheFourBytes(t *testing.T) {
	for order, raw := range map[string]uint32{"ABCD": 0x42F68000, "CDAB": 0x800042F6, "BADC": 0xF6420080, "DCBA": 0x0080F642} {
		synctest.Test(t, func(t *testing.T) {
			slave := modbustest.NewSlave()
			slave.Unit(1).SetEnron(modbustest.Holding, 65535, raw)
			lines := pipeLines(t, linetest.Only(slave))
			defer linetest.Close(t, lines)
			d := Device{Name: "d", URL: "rtu+tcp://site:1", Enron: true, Points: []Point{holding("p", 65535, typed("float32", order))}}
			if r := readings(t, lines, d)["d/p"]; r.Value != 123.25 {
				t.Errorf("%s: %v (%v)", order, r.Value, r.Err)
			}
		})
	}
}

func TestAtMost62ValuesInARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := enronSlave()
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		d := Device{Name: "d", URL: "tcp://site", Enron: true}
		for i := range 70 {
			d.Points = append(d.Points, holding(fmt.Sprint(i), 7001+i, typed("float32", "")))
		}
		for p, r := range readings(t, lines, d) {
			if want := fmt.Sprintf("d/%v", r.Value-0.5); string(p) != want {
				t.Errorf("%s is %v (%v)", p, r.Value, r.Err)
			}
		}
		if n := slave.Requests(1); n != 2 {
			t.Errorf("%d requests for 70 values, want 2", n)
		}
		if _, err := linetest.Open(t, lines, "tcp://site").Read(t.Context(), line.Request{Unit: 1, Table: line.EnronHolding, Address: 7001, Quantity: 63}, time.Second); err == nil {
			t.Error("63 values were asked for")
		}
	})
}

// TestALateEnronAnswerIsNoOrdinaryOne: one value of Enron's is as long as two registers.
func TestALateEnronAnswerIsNoOrdinaryOne(t *testing.T) {
	for _, url := range []string{linetest.SerialURL, "rtu+tcp://site:4001", linetest.ASCIIURL} {
		for delay := 900; delay < 4000; delay += 50 {
			synctest.Test(t, func(t *testing.T) {
				slave := enronSlave()
				slave.SetFaults(modbustest.Fault{Delay: time.Duration(delay) * time.Millisecond, Times: 1})
				slave.Unit(1).Set(modbustest.Holding, 100, 1, 2)
				lines := pipeLines(t, linetest.Only(slave))
				defer linetest.Close(t, lines)
				l := linetest.Open(t, lines, url)
				_, _ = l.Read(t.Context(), line.Request{Unit: 1, Table: line.EnronHolding, Address: 7001, Quantity: 1}, time.Second) // late, or just in time
				for range 4 {
					if data, err := l.Read(t.Context(), line.Request{Unit: 1, Table: line.Holding, Address: 100, Quantity: 2}, time.Second); err == nil && binary.BigEndian.Uint32(data) != 0x10002 {
						t.Errorf("%s, %d ms late: % x", url, delay, data)
					}
				}
			})
		}
	}
}

func TestAnEnronDeviceOverTLSIsReadToo(t *testing.T) {
	slave := modbustest.NewSlave()
	slave.Unit(1).SetEnron(modbustest.Holding, 7001, 0x42F68000)
	lines := &line.Lines{}
	defer linetest.Close(t, lines)
	d := Device{Name: "d", URL: linetest.TLSSlave(t, slave), Enron: true, Points: []Point{holding("p", 7001, typed("float32", ""))}}
	if r := readings(t, lines, d)["d/p"]; r.Quality != collectors.Good || r.Value != 123.25 {
		t.Errorf("%+v", r)
	}
}
