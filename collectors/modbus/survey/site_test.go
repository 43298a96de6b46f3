package survey

import (
	"context"
	"testing"

	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// pipeLines are lines to slaves that live in memory, for tests in virtual time. slave may refuse.
func pipeLines(t *testing.T, slave func(url string) (*modbustest.Slave, error)) *line.Lines {
	return &line.Lines{Dial: func(_ context.Context, url string) (line.Stream, error) {
		s, err := slave(url)
		if err != nil {
			return nil, err
		}
		return linetest.Connect(t, s, url), nil
	}}
}

// only is a site with one slave behind every URL.
func only(s *modbustest.Slave) func(string) (*modbustest.Slave, error) {
	return func(string) (*modbustest.Slave, error) { return s, nil }
}

func closeLines(t *testing.T, lines *line.Lines) {
	t.Helper()
	if err := lines.Close(); err != nil {
		t.Errorf("close lines: %v", err)
	}
}

func openLine(t *testing.T, lines *line.Lines, url string) *line.Line {
	t.Helper()
	l, err := lines.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
