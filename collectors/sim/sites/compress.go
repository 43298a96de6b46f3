package sites

import (
	"math"
	"sort"
)

// compress leaves out what the historian's rule says need not be kept. Bad rows are always kept.
func (c recorder) compress(rows []reading, tanks int) []reading {
	if c.deadband == 0 && c.door == 0 {
		return rows
	}
	var out []reading
	for tank := range tanks {
		var of []reading
		for _, row := range rows {
			if row.tank == tank {
				of = append(of, row)
			}
		}
		if c.door > 0 {
			out = append(out, swingingDoor(of, c.door, c.beat)...)
		} else {
			out = append(out, byException(of, c.deadband, c.beat)...)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].second < out[j].second })
	return out
}

// byException keeps a reading that differs from the last one kept by the deadband or more, and one each beat.
func byException(rows []reading, deadband float64, beat int) []reading {
	var out []reading
	for _, row := range rows {
		if n := len(out); n == 0 || row.bad || out[n-1].bad || row.boot != out[n-1].boot ||
			math.Abs(row.value-out[n-1].value) >= deadband || row.second-out[n-1].second >= beat {
			out = append(out, row)
		}
	}
	return out
}

// swingingDoor keeps the ends of straight lines that pass every reading between them within the deviation.
func swingingDoor(rows []reading, deviation float64, beat int) []reading {
	var out []reading
	var before reading
	open := false // a reading after the last one kept waits
	upper, lower := math.Inf(1), math.Inf(-1)
	keep := func(row reading) {
		out = append(out, row)
		open, upper, lower = false, math.Inf(1), math.Inf(-1)
	}
	for _, row := range rows {
		if len(out) == 0 || row.bad || out[len(out)-1].bad || row.boot != out[len(out)-1].boot {
			if open {
				keep(before)
			}
			keep(row)
			continue
		}
		up, low, slope := doors(out[len(out)-1], row, deviation)
		if open && (slope > upper || slope < lower || row.second-out[len(out)-1].second > beat) {
			keep(before)
			up, low, _ = doors(before, row, deviation)
		}
		upper, lower = min(upper, up), max(lower, low)
		before, open = row, true
	}
	if open {
		keep(before)
	}
	return out
}

// doors are the slopes from a kept reading to the edges and the middle of a later one, in/s.
func doors(kept, row reading, deviation float64) (upper, lower, slope float64) {
	seconds := float64(row.second - kept.second)
	d := row.value - kept.value
	return (d + deviation) / seconds, (d - deviation) / seconds, d / seconds
}
