// Package tank is the money logic: it turns the level readings of a site's stock tanks into finished loads (run tickets),
// movements that are no runs, and faults of the sensors. It is pure: Next takes a state and one input and gives the next state
// and what came out of it. It reads no clock, writes nothing, starts nothing, and imports only the standard library, its two
// leaves stats and codec, and the names of the event rules.
//
// Lengths are inches, volumes barrels of 42 US gallons, temperatures degrees Fahrenheit, rates barrels per minute, unless a
// name says otherwise. Times inside are site seconds (see clock.go).
//
// # The order of the files: the road from a level to a verdict
//
// A file uses those before it.
//
//	the tanks       length, table (and what heat makes of a volume), site (with its settings)
//	in and out      outcome (inputs, loads, events, corrections, verdicts)
//	what is known   sample, interval (noise, and the readings), draw (and a well's clock), levels, resolution, auxiliary, clock (and the faults of a sensor, and of it), state, update
//	a level comes   next (the whole step), clean (can it be believed), watch (does the level fall as in a draw)
//	a fall          find (where it falls), line (its straight ends), inflow (what the well makes meanwhile), pieces (the straight
//	                pieces of the level before and after, and the steps of a fall), rest (the gauges there),
//	                edges (when and at which level it began and ended), draws (which falls are one truck), valve (what the
//	                load valve's contact says, an opened hatch, and another load beside it)
//	a verdict       conclude (is it over, and what an equaliser moved behind it), rise and others (what the site's other tanks did
//	                meanwhile), jumps (a sensor that moves faster than oil, and is spanned anew), undone (what only comes back
//	                to where it was), decide (what it was), error (and a day's slugs) and error_factors, foam (what stood on the oil behind it, and
//	                how it goes, and a sensor that follows late), doubts (what the readings say against it), lumps (what a well that comes
//	                by turns brought meanwhile, as the fall shows it), timer (the same of one whose pump has a clock), gush (the same of
//	                one that rests and then brings most of a lump at once, and what flows in over a draw's slow tail), load
//	other verdicts  slow_loss (oil that goes slowly, or that a group's tank gave too slowly for a draw, and what sinks or
//	                rises for long behind a load), revise (loads that were reported, and where those of a group begin), report (faults that last, steps of the clock, and what a group's tanks hold and took in together)
//	from outside    refit (another list of tanks, another way of measuring), queries, codec (what is stored)
//
// # Decisions
//
// What one rule does, and why, stands at its function; here is what they follow.
//
// A gauge is read as a person reads it off a plot: the level before and after a draw is cut into straight pieces, as exactly
// as a price for each piece allows, and the gauge is the last of them that had not begun to fall, or the lowest behind, for
// once a draw is over the level only rises. What runs back out of a hose within minutes, to a rest, is told from a separator's dump by
// what rose in as long a time before the load.
//
// A sensor that follows the level late, as behind a long line that is half plugged, says so at both edges of a draw: the level leaves
// its line as slowly as it comes to rest. The gauges lie where the straight lines meet, both times as much earlier as it is late.
//
// The error is a statement. Load.ErrorBbl is two standard errors of the volume: the sensor's class, noise, slosh, steps and
// deadbands, how the well feeds its tank, how far a gauge was carried through a silence, and by how much the rest two to seven
// minutes from a gauge says otherwise than it, beyond what the well strays in that time or at most dumped before in as long. What is left is calibrated by
// split conformal prediction: error_factors.go, by kind of sensor, and for the tanks of a group. A test holds it to its word. Review and confidence both
// follow from the chance of being off by more than the greater of a barrel and one percent: a load of a confidence below 0.75 asks. Most volumes are
// nearer than half of an error that 19 of 20 are within tells, so that the error alone asks from 1.9 times as much on: a fifth of those are wrong.
// On simulated sites that the factors have not seen (collectors/sim/sites, every kind, the held-out ones too, seeds 4638 to 4652,
// 2,750 loads) it covers 96.6 of 100:
//
//	sensor                    covered  median    claim, bbl     covered    fed          covered
//	guided wave                  97 %     0.5    below 0.5         98 %    dumps           95 %
//	magnetostrictive             97 %     0.5    0.5 to 1          96 %    heavy           99 %
//	radar                        96 %     0.7    1 to 2            98 %    none            97 %
//	ultrasonic                   95 %     1.0    2 and more        95 %    pump-off        97 %
//	hydrostatic                  98 %     1.0                              slugs           97 %
//	bubbler                      96 %     1.0                              steady          98 %
//	analog                       96 %     0.6
//	float and tape               97 %     0.6
//	reed chain                   97 %     0.9
//
// It is the error of the gauges. What flowed in meanwhile has its own, Load.InflowErrorBbl: as far as that strays over as long in the
// hours before, or the most that came at once then, and the whole of a change about the load. A well that comes by turns is asked in this order
// (sharedInflow): has it a clock that its rest shows (timer.go); was it shut in, or turned to other tanks that took in what it makes; and which of
// its lumps does the fall itself show, or where it shows none the time since the last one (lumps.go, gush.go)? What is distinctly surer than the average
// over the hours before is taken, else the average.
//
// How a well and a sensor behave is learned from the readings: the variance by which a level at rest strays from an even rise,
// steps and deadbands. No key, no stored state. What a gateway repeats is no reading: where values stand at a beat, and do not move by
// the same step each time, each counts once, when it first comes; a tank that stands shows no beat, but the fall does.
//
// A silence lies between two levels, and what was shown next to it for a reading or two, or kept by a gateway, is none. One that ends at the
// level where it began says that nothing came (stoodInSilence); one that ends on a fall hides its start (lastSeen). An hour in which a device hands
// on another value is a silence too, and what is full of noise is no gauge, nor a witness of another tank's.
//
// A ticket asks for a person where a gauge or a truck is in doubt, and says without asking what a reader should know (draw.note). What may be two trucks
// asks: a stop of minutes, more than one holds, two rates (besideIt, mayBeTwo, cutAtStops). What a driver draws to see whether hose and seal hold, and
// what he tops off with, belongs to his load (checksSeal, oneTruck); a hatch, water that is drawn off and foam do not (takeHatch, behindShelf, behindFoam).
//
// A value that stands has hung where it stood as this sensor never does, or through steps that its well made until then (frozen, stoodThrough). It is waited
// for, and the gauge is where the oil was: above a value that leapt up onto the falling line (hungInto), below one that hung behind the fall
// (freedBehind); what hung amid the fall and came free where the pump had taken the level is a hole in it (hungInDraw).
//
// A reading at an end of what its sensor shows is a bound: the error takes in what the well made while it stood there.
//
// Nothing is waited for without end: a load that is seen whole is decided two hours after it, however many small falls before it might come back.
//
// The stored state is the state: every sample from 45 minutes before now, or before a draw under way, and one a minute of the eight hours before
// that, are all that is known of the levels beside the history, restarted or not. A
// run's first input is the clock, and the box's uptime and boot id tell how long it was away.
//
// A contact is a witness. A load valve's contact counts only where oil left while it was open; otherwise the level's times stand
// and the ticket says so. Nobody spans to zero: a jump to an end of the tank is a gap, so that a dead transmitter cannot hide a
// load. A fault that goes on is reported once a day, with its count.
//
// What rises without oil falls without oil. A fall after which the level is where it was before foam, ice, a false echo or
// somebody's hands had moved it is no load, unless a pump may have made it: then it is one, for a person. A pump is seen (pumped): readings
// under way, each a little lower, as fast in the second half as in the first, and a level that rests behind it. What decays, and how a pump draws, is
// fitted to the fall, and what leaves less of it is believed. Where a level rested before something slowly lifted it and rests there again, oil may
// have come and a truck gone: it is one for a person, unless no pump draws so fast. Where the well fills the tank as fast at other times it was oil.
//
// A sensor in somebody's hands jumps again and again, or shows what nobody believes. What waits for its confirmation then is decided when it
// has been calm for as long, at most six times that (unrest). What had left and comes back hours later, as much, as its well never brings oil,
// corrects its ticket.
//
// Where more tanks fell than a rise adds up to, the draws that it follows are transfers and the others tickets, for review where
// nobody can tell. What is moved into a tank that is drawn from shows where it begins and ends: there the level turns by as much;
// a level behind a gap proves none. A neighbour that rose by a part of a draw, or that nobody read, is said; where it began
// or ceased to rise a load ends or begins, and what it takes in beyond its usual does not flow in here.
//
// What the tanks of a group gave together makes a load of each of them, as long as they fall together: an equaliser that was shut for the load joins
// nothing, and what it evens out afterwards is no draw. Their closings are read off what they hold together (readTogether), and a load begins where
// that begins to fall: what ran before into a tank that stood lower is no part of it, and what still evens out when the next truck comes
// belongs to the load before. The least load, the least rate and the water below are the group's.
//
// The detector is one algorithm and stays one room: it is exempt from the number of files that a room may have.
package tank
