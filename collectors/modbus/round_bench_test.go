package modbus

import (
	"fmt"
	"testing"

	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/modbustest"
)

// BenchmarkPollOf100Registers is one round of a device with 100 registers over a loopback socket, both ends on
// this machine.
func BenchmarkPollOf100Registers(b *testing.B) {
	slave := modbustest.NewSlave()
	slave.Unit(1)
	server, err := slave.Start("127.0.0.1:0", modbustest.TCP)
	if err != nil {
		b.Fatal(err)
	}
	lines := &line.Lines{}
	options := Device{Name: "d", URL: "tcp://" + server.Addr}
	for a := range 100 {
		options.Points = append(options.Points, holding(fmt.Sprint(a), a))
	}
	d, err := newDevice(lines, options)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := d.newRound().run(b.Context())
		if s.lastError != nil {
			b.Fatal(s.lastError)
		}
		s.giveBack()
		returnRound(s)
	}
	b.ReportMetric(float64(100*b.N)/b.Elapsed().Seconds(), "registers/s")
	if err := lines.Close(); err != nil {
		b.Error(err)
	}
	if err := server.Close(); err != nil {
		b.Error(err)
	}
}
