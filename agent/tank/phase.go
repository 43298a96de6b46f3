package tank

// drawingFor is how long after the last sign of a fall a draw counts as under way, site seconds.
const drawingFor = 300.0

// Loading says whether a draw from a tank has begun and is not decided yet.
func (st State) Loading(tank int) bool {
	return tank >= 0 && tank < len(st.tanks) && st.tanks[tank] != nil && st.tanks[tank].drawing
}

// Phase says in a word what the detector sees of a tank: waiting before the first reading, idle, drawing while the level
// falls, or confirming while the end of a draw waits for its confirmation.
func (st State) Phase(tank int) string {
	if tank < 0 || tank >= len(st.tanks) || st.tanks[tank] == nil || !st.tanks[tank].seen {
		return "waiting"
	}
	switch ts := st.tanks[tank]; {
	case !ts.drawing:
		return "idle"
	case ts.last.t-ts.lastFallAt > drawingFor:
		return "confirming"
	}
	return "drawing"
}
