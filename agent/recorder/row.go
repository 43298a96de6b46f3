package recorder

import (
	"time"

	"gauger/collectors"
)

// Row is one reading as it is kept. At and Mono are exact to the microsecond, Value to the bit.
type Row struct {
	At      time.Time     // the wall clock's, UTC when it was read from disk
	Mono    time.Duration // since Boot, on a clock that never steps
	Boot    int64         // names the run of the program (or the recorded box's boot) that Mono counts from
	Point   collectors.Point
	Value   float64 // in Unit; NaN where there was no number
	Unit    collectors.Unit
	Quality collectors.Quality
}

// within says whether the row lies in from <= At < to; a zero time is no bound.
func (r Row) within(from, to time.Time) bool {
	return (from.IsZero() || !r.At.Before(from)) && (to.IsZero() || r.At.Before(to))
}
