package tank

// readings are a tank's readings as they came: the level that is believed, how often they come, and how much they scatter.
type readings struct {
	seen        bool
	last        point   // newest believed reading
	heldSince   float64 // when its value first appeared
	timeUnknown bool    // a restart took a time that nobody knows
	pending     pending // readings that are not believed yet
	interval    interval
	noise       noise
	bin         bin
}

// point is a value at a time.
type point struct{ t, v float64 }
