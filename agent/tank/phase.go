package tank

// Phase says in a word what the detector sees of a tank: waiting before the first reading, idle, or drawing while a
// draw may be under way or waits for its confirmation.
func (st State) Phase(tank int) string {
	switch {
	case tank < 0 || tank >= len(st.tanks) || st.tanks[tank] == nil || !st.tanks[tank].seen:
		return "waiting"
	case st.tanks[tank].hot:
		return "drawing"
	}
	return "idle"
}
