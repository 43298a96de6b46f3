package sites

import "math/rand/v2"

// recorder is the road from the transmitters to the recording.
type recorder struct {
	poll     int // s
	jitter   int // s, either way
	slip     float64
	gaps     []gap
	boots    []gap   // the box is down; its monotonic clock begins anew
	awake    int     // polls in a row of a node that then sleeps; 0: it never does
	asleep   int     // s
	step     float64 // in, of the gateway's converter; 0: none
	deadband float64 // in; 0: every poll is recorded
	door     float64 // in, of swinging-door compression; 0: none
	beat     int     // s, the longest that deadband or door say nothing
}

// gap is a stretch without readings, or with readings that are worth nothing.
type gap struct {
	from, to int
	how      string
}

// Ways of a gap.
const (
	silent  = "silent"  // no rows
	badRows = "bad"     // rows that say so
	held    = "held"    // the gateway repeats the last value as if it were good
	nothing = "nothing" // rows without a number
)

// reading is one row of a recording.
type reading struct {
	second  int
	tank    int
	value   float64
	missing bool // no number
	bad     bool
	boot    int
	mono    int
}

// record polls the transmitters.
func (c recorder) record(r *rand.Rand, sensors []heard, seconds int) []reading {
	var out []reading
	last := make([]reading, len(sensors))
	booted, boot, left := 0, 0, c.awake
	for at := r.IntN(c.poll); at < seconds; at = c.next(r, at, &left) {
		for _, b := range c.boots {
			if at >= b.to && booted < b.to {
				booted, boot = b.to, boot+1
			}
		}
		if inside(c.boots, at, silent) {
			continue
		}
		for i, sensor := range sensors {
			row := reading{second: at, tank: i, value: onGrid(sensor.value[at], c.step), bad: sensor.bad[at], boot: boot, mono: at - booted}
			switch {
			case inside(c.gaps, at, silent) || r.Float64() < c.slip:
				continue
			case inside(c.gaps, at, held):
				row.value = last[i].value
			case inside(c.gaps, at, badRows):
				row.value, row.bad = 0, true
			case inside(c.gaps, at, nothing):
				row.missing, row.bad = true, true
			}
			last[i] = row
			out = append(out, row)
		}
	}
	return c.compress(out, len(sensors))
}

func (c recorder) next(r *rand.Rand, at int, left *int) int {
	step := c.poll
	if c.jitter > 0 {
		step += r.IntN(2*c.jitter+1) - c.jitter
	}
	if c.awake > 0 {
		if *left--; *left <= 0 {
			*left = c.awake
			step += c.asleep
		}
	}
	return at + max(1, step)
}

func inside(gaps []gap, at int, how string) bool {
	for _, g := range gaps {
		if g.how == how && at >= g.from && at < g.to {
			return true
		}
	}
	return false
}
