package tank

// drawPhase says whether a tank is drawn from, as far as is known, and what of it is decided.
type drawPhase struct {
	drawing                    bool      // a draw may be under way or waits for its confirmation
	searchFrom                 float64   // where to begin to look for it
	lastFallAt                 float64   // when the level last fell like a draw
	firstSeen                  []float64 // when the draws that are not decided yet were first seen
	judgeAt                    float64   // when to look again
	decidedTo                  float64   // everything up to here is decided
	lastDrawStart, lastDrawEnd float64   // the newest draw that was decided
}
