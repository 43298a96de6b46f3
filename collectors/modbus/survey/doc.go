// Package survey asks a Modbus line what nobody has written down: which unit ids answer (scan.go), and what a register
// means, given what a person reads off the gauge (probe.go, candidate.go, likelihood.go).
//
// # Decisions
//
// Probe ranks by evidence, as sums of logarithms: the bits that a reading accounts for, the chance of its number where it
// is right, and how usual the device is. No rule says "float first".
package survey
