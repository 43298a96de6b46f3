package modbus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gauger/collectors/modbus/line"
)

func rightDevice() Device {
	return Device{Name: "plc", URL: "tcp://10.20.0.5", Points: []Point{{Name: "level", Holding: new(100), Type: "float32", Order: "CDAB", Unit: "in", Range: []float64{0, 240}}}}
}

func TestRightDevicesHaveNoProblems(t *testing.T) {
	for name, change := range map[string]func(*Device){
		"as it is":        func(*Device) {},
		"unit 0 on tcp":   func(d *Device) { d.Unit = new(0) },
		"unit 255 on tcp": func(d *Device) { d.Unit = new(255) },
		"serial":          func(d *Device) { d.URL, d.Unit = "rtu:///dev/ttyS0?baud=9600&parity=n&stop=2&data=8", new(247) },
		"serial server":   func(d *Device) { d.URL = "rtu+tcp://10.20.0.7:4001?baud=9600" },
		"IPv6":            func(d *Device) { d.URL = "tcp://[fe80::1]:502" },
		"last address":    func(d *Device) { d.Points[0].Holding = new(65534) },
		"modicon":         func(d *Device) { d.Points[0].Holding, d.Points[0].Modicon = nil, new(400001) },
		"a string":        func(d *Device) { d.Points[0] = Point{Name: "tag", Input: new(0), Type: "string", Length: 8} },
		"eight letters":   func(d *Device) { d.Points[0].Type, d.Points[0].Order = "float64", "GHEFCDAB" },
		"a bit":           func(d *Device) { d.Points[0] = Point{Name: "b", Holding: new(0), Bit: new(15)} },
		"Enron":           func(d *Device) { d.Enron, d.Points[0].Holding = true, new(65535) },
		"an Enron point":  func(d *Device) { d.Points[0].Enron, d.Points[0].Holding = new(true), new(65535) },
		"ASCII":           func(d *Device) { d.URL = "ascii:///dev/ttyS0?data=8&parity=N&pause=10ms&rs485=low" },
		"TLS":             func(d *Device) { d.URL, d.Unit = "tls://10.20.0.5?ca_file=ca.pem", new(255) },
		"sentinels":       func(d *Device) { d.Points[0].Bad = []float64{-9999, 9999.9} },
		"lower case":      func(d *Device) { d.Order, d.Points[0].Order = "cdab", "dcba" },
	} {
		d := rightDevice()
		change(&d)
		if p := d.Check(); len(p) != 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestEachMistakeIsNamedAtItsKey(t *testing.T) {
	tests := []struct {
		change func(*Device)
		path   string
		says   string
	}{
		{func(d *Device) { d.Name = "" }, "name", "needed"},
		{func(d *Device) { d.Name = "a/b" }, "name", "slashes"},
		{func(d *Device) { d.URL = "10.20.0.5:502" }, "modbus", "tcp://"},
		{func(d *Device) { d.URL = "udp://10.20.0.5" }, "modbus", `unknown kind "udp"`},
		{func(d *Device) { d.URL = "tcp://10.20.0.5?baud=9600" }, "modbus", `tcp has no option "baud"; it has pause, connect_pause`},
		{func(d *Device) { d.URL = "rtu+tcp://10.20.0.5" }, "modbus", "a host and a port are needed"},
		{func(d *Device) { d.URL = "tcp://h:70000" }, "modbus", "port"},
		{func(d *Device) { d.URL = "rtu://dev/ttyS0" }, "modbus", "three slashes"},
		{func(d *Device) { d.URL = "rtu:///dev/ttyS0?baud=fast" }, "modbus", "baud=fast"},
		{func(d *Device) { d.URL = "rtu:///dev/ttyS0?parity=X" }, "modbus", "N, E or O"},
		{func(d *Device) { d.URL = "rtu:///dev/ttyS0?stop=3" }, "modbus", "1 or 2"},
		{func(d *Device) { d.URL = "rtu:///dev/ttyS0?data=7" }, "modbus", "8 data bits"},
		{func(d *Device) { d.URL = "rtu:///dev/ttyS0?speed=9600" }, "modbus", `rtu has no option "speed"; it has baud, data, parity, stop`},
		{func(d *Device) { d.Unit = new(256) }, "unit", "1 to 247"},
		{func(d *Device) { d.URL, d.Unit = "rtu:///dev/ttyS0", new(0) }, "unit", "everyone"},
		{func(d *Device) { d.URL, d.Unit = "rtu:///dev/ttyS0", new(248) }, "unit", "1 to 247"},
		{func(d *Device) { d.Every = -time.Second }, "every", "longer than zero"},
		{func(d *Device) { d.Timeout = -time.Second }, "timeout", "longer than zero"},
		{func(d *Device) { d.Retries = new(6) }, "retries", "0 to 5"},
		{func(d *Device) { d.Points[0].Type, d.Points[0].Order, d.Points[0].Enron = "float64", "", new(true) }, "points[0].enron", "not float64"},
		{func(d *Device) { d.Points[0] = Point{Name: "c", Coil: new(1), Enron: new(true)} }, "points[0].enron", "not bool"},
		{func(d *Device) { d.Order = "ABDC" }, "order", "unknown order"},
		{func(d *Device) { d.Order = "GHEFCDAB" }, "order", "eight letters"},
		{func(d *Device) { d.Points = nil }, "points", "never asked"},
		{func(d *Device) { d.Points = append(d.Points, d.Points[0]) }, "points[1].name", "earlier point"},
		{func(d *Device) { d.Points = everyAddressTwice() }, "points", "65552; one device has at most 65536"},
		{func(d *Device) { d.Points[0].Name = "" }, "points[0].name", "needed"},
		{func(d *Device) { d.Points[0].Holding = nil }, "points[0].name", "nothing says where"},
		{func(d *Device) { d.Points[0].Input = new(1) }, "points[0].input", "both holding and input"},
		{func(d *Device) { d.Points[0].Holding = new(65535) }, "points[0].holding", "takes 2 registers, and 65535 is the last address; at most 65534"},
		{func(d *Device) { d.Points[0].Holding, d.Points[0].Type = new(65533), "float64" }, "points[0].holding", "at most 65532"},
		{func(d *Device) { d.Points[0].Holding = new(400001) }, "points[0].holding", "use modicon"},
		{func(d *Device) { d.Points[0].Holding = new(-1) }, "points[0].holding", "from 0 to 65535"},
		{func(d *Device) { d.Points[0].Holding, d.Points[0].Modicon = nil, new(20001) }, "points[0].modicon", "40001 to 49999"},
		{func(d *Device) { d.Points[0].Holding, d.Points[0].Modicon = nil, new(10000) }, "points[0].modicon", "40001 to 49999"},
		{func(d *Device) { d.Points[0].Holding, d.Points[0].Modicon = nil, new(465536) }, "points[0].modicon", "at most 65534"},
		{func(d *Device) { d.Points[0].Type = "float" }, "points[0].type", `unknown type "float"; bool, int16`},
		{func(d *Device) { d.Points[0].Holding, d.Points[0].Coil = nil, new(1) }, "points[0].type", "a coil is a bool"},
		{func(d *Device) { d.Points[0].Holding, d.Points[0].Modicon = nil, new(100) }, "points[0].type", "modicon 100 is a coil, which is on or off; registers are 40001 and up (holding) or 30001 and up (input): did you mean modicon: 40100?"},
		{func(d *Device) { d.Points[0].Order = "AB" }, "points[0].order", "two letters"},
		{func(d *Device) { d.Points[0].Bit = new(16); d.Points[0].Type = "" }, "points[0].bit", "0 (least) to 15"},
		{func(d *Device) { d.Points[0].Bit = new(3) }, "points[0].bit", "leave out the type"},
		{func(d *Device) { d.Points[0].Length = 2 }, "points[0].length", "only a string"},
		{func(d *Device) { d.Points[0].Type = "string" }, "points[0].length", "number of its registers"},
		{func(d *Device) { d.Points[0].Scale = new(0.0) }, "points[0].scale", "any number but zero"},
		{func(d *Device) { d.Points[0].Range = []float64{240, 0} }, "points[0].range", "lower one first"},
		{func(d *Device) { d.Points[0].Range = []float64{240} }, "points[0].range", "[low, high]"},
		{func(d *Device) { d.Points[0].Type, d.Points[0].Bad = "int16", []float64{1, 65535} }, "points[0].bad[1]", "can never be read as int16 (-32768 to 32767)"},
		{func(d *Device) { d.Points[0].Verify = "thrice" }, "points[0].verify", "once or twice"},
	}
	for _, tt := range tests {
		d := rightDevice()
		tt.change(&d)
		p := d.Check()
		if len(p) == 0 || p[0].Path != tt.path || !strings.Contains(p[0].Message, tt.says) {
			t.Errorf("want %s: %s; found %+v", tt.path, tt.says, p)
		}
		if _, err := New(&line.Lines{}, []Device{d}); err == nil {
			t.Errorf("%s: New took it", tt.path)
		}
	}
}

// everyAddressTwice are more points than the plan can number.
func everyAddressTwice() (all []Point) {
	for i := range 1<<16 + 16 {
		all = append(all, Point{Name: strconv.Itoa(i), Holding: new(i % (1 << 16))})
	}
	return all
}

func TestPortsWhoseNamesChangeAreWarnedOf(t *testing.T) {
	for url, want := range map[string]int{
		"rtu:///dev/ttyUSB0": 1, "ascii:///dev/ttyACM1?baud=9600": 1, "rtu:///dev/ttyS0": 0, "rtu:///dev/serial/by-id/usb-ttyUSB0": 0, "tcp://h": 0, "x": 0,
	} {
		if got := (Device{URL: url}).Warnings(false); len(got) != want || want > 0 && (got[0].Path != "modbus" || !strings.Contains(got[0].Message, "/dev/serial/by-id")) {
			t.Errorf("%s: %+v", url, got)
		}
	}
}

func TestAHostThatIsNoIPAddressIsDoubted(t *testing.T) {
	for url, want := range map[string]int{"tcp://127.0.0.300": 1, "rtu+tcp://10.20.0:4001": 1, "tcp://10.20.0.5:502": 0, "tcp://plc-7": 0, "tcp://[fe80::1]:502": 0} {
		if got := (Device{URL: url}).Warnings(false); len(got) != want || want > 0 && (got[0].Path != "modbus" || !strings.Contains(got[0].Message, " is no IP address, which is four numbers up to 255")) {
			t.Errorf("%s: %+v", url, got)
		}
	}
}

// Two points that take the same registers for different things are doubted, and what status words do is not.
func TestRegistersOfTwoPointsAreDoubted(t *testing.T) {
	at := func(name string, n int, kind string) Point { return Point{Name: name, Holding: &n, Type: kind} }
	bit := at("bit", 100, "")
	bit.Bit = new(3)
	coil := Point{Name: "coil", Coil: new(100)}
	input := Point{Name: "input", Input: new(100), Type: "int16"}
	for name, x := range map[string]struct {
		points []Point
		path   string
		says   string
	}{
		"a float's second half": {[]Point{at("b", 101, "uint16"), at("a", 100, "float32")}, "points[0].holding", "b is uint16 at holding 101, and a is float32 at 100"},
		"one place, two types":  {[]Point{at("a", 100, "int16"), at("b", 100, "uint16")}, "points[1].holding", "b is uint16 at holding 100, and a is int16"},
		"floats too close":      {[]Point{at("a", 100, "float32"), at("b", 101, "float32"), at("c", 102, "float32")}, "points[1].holding", "; and 1 more like that"},
		"within a long one":     {[]Point{at("a", 100, "float64"), at("b", 101, "uint16"), at("c", 103, "uint16")}, "points[1].holding", "; and 1 more like that"},
		"side by side":          {[]Point{at("a", 100, "float32"), at("b", 102, "float32"), bit, coil, input}, "", ""},
		"one value, two names":  {[]Point{at("a", 100, "float32"), at("b", 100, "float32")}, "", ""},
		"Enron's registers":     {[]Point{{Name: "a", Holding: new(7001), Type: "float32", Enron: new(true)}, {Name: "b", Holding: new(7002), Type: "float32", Enron: new(true)}}, "", ""},
	} {
		got := (Device{URL: "tcp://h", Points: x.points}).Warnings(false)
		if want := min(1, len(x.path)); len(got) != want || want > 0 && (got[0].Path != x.path || !strings.Contains(got[0].Message, x.says)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An order of a device that swaps the bytes within a register is doubted where a point of one register takes it over beside wide ones.
func TestBytesThatAnOrderSwapsInOneRegisterAreDoubted(t *testing.T) {
	at := func(n int, kind, order string) Point {
		return Point{Name: fmt.Sprintf("p%d", n), Holding: &n, Type: kind, Order: order}
	}
	bit := at(9, "", "")
	bit.Bit = new(3)
	for name, x := range map[string]struct {
		order  string
		points []Point
		path   string
		says   string
	}{
		"a temperature beside floats":  {"BADC", []Point{at(0, "float32", ""), at(4, "int16", "")}, "points[1].holding", "p4 is one register and takes over the device's order: BADC, which swaps the two bytes in it"},
		"two, one of them a bit":       {"DCBA", []Point{bit, at(0, "float32", ""), at(4, "bcd16", "")}, "points[0].holding", "; and 1 more like that"},
		"said on the point":            {"BADC", []Point{at(0, "float32", ""), at(4, "int16", "AB"), at(5, "int16", "BA")}, "", ""},
		"no wide one takes it over":    {"BADC", []Point{at(0, "float32", "ABCD"), at(4, "int16", "")}, "", ""},
		"words alone are swapped":      {"CDAB", []Point{at(0, "float32", ""), at(4, "int16", "")}, "", ""},
		"nothing is said":              {"", []Point{at(0, "float32", "BADC"), at(4, "int16", "")}, "", ""},
		"a coil and a text beside one": {"BADC", []Point{at(0, "float32", ""), {Name: "c", Coil: new(4)}, {Name: "s", Holding: new(8), Type: "string", Length: 1}}, "", ""},
	} {
		got := (Device{URL: "tcp://h", Order: x.order, Points: x.points}).Warnings(false)
		if want := min(1, len(x.path)); len(got) != want || want > 0 && (got[0].Path != x.path || !strings.Contains(got[0].Message, x.says)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestModiconNumbers(t *testing.T) {
	type register struct {
		table   line.Table
		address int
	}
	for n, want := range map[int]register{
		1: {line.Coil, 0}, 9999: {line.Coil, 9998}, 10001: {line.Discrete, 0}, 19999: {line.Discrete, 9998}, 30001: {line.Input, 0}, 40001: {line.Holding, 0},
		49999: {line.Holding, 9998}, 400001: {line.Holding, 0}, 465536: {line.Holding, 65535}, 300001: {line.Input, 0}, 365536: {line.Input, 65535}, 100001: {line.Discrete, 0},
	} {
		table, address, err := modicon(n)
		if err != nil || table != want.table || address != want.address {
			t.Errorf("%d: %s %d (%v), want %s %d", n, table, address, err, want.table, want.address)
		}
	}
	for _, n := range []int{0, -1, 10000, 20001, 30000, 40000, 50001, 200001, 400000, 465537, 500001} {
		if table, address, err := modicon(n); err == nil {
			t.Errorf("%d was taken for %s %d", n, table, address)
		}
	}
}

func TestConflicts(t *testing.T) {
	device := func(name, url string, unit int) Device {
		return Device{Name: name, URL: url, Unit: new(unit), Points: []Point{holding("p", 0)}}
	}
	all := []Device{
		device("a", "tcp://h:502", 1), device("b", "tcp://H", 2), device("c", "rtu+tcp://h:502", 3), device("d", "tcp://h:502", 1),
		device("e", "rtu:///dev/a?baud=9600", 1), device("f", "rtu:///dev/./a?baud=9600", 2), device("g", "rtu:///dev/a", 3), device("broken", "x", 1),
	}
	var got []string
	for _, c := range Conflicts(all) {
		got = append(got, all[c.Device].Name+" "+c.Path)
	}
	if want := []string{"c modbus", "d unit", "g modbus"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := New(&line.Lines{}, all[:3]); err == nil || !strings.Contains(err.Error(), "one place spoken to in two ways") {
		t.Errorf("New: %v", err)
	}
}

func TestMistakesInCompanions(t *testing.T) {
	age := func(a Age) Point { return holding("level", 0, func(p *Point) { p.Age = &a }) }
	when := func(g GoodWhen) Point { return holding("level", 0, func(p *Point) { p.GoodWhen = &g }) }
	half := 30 * time.Minute
	tests := []struct {
		name  string
		point Point
		path  string
		say   string
	}{
		{"no such point", age(Age{Point: "agee", Max: half}), "points[0].age.point", "no point of this device"},
		{"itself", when(GoodWhen{Point: "level", Is: []float64{0}}), "points[0].good_when.point", "cannot speak about itself"},
		{"a text", when(GoodWhen{Point: "text", Is: []float64{0}}), "points[0].good_when.point", "a number is needed"},
		{"one that rests on another", when(GoodWhen{Point: "judged", Is: []float64{0}}), "points[0].good_when.point", "rests on another point itself"},
		{"age in volts", age(Age{Point: "status", Max: half}), "points[0].age.unit", `unit of status is "mV", which is no time`},
		{"age in days", age(Age{Point: "age", Max: half, Unit: "d"}), "points[0].age.unit", "ms, s, min or h"},
		{"no limit", age(Age{Point: "age"}), "points[0].age.max", "longer than zero"},
		{"countdown from zero", age(Age{Point: "age", Max: half, DownFrom: new(0.0)}), "points[0].age.down_from", "more than zero"},
		{"limit beyond the countdown", age(Age{Point: "age", Max: 2 * time.Hour, DownFrom: new(60.0)}), "points[0].age.max", "2h0m0s is never reached: age counts down from 60"},
		{"nothing said", when(GoodWhen{Point: "status"}), "points[0].good_when", "exactly one of is, not, between and clear"},
		{"two things said", when(GoodWhen{Point: "status", Is: []float64{0}, Clear: []int{1}}), "points[0].good_when", "exactly one of"},
		{"between upside down", when(GoodWhen{Point: "status", Between: []float64{3, 1}}), "points[0].good_when", "the lower one first"},
		{"an empty list", when(GoodWhen{Point: "status", Is: []float64{}}), "points[0].good_when", "an empty list says nothing"},
		{"bit 16 of a register", when(GoodWhen{Point: "status", Clear: []int{16}}), "points[0].good_when", "from 0 (least) to 15"},
		{"bits of a signed number", when(GoodWhen{Point: "signed", Clear: []int{1}}), "points[0].good_when", "must be uint16 or uint32"},
	}
	for _, tt := range tests {
		status := holding("status", 5)
		status.Unit = "mV"
		minutes := holding("age", 6)
		minutes.Unit = "min"
		judged := holding("judged", 7, func(p *Point) { p.GoodWhen = &GoodWhen{Point: "status", Is: []float64{0}} })
		text := holding("text", 8, typed("string", ""))
		text.Length = 2
		d := Device{Name: "d", URL: "tcp://h", Points: []Point{tt.point, status, minutes, judged, text, holding("signed", 9, typed("int16", ""))}}
		found := d.Check()
		if len(found) != 1 || found[0].Path != tt.path || !strings.Contains(found[0].Message, tt.say) {
			t.Errorf("%s: %v, want %s: ...%s...", tt.name, found, tt.path, tt.say)
		}
	}
}

func FuzzDeviceOptions(f *testing.F) {
	f.Add("tcp://10.0.0.1:502", "CDAB", "float32", 40001, 3)
	f.Add("rtu:///dev/ttyS0?baud=9600", "GHEFCDAB", "uint64", 400001, 0)
	f.Add("rtu+tcp://[::1]:4001", "", "string", 1, 125)
	f.Fuzz(func(t *testing.T, url, order, kind string, number, length int) {
		d := Device{Name: "d", URL: url, Order: order, Points: []Point{{Name: "p", Modicon: &number, Type: kind, Order: order, Length: length}}}
		if len(d.Check()) > 0 {
			return
		}
		points, err := compile(d)
		if err != nil {
			t.Fatalf("Check passes what cannot be compiled: %v", err)
		}
		p := points[0]
		if p.span().End() > 1<<16 || p.count < 1 || int(p.count) > p.table.MaxQuantity() {
			t.Fatalf("%+v", p.span())
		}
		if err := sound(p.decode(make([]byte, 2*p.count), testTime)); err != nil {
			t.Error(err)
		}
	})
}
