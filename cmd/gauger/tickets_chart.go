package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gauger/agent/tank"
)

const (
	chartWide = 64 // characters of the drawing itself
	chartHigh = 9
)

// glyphs are the characters that a chart is drawn with, and how many dots one has: braille eight, ASCII three heights.
type glyphs struct {
	side, edge, corner string
	line, tick, mark   rune
	across, down       int
}

var (
	boxGlyphs   = glyphs{side: " │", edge: " ┤", corner: "└", line: '─', tick: '┬', mark: '┊', across: 2, down: 4}
	plainGlyphs = glyphs{side: " |", edge: " +", corner: "+", line: '-', tick: '+', mark: '|', across: 1, down: 3}
)

// chart draws a level over time in a terminal.
type chart struct {
	at    []float64 // s after the start
	level []float64 // inches
	start time.Time
	end   float64 // s after the start
	zone  *time.Location
	plain bool // plain ASCII, for a terminal that shows nothing else
	glyphs

	low, high   float64 // inches at the edges of the drawing
	first, last float64 // s
	dots        [chartHigh][chartWide]uint8
}

// chartOf is the chart of a load; ok is false when no trend was kept with it.
func chartOf(l *tank.Load, zone *time.Location, plain bool) (c chart, ok bool) {
	if l.Trend == nil || len(l.Trend.Seconds) < 2 || len(l.Trend.Level) != len(l.Trend.Seconds) {
		return c, false
	}
	c = chart{start: l.Start, end: l.End.Sub(l.Start).Seconds(), zone: zone, plain: plain, glyphs: boxGlyphs}
	if plain {
		c.glyphs = plainGlyphs
	}
	for i, s := range l.Trend.Seconds {
		c.at, c.level = append(c.at, float64(s)), append(c.level, float64(l.Trend.Level[i])/100)
	}
	c.first, c.last = min(c.at[0], 0), max(c.at[len(c.at)-1], c.end)
	c.low, c.high = min(slices.Min(c.level), l.Close), max(slices.Max(c.level), l.Open)
	pad := max(0.03*(c.high-c.low), 0.5)
	c.low, c.high = c.low-pad, c.high+pad
	return c, c.last > c.first
}

func (c *chart) render() []string {
	c.draw()
	var out []string
	for row := range chartHigh {
		label, mark := "", c.side
		if row%4 == 0 {
			label, mark = gaugeText(c.high-(c.high-c.low)*(float64(row)+0.5)/chartHigh), c.edge
		}
		out = append(out, fmt.Sprintf("%9s%s%s", label, mark, strings.TrimRight(c.row(row), " ")))
	}
	axis, times := c.axis()
	return append(out, strings.Repeat(" ", 10)+axis, strings.TrimRight(strings.Repeat(" ", 11)+times, " "), c.caption())
}

// draw sets the dots: lines from one level to the next, and nothing where no reading came.
func (c *chart) draw() {
	apart := make([]float64, 0, len(c.at))
	for i := 1; i < len(c.at); i++ {
		apart = append(apart, c.at[i]-c.at[i-1])
	}
	slices.Sort(apart)
	far := max(4*apart[len(apart)/2], 2*(c.last-c.first)/chartWide)
	for i := range c.at {
		if i == 0 || c.at[i]-c.at[i-1] > far {
			c.drawLine(c.at[i], c.level[i], c.at[i], c.level[i])
			continue
		}
		c.drawLine(c.at[i-1], c.level[i-1], c.at[i], c.level[i])
	}
}

func (c *chart) drawLine(t0, v0, t1, v1 float64) {
	place := func(t, v float64) (x, y float64) {
		return (t - c.first) / (c.last - c.first) * float64(chartWide*c.across-1), (c.high - v) / (c.high - c.low) * float64(chartHigh*c.down-1)
	}
	x0, y0 := place(t0, v0)
	x1, y1 := place(t1, v1)
	steps := math.Ceil(max(math.Abs(x1-x0), math.Abs(y1-y0), 1))
	for i := 0.0; i <= steps; i++ {
		c.dot(int(math.Round(x0+(x1-x0)*i/steps)), int(math.Round(y0+(y1-y0)*i/steps)))
	}
}

// braille is the bit of each dot of a character, by column and row (U+2800).
var braille = [2][4]uint8{{1, 2, 4, 64}, {8, 16, 32, 128}}

func (c *chart) dot(x, y int) {
	bit := uint8(1) << (y % c.down)
	if !c.plain {
		bit = braille[x%c.across][y%c.down]
	}
	c.dots[y/c.down][x/c.across] |= bit
}

// row is one line of the drawing, with the start and the end of the load as dotted lines behind it.
func (c *chart) row(n int) string {
	var b strings.Builder
	for x := range chartWide {
		bits := c.dots[n][x]
		switch {
		case bits == 0 && c.markAt(x) != 0:
			b.WriteRune(c.mark)
		case bits == 0:
			b.WriteByte(' ')
		case !c.plain:
			b.WriteRune(0x2800 + rune(bits))
		default:
			b.WriteByte("?'-:.:::"[bits])
		}
	}
	return b.String()
}

func (c *chart) columnAt(s float64) int {
	return int(math.Round((s - c.first) / (c.last - c.first) * (chartWide - 1)))
}

// markAt is the letter of a column where the load starts (S) or ends (E); 0 elsewhere.
func (c *chart) markAt(x int) byte {
	switch x {
	case c.columnAt(0):
		return 'S'
	case c.columnAt(c.end):
		return 'E'
	}
	return 0
}

// axis is the line under the drawing, and the times under that line.
func (c *chart) axis() (line, times string) {
	b := []rune(strings.Repeat(string(c.line), chartWide))
	text := []byte(strings.Repeat(" ", chartWide+5))
	for s, step := c.ticks(); s <= c.last; s += step {
		x := c.columnAt(s)
		b[x] = c.tick
		copy(text[max(0, x-2):], c.clockText(s))
	}
	for x := range b {
		if m := c.markAt(x); m != 0 {
			b[x] = rune(m)
		}
	}
	return c.corner + string(b), string(text)
}

// ticks are the first round time of the site's clock, in s after the start, and the time from one to the next.
func (c *chart) ticks() (first, step float64) {
	for _, minutes := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440} {
		step = minutes * 60
		if step/(c.last-c.first)*chartWide >= 10 {
			break
		}
	}
	begin := c.start.Add(time.Duration(c.first * float64(time.Second))).In(c.zone)
	h, m, s := begin.Clock()
	over := math.Mod(float64(h*3600+m*60+s), step)
	return c.first + math.Mod(step-over, step), step
}

func (c *chart) clockText(s float64) string {
	return c.start.Add(time.Duration(s * float64(time.Second))).In(c.zone).Format("15:04")
}

func (c *chart) caption() string {
	return fmt.Sprintf("%11sS start %s, E end %s, %s; blank: no readings", "", c.clockText(0), c.clockText(c.end), c.start.In(c.zone).Format("2006-01-02 MST"))
}

// plainASCII says whether a terminal gets plain ASCII: when asked for, or where the locale is not UTF-8.
func plainASCII(c *call, asked bool) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(c.getenv(name)); v != "" {
			return asked || !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}
