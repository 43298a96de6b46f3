package tank

import "math"

const reportedMost = 4 // loads of a tank that are remembered

// tankState is the memory of one tank between two inputs. It is copied at every change; its slices are shared
// between the copies and only ever appended to or replaced. Times are site seconds, levels inches.
type tankState struct {
	clock        clock
	stampedByBox bool // its newest reading had the box's own clock; not stored, the next one tells

	readings
	levels levels
	aux    auxiliary
	drawPhase

	faults     faults
	smallDraws smallDraws
	slow       slowLosses
	reports    reports
	stored     storedMarks
}

// storedMarks remember what was stored last, so that the state is stored no oftener than it must be.
type storedMarks struct {
	level  float64
	hintAt float64 // when the first hint of a draw was
}

// reports are a tank's newest loads that were reported.
type reports struct {
	loads      []reportedLoad
	reviewedTo float64 // up to where they were looked over again
	retimeAt   float64 // when to tell their times again, by a clock that was set
}

// reportedLoad is a load that was reported.
type reportedLoad struct {
	key              int64 // Load.Began in milliseconds of unix time
	start, end       float64
	opening, closing float64 // in
	inflow           float64 // in/s, the most that was seen
	corrected        bool    // its levels were corrected
}

// keep keeps a load that is reported, for what may come to light.
func (r *reports) keep(l Load, d draw) {
	from := max(0, len(r.loads)-reportedMost+1)
	r.loads = append(r.loads[from:len(r.loads):len(r.loads)], reportedLoad{
		key: l.Began.UnixMilli(), start: d.start, end: d.end, opening: l.Open, closing: l.Close, inflow: math.Max(d.usualInflow, math.Max(d.inflowBefore, d.inflowAfter)),
	})
}
