package modbus

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"sort"
	"strings"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/share"
	"gauger/collectors/registers"
)

// What an option is that the configuration leaves out.
const (
	defaultUnit    = 1
	defaultEvery   = 10 * time.Second
	defaultRetries = 1
)

// unitID is the unit id in force: the configured one, or 1.
func (d Device) unitID() int {
	if d.Unit == nil {
		return defaultUnit
	}
	return *d.Unit
}

// SerialLine says whether the device answers over a serial line, where a late answer cannot be told from the
// right one (all kinds but tcp and tls); a URL that cannot be read is none.
func (d Device) SerialLine() bool {
	at, err := line.ParseEndpoint(d.URL)
	return err == nil && at.IsSerial()
}

// Check returns every mistake in the device's own options, each with the key that it is about. Names are checked
// for being there; that they are unique is for whoever sees all devices.
func (d Device) Check() []collectors.Problem {
	c := checker{enron: d.Enron}
	if d.Name == "" || strings.ContainsAny(d.Name, "/ ") {
		c.add("name", "%q: a name without blanks and slashes is needed", d.Name)
	}
	at, err := line.ParseEndpoint(d.URL)
	if err != nil {
		c.add("modbus", "%s", err)
	}
	if unit := d.unitID(); unit < 0 || unit > 255 {
		c.add("unit", "%d: unit ids go from 1 to 247", unit)
	} else if err == nil && at.IsSerial() && (unit == 0 || unit > 247) {
		c.add("unit", "%d: 1 to 247 on a serial line (0 is everyone, and nobody answers)", unit)
	}
	if d.Every < 0 {
		c.add("every", "%s: longer than zero, such as 10s", d.Every)
	}
	if d.Timeout < 0 {
		c.add("timeout", "%s: longer than zero, such as 1s", d.Timeout)
	}
	if d.Retries != nil && (*d.Retries < 0 || *d.Retries > 5) {
		c.add("retries", "%d: 0 to 5", *d.Retries)
	}
	if d.Share != "" {
		if err := share.CheckAddress(d.Share); err != nil {
			c.add("share", "%s", err)
		}
	}
	if _, err := registers.ParseOrder(d.Order, 2); err != nil {
		c.add("order", "%s", err)
	}
	c.checkLimits(d)
	if len(d.Points) == 0 {
		c.add("points", "none; a device without points is never asked")
	}
	if len(d.Points) > maxPoints {
		c.add("points", "%d; one device has at most %d", len(d.Points), maxPoints)
	}
	names := map[string]bool{}
	for i, p := range d.Points {
		c.under = fmt.Sprintf("points[%d].", i)
		if names[p.Name] {
			c.add("name", "%s is the name of an earlier point of this device", p.Name)
		}
		names[p.Name] = true
		c.checkPoint(p)
		c.checkCompanions(d, p)
		c.checkAllowed(d, p)
	}
	return c.problems
}

type checker struct {
	enron    bool // the device's
	under    string
	problems []collectors.Problem
}

func (c *checker) add(key, format string, args ...any) {
	c.problems = append(c.problems, collectors.Problem{Path: c.under + key, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) checkPoint(p Point) {
	if p.Name == "" || strings.ContainsAny(p.Name, "/ ") {
		c.add("name", "%q: a name without blanks and slashes is needed", p.Name)
	}
	key, table, address, err := p.locate()
	if err != nil {
		c.add(key, "%s", err)
	}
	k, kindErr := p.kind(table)
	if kindErr != nil {
		c.add("type", "%s", kindErr)
	} else if err == nil {
		c.typeFits(p, key, table, address, k)
	}
	c.checkBit(p, table, k)
	c.checkValues(p, k)
	if p.Verify != "" && p.Verify != "once" && p.Verify != "twice" {
		c.add("verify", "%q: once or twice", p.Verify)
	}
}

// typeFits checks what kind, length and order make of the address.
func (c *checker) typeFits(p Point, key string, table line.Table, address int, k registers.Kind) {
	if table.IsBits() && k != registers.Bool {
		if key == "modicon" {
			c.add("type", "%s: modicon %d is a %s, which is on or off; registers are 40001 and up (holding) or 30001 and up (input): did you mean modicon: %d?", k, *p.Modicon, table, 40000+*p.Modicon%10000)
			return
		}
		c.add("type", "%s: a %s is a bool", k, table)
		return
	}
	if p.Enron != nil && *p.Enron && !(k.Enron() && table.Enron().IsEnron()) {
		c.add("enron", "only int32, uint32 and float32 in holding or input registers are values of 32 bits in Enron's way, not %s", k)
		return
	}
	count := p.registers(k)
	if p.isEnron(c.enron, k, table) {
		count = 1
	}
	if k == registers.String && (p.Length < 1 || p.Length > 125) {
		c.add("length", "%d: a string needs the number of its registers, 1 to 125", p.Length)
		return
	}
	if k != registers.String && p.Length != 0 {
		c.add("length", "only a string has one; %s takes %d", k, k.Registers())
	}
	if address+count > 1<<16 {
		c.add(key, "%s at %d takes %d registers, and %d is the last address; at most %d", k, address, count, 1<<16-1, 1<<16-count)
	}
	if _, err := registers.ParseOrder(p.Order, p.registers(k)); err != nil {
		c.add("order", "%s", err)
	}
}

func (c *checker) checkBit(p Point, table line.Table, k registers.Kind) {
	if p.Bit == nil {
		return
	}
	if table.IsBits() {
		c.add("bit", "a %s is one bit already", table)
	}
	if *p.Bit < 0 || *p.Bit > 15 {
		c.add("bit", "%d: 0 (least) to 15", *p.Bit)
	}
	if k != registers.Bool {
		c.add("bit", "one bit is a bool, not %s; leave out the type", k)
	}
}

// checkValues checks what is done with the number.
func (c *checker) checkValues(p Point, k registers.Kind) {
	if p.Scale != nil && (*p.Scale == 0 || math.IsNaN(*p.Scale) || math.IsInf(*p.Scale, 0)) {
		c.add("scale", "%v: any number but zero", *p.Scale)
	}
	if math.IsNaN(p.Offset) || math.IsInf(p.Offset, 0) {
		c.add("offset", "%v: a number", p.Offset)
	}
	if p.Range != nil && (len(p.Range) != 2 || !(p.Range[0] < p.Range[1])) {
		c.add("range", "%v: [low, high], the lower one first", p.Range)
	}
	low, high := k.Limits()
	for i, b := range p.Bad {
		if !(b >= low && b <= high) {
			c.add(fmt.Sprintf("bad[%d]", i), "%v can never be read as %s (%v to %v)", b, k, low, high)
		}
	}
	if k == registers.String && (p.Scale != nil || p.Offset != 0 || p.Range != nil || p.Bad != nil) {
		c.add("type", "a string has no scale, offset, range or bad numbers")
	}
}

// kind is the configured type, or what the place implies.
func (p Point) kind(table line.Table) (registers.Kind, error) {
	if p.Type != "" {
		return registers.ParseKind(p.Type)
	}
	if table.IsBits() || p.Bit != nil {
		return registers.Bool, nil
	}
	return registers.Uint16, nil
}

func (p Point) registers(k registers.Kind) int {
	if k == registers.String {
		return p.Length
	}
	return k.Registers()
}

// isEnron says whether the point is one address of 32 bits: as it says itself, or as its device does where the type
// allows it.
func (p Point) isEnron(device bool, k registers.Kind, table line.Table) bool {
	if p.Enron != nil {
		device = *p.Enron
	}
	return device && k.Enron() && !table.IsBits()
}

// Warnings returns what is legal but doubtful in the device's options; named says that the masters who may read it are.
func (d Device) Warnings(named bool) (all []collectors.Problem) {
	at, err := line.ParseEndpoint(d.URL)
	if err == nil && at.IsPort() && (strings.HasPrefix(at.Place, "/dev/ttyUSB") || strings.HasPrefix(at.Place, "/dev/ttyACM")) {
		all = append(all, collectors.Problem{Path: "modbus", Message: at.Place + " is another adapter after a restart or when it was pulled out; " +
			"ls -l /dev/serial/by-id shows the name that stays"})
	}
	if usual, odd := at.OddBaud(); err == nil && odd {
		all = append(all, collectors.Problem{Path: "modbus", Message: fmt.Sprintf("hardly any device has this baud rate; did you mean baud=%d?", usual)})
	}
	if host, _, split := net.SplitHostPort(at.Place); err == nil && split == nil && strings.Trim(host, "0123456789.") == "" && net.ParseIP(host) == nil {
		all = append(all, collectors.Problem{Path: "modbus", Message: host + " is no IP address, which is four numbers up to 255, such as 10.20.0.5"})
	}
	if d.Share != "" && !named && share.IsReachable(d.Share) {
		all = append(all, collectors.Problem{Path: "share", Message: d.Share + " can be read by everyone who reaches this box, since Modbus has no password; " +
			"127.0.0.1 for programs on the box itself, share.masters for who else may"})
	}
	for i, p := range d.Points {
		if key, table, n, err := p.locate(); err == nil && key != "modicon" && !table.IsBits() && (n > 40000 && n < 50000 || n > 30000 && n < 40000) {
			all = append(all, collectors.Problem{Path: fmt.Sprintf("points[%d].%s", i, key), Message: fmt.Sprintf(
				"%d is the address on the wire, counted from 0, which few devices have; did you mean modicon: %d?", n, n)})
		}
	}
	for i, p := range d.Points {
		if key, table, _, err := p.locate(); err == nil && key == "modicon" && table.IsBits() && p.Unit != "" && p.Type == "" {
			all = append(all, collectors.Problem{Path: fmt.Sprintf("points[%d].modicon", i), Message: fmt.Sprintf(
				"%d is a %s, which is on or off and has no unit; did you mean modicon: %d?", *p.Modicon, table, 40000+*p.Modicon%10000)})
		}
	}
	if over, found := d.overlap(); found {
		all = append(all, over)
	}
	if swapped, found := d.swappedBytes(); found {
		all = append(all, swapped)
	}
	if d.Share != "" && share.IsPrivilegedPort(d.Share) {
		all = append(all, collectors.Problem{Path: "share", Message: d.Share + ": ports below 1024 are for root, and the packaged service is not; 1502 is free for all"})
	}
	return all
}

// overlap is the first point that takes registers of another one for something else. Bits of a word are not meant.
func (d Device) overlap() (first collectors.Problem, found bool) {
	type span struct {
		index, from, end int
		table            line.Table
		key              string
		kind             registers.Kind
	}
	var spans []span
	for i, p := range d.Points {
		key, table, from, err := p.locate()
		if err != nil || table.IsBits() {
			continue
		}
		k, err := p.kind(table)
		if err != nil || k == registers.Bool {
			continue
		}
		count := p.registers(k)
		if p.isEnron(d.Enron, k, table) {
			count = 1
		}
		spans = append(spans, span{i, from, from + count, table, key, k})
	}
	sort.SliceStable(spans, func(i, j int) bool { // as in placesOf: smaller in the binary
		a, b := spans[i], spans[j]
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.from, b.from)) < 0
	})
	many, was := 0, span{}
	for i, is := range spans {
		if i == 0 {
			was = is
			continue
		}
		if was.table == is.table && is.from < was.end && (is.from != was.from || is.kind != was.kind) {
			if many++; many == 1 {
				first = collectors.Problem{Path: fmt.Sprintf("points[%d].%s", is.index, is.key), Message: fmt.Sprintf(
					"%s is %s at %s %d, and %s is %s at %d: they share registers, so that one of them is most probably not what it says; look up both in the device's register map",
					d.Points[is.index].Name, is.kind, is.table, is.from, d.Points[was.index].Name, was.kind, was.from)}
			}
		}
		if was.table != is.table || is.end >= was.end {
			was = is // else the wide one goes on over what follows
		}
	}
	if many > 1 {
		first.Message += fmt.Sprintf("; and %d more like that", many-1)
	}
	return first, many > 0
}

// swappedBytes is the first point of one register that takes over its device's order where that swaps the bytes within a register, and stands
// there for points of several: mostly they alone are swapped.
func (d Device) swappedBytes() (first collectors.Problem, found bool) {
	o, err := registers.ParseOrder(d.Order, 2)
	if err != nil || !o.SwapsBytes() {
		return first, false
	}
	many, wide := 0, false
	for i, p := range d.Points {
		key, table, _, err := p.locate()
		k, kindErr := p.kind(table)
		if err != nil || kindErr != nil || p.Order != "" || table.IsBits() || k == registers.String {
			continue
		}
		if k.Registers() > 1 {
			wide = true
		} else if many++; many == 1 {
			first = collectors.Problem{Path: fmt.Sprintf("points[%d].%s", i, key), Message: fmt.Sprintf(
				"%s is one register and takes over the device's order: %s, which swaps the two bytes in it; in most devices only values of several registers are swapped. Look at it with `gauger read`: write order: AB on this point if it is wrong, order: BA if it is right",
				p.Name, d.Order)}
		}
	}
	if many > 1 {
		first.Message += fmt.Sprintf("; and %d more like that", many-1)
	}
	return first, wide && many > 0
}

// Conflict is a mistake that only shows when devices are seen together.
type Conflict struct {
	Device int // index of the later of the devices
	collectors.Problem
}

// Conflicts returns what several devices say against each other: one place spoken to in two ways, and one unit
// id twice on one line or at one address that it is shared at. Devices whose URL is wrong are passed over.
func Conflicts(devices []Device) []Conflict {
	type unit struct {
		place string
		id    int
	}
	var found []Conflict
	add := func(i int, path string, err error) {
		found = append(found, Conflict{i, collectors.Problem{Path: path, Message: err.Error()}})
	}
	lines, units := map[string]line.Endpoint{}, map[unit]string{}
	for i, d := range devices {
		at, err := line.ParseEndpoint(d.URL)
		if err != nil {
			continue
		}
		u := unit{at.Place, d.unitID()}
		first, known := lines[at.Place]
		other, taken := units[u]
		switch err := first.ConflictsWith(at); {
		case known && err != nil:
			add(i, "modbus", err)
		case taken:
			add(i, "unit", fmt.Errorf("unit %d on this line is %s already; put all points of a unit under one device, or correct the unit", u.id, other))
		}
		if !known {
			lines[at.Place] = at
		}
		if !taken {
			units[u] = d.Name
		}
		guest := unit{"share " + d.Share, d.unitID()}
		switch other, taken := units[guest]; {
		case d.Share != "" && taken:
			add(i, "share", fmt.Errorf("unit %d at %s is %s already; share this one at another port", guest.id, d.Share, other))
		case d.Share != "":
			units[guest] = d.Name
		}
	}
	return found
}
