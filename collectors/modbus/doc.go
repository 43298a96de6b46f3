// Package modbus polls the points of Modbus devices: one collector for each line, which asks its units one after the other.
// The line itself, with its frames and its late answers, is modbus/line; other masters are answered by modbus/share; what
// nobody has written down yet is asked for by modbus/survey.
//
// A Device is its options (options.go, check.go, age.go). compile.go makes each point ready to be decoded (point.go),
// plan.go joins their places into few requests, budget.go adds up what those cost. The
// road of one reading: collector.go takes the job that is due (schedule.go); round.go asks for the blocks of the plan, each by
// one line.Read, and decodes the points; the batch is one Host.Emit (delivery.go). On the way stand what was learnt of the unit: places that it refuses (split.go), reads that spoil the
// next answer (spoilt_next.go), and a unit that is silent (health.go).
//
// # Decisions
//
// A line has one goroutine and an order: earliest deadline first, also between the requests of a long round (a nested call,
// so that nothing is shared), but never between the two requests of verify: twice. In overload whoever has waited longest by
// its own interval goes first, so that all are late alike and no beat is caught up. Different lines keep the same beat:
// spread over the interval they woke the box so often that a register cost six times the CPU (measured with ten).
//
// A silent unit is asked when the others can spare the time: only if each of them would still be asked before its next beat,
// whatever it costs once in thirty times its cost. There is no back-off, so that a unit that returns is back within two
// intervals.
//
// A cached value has the time of its check-in. A point may rest on companions of its device that are read with it: one that
// tells its age, one that tells whether it is any good. The reading's At is the sample's, the same however often the gateway
// is asked; an age that makes no sense leaves the value Uncertain, which makes no ticket.
//
// A register map is data: templates/*.yaml hold keys of a device, and the configuration lays the device's own over them
// before anything is decoded. A map without a device built from it in a test of cmd/gauger fails the tests.
//
// The line does not wait for the disk: a batch is handed over beside it, and the next unit is asked meanwhile, never more than one
// batch ahead, so that the readings of a tank keep their order. A cut loses that one batch more, as if it had not been polled.
//
// A batch is lent: a host keeps nothing of the slice that it is given, so that a poll fills one which an earlier poll has used.
package modbus
