package host

import (
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
)

func TestIsACollector(t *testing.T) {
	collectorstest.Run(t, collectorstest.Subject{
		New: func(t *testing.T) collectors.Collector {
			b, err := newBox(Device{Name: "rtu", Host: "self", Every: 5 * time.Millisecond, Points: []Point{
				{Name: "disk", Read: "disk_free_percent"},
				{Name: "memory", Read: "memory_available_mib"},
				{Name: "gone", Read: "disk_free_mib", Path: "/elsewhere"},
			}}, board("board"))
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		Live:   []collectors.Point{"rtu/disk", "rtu/memory"},
		Absent: []collectors.Point{"rtu/gone"},
		Source: "rtu/gone",
	})
}
