package page

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gauger/agent/tank"
)

// Sizes of the drawings, in their own units.
const (
	shellHigh  = 120.0
	shellTop   = 8.0
	trendWide  = 240.0
	trendHigh  = 60.0
	trendGap   = time.Hour // between two levels, over which no line is drawn
	trendShown = 24 * time.Hour
	trendLeast = 20 * time.Minute // a line of less than this is a dot
)

// drawn is a tank as its picture shows it.
type drawn struct {
	OilY, OilHigh string // empty: no level
	Line          string // path of the last day's level
}

// draw places a level in the shell, and the levels of the last day on a line.
func draw(in *float64, height float64, levels []tank.Moment, now time.Time) (d drawn) {
	share := func(in float64) float64 { return math.Min(1, math.Max(0, in/math.Max(height, 1))) }
	if in != nil {
		high := share(*in) * shellHigh
		d.OilY, d.OilHigh = fmt.Sprintf("%.1f", shellTop+shellHigh-high), fmt.Sprintf("%.1f", high)
	}
	var b strings.Builder
	var first, last time.Time
	x := -1.0
	for _, m := range levels {
		back := now.Sub(m.At)
		if back < 0 || back > trendShown {
			continue
		}
		to := trendWide * (1 - back.Hours()/trendShown.Hours())
		if to-x < 0.5 && m.At.Sub(last) < trendGap {
			continue // finer than a pixel
		}
		verb := "L"
		if first.IsZero() {
			first = m.At
		}
		if last.IsZero() || m.At.Sub(last) > trendGap {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, to, trendHigh*(1-share(m.In)))
		last, x = m.At, to
	}
	if last.Sub(first) >= trendLeast {
		d.Line = b.String()
	}
	return d
}
