package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/modbustest"
)

// onPipes are lines with one slave behind every URL, in memory.
func onPipes(t *testing.T, slave *modbustest.Slave, framing modbustest.Framing) *line.Lines {
	return &line.Lines{Dial: func(context.Context, string) (line.Stream, error) {
		near, far := modbustest.Pipe()
		go func() {
			if err := slave.ServeStream(t.Context(), far, framing); err != nil {
				t.Errorf("slave: %v", err)
			}
		}()
		return near, nil
	}}
}

func TestScanGoesThroughTheSettingsOfAFreePort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := modbustest.NewSlave()
		slave.Unit(2)
		lines := onPipes(t, slave, modbustest.RTU)
		a := scanRequest{URL: "rtu:///dev/port?baud=1200", Bauds: []string{"9600", "19200"}, Parity: []string{"N"}, Units: []int{1, 2}, Timeout: time.Second}
		var at []string
		err := scanOn(t.Context(), lines, a, func(f unitFound) error {
			if f.Answers {
				at = append(at, f.URL)
			}
			return nil
		})
		if err != nil || strings.Join(at, " ") != "rtu:///dev/port?baud=9600&parity=N rtu:///dev/port?baud=19200&parity=N" {
			t.Errorf("answers at %q, %v", at, err)
		}
		lines.Each(func(l *line.Line) { t.Errorf("%s is left", l.URL()) })
	})
}

func TestScanLeavesALineThatGaugerReadsAlone(t *testing.T) {
	slave := modbustest.NewSlave()
	lines := onPipes(t, slave, modbustest.RTU)
	if _, err := lines.Open("rtu:///dev/port?baud=9600&parity=N"); err != nil {
		t.Fatal(err)
	}
	a := scanRequest{URL: "rtu:///dev/port", Bauds: []string{"9600", "19200"}, Parity: []string{"N"}, Units: []int{1}, Timeout: time.Second}
	err := scanOn(t.Context(), lines, a, nil)
	if _, busy := errors.AsType[lineTaken](err); !busy || !strings.Contains(err.Error(), "one speed and parity") || slave.Requests(0) > 0 {
		t.Errorf("%v, %d requests", err, slave.Requests(0))
	}
}

func TestScanTellsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := &call{err: &out}
		a := scanRequest{URL: "rtu:///dev/port?baud=9600&parity=N", Units: make([]int, 247), Timeout: time.Second}
		p := newProgress(m, a, []string{a.URL})
		p.begin()
		for unit := 1; unit <= 12; unit++ {
			collectors.Wait(t.Context(), time.Second)
			if err := p.unitDone(unitFound{URL: a.URL, Unit: unit, Answers: unit == 3, Damaged: unit == 7}); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"asking 247 units on rtu:///dev/port?baud=9600&parity=N; at most 4m13s",
			"unit 3 answers",
			"5 of 247, unit 5, about 4m2s still",
			"unit 7 answers damaged",
			"10 of 247, unit 10, about 3m57s still",
		}
		if got := strings.Split(strings.TrimSpace(out.String()), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s", out.String())
		}
		p.terminal = &out
		out.Reset()
		_ = p.unitDone(unitFound{URL: a.URL, Unit: 13, Answers: true})
		p.clear()
		if got := out.String(); got != "\r\033[Kunit 13 answers\n\r\033[K13 of 247, unit 13, about 3m36s still\r\033[K" {
			t.Errorf("on a terminal %q", got)
		}
	})
}

func TestScanOffersOnlyWhatCanBeDoneAtTheURL(t *testing.T) {
	for url, want := range map[string]string{
		"tcp://host": "does not speak Modbus TCP: rtu+tcp://", "rtu+tcp://host:4001": "than the serial server's", "rtu:///dev/ttyS1": "--baud 9600",
	} {
		p := progress{asks: scanRequest{URL: url}}
		if words := strings.Join(p.blindSpots(true), "\n"); !strings.Contains(words, want) || strings.Contains(words, "--baud") != (url == "rtu:///dev/ttyS1") {
			t.Errorf("%s:\n%s", url, words)
		}
	}
}
