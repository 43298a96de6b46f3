// Package clock judges how far the RTU's wall clock may be believed, and carries that over restarts of the program on one boot.
// It is given every instant and asks the system for none, but in Confirm and ThisBoot.
//
// A restart is no reason to doubt a clock that has been steady since the boot: boot id and wall time at uptime 0 are kept, and
// taken up when both still agree. A clock that was set by two minutes or more from where it was believed is in doubt, until
// something confirms it or it is back: tickets, events and values wait, and are dated anew by the monotonic clock. A smaller step
// is a correction and holds nothing; the time daemon's marker counts only when it is younger than the step. What is already
// queued keeps its bytes.
//
// clock.go: the grades, steps, and what confirms a clock. boot.go: what a run leaves to the next one.
package clock
