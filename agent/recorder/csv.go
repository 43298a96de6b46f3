package recorder

import (
	"math"
	"strconv"
)

// CSVHeader is the first line of a recording, as backtest reads it.
const CSVHeader = "ts,mono_s,boot,point,value,quality\n"

// CSV writes rows as a recording has them: the form that backtest reads.
type CSV struct {
	Text []byte // whole lines, without the header
	boot int64  // of the last row, as the recorder has it
	runs int64  // of the program that have been seen
}

// Add writes a row. A recorded box's boot count is told as it was recorded; runs of this program, which the recorder
// knows by when they began, are counted from 1.
func (c *CSV) Add(r Row) {
	if r.Boot != c.boot {
		c.boot = r.Boot
		c.runs++
	}
	boot := c.runs
	if r.Boot > 0 && r.Boot <= math.MaxInt32 {
		boot = r.Boot - 1
	}
	b := r.At.AppendFormat(c.Text, "2006-01-02T15:04:05.999999Z07:00")
	b = append(b, ',')
	b = strconv.AppendFloat(b, r.Mono.Seconds(), 'f', -1, 64)
	b = append(b, ',')
	b = strconv.AppendInt(b, boot, 10)
	b = append(b, ',')
	b = append(b, r.Point...)
	b = append(b, ',')
	b = strconv.AppendFloat(b, r.Value, 'g', -1, 64)
	b = append(b, ',')
	b = append(b, r.Quality.String()...)
	c.Text = append(b, '\n')
}
