package sites

import (
	"math"
	"sort"
)

// The expert is a person with a pencil, the plot of the recording, and the truth about when the oil began and ceased to flow:
// a straight line through a flat piece beside the pump, carried to that instant. What the pencil cannot reach, nobody can
// ask of a program. The piece is the one that serves best of many lengths and distances, since an eye sees where foam
// collapsed, a dump came or slosh died; the tolerance is two standard errors of the two lines, or the error that was really
// made where that is more.

// mark is a level that the expert drew, with its standard error, in.
type mark struct{ level, sigma float64 }

var (
	pieceAways   = []int{0, 45, 120, 240, 480, 900, 1500}
	pieceLengths = []int{90, 180, 300, 600, 1200, 2400, 5400}
)

// eyesight is how much of a piece's error the expert sees when choosing it: foam, a hatch, a false echo. With none of it the
// sharpest line is taken and 92 of 100 loads are right to 1.6 bbl; with all of it luck would pass for skill.
const eyesight = 0.1

// expertMark reads the level at an instant off the rows on one side of it (before: -1, behind: 1), none of them beyond the limit.
func expertMark(rows []reading, g *gauge, ideal func(int) float64, at, side, limit int) mark {
	usable := onSide(rows, at, side, limit)
	if len(usable) == 0 {
		return mark{math.NaN(), math.Inf(1)}
	}
	grid := max(g.resolution/math.Sqrt(12), g.stiction/2)
	truth := ideal(at)
	best, cost := nearest(usable, g, ideal, at, grid), math.Inf(1)
	for _, away := range pieceAways {
		for _, length := range pieceLengths {
			piece := pieceOf(usable, at, away, away+length)
			if len(piece) < 4 {
				continue
			}
			line := fit(piece, at)
			if end := at + side*min(away+length, abs(limit-at)); bent(ideal, at, end, line.scatter+0.05) {
				line = overDumps(piece, ideal, at)
			}
			line.sigma = math.Hypot(line.sigma, grid/math.Sqrt(1+line.scatter/max(grid, 1e-9)))
			if c := line.sigma + eyesight*math.Abs(line.level-truth); c < cost {
				best, cost = line.mark, c
			}
		}
	}
	if two := throughTwo(usable, at, grid); !math.IsNaN(two.level) && math.IsInf(cost, 1) && math.Abs(two.level-truth) < math.Abs(best.level-truth) {
		return two
	}
	return best
}

// onSide are the rows that can be read, the nearest first.
func onSide(rows []reading, at, side, limit int) []reading {
	var out []reading
	for _, row := range rows {
		if d := (row.second - at) * side; !row.bad && !row.missing && d >= 0 && d <= (limit-at)*side {
			out = append(out, row)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return abs(out[i].second-at) < abs(out[j].second-at) })
	return out
}

func pieceOf(rows []reading, at, near, far int) []reading {
	var out []reading
	for _, row := range rows {
		if d := abs(row.second - at); d >= near && d <= far {
			out = append(out, row)
		}
	}
	const most = 90 // an eye needs no more, and the slopes of all pairs are counted
	if len(out) <= most {
		return out
	}
	thin := make([]reading, 0, most)
	for i := range most {
		thin = append(thin, out[i*len(out)/most])
	}
	return thin
}

// nearest takes the nearest reading as it is: sparse recordings leave nothing better.
func nearest(rows []reading, g *gauge, ideal func(int) float64, at int, grid float64) mark {
	near := rows[0]
	missed := math.Abs(ideal(at) - ideal(near.second))
	return mark{near.value, math.Sqrt(g.noise*g.noise + g.slowNoise*g.slowNoise + grid*grid + missed*missed)}
}

// throughTwo carries the line through the two nearest readings on: all that compression leaves of a slope.
func throughTwo(rows []reading, at int, grid float64) mark {
	if len(rows) < 2 || rows[0].second == rows[1].second {
		return mark{math.NaN(), 0}
	}
	slope := (rows[1].value - rows[0].value) / float64(rows[1].second-rows[0].second)
	return mark{rows[0].value + slope*float64(at-rows[0].second), grid + 0.1}
}

// bent says that between two instants something happened that an eye sees over the scatter: a dump, a neighbour's oil.
func bent(ideal func(int) float64, from, to int, scatter float64) bool {
	const parts = 24
	a, b := ideal(from), ideal(to)
	for i := 1; i < parts; i++ {
		x := ideal(from + (to-from)*i/parts)
		if math.Abs(x-(a+(b-a)*float64(i)/parts)) > scatter {
			return true
		}
	}
	return false
}

// overDumps reads the middle of a piece and takes off what was seen to come in between it and the instant, as well as an
// eye can measure it: to a fifth.
func overDumps(piece []reading, ideal func(int) float64, at int) line {
	var when []float64
	for _, row := range piece {
		when = append(when, float64(row.second))
	}
	middle := int(middle(when))
	line, came := fit(piece, middle), ideal(middle)-ideal(at)
	line.level -= came
	line.sigma = math.Hypot(line.sigma, 0.2*math.Abs(came)+0.03)
	return line
}

// line is a straight line through a piece, as it stands at an instant.
type line struct {
	mark
	scatter float64 // in, of the readings about it
}

// fit draws the line through the median of all pairs' slopes, then by least squares through the readings near it.
func fit(piece []reading, at int) line {
	var slopes, rest []float64
	for i, a := range piece {
		for _, b := range piece[:i] {
			if a.second != b.second {
				slopes = append(slopes, (a.value-b.value)/float64(a.second-b.second))
			}
		}
	}
	slope := middle(slopes)
	for _, row := range piece {
		rest = append(rest, row.value-slope*float64(row.second-at))
	}
	level := middle(rest)
	off := make([]float64, len(rest))
	for i, x := range rest {
		off[i] = math.Abs(x - level)
	}
	near := 4.5*middle(off) + 0.03
	var good []reading
	for i, row := range piece {
		if off[i] <= near {
			good = append(good, row)
		}
	}
	return squares(good, at)
}

func squares(rows []reading, at int) line {
	n := float64(len(rows))
	var t, x, tt, tx float64
	for _, row := range rows {
		t += float64(row.second-at) / n
		x += row.value / n
	}
	for _, row := range rows {
		d := float64(row.second-at) - t
		tt += d * d
		tx += d * (row.value - x)
	}
	slope := tx / max(tt, 1e-9)
	sum := 0.0
	offs := make([]float64, len(rows))
	for i, row := range rows {
		offs[i] = row.value - x - slope*(float64(row.second-at)-t)
		sum += offs[i] * offs[i]
	}
	scatter := math.Sqrt(sum / max(1, n-2))
	few := 1 + 2.3/max(1, n-2) // near Student's factor beside two standard errors: few readings agree by luck
	sigma := few * scatter * math.Sqrt((1/n+t*t/max(tt, 1e-9))*alike(offs, sum))
	return line{mark{x - slope*t, sigma}, scatter}
}

// alike is how many readings count for one, since gusts and slow noise outlive the scan.
func alike(offs []float64, sum float64) float64 {
	of := 1.0
	for lag := 1; lag < len(offs)/3 && sum > 0; lag++ {
		together := 0.0
		for i := lag; i < len(offs); i++ {
			together += offs[i] * offs[i-lag]
		}
		if together <= 0 {
			break
		}
		of += 2 * together / sum
	}
	return of
}

func middle(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	sorted := append([]float64(nil), x...)
	sort.Float64s(sorted)
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func abs(n int) int { return max(n, -n) }
