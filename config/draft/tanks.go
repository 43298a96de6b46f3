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
	"gauger/collectors"
	"gauger/config"
	"gauger/config/strapping"
)

func (v *Interview) askTanks(ctx context.Context) error {
	v.Say("\nThe tanks. Heights are written 20ft, 240in or 20ft 6in.")
	for n := 1; ; n++ {
		t, err := v.askTank(ctx, fmt.Sprintf("tank.%d.", n), n)
		if err != nil || t.ID == "" {
			return err
		}
		v.site.Tanks = append(v.site.Tanks, t)
	}
}

func (v *Interview) askTank(ctx context.Context, key string, n int) (t Tank, err error) {
	ask := func(to *string, q dialogue.Question) func() error {
		q.Flag = "--tank ID," + q.Key + "=..."
		q.Key = key + q.Key
		return v.step(ctx, to, q)
	}
	v.offerTanks()
	if err := v.into(ctx, &t.ID, dialogue.Question{Key: key + "id", Flag: "--tank", Text: fmt.Sprintf("External ID of tank %d at the service", n), Optional: n > 1, Check: v.checkTankID}); err != nil || t.ID == "" {
		return t, err
	}
	if ids := v.serviceIDs(); len(ids) > 0 && !slices.Contains(ids, t.ID) {
		v.Say("  The service knows no device with the external id %s. Its tickets are sent all the same: look whether that is how the service writes it.", t.ID)
	}
	var level *Point
	sold := []func() error{
		ask(&t.Purchaser, dialogue.Question{Key: "purchaser", Text: "  Who buys the oil", Default: v.lastPurchaser()}),
		ask(&t.Top, dialogue.Question{Key: "top_temperature", Text: "  Its temperature: a point, or degF", Optional: true, Check: v.checkTemperature}),
		ask(&t.Gravity, dialogue.Question{Key: "specific_gravity", Text: "  Specific gravity 60/60, such as 0.83", Optional: true, Check: v.checkSource("specific_gravity")}),
		ask(&t.BSW, dialogue.Question{Key: "bsw", Text: "  BS&W in percent, such as 0.2", Optional: true, Check: v.checkSource("bsw")}),
	}
	err = first(
		func() (err error) { level, t.Level, err = v.askLevel(ctx, key); return err },
		func() error { return v.askUnit(ctx, key, level) },
		ask(&t.Height, dialogue.Question{Key: "height", Text: "  Its height", Check: checkLength}),
		ask(&t.Strapping, dialogue.Question{Key: "strapping", Text: "  File of its strapping table (CSV; its first line names the units)", Optional: true, Check: func(name string) (string, error) {
			return v.checkTable(name, t.Height)
		}}),
		func() error {
			if t.Strapping != "" {
				return nil
			}
			return ask(&t.Diameter, dialogue.Question{Key: "diameter", Text: "  Its inside diameter", Check: checkLength})()
		},
		ask(&t.Sensor, dialogue.Question{Key: "sensor", Text: "  Sensor (radar, float, ultrasonic, hydrostatic, analog)", Default: "radar",
			Check: oneOf("radar", "float", "ultrasonic", "hydrostatic", "analog")}),
		ask(&t.Product, dialogue.Question{Key: "product", Text: "  Oil or water in it", Default: "oil", Check: oneOf("oil", "water")}),
	)
	t.Group, t.Interface = v.Given[key+"group"], v.Given[key+"interface"]
	if t.Product == "water" { // of which no ticket is made
		sold = nil
	}
	if err == nil {
		err = first(sold...)
	}
	if err != nil {
		return t, err
	}
	t.height, err = tank.ParseLength(t.Height)
	level.within(t.height)
	return t, err
}

// offerTanks names the service's external ids once.
func (v *Interview) offerTanks() {
	if v.site.tanksOffered || len(v.site.known) == 0 {
		return
	}
	v.site.tanksOffered = true
	v.Say("The service knows the external ids %s.", strings.Join(v.serviceIDs(), ", "))
}

func (v *Interview) serviceIDs() (ids []string) {
	for _, d := range v.site.known {
		if d.ExternalID != "" {
			ids = append(ids, d.ExternalID)
		}
	}
	return ids
}

func (v *Interview) checkTankID(id string) (string, error) {
	if slices.ContainsFunc(v.site.Tanks, func(t Tank) bool { return t.ID == id }) {
		return "", fmt.Errorf("%s is there already", id)
	}
	return id, nil
}

func (v *Interview) lastPurchaser() string {
	name := ""
	for i := range v.site.Tanks {
		name = cmp.Or(v.site.Tanks[i].Purchaser, name)
	}
	return name
}

// checkTable reads a strapping table as the configuration will.
func (v *Interview) checkTable(name, height string) (string, error) {
	text, err := v.ReadTable(name)
	if err != nil {
		return "", err
	}
	tall, err := tank.ParseLength(height)
	if err != nil {
		return "", err
	}
	if err := strapping.Check(string(text), tall); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return name, nil
}

func checkLength(text string) (string, error) {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return "", fmt.Errorf("%s of what? write %[1]sft or %[1]sin", text)
	}
	_, err := tank.ParseLength(text)
	return text, err
}

// checkSource takes a number that can stand under the key, or a point that there is.
func (v *Interview) checkSource(key string) func(text string) (string, error) {
	return func(text string) (string, error) {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return text, config.CheckConstant(key, n)
		}
		if v.site.point(text) == nil {
			return "", fmt.Errorf("%q is neither a number nor a point such as plc/tk1-top", text)
		}
		return text, nil
	}
}

func (v *Interview) checkTemperature(text string) (string, error) {
	if p := v.site.point(text); p != nil {
		if _, ok := collectors.Unit(p.Unit).Fahrenheit(0); !ok {
			return "", fmt.Errorf("%s is in %q, which is no temperature (degF, degC)", text, p.Unit)
		}
	}
	return v.checkSource("top_temperature")(text)
}

func (s *Site) point(name string) *Point {
	for _, d := range s.Devices {
		for _, p := range d.Points {
			if d.Name+"/"+p.Name == name {
				return p
			}
		}
	}
	return nil
}

// askLevel asks for the point of a level: by name, or by its number in a list of those that are free.
func (v *Interview) askLevel(ctx context.Context, key string) (*Point, string, error) {
	var free []string
	for _, d := range v.site.Devices {
		for _, p := range d.Points {
			name := d.Name + "/" + p.Name
			if !slices.ContainsFunc(v.site.Tanks, func(t Tank) bool { return t.Level == name }) {
				free = append(free, name)
			}
		}
	}
	if len(free) == 0 {
		return nil, "", errors.New("there is no point for a tank's level: give a device with --modbus or --mqtt and its points by a map, a register or --point (what was answered is kept, a flag goes over it, and --fresh asks all again)")
	}
	usual := max(0, slices.IndexFunc(free, func(name string) bool { return strings.Contains(name, "level") }))
	_, given := v.Given[key+"level"]
	if _, kept := v.Kept[key+"level"]; !given && !kept {
		for i, name := range free[:min(mostShown, len(free))] {
			v.Say("  %2d  %s", i+1, name)
		}
	}
	name, err := v.Ask(ctx, dialogue.Question{Key: key + "level", Flag: "--tank ID,level=DEVICE/POINT", Text: "  Its level: a number of the list, or a point", Default: free[usual], Check: func(text string) (string, error) {
		if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(free) {
			text = free[n-1]
		}
		if !slices.Contains(free, text) {
			return "", fmt.Errorf("%q is no point that is free; the points are %s", text, strings.Join(free[:min(most, len(free))], ", "))
		}
		return text, nil
	}})
	return v.site.point(name), name, err
}

// askUnit asks for the unit of a level that has none.
func (v *Interview) askUnit(ctx context.Context, key string, p *Point) error {
	if p.Unit != "" {
		return nil
	}
	unit, err := v.Ask(ctx, dialogue.Question{Key: key + "unit", Flag: "--tank ID,unit=in", Text: "  Unit of that level (in, ft, cm, m, mm, percent)", Default: "in", Check: func(text string) (string, error) {
		_, err := tank.LevelInches(1, text, 240)
		return text, err
	}})
	p.Unit = unit
	p.set("unit: " + unit)
	if p.Modbus != nil {
		p.Modbus.Unit = unit
	}
	return err
}

// What a level may be beyond its tank before it is none, in inches.
const (
	below = 1
	above = 6
)

// within gives a level the range of its tank, where it has none.
func (p *Point) within(height tank.Length) {
	per, err := tank.LevelInches(1, p.Unit, height)
	if err != nil || per <= 0 {
		return
	}
	low, high := -below/per, (float64(height)+above)/per
	if p.Modbus != nil && p.Modbus.Range == nil {
		p.Modbus.Range = []float64{round(low), round(high)}
		p.changed = true
	}
	if p.Raw != "" && !strings.Contains(p.Raw, "range:") {
		p.set(fmt.Sprintf("range: [%g, %g]", round(low), round(high)))
	}
}

// set adds a key to a point that is written as it stands.
func (p *Point) set(pair string) {
	p.changed = true
	if line, ok := strings.CutSuffix(p.Raw, "}"); ok {
		p.Raw = line + ", " + pair + "}"
	}
}
