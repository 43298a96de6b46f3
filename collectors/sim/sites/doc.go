// Package sites makes recordings of well sites whose truth is known, so that a detector of loads can be judged on sites
// that it did not grow up with. It is written from the physics of tanks, pumps, sensors and gateways alone and knows no
// detector: nothing here may be tuned to one. It never ships.
//
// Order of files: tank.go (strapping), feed.go (what the well brings), pump.go (what the truck takes), battery.go (a second
// at a time, every barrel accounted for), gauge.go (the sensor's laws), instruments.go (the sensors there are), motion.go
// (what disturbs them), recorder.go (polls and gateways), compress.go (deadband and swinging door), expert.go (how near a
// pencil gets), truth.go, files.go, plan.go (parts with wide limits, drawn by lot), kinds*.go (sites made of parts).
//
// Decisions of this room:
//   - A recording is a function of (seed, kind, number) and of nothing else. Every stage draws from a stream of its own, so
//     that a change of the recorder leaves the tanks' levels as they were.
//   - The gauge that is true is the tank's own reading without noise at the first and the last second of flow: with the
//     sensor's gain, offset, drift, blanking distance and re-span; without slosh, foam, wind, vapour and damping. The flow
//     has ended when hose and equaliser are quiet too.
//   - A third of the kinds, chosen by the hash of the name, is held out: they are never looked at while tuning.
package sites
