package modbus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
)

// nodeModules is the folder with the packages of testdata/node.
func nodeModules(t *testing.T) (node, folder string) {
	t.Helper()
	return collectorstest.NodeModules(t, "testdata/node/package.json", "jsmodbus")
}

func TestAgainstNodesModbusSerial(t *testing.T) {
	node, folder := nodeModules(t)
	d, want, values := everything()
	d.Points = append(d.Points, holding("nowhere", 899))
	command := []string{node, "testdata/node/slave.js", folder, "modbus-serial", toldIn(t, values)}
	over(t, []string{"tcp", "rtu"}, line.Request{Unit: 7, Table: line.Holding, Address: 0, Quantity: 1}, command, func(t *testing.T, s stranger) {
		d.URL = s.url
		s.holds(t, d, want)
	})
}

func TestAgainstNodesJsmodbus(t *testing.T) {
	node, folder := nodeModules(t)
	d, want, values := everything()
	command := []string{node, "testdata/node/slave.js", folder, "jsmodbus", toldIn(t, values)}
	over(t, []string{"tcp", "rtu", "rtu+tcp"}, line.Request{Unit: 7, Table: line.Holding, Address: 0, Quantity: 1}, command, func(t *testing.T, s stranger) {
		d.URL = s.url
		s.holds(t, d, want)
	})
}

func TestEnronAgainstNodesModbusSerial(t *testing.T) {
	node, folder := nodeModules(t)
	d := Device{Name: "d", Unit: new(7), Enron: true, Timeout: 2 * time.Second}
	want, told := map[collectors.Point]truth{}, &strings.Builder{}
	for i, tr := range []truth{
		{"float32", "123.456", float64(float32(123.456)), ""}, {"float32", "-0.25", -0.25, ""}, {"int32", "-100000", -100000, ""}, {"uint32", "4294867296", 4294867296, ""},
	} {
		for j, o := range wireOrders {
			address := 5001 + 4*i + j
			if tr.kind == "float32" {
				address += 2000
			}
			p := holding(fmt.Sprint(address), address, typed(tr.kind, string(o)))
			d.Points, want[collectors.PointOf("d", p.Name)] = append(d.Points, p), tr
			fmt.Fprintf(told, "7 enron %d %s %s %s\n", address, tr.kind, o, tr.told)
		}
	}
	d.Points = append(d.Points, holding("short", 3001, typed("int16", "")), holding("nowhere", 7900, typed("float32", "")))
	want["d/short"] = truth{value: -200}
	fmt.Fprintln(told, "7 holding 3001 int16 ABCD -200")
	command := []string{node, "testdata/node/slave.js", folder, "modbus-serial", toldIn(t, told.String())}
	over(t, []string{"tcp", "rtu"}, line.Request{Unit: 7, Table: line.Holding, Address: 3001, Quantity: 1}, command, func(t *testing.T, s stranger) {
		d.URL = s.url
		s.holds(t, d, want)
	})
}
