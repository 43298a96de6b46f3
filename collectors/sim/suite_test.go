package sim

import (
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
)

func TestIsACollector(t *testing.T) {
	collectorstest.Run(t, collectorstest.Subject{
		New: func(t *testing.T) collectors.Collector {
			return recording(t, header+`
2026-03-02T07:00:00Z,100,0,rec/t1-level,120.5,good
2026-03-02T07:00:00Z,100,0,rec/t1-temperature,NaN,good
2026-03-02T07:00:10Z,110,0,rec/t1-level,NaN,bad
2026-03-02T07:00:10Z,110,0,rec/t1-temperature,68.1,bad
2026-03-02T07:00:20Z,120,0,rec/t1-level,120.4,uncertain
2026-03-02T07:00:20Z,120,0,rec/t1-temperature,+Inf,good
2026-03-02T07:00:30Z,130,0,rec/t1-level,120.3,good
2026-03-02T07:00:30Z,130,0,rec/t1-temperature,68.1,good
`)
		},
		Live:     []collectors.Point{"rec/t1-level", "rec/t1-temperature"},
		Patience: 10 * time.Second,
	})
}
