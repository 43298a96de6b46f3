package line

import (
	"context"
	"testing"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// The words of these tests. A slave is modbustest's server of units, an ear notes when each request reaches it, a stopwatch
// what passes at the master's end. A witness is linetest's, which shares no code with anybody; a trial is a line to one with
// a fault for some requests, a garbler makes its frames at random. A conversation is asked in turn and carries each place's
// own value.

// pipeLines are lines to slaves that live in memory, for tests in virtual time. slave may refuse.
func pipeLines(t *testing.T, slave func(url string) (*modbustest.Slave, error)) *Lines {
	return &Lines{Dial: linetest.Dial[Stream](t, slave)}
}

// linesTo are lines to a witness.
func linesTo(w *linetest.Witness) *Lines {
	return &Lines{Dial: func(context.Context, string) (Stream, error) { return w.Dial() }}
}
