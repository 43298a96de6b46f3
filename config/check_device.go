package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/modbus"
)

func (c *checker) checkDevices() {
	if len(c.cfg.Devices) == 0 && len(c.cfg.Tanks) > 0 {
		c.problemf("devices", "missing; name at least one device that has the points of the tanks")
	}
	first, facts := map[string]int{}, c.cfg.facts()
	for i, dev := range c.cfg.Devices {
		at := fmt.Sprintf("devices[%d]", i)
		if dev.Kind() == "" {
			continue
		}
		switch k, twice := first[dev.Name]; {
		case strings.ContainsAny(dev.Name, "/,\" \t\r\n"):
			c.problemf(at+".name", "%s has a slash, comma, quote or blank; use letters, digits, - and _", quote(dev.Name))
		case twice && dev.Name != "":
			c.problemf(at+".name", "%s is already the name of devices[%d]; give each device a name of its own", quote(dev.Name), k)
		case !twice:
			first[dev.Name] = i
		}
		dev.options.check(c.report, at, facts)
	}
}

// checkAgreements checks what the devices of a kind must agree on.
func (c *checker) checkAgreements() {
	for _, k := range kinds {
		if k.agree == nil {
			continue
		}
		var all []deviceAt
		for i, dev := range c.cfg.Devices {
			if dev.Kind() == k.key {
				all = append(all, deviceAt{i, dev.options})
			}
		}
		k.agree(c.report, c.cfg.facts(), all)
	}
}

// checkPoint checks that a point that something names is there. It is not told when the point's device is itself wrong.
func (c *checker) checkPoint(path string, p collectors.Point) (PointInfo, bool) {
	if p == "" {
		if c.given(path) {
			c.problemf(path, "empty; write DEVICE/POINT, or remove the line")
		}
		return PointInfo{}, false
	}
	if info, ok := c.pointsByName[p]; ok {
		return info, true
	}
	device, _, slash := strings.Cut(string(p), "/")
	if !slash {
		c.problemf(path, "%s is not a point; write DEVICE/POINT%s", quote(string(p)), c.hintDevice(p))
		return PointInfo{}, false
	}
	doubtful := c.toldPaths["devices"]
	for i, dev := range c.cfg.Devices {
		switch {
		case dev.Name != device:
			doubtful = doubtful || c.nameInDoubt(i, dev)
		case c.pointNamesInDoubt(i, dev):
			return PointInfo{}, false
		default:
			c.problemf(path, "%s has no such point; %s", quote(device), suggest(string(p), c.cfg.PointNames()))
			return PointInfo{}, false
		}
	}
	if !doubtful {
		c.problemf(path, "%s: no device is called %s; %s", quote(string(p)), quote(device), suggest(string(p), c.cfg.PointNames()))
	}
	return PointInfo{}, false
}

// nameInDoubt says that a device's name is not to be relied on, because of a mistake already told.
func (c *checker) nameInDoubt(i int, dev Device) bool {
	return dev.Name == "" || c.toldPaths[fmt.Sprintf("devices[%d].name", i)]
}

// pointNamesInDoubt says the same of the names of its points.
func (c *checker) pointNamesInDoubt(i int, dev Device) bool {
	points := dev.points()
	for k, p := range points {
		if p.name == "" || c.toldPaths[fmt.Sprintf("devices[%d].points[%d].name", i, k)] {
			return true
		}
	}
	return len(points) == 0
}

// hintDevice offers the point whose last part was written without its device.
func (c *checker) hintDevice(p collectors.Point) string {
	for _, name := range c.cfg.PointNames() {
		if strings.HasSuffix(name, "/"+string(p)) {
			return ", here " + name
		}
	}
	return ""
}

// busTime computes how much of the time of their lines the Modbus devices take, and tells of lines that cannot keep
// up. The configuration is complete by now: levels and posted values on serial lines are read twice.
func (c *checker) busTime() {
	var devices []modbus.Device
	at := map[string]string{}
	for i, dev := range c.cfg.Devices {
		if d := Options[modbus.Device](dev); d != nil {
			devices = append(devices, *d)
			at[dev.Name] = fmt.Sprintf("devices[%d]", i)
		}
	}
	c.cfg.Budgets = modbus.Budgets(devices)
	for _, b := range c.cfg.Budgets {
		if device, message := b.Problem(); message != "" {
			path := at[device] + ".every"
			n, _ := locate(c.root, path)
			c.cfg.Slow = append(c.cfg.Slow, c.d.at(n, path, message))
		}
		if device, message := b.Warning(); message != "" {
			c.warnf(at[device]+".every_while_loading", "%s", message)
		}
	}
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// placeholders may stand in a note's text.
var placeholders = []string{"{value}", "{unit}", "{point}"}

func (c *checker) checkEvents() {
	type name struct {
		rule  string
		point collectors.Point
	}
	first := map[name]int{}
	for i, e := range c.cfg.Events {
		at := fmt.Sprintf("events[%d]", i)
		if c.given(at+".rule") && strings.TrimSpace(e.Rule) == "" {
			c.problemf(at+".rule", "empty; write the rule's name")
		}
		c.checkRuleName(at+".rule", e.Rule)
		c.checkPoint(at+".point", e.Point)
		c.checkCondition(at, e)
		for _, p := range placeholder.FindAllString(e.Note, -1) {
			if !slices.Contains(placeholders, p) {
				c.problemf(at+".note", "%s is filled in by nothing; use %s", quote(p), strings.Join(placeholders, ", "))
			}
		}
		n := name{e.Rule, e.Point}
		if k, twice := first[n]; twice && e.Rule != "" && e.Point != "" {
			c.problemf(at+".rule", "%s on %s is already events[%d]; give each rule of a point a name of its own", quote(e.Rule), e.Point, k)
		} else {
			first[n] = i
		}
	}
}

// checkRuleName refuses the names of gauger's own events: what lasts is known by its name and its source, so that a rule on a point
// of which gauger tells by the same name would end that event, or hide it; and the service files both under one name.
func (c *checker) checkRuleName(at, rule string) {
	if slices.ContainsFunc(eventrules.List, func(own eventrules.Rule) bool { return own.Name == rule }) {
		c.strictf(at, "%s is an event of gauger's own; give the rule another name. Until then an event of the one may be told as one of the other, or not at all", quote(rule))
	}
}

// checkCondition checks that there is exactly one, and that it can end.
func (c *checker) checkCondition(at string, e Event) {
	var have []string
	for _, k := range []struct {
		key   string
		given bool
	}{
		{"above", e.Above != nil}, {"below", e.Below != nil}, {"equals", e.Equals != nil},
		{"bit", e.Bit != nil}, {"stale", c.given(at + ".stale")}, {"bad", c.given(at + ".bad")},
	} {
		if k.given {
			have = append(have, k.key)
		}
	}
	switch {
	case len(have) == 0:
		c.problemf(at, "no condition; write one of above, below, equals, bit, stale, bad")
		return
	case len(have) > 1:
		c.problemf(join(at, have[1]), "a second condition beside %s; a rule has one: make two rules", have[0])
		return
	}
	c.checkPositive(at+".stale", e.Stale)
	switch {
	case have[0] == "bad" && !e.Bad:
		c.problemf(at+".bad", "false makes no condition; write bad: true, or remove the rule")
	case e.Bit != nil && (*e.Bit < 0 || *e.Bit > 63):
		c.problemf(at+".bit", "%d is no bit; write 0 (least) to 63", *e.Bit)
	case e.Clear == nil || c.toldPaths[join(at, have[0])]:
	case e.Above == nil && e.Below == nil:
		c.problemf(at+".clear", "belongs to above and below alone; remove it")
	case e.Above != nil && *e.Clear > *e.Above:
		c.problemf(at+".clear", "%g is above the limit of %g; the event must close below it", *e.Clear, *e.Above)
	case e.Below != nil && *e.Clear < *e.Below:
		c.problemf(at+".clear", "%g is below the limit of %g; the event must close above it", *e.Clear, *e.Below)
	}
}

func (c *checker) checkWells() {
	ids := map[string]int{}
	for i, w := range c.cfg.Wells {
		at := fmt.Sprintf("wells[%d]", i)
		if c.given(at+".id") && strings.TrimSpace(w.ID) == "" {
			c.problemf(at+".id", "empty; write the well's id in the service")
		}
		if k, twice := ids[w.ID]; twice && w.ID != "" {
			c.problemf(at+".id", "%s is already wells[%d]; put the values under one well", quote(w.ID), k)
		} else {
			ids[w.ID] = i
		}
		if len(w.TagValues) == 0 && len(w.Targets) == 0 && w.ID != "" {
			c.problemf(at, "sends nothing; add tag_values or targets, or remove the well")
		}
		c.checkWellValues(at, w)
	}
}

func (c *checker) checkWellValues(at string, w Well) {
	wire := c.cfg.Service.Wire
	codes := map[string]bool{}
	for k, v := range w.TagValues {
		where := fmt.Sprintf("%s.tag_values[%d]", at, k)
		c.checkPoint(where+".point", v.Point)
		c.checkCodeOnce(where, v.Code, codes)
		c.checkWear(where, v.Point, v.Every)
		if c.given(where+".code") && !slices.Contains(wire.Codes, v.Code) {
			c.problemf(where+".code", "%s is no code that the service takes for tag values; %s", quote(v.Code), suggestCode(v.Code, wire.Codes))
		}
	}
	codes = map[string]bool{}
	for k, v := range w.Targets {
		where := fmt.Sprintf("%s.targets[%d]", at, k)
		c.checkPoint(where+".point", v.Point)
		c.checkCodeOnce(where, v.Code, codes)
		c.checkWear(where, v.Point, v.Every)
		switch {
		case c.given(where+".code") && v.Code == "":
			c.problemf(where+".code", "empty; write a data classification code")
		case v.Code != "" && !slices.Contains(wire.TargetCodes, v.Code):
			c.warnf(where+".code", "%s is not one of the known codes; %s", quote(v.Code), suggestCode(v.Code, wire.TargetCodes))
		}
	}
}

// checkWear tells what each message of a broker costs that is posted: it is on disk before it is acknowledged, so that none can wait
// for others as polled values do. Measured: 15 kB written for one.
func (c *checker) checkWear(where string, p collectors.Point, every time.Duration) {
	info, ok := c.pointsByName[p]
	if !ok || every >= usualPollEvery {
		return
	}
	if _, broker := c.cfg.Devices[info.Device].options.(*mqttEntry); broker {
		c.warnf(where+".every", "each message of a broker is on disk before it is acknowledged, which writes 15 kB: at one a second 1.3 GB a day, which wears out a small card in a year or two; with 1m the first of each minute leaves")
	}
}

// usualPollEvery is the usual interval of a poll; values that come no faster wear no card.
const usualPollEvery = 10 * time.Second

func (c *checker) checkCodeOnce(where, code string, seen map[string]bool) {
	if seen[code] && code != "" {
		c.problemf(where+".code", "%s has a point already in this list; one code has one value", quote(code))
	}
	seen[code] = true
}

// suggestCode is suggest for codes, which have commas in them.
func suggestCode(got string, codes []string) string {
	if w := Nearest(got, codes); w != "" {
		return fmt.Sprintf("did you mean %s?", quote(w))
	}
	quoted := make([]string, len(codes))
	for i, c := range codes {
		quoted[i] = quote(c)
	}
	return "write one of: " + joinWords(quoted)
}
