// Package tank is the money logic: it turns the level readings of a site's stock
// tanks into finished loads (run tickets), movements that are no runs, and faults
// of the sensors. It is pure: Next takes a state and one input and gives the next
// state and what came out of it. It reads no clock, writes nothing, starts nothing,
// and imports only the standard library and its two leaves, stats and codec.
//
// Lengths are inches, volumes barrels of 42 US gallons, temperatures degrees
// Fahrenheit, rates barrels per minute, unless a name says otherwise.
//
// The road of a reading: clock (which instant of the site's own time is this),
// clean (is the value possible), buffer (bounded samples), find (where does the
// level fall), assemble (which falls are one truck), edges (when and at which level
// did it begin and end), decide (is it a run), and then an Outcome.
package tank
