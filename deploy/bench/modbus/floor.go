package main

import (
	"encoding/binary"
	"strings"
	"time"

	goburrow "github.com/goburrow/modbus"
)

// floor is the least program that polls the same load with the library that gauger is bound to: no configuration,
// no checks, no names. It is the yardstick within one run, since times on a shared machine mean nothing alone.
type floor struct {
	counts pollCounts
	opened pollReport
}

// startFloor polls until the process ends, one connection and one goroutine to a device.
func startFloor(l load) (worker, any, error) {
	f := &floor{}
	for n := range len(l.URLs) * l.Units {
		address := strings.TrimPrefix(l.URLs[n/l.Units], "tcp://")
		if l.Dial != "" {
			address = l.Dial
		}
		handler := goburrow.NewTCPClientHandler(address)
		handler.SlaveId, handler.Timeout = byte(1+n%l.Units), l.Timeout
		go f.poll(goburrow.NewClient(handler), uint16(l.first(n)), uint16(l.Registers), l.Every)
	}
	return f, struct{}{}, nil
}

func (f *floor) poll(client goburrow.Client, first, registers uint16, every time.Duration) {
	values := make([]float64, registers)
	beat := time.Tick(every)
	for {
		data, err := client.ReadHoldingRegisters(first, registers)
		if err != nil {
			f.counts.bad.Add(uint64(registers))
		} else {
			for i := range values {
				values[i] = float64(binary.BigEndian.Uint16(data[2*i:]))
			}
			f.counts.good.Add(uint64(registers))
		}
		f.counts.batches.Add(1)
		<-beat
	}
}

func (f *floor) open() any {
	f.opened = f.counts.read()
	return struct{}{}
}

func (f *floor) report() any { return f.counts.read().since(f.opened) }
