package tank

// tankState is what the detector knows of one tank between two inputs. It is copied at every change; its slices are shared
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
