package draft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gauger/agent/dialogue"
	"gauger/agent/tank"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/maps"
	"gauger/config"
)

// most of what could not be taken over is told; the rest is counted.
const most = 12

// askModbus asks for line after line, and what is on each.
func (v *Interview) askModbus(ctx context.Context) error {
	v.Say("\nModbus devices: tcp://10.20.0.5:502, rtu:///dev/ttyUSB0?baud=9600&parity=N, or rtu+tcp://10.20.0.7:4001.")
	for n := 1; ; n++ {
		key := fmt.Sprintf("modbus.%d.", n)
		url, err := v.Ask(ctx, dialogue.Question{Key: key + "url", Flag: "--modbus", Text: fmt.Sprintf("Address of line %d", n), Optional: true, Check: checkLine})
		if err != nil || url == "" {
			return err
		}
		units, err := v.askUnits(ctx, key, url)
		if err != nil {
			return err
		}
		for _, unit := range units {
			if err := v.askDevice(ctx, fmt.Sprintf("%s%d.", key, unit), url, unit); err != nil {
				return err
			}
		}
	}
}

func checkLine(url string) (string, error) {
	for _, p := range (modbus.Device{Name: "d", URL: url, Unit: new(1), Points: []modbus.Point{{Name: "p", Holding: new(0)}}}).Check() {
		if p.Path == "modbus" {
			return "", errors.New(p.Message)
		}
	}
	return url, nil
}

// usualTCP are the unit ids that are looked for behind a TCP address: those of a gateway's first units, and the one that stands for the
// device itself.
const usualTCP = "1-10,255"

// askUnits looks which unit ids answer, and asks which of them to read.
func (v *Interview) askUnits(ctx context.Context, key, url string) ([]int, error) {
	found, heard, doubted := "", []int(nil), ""
	_, given := v.Given[key+"units"]
	if _, kept := v.Kept[key+"units"]; !given && !kept && v.Scan != nil {
		usual, serial := "1-20", (modbus.Device{URL: url}).SerialLine()
		if !serial {
			usual = usualTCP
		}
		look, err := v.Ask(ctx, dialogue.Question{Key: key + "look", Text: "Unit ids to look for", Default: usual})
		if err != nil {
			return nil, err
		}
		units, err := v.Scan(ctx, url, look)
		if err != nil {
			v.Say("  %v", err)
		}
		var ids []string
		for _, u := range units {
			v.Say("  unit %d answers: %s", u.ID, u.How)
			ids, heard = append(ids, strconv.Itoa(u.ID)), append(heard, u.ID)
		}
		switch {
		case len(ids) > 0 || err != nil:
		case serial:
			v.Say("  nobody answers; look at power, wires, baud rate and parity (`gauger scan -h`), or go on and mend it later")
		default:
			v.Say("  it takes the connection and nobody answers: look at the unit ids (`gauger scan '%s'` asks them all), the port (502 is usual), whether it speaks Modbus TCP (else rtu+tcp://), and at the gateway's own serial settings and time-out; or go on and mend it later", url)
		}
		found = strings.Join(ids, ",")
		if look == usualTCP && found == "1,2,3,4,5,6,7,8,9,10,255" {
			v.Say("  Every id that was asked answers, as of a device that has no units behind it: one of them reads it all.")
			found = "1"
		}
	}
	found = cmp.Or(found, "1")
	answer, err := v.Ask(ctx, dialogue.Question{Key: key + "units", Flag: "--modbus URL,unit=N", Text: "Unit ids to read", Default: found, Check: func(text string) (string, error) {
		ids, err := unitIDs(text)
		odd := slices.IndexFunc(ids, func(id int) bool { return len(heard) > 0 && !slices.Contains(heard, id) })
		if err == nil && odd >= 0 && text != doubted {
			doubted = text
			return "", fmt.Errorf("unit %d has not answered here; if it is off now, write %s once more", ids[odd], text)
		}
		return text, err
	}})
	if err != nil {
		return nil, err
	}
	return unitIDs(answer)
}

func unitIDs(text string) (ids []int, err error) {
	for part := range strings.SplitSeq(text, ",") {
		id, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || id < 0 || id > 255 {
			return nil, fmt.Errorf("%q is no unit id; write 1, or 1,3", part)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (v *Interview) askDevice(ctx context.Context, key, url string, unit int) error {
	d := &Device{}
	var err error
	if d.Name, err = v.askName(ctx, key+"name", fmt.Sprintf("Name of unit %d", unit), "plc", "--modbus URL,name=NAME"); err != nil {
		return err
	}
	d.Keys = []string{"modbus: " + yamlText(url), fmt.Sprintf("unit: %d", unit)}
	if err := v.askMap(ctx, key, d); err != nil {
		return err
	}
	v.site.Devices = append(v.site.Devices, d)
	err = v.askRegisters(ctx, key, url, unit, d)
	given := func(point string) bool { return strings.HasPrefix(point, d.Name+"/") }
	if err == nil && len(d.Points) == 0 && v.Probe != nil && !slices.ContainsFunc(v.Points, given) {
		v.Say("  Unit %d has no point and is left out; back, or the next `gauger init`, asks for its registers again.", unit)
		for at := range v.Kept { // one Enter too much is no answer for good
			if strings.HasPrefix(at, key+"register.") {
				delete(v.Kept, at)
			}
		}
		v.site.Devices = v.site.Devices[:len(v.site.Devices)-1]
	}
	return err
}

// askName asks for a device's name that no other has.
func (v *Interview) askName(ctx context.Context, key, text, usual, flag string) (string, error) {
	taken := func(name string) bool {
		return slices.ContainsFunc(v.site.Devices, func(d *Device) bool { return d.Name == name })
	}
	fresh := usual
	for n := 2; taken(fresh); n++ {
		fresh = fmt.Sprintf("%s-%d", usual, n)
	}
	return v.Ask(ctx, dialogue.Question{Key: key, Flag: flag, Text: text, Default: fresh, Check: func(name string) (string, error) {
		if taken(name) {
			return "", fmt.Errorf("%s is taken", name)
		}
		if _, err := tank.ParseLength(name); err == nil && strings.Contains(name, "-") {
			return "", fmt.Errorf("%s is a gauge; the device wants a name, such as %s, and gauges are asked for later", name, fresh)
		}
		return plainName(name)
	}})
}

func plainName(name string) (string, error) {
	if strings.ContainsAny(name, "/, \t{}[]:#\"'") {
		return "", errors.New("letters, digits, - and _")
	}
	return name, nil
}

// askMap asks for a template or a file of register addresses, and takes its points.
func (v *Interview) askMap(ctx context.Context, key string, d *Device) error {
	if _, given := v.Given[key+"map"]; !given && !v.site.templatesTold {
		v.site.templatesTold = true
		v.Say("  Templates: %s.", strings.Join(modbus.Templates(), ", "))
		v.Say("  Files: an MBMap file, a tag list as CSV from Kepware or Ignition, or what `gauger check --template-of` has printed.")
	}
	_, err := v.Ask(ctx, dialogue.Question{Key: key + "map", Flag: "--modbus URL,map=FILE", Text: "  Its template, or a file with its registers", Optional: true, Check: func(name string) (string, error) {
		return name, v.takeMap(d, name)
	}})
	return err
}

func (v *Interview) takeMap(d *Device, name string) error {
	if text, known := modbus.Template(name); known {
		base, err := config.ReadTemplate(text)
		if err != nil {
			return err
		}
		d.Keys, d.From = append(d.Keys, "template: "+name), "`gauger check --template "+name+"` shows the map, and what to look at on site"
		if base.Unit != nil && slices.Contains(d.Keys, "unit: 1") && *base.Unit != 1 {
			v.Say("  the template's usual unit id is %d", *base.Unit)
		}
		d.add(base.Points, nil, true)
		return nil
	}
	text, err := v.ReadFile(name)
	if err != nil {
		return fmt.Errorf("%q is no template, and cannot be read as a file: %w", name, err)
	}
	if base, err := config.ReadTemplate(text); err == nil {
		keys, err := config.TemplateKeys(base)
		if err != nil {
			return err
		}
		d.Keys, d.From = append(d.Keys, slices.DeleteFunc(keys, func(k string) bool { return strings.HasPrefix(k, "unit:") })...), "from "+name
		d.add(base.Points, nil, false)
		v.Say("  %s, a template: points taken over: %d", name, len(base.Points))
		return nil
	}
	m, err := maps.Read(text, v.MapBase)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if m.Order != "" {
		d.Keys = append(d.Keys, "order: "+m.Order)
	}
	d.From = fmt.Sprintf("from %s (%s)", name, m.Kind)
	d.add(m.Points, m.About, false)
	v.tellMap(name, m)
	return nil
}

// tellMap says what was made of a file, and what was not.
func (v *Interview) tellMap(name string, m maps.Map) {
	v.Say("  %s, of %s: points taken over: %d", name, m.Kind, len(m.Points))
	for _, a := range m.Assumed {
		v.Say("  assumed: %s", a)
	}
	if m.Unit != 0 {
		v.Say("  it names unit id %d", m.Unit)
	}
	for _, left := range m.Left[:min(most, len(m.Left))] {
		v.Say("  not taken over: %s", left)
	}
	if more := len(m.Left) - most; more > 0 {
		v.Say("  and %d more that were not taken over", more)
	}
}

func (d *Device) add(points []modbus.Point, about map[string]string, ofTemplate bool) {
	for _, p := range points {
		d.Points = append(d.Points, &Point{Name: p.Name, Unit: p.Unit, Modbus: new(p), About: about[p.Name], OfTemplate: ofTemplate})
	}
}

// askRegisters finds levels by their hand gauges.
func (v *Interview) askRegisters(ctx context.Context, key, url string, unit int, d *Device) error {
	if v.Probe == nil {
		return nil
	}
	for n := 1; ; n++ {
		at := fmt.Sprintf("%sregister.%d", key, n)
		if line := v.Kept[at+".point"]; line != "" { // found before; the level may have moved since
			d.Points = append(d.Points, rawPoint(line))
			v.Answered(at + ".point")
			continue
		}
		where, err := v.Ask(ctx, dialogue.Question{Key: at, Flag: "--point", Text: "  A register with a level, as on the wire: 100, or input 100", Optional: true, Check: checkRegister})
		if err != nil || where == "" {
			return err
		}
		gauge, err := v.Ask(ctx, dialogue.Question{Key: at + ".gauge", Text: "  Hand gauge of that tank, such as 15-04-1", Optional: true, Check: checkLength})
		if err != nil {
			return err
		}
		register, input := registerOf(where)
		guesses, err := v.Probe(ctx, url, unit, register, input, gauge, "")
		if err == nil && gauge != "" && !slices.ContainsFunc(guesses, func(g Guess) bool { return g.Fits }) {
			height, err2 := v.Ask(ctx, dialogue.Question{Key: at + ".height", Text: "  No line fits, but one in percent may. Height of that tank, such as 20ft", Optional: true, Check: checkLength})
			if err2 != nil {
				return err2
			}
			guesses, err = v.Probe(ctx, url, unit, register, input, gauge, cmp.Or(height, "0in"))
		}
		if err != nil {
			v.Say("  %v", err)
			delete(v.Kept, at)
			delete(v.Kept, at+".gauge")
			n--
			continue
		}
		if err := v.askGuess(ctx, at, guesses, gauge != "", d); err != nil {
			return err
		}
	}
}

func checkRegister(text string) (string, error) {
	if register, _ := registerOf(text); register < 0 || register > 65535 {
		return "", errors.New("a number from 0 to 65535, or input and a number")
	}
	return text, nil
}

func registerOf(text string) (register int, input bool) {
	rest, input := strings.CutPrefix(text, "input ")
	register, err := strconv.Atoi(strings.TrimSpace(rest))
	if err != nil {
		return -1, input
	}
	return register, input
}

// offerGuesses shows the likeliest ways to read a register. Halves of a float that is seen are not among them.
func (v *Interview) offerGuesses(all []Guess) (offered []Guess) {
	half, doubt := "", ""
	for _, g := range all {
		if g.HalfOf != "" {
			half = g.HalfOf
			continue
		}
		if len(offered) == 5 {
			continue
		}
		offered = append(offered, g)
		fits, at, scale := "", g.Point.Holding, ""
		if g.Fits {
			fits = "  fits"
		}
		if at == nil {
			at = g.Point.Input
		}
		if g.Point.Scale != nil {
			scale = fmt.Sprintf(" x %g", *g.Point.Scale)
		}
		v.Say("  %d  %s%s  (%d: %s%s)", len(offered), g.Reads, fits, *at, strings.TrimSpace(g.Point.Type+" "+g.Point.Order), scale)
		if g.Doubt != "" && doubt == "" {
			doubt = fmt.Sprintf("Number %d may be half of another value: %s", len(offered), g.Doubt)
		}
	}
	if doubt != "" {
		v.Say("  ! %s.", doubt)
	}
	if half != "" {
		v.Say("  Left out is what takes a half of %s for a whole value; `gauger probe` shows it.", half)
	}
	return offered
}

// askGuess asks which way to read a register is the right one: none, unless somebody says so, where the gauge fits none.
func (v *Interview) askGuess(ctx context.Context, at string, guesses []Guess, gauged bool, d *Device) error {
	guesses = v.offerGuesses(guesses)
	usual := "1"
	if gauged && !slices.ContainsFunc(guesses, func(g Guess) bool { return g.Fits }) {
		usual = "0"
	}
	answer, err := v.Ask(ctx, dialogue.Question{Key: at + ".is", Text: "  Which of these is it (0: none)", Default: usual, Check: func(text string) (string, error) {
		if n, err := strconv.Atoi(text); err != nil || n < 0 || n > len(guesses) {
			return "", fmt.Errorf("0 to %d", len(guesses))
		}
		return text, nil
	}})
	n, _ := strconv.Atoi(answer) // checked
	if err != nil || n == 0 {
		return err
	}
	p := guesses[n-1].Point
	if p.Name, err = v.Ask(ctx, dialogue.Question{Key: at + ".name", Text: "  Name of the point", Default: v.freshLevel(d), Check: d.checkName}); err != nil {
		return err
	}
	line, err := config.Line(p)
	if err != nil {
		return err
	}
	d.Points = append(d.Points, rawPoint(line))
	return v.Remember(at+".point", line)
}

// rawPoint is a point as it was written.
func rawPoint(line string) *Point {
	part := func(key string) string {
		_, rest, _ := strings.Cut(line, key+": ")
		end := strings.IndexAny(rest, ",}")
		return strings.Trim(rest[:max(0, end)], `"' `)
	}
	return &Point{Name: part("{name"), Unit: part(", unit"), Raw: line}
}

// addPoints takes the points that flags give.
func (v *Interview) addPoints(context.Context) error {
	for _, text := range v.Points {
		place, keys, _ := strings.Cut(text, ",")
		device, name, ok := strings.Cut(place, "/")
		i := slices.IndexFunc(v.site.Devices, func(d *Device) bool { return d.Name == device })
		if !ok || name == "" || i < 0 {
			return dialogue.Refused{Flag: "--point", Cause: fmt.Errorf("%q: begin with DEVICE/NAME of a device that there is", text)}
		}
		line := "{name: " + yamlText(name)
		for pair := range strings.SplitSeq(keys, ",") {
			key, value, ok := strings.Cut(pair, "=")
			if !ok {
				return dialogue.Refused{Flag: "--point", Cause: fmt.Errorf("%q: write key=value behind the name", pair)}
			}
			line += ", " + key + ": " + value
		}
		v.site.Devices[i].Points = append(v.site.Devices[i].Points, rawPoint(line+"}"))
	}
	return nil
}
