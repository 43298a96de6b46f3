package modbus

import "testing"

// What reads the same number is the same source, however it is written; what reads another is another.
func TestTheSourceOfAPointIsWhatIsRead(t *testing.T) {
	point := func(change func(*Device, *Point)) string {
		unit, at := 3, 100
		d := Device{Name: "plc", URL: "tcp://10.0.0.5", Unit: &unit, Order: "CDAB"}
		p := Point{Name: "level", Holding: &at, Type: "float32"}
		change(&d, &p)
		place, source := d.Source(p)
		return place + ", " + source
	}
	same := func(*Device, *Point) {}
	if got, want := point(same), "10.0.0.5:502, unit 3, holding 100, float32 CDAB"; got != want {
		t.Fatalf("source %q, want %q", got, want)
	}
	modicon, other, scale := 40101, 101, 12.0
	for name, change := range map[string]func(*Device, *Point){
		"the port that is usual": func(d *Device, _ *Point) { d.URL = "tcp://10.0.0.5:502?pause=20ms" },
		"a point's own order":    func(_ *Device, p *Point) { p.Order = "cdab" },
		"another name":           func(d *Device, p *Point) { d.Name, p.Name = "tk", "1" },
		"counted from one":       func(_ *Device, p *Point) { p.Holding, p.Modicon = nil, &modicon },
		"scale, offset and unit": func(_ *Device, p *Point) { p.Scale, p.Offset, p.Unit = &scale, 3, "ft" },
	} {
		if got := point(change); got != point(same) {
			t.Errorf("%s: %q is another source", name, got)
		}
	}
	for name, change := range map[string]func(*Device, *Point){
		"another place": func(d *Device, _ *Point) { d.URL = "tcp://10.0.0.6" },
		"another unit":  func(d *Device, _ *Point) { d.Unit = nil },
		"a register on": func(_ *Device, p *Point) { p.Holding = &other },
		"another table": func(_ *Device, p *Point) { p.Holding, p.Input = nil, p.Holding },
		"another type":  func(_ *Device, p *Point) { p.Type = "int32" },
		"another order": func(d *Device, _ *Point) { d.Order = "" },
		"enron":         func(d *Device, _ *Point) { d.Enron = true },
	} {
		if got := point(change); got == point(same) {
			t.Errorf("%s: it is the same source", name)
		}
	}
}
