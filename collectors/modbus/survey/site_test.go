package survey

import (
	"testing"

	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// pipeLines are lines to slaves that live in memory, for tests in virtual time. slave may refuse.
func pipeLines(t *testing.T, slave func(url string) (*modbustest.Slave, error)) *line.Lines {
	return &line.Lines{Dial: linetest.Dial[line.Stream](t, slave)}
}
