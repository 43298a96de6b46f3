package modbus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// The words of these tests. A slave is modbustest's server of units; a witness is linetest's, which shares no code with
// anybody. A site is a collector at work on some devices (collector_test.go). On the stream between the two: a tap notes each
// request, a spoiler damages answers, a change changes a register between two requests. A plug is an
// adapter in memory that is pulled and put back, an adapter one in /dev, a radio a gateway that keeps what its nodes sent
// last, and a stranger a slave that others have written.

// pipeLines are lines to slaves that live in memory, for tests in virtual time. slave may refuse.
func pipeLines(t *testing.T, slave func(url string) (*modbustest.Slave, error)) *line.Lines {
	return &line.Lines{Dial: linetest.Dial[line.Stream](t, slave)}
}

// linesTo are lines to a witness.
func linesTo(w *linetest.Witness) *line.Lines {
	return &line.Lines{Dial: func(context.Context, string) (line.Stream, error) { return w.Dial() }}
}

// readings asks once and indexes the answer by point.
func readings(t *testing.T, lines *line.Lines, devices ...Device) map[collectors.Point]collectors.Reading {
	t.Helper()
	all, err := Read(t.Context(), lines, devices)
	if err != nil {
		t.Fatal(err)
	}
	return byPoint(all)
}

func byPoint(batch []collectors.Reading) map[collectors.Point]collectors.Reading {
	found := map[collectors.Point]collectors.Reading{}
	for _, r := range batch {
		found[r.Point] = r
	}
	return found
}

// sound is an error when a reading breaks the rules that hold for every one.
func sound(r collectors.Reading) error {
	switch {
	case r.Quality == collectors.Good && r.Err != nil:
		return fmt.Errorf("%s is good, and wrong: %v", r.Point, r.Err)
	case r.Quality != collectors.Good && r.Err == nil:
		return fmt.Errorf("%s is %s without a reason", r.Point, r.Quality)
	case r.Quality == collectors.Bad && !math.IsNaN(r.Value):
		return fmt.Errorf("%s is bad, and %v", r.Point, r.Value)
	case r.At.IsZero():
		return errors.New("no time")
	}
	return nil
}

func holding(name string, address int, more ...func(*Point)) Point {
	p := Point{Name: name, Holding: new(address)}
	for _, m := range more {
		m(&p)
	}
	return p
}

func typed(kind, order string) func(*Point) {
	return func(p *Point) { p.Type, p.Order = kind, order }
}

var testTime = time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
