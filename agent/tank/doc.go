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
//	                one that rests and then brings most of a lump at once), load
//	other verdicts  slow_loss (oil that goes slowly, or that a group's tank gave too slowly for a draw, and what sinks or
//	                rises for long behind a load), revise (loads that were reported, and where those of a group begin), report (faults that last, steps of the clock, and what a group's tanks hold and took in together)
//	from outside    refit (another list of tanks, another way of measuring), queries, codec (what is stored)
//
// # Decisions
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
// On simulated sites that the factors have not seen (collectors/sim/sites, every kind, the held-out ones too, seeds 4623 to 4637,
// 2,754 loads) it covers 95.8 of 100:
//
//	sensor                    covered  median    claim, bbl     covered    fed          covered
//	guided wave                  95 %     0.6    below 0.5         97 %    dumps           93 %
//	magnetostrictive             99 %     0.5    0.5 to 1          96 %    heavy           99 %
//	radar                        94 %     0.6    1 to 2            95 %    none            98 %
//	ultrasonic                   91 %     1.0    2 and more        94 %    pump-off        96 %
//	hydrostatic                  96 %     0.9                              slugs          100 %
//	bubbler                      98 %     0.9                              steady          97 %
//	analog                      100 %     0.6
//	float and tape               98 %     0.7
//	reed chain                  100 %     0.8
//
// It is the error of the gauges. What flowed in meanwhile has its own, Load.InflowErrorBbl: as far as that strays over as long in the
// hours before, or the most that came at once then, and the whole of a change about the load. A well is where it last brought oil: one that comes in
// lumps and was turned to the next tank brings its next lump there. An even well wanders: what it made is as beside the load, by as much as the
// stretches of its history stray with those beside them. Which of the lumps came meanwhile the fall shows: where it is distinctly surer than the
// average, all courses that such a well may have taken are weighed by the fall, and their mean is taken. A pump on a timer has a clock that the hours before show,
// or, where it turns once in hours, the day:
// where they fold well, and what is seen behind goes on by it, that tells what came meanwhile, of a pressure sensor and through a silence too.
// It is seen in the sum of the site's tanks, whichever the well fills or runs over into, and what the others took in did not come here.
// A well that brings a slug every few hours shows that in a day: each brings as much as the others, and where the fall does not tell whether one
// came, the error is one. A tank that stands, before its load and behind it together, far longer than its well ever paused was shut in for it. A level that came down at once before a load and was back as its pump drew was an echo: the load begins where it had stood.
//
// How a well and a sensor behave is learned from the readings: the variance by which a level at rest strays from an even rise,
// steps and deadbands. No key, no stored state. What a gateway repeats is no reading: where values stand at a beat, and do not move by
// the same step each time, each counts once, when it first comes; a tank that stands shows no beat, but the fall does.
//
// A silence lies between two levels, and what was shown next to it for a reading or two, or kept by a gateway, is none. One that ends at the
// level where it began says that nothing came, however much the well made before: the tank was sealed for its load. One that ends on a fall hides
// its start, however high the reading behind it: the well's line is carried in from before, and where it is too far away the ticket asks. No
// inflow carries a gauge that the two readings next to the draw contradict: the well was turned away. A gauge to which one
// reading leads and no other is that of the readings next to it, and asks. An hour in which a device hands on another value is a silence too, and what
// is full of noise is no gauge, nor a witness of another tank's. What nothing is wrong with is said and does
// not ask: a sensor that jumped and rested before a pump drew, or that hung for less than hides a truck and came free to where the oil is.
// Two tanks whose readings are the same to the last digit while a truck draws are one register, and ask. One of coarse steps or by exception that
// stands behind a load through steps which its well made until then has hung: its ticket waits for it. Two loads within minutes that one truck holds ask, but where loads of before were no larger: it may have been one. At rates twice apart they are
// two; what one with a trailer may hold asks too; and what is more than a truck holds is cut at a stop of minutes, where each side is a truck's,
// before the edges are read. What a driver draws as the pump does, to see whether hose and seal hold, and then stops for minutes, belongs to the
// load, and so does what he tops off with. A fall is looked for from 0.5 bbl a minute on, however high min_rate is, and what is slower than
// min_rate asks. A hatch falls likewise, and is told by what comes back when it is shut again, no more than it took; where polls are too
// far apart for a rest behind it the falling line shows one, or the error holds it. What comes back at the rate of before the load is the well.
// Water that is drawn off slowly before the pump starts is no part of a load, however near its shelf lies, and is told. A value that hung and
// leapt up onto the falling line is no opening: what flowed in since it hung lies above it, and asks. One that hung amid the fall and came free where
// the pump had taken the level meanwhile is a hole in it, and one that hung behind it, while the well went on, and fell to the oil gives it its closing.
// What stands on the oil behind a load and goes quickly at first and then less is foam, as soon as the level rests where it went.
// What rose once before a load, as the well never did in a day, slower than a pump fills, and stands, may be foam too, and asks.
//
// Equal draws below half of a truckload that come at even times, each there again before the next, are those of a pump on a clock, as for power
// oil: from the third on they ask, and those before it are corrected. No load line draws below four inches. What comes up behind a load for
// longer than a hose runs, as no well of the site did in hours, is none of its inflow; what sinks behind it while another tank takes it in is no foam.
//
// A sensor that moves behind a load says nothing against it where the level had come to rest before, alive, and no pump or truck took what fell.
//
// A reading at an end of what its sensor shows is a bound: the error takes in what the well made while it stood there. Readings that scatter before a
// load some times as far as behind it are no sure opening.
//
// Nothing is waited for without end: a load that is seen whole is decided two hours after it, however many small falls before it might come back.
//
// A tank that stands still before a load for longer than its well ever paused, while the site's other tanks take in what it had, was shut off
// for it: nothing flows in meanwhile, what stands there has not hung, and a pressure sensor's climb behind the load is the vapour space's.
//
// What a well makes while its tank is shut for a load is kept before it, and comes at once behind it: where the level stood before and behind, and then
// came up by what the well makes in that time, nothing flowed in, and nothing came from the truck. Where the other tanks take in over a load what all
// wells of the site make, as the hours before show, none is left for the drawn one, whether or not that is seen to stand.
//
// The stored state is the state: every sample from 45 minutes before now, or before a draw under way, and one a minute of the eight hours before
// that, are all that is known of the levels beside the history, restarted or not. A
// run's first input is the clock, and the box's uptime and boot id tell how long it was away.
//
// A contact is a witness. A load valve's contact counts only where oil left while it was open; otherwise the level's times stand
// and the ticket says so. Nobody spans to zero: a jump to an end of the tank is a gap, so that a dead transmitter cannot hide a
// load. A fault that goes on is reported once a day, with its count.
//
// A level at the edge of a coarse step goes to and fro between two counts: that passes for noise, and so a fall is looked for over as long as the
// least pump takes to leave it. What falls ever slower from its first reading on is a step through a sensor's damping, and no pump. A value that
// dies at its closing, where noise moves it else, is the sensor's end. What hangs amid a fall and comes free at the pump's line, or is
// lifted out and comes back to it, is a hole in the fall; and no sensor that is late shows another level at rest than the oil's.
//
// What rises without oil falls without oil. A fall after which the level is where it was before foam, ice, a false echo or
// somebody's hands had moved it is no load, unless a pump may have made it: then it is one, for a person. A pump is seen: readings
// under way, each a little lower, as fast in the second half as in the first, and a level that rests behind it. Where a level
// rested before something slowly lifted it and rests there again, oil may have come and a truck gone: it is one for a person, unless no
// pump draws so fast or what decays does so; where most of the way back was made faster than oil comes, nothing left in between. Where the
// well fills the tank as fast at other times it was oil; a step within minutes that comes again and again is no well.
//
// A sensor in somebody's hands jumps again and again, or shows what nobody believes. What waits for its confirmation then is decided when it
// has been calm for as long, at most six times that: where the level is back where it had been before its first jump, alive, nothing left,
// however a pump would draw. A fall four fifths of which are steps of less than a minute, or from one reading to the next, with rest beside them is a
// zero that was trimmed. What decays, and how a pump draws, is fitted to the fall, and what leaves less of it is believed. What had left and comes back
// hours later, as much, as its well never brings oil, corrects its ticket.
//
// Where more tanks fell than a rise adds up to, the draws that it follows are transfers and the others tickets, for review where
// nobody can tell. What is moved into a tank that is drawn from shows where it begins and ends: there the level turns by as much;
// a level behind a gap proves none. A neighbour that rose by a part of a draw, or that nobody read, is said; where it began
// or ceased to rise a load ends or begins, and what it takes in beyond its usual does not flow in here. What the tanks of a group gave
// together makes a load of each of them, as long as they fall together: an equaliser that was shut for the load joins nothing, and what it
// evens out afterwards is no draw. Their closings are read off what they hold together, and a load begins where that begins to fall: what ran
// before into a tank that stood lower is no part of it, and what ran there meanwhile is told. One that gave its share too slowly for a draw
// of its own has a ticket for it, and what still evens out when the next truck comes belongs to the load before. Where tanks that stood even still come
// back to that, each closes by how it stood among them, so that the closings add up to the oil that is there. The least load, the least rate and the
// water below are the group's, and where one tank shows two trucks, another's one fall is two.
//
// The detector is one algorithm and stays one room: it is exempt from the number of files that a room may have.
package tank
