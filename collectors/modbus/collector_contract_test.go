package modbus

import (
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

func TestTheContractOfACollector(t *testing.T) {
	for name, start := range linetest.Transports {
		t.Run(name, func(t *testing.T) {
			collectorstest.Run(t, collectorstest.Subject{
				New: func(t *testing.T) collectors.Collector {
					slave := modbustest.NewSlave()
					slave.Unit(1).Set(modbustest.Holding, 0, 7, 8)
					return liveAndAbsent(t, start(t, slave))
				},
				Live:   []collectors.Point{"live/a", "live/b", "live/c"},
				Absent: []collectors.Point{"away/a", "away/b"}, Source: "away",
			})
		})
	}
}

func liveAndAbsent(t *testing.T, url string) collectors.Collector {
	lines := &line.Lines{}
	t.Cleanup(func() { linetest.Close(t, lines) })
	all, err := New(lines, []Device{
		{Name: "live", URL: url, Every: 20 * time.Millisecond, Timeout: 200 * time.Millisecond,
			Points: []Point{holding("a", 0), holding("b", 1), {Name: "c", Coil: new(3)}}},
		{Name: "away", URL: url, Unit: new(9), Every: 20 * time.Millisecond, Timeout: 20 * time.Millisecond,
			Points: []Point{holding("a", 0), {Name: "b", Input: new(1)}}},
	})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d collectors (%v), want one for the line", len(all), err)
	}
	return all[0]
}
