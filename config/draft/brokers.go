package draft

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gauger/agent/dialogue"
	"gauger/collectors/mqtt"
	"gauger/config"
)

// mostShown of what a broker's topics hold.
const mostShown = 60

func (v *Interview) askBrokers(ctx context.Context) error {
	v.Say("\nMQTT brokers: mqtt://10.20.0.9 or mqtts://10.20.0.9, which is encrypted.")
	for n := 1; ; n++ {
		key := fmt.Sprintf("mqtt.%d.", n)
		var b Broker
		if err := v.into(ctx, &b.URL, dialogue.Question{Key: key + "url", Flag: "--mqtt", Text: fmt.Sprintf("Address of broker %d", n), Optional: true, Check: checkBroker}); err != nil || b.URL == "" {
			return err
		}
		d := &Device{Keys: []string{"mqtt: " + yamlText(b.URL)}}
		if err := first(
			func() (err error) {
				d.Name, err = v.askName(ctx, key+"name", "  Name of the device", "radio", "--mqtt URL,name=NAME")
				return err
			},
			v.step(ctx, &b.Username, dialogue.Question{Key: key + "username", Flag: "--mqtt URL,username=NAME", Text: "  User name there", Optional: true}),
			func() error { return v.askPassword(ctx, key, &b) },
			func() error { return v.askTopics(ctx, key, b, d) },
		); err != nil {
			return err
		}
		if b.Username != "" {
			d.Keys = append(d.Keys, "username: "+yamlText(b.Username))
		}
		if b.Password != "" {
			d.Keys = append(d.Keys, "password: "+placeYAML(b.Password))
		}
		v.site.Devices = append(v.site.Devices, d)
	}
}

func (v *Interview) askPassword(ctx context.Context, key string, b *Broker) error {
	if b.Username == "" {
		return nil
	}
	return v.into(ctx, &b.Password, dialogue.Question{Key: key + "password", Flag: "--mqtt URL,password=PLACE", Text: "  Place of the password", Default: "credential:mqtt-password", Check: checkPlace})
}

func checkBroker(url string) (string, error) {
	for _, p := range (mqtt.Device{Name: "d", Brokers: mqtt.Brokers{url}}).Check() {
		if p.Path == "mqtt" {
			return "", errors.New(strings.ReplaceAll(p.Message, "use the keys username and password", "leave it out: it is asked for"))
		}
	}
	return url, nil
}

// askTopics listens, and asks which of the values that were heard are read.
func (v *Interview) askTopics(ctx context.Context, key string, b Broker, d *Device) error {
	if lines := v.Kept[key+"points"]; lines != "" { // chosen before; the broker may say something else now
		for line := range strings.SplitSeq(lines, "\n") {
			d.Points = append(d.Points, rawPoint(line))
		}
		v.Answered(key + "points")
		return nil
	}
	if _, given := v.Given[key+"topics"]; given || v.Listen == nil {
		return nil
	}
	heard, err := v.Listen(ctx, b)
	if err != nil {
		if ctx.Err() != nil {
			return dialogue.ErrInterrupted
		}
		v.Say("  %v", err)
	}
	for i, s := range heard[:min(mostShown, len(heard))] {
		where := s.Point.Topic + " " + s.Point.Value
		if s.Point.Sparkplug != "" {
			where = s.Point.Sparkplug + " " + s.Point.Metric
		}
		v.Say("  %2d  %s: %s", i+1, strings.TrimSpace(where), s.Sample)
	}
	if more := len(heard) - mostShown; more > 0 {
		v.Say("  and %d more; `gauger discover mqtt` prints the lines of all", more)
	}
	var chosen []int
	if _, err := v.Ask(ctx, dialogue.Question{Key: key + "topics", Text: "  Which of these are read (numbers with commas)", Optional: true, Passing: true, Check: func(text string) (string, error) {
		chosen = nil
		for part := range strings.SplitSeq(text, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil || n < 1 || n > min(mostShown, len(heard)) {
				return "", fmt.Errorf("%q is no number of the list", part)
			}
			chosen = append(chosen, n-1)
		}
		return text, nil
	}}); err != nil {
		return err
	}
	return v.takeTopics(ctx, key, heard, chosen, d)
}

// unitWords are the units that the last word of a value's name may say.
var unitWords = map[string]string{
	"in": "in", "inch": "in", "inches": "in", "ft": "ft", "feet": "ft", "mm": "mm", "cm": "cm", "m": "m", "percent": "percent", "pct": "percent", "degf": "degF", "degc": "degC",
}

// unitByName is the unit that the name of a value says, as level.ft does; else inches, the usual one.
func unitByName(p mqtt.Point) string {
	words := strings.FieldsFunc(strings.ToLower(cmp.Or(p.Value, p.Metric, p.Topic)), func(c rune) bool { return !unicode.IsLetter(c) })
	if len(words) == 0 {
		return "in"
	}
	return cmp.Or(unitWords[words[len(words)-1]], "in")
}

func (v *Interview) takeTopics(ctx context.Context, key string, heard []mqtt.Suggestion, chosen []int, d *Device) error {
	var lines []string
	for _, i := range chosen {
		p := heard[i].Point
		for _, ask := range []struct {
			to                *string
			key, text, preset string
			check             func(string) (string, error)
		}{{&p.Name, "name", "  Name of the point", p.Name, d.checkName}, {&p.Unit, "unit", "  Unit of " + heard[i].Sample + " (in, ft, percent, degF ...)", cmp.Or(p.Unit, unitByName(p)), nil}} {
			if err := v.into(ctx, ask.to, dialogue.Question{Key: fmt.Sprint(key, ask.key, i), Text: ask.text, Default: ask.preset, Check: ask.check, Passing: true}); err != nil {
				return err
			}
		}
		line, err := config.Line(p)
		if err != nil {
			return err
		}
		lines = append(lines, line)
		d.Points = append(d.Points, rawPoint(line))
	}
	return v.Remember(key+"points", strings.Join(lines, "\n"))
}

// freshLevel is a name for a level that no point has yet, of whichever device: a tank is picked by it.
func (v *Interview) freshLevel(d *Device) (name string) {
	for n, taken := 1, true; taken; n++ {
		name = fmt.Sprintf("tk%d-level", n)
		taken = slices.ContainsFunc(append(v.site.Devices, d), func(d *Device) bool { _, err := d.checkName(name); return err != nil })
	}
	return name
}

// checkName wants a name that no other point of the device has.
func (d *Device) checkName(name string) (string, error) {
	if slices.ContainsFunc(d.Points, func(p *Point) bool { return p.Name == name }) {
		return "", fmt.Errorf("%s is taken", name)
	}
	return plainName(name)
}
