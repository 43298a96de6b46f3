package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/dialogue"
	"gauger/collectors"
	"gauger/collectors/modbus/maps"
	"gauger/config"
	"gauger/config/draft"
)

type initOptions struct {
	answers                 map[string]string // by the question's key
	modbus, mqtt            []string
	points, tanks           []string
	maps                    []string
	store, caFile           string
	base                    string
	fresh, replace, offline bool
	listen                  time.Duration
}

func initCommand(c *call) *cobra.Command {
	o := &initOptions{answers: map[string]string{}}
	cmd := newCommand(c, "init [-c FILE]", "begin the configuration of a site: finds its devices, asks for the rest", o.run)
	takes(cmd, 0, "init takes flags only; -c FILE names the file that it writes")
	f := cmd.Flags()
	for _, x := range [][3]string{
		{"site", "site", "`NAME` of the site, for people"}, {"id", "id", "short `ID` for ticket numbers"}, {"zone", "zone", "time `ZONE`, such as America/Chicago"},
		{"service", "service", "`URL` of the service"}, {"primary-key", "primary", "`PLACE` of the primary key: credential:NAME, file:PATH or env:NAME"},
		{"secondary-key", "secondary", "`PLACE` of the secondary key, or none"}, {"object", "object", "`GUID` of the site's device at the service"},
	} {
		f.Func(x[0], x[2], func(text string) error { o.answers[x[1]] = text; return nil })
	}
	f.StringArrayVar(&o.modbus, "modbus", nil, "`DEVICE` as URL,key=value,... with the keys unit, name and map (a template or a file); once for each unit id")
	f.StringArrayVar(&o.mqtt, "mqtt", nil, "`BROKER` as URL,key=value,... with the keys name, username and password (its place); its points with --point")
	f.StringArrayVar(&o.maps, "map", nil, "`FILE` with the registers of the last --modbus, or with none only shown: MBMap, Kepware or Ignition CSV, or what check --template-of has printed")
	f.StringArrayVar(&o.points, "point", nil, "`POINT` as DEVICE/NAME,key=value,... with the keys of the configuration: plc/l1,holding=100,type=float32")
	f.StringArrayVar(&o.tanks, "tank", nil, "`TANK` as ID,key=value,... with the keys level, height, strapping or diameter, purchaser, product, group, interface, sensor, unit, top_temperature, specific_gravity, bsw")
	f.StringVar(&o.caFile, "ca-file", "", "PEM `FILE` of the authorities that may sign the service's certificate")
	f.StringVar(&o.store, "store", "", "`FOLDER` of outbox, keys and state; default the usual")
	word(cmd, &o.base, "map-base", "the first address of a map that does not say it", "0", "1")
	f.BoolVar(&o.fresh, "fresh", false, "forget what was answered before, in a run that was not finished")
	f.BoolVar(&o.replace, "replace", false, "write over a configuration that is there")
	f.BoolVar(&o.offline, "offline", false, "ask no device, no broker and no service")
	f.DurationVar(&o.listen, "for", 30*time.Second, "how `LONG` to listen to a broker")
	return cmd
}

// run asks, and writes a configuration that check accepts.
func (o *initOptions) run(ctx context.Context, c *call, _ []string) error {
	base := map[string]maps.Counting{"0": maps.FromZero, "1": maps.FromOne}[o.base]
	if len(o.maps) > 0 && len(o.modbus) == 0 {
		return showMaps(c, o.maps, base)
	}
	if _, err := os.Stat(c.config); err == nil && !o.replace {
		return fmt.Errorf("%s is there already, and init writes over nothing: give another file with -c, or --replace", c.config)
	}
	given, err := o.given()
	if err != nil {
		return err
	}
	kept := c.config + ".answers"
	talk := &dialogue.Dialogue{In: c.in, Out: c.out, Echo: terminalOf(c.in) == nil, Given: given, Keep: func(all map[string]string) error { return keepAnswers(kept, all) }}
	if talk.Kept, err = readAnswers(kept, o.fresh); err != nil {
		return err
	}
	v := &draft.Interview{Dialogue: talk, MapBase: base, Points: o.points, ReadFile: func(name string) ([]byte, error) { return readBeside(c.config, name) },
		ReadTable: func(name string) ([]byte, error) { return readTable(c.config, name) }}
	if !o.offline {
		at := siteField{c, o}
		v.Field = draft.Field{Scan: at.scan, Probe: at.probe, Listen: at.hear, Devices: at.devices}
	}
	s, err := v.Run(ctx)
	if refused, ok := errors.AsType[dialogue.Refused](err); ok {
		return usageError{refused.Error()}
	}
	if err != nil {
		return err
	}
	s.Store, s.CAFile = o.store, o.caFile
	return o.write(c, s, kept)
}

// write checks the file and puts it where it belongs; a bad one is put beside it.
func (o *initOptions) write(c *call, s *draft.Site, kept string) error {
	text, err := s.YAML(time.Now())
	if err != nil {
		return err
	}
	folder, err := filepath.Abs(filepath.Dir(c.config))
	if err != nil {
		return err
	}
	cfg, err := config.Parse(c.config, text, folder)
	if err == nil {
		if s.Object == "" { // as it was answered, and told below
			cfg.Strict = slices.DeleteFunc(cfg.Strict, func(p config.Problem) bool { return p.Path == "object" })
		}
		err = strictProblems(cfg, true)
	}
	if err != nil {
		if kept := replaceFile(c.config+".draft", text); kept != nil {
			return errors.Join(err, kept)
		}
		fmt.Fprintf(c.err, "these are mistakes in what was answered; the draft is %[1]s.draft: correct it there, look with `gauger check %[1]s.draft`, and give it the name %[1]s\n", c.config)
		return err
	}
	if err := replaceFile(c.config, text); err != nil {
		return fmt.Errorf("write the configuration: %w; use sudo, or another -c", err)
	}
	if err := os.Remove(kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take away the answers, which are in the configuration now: %w", err)
	}
	fmt.Fprintln(c.out, dialogue.Fold(fmt.Sprintf("\n%s is written: %s, %s, %s. Next: `gauger check%[5]s` (every mistake and doubt), `gauger read%[5]s` (each device once), `gauger commission%[5]s` (with the hand gauge).",
		c.config, countText(len(cfg.Devices), "device"), countText(cfg.CountPoints(), "point"), countText(len(cfg.Tanks), "tank"), c.configFlag())))
	if s.Object == "" {
		fmt.Fprintf(c.out, "%s\n", dialogue.Fold("Still missing: object, the GUID of the site's device. `gauger devices query` shows it as soon as a key works, else whoever keeps the service knows it; "+
			"write it into the file. Until then `gauger check` refuses the file, and gauger makes tickets but sends no events."))
	}
	return nil
}

// configFlag is the -c that a next command needs to find this one's configuration; empty: none.
func (c *call) configFlag() string {
	return when(c.config != cmp.Or(c.getenv("GAUGER_CONFIG"), defaultConfig), " -c "+c.config)
}

// given turns flags into answers. Where one of a kind was given, no more of that kind are asked for.
func (o *initOptions) given() (map[string]string, error) {
	all := o.answers
	for n, text := range o.modbus {
		key := fmt.Sprintf("modbus.%d.", n+1)
		pairs, err := splitSpec("--modbus", text, "unit", "name", "map")
		if err != nil {
			return nil, err
		}
		unit := cmp.Or(pairs["unit"], "1")
		all[key+"url"], all[key+"units"], all[key+unit+".map"] = pairs[""], unit, pairs["map"]
		all[key+unit+".name"] = cmp.Or(pairs["name"], either(n == 0, "plc", fmt.Sprintf("plc-%d", n+1)))
		all[key+unit+".register.1"] = ""
		if n == len(o.modbus)-1 && len(o.maps) > 0 {
			all[key+unit+".map"] = o.maps[len(o.maps)-1]
		}
	}
	for n, text := range o.mqtt {
		key := fmt.Sprintf("mqtt.%d.", n+1)
		pairs, err := splitSpec("--mqtt", text, "name", "username", "password")
		if err != nil {
			return nil, err
		}
		all[key+"url"], all[key+"username"], all[key+"password"], all[key+"topics"], all[key+"name"] = pairs[""], pairs["username"], pairs["password"], "", pairs["name"]
	}
	for n, text := range o.tanks {
		keys := []string{"level", "unit", "height", "strapping", "diameter", "sensor", "product", "purchaser", "group", "interface", "top_temperature", "specific_gravity", "bsw"}
		pairs, err := splitSpec("--tank", text, keys...)
		if err != nil {
			return nil, err
		}
		all[fmt.Sprintf("tank.%d.id", n+1)] = pairs[""]
		for _, k := range keys {
			all[fmt.Sprintf("tank.%d.%s", n+1, k)] = pairs[k]
		}
	}
	for kind, n := range map[string]int{"modbus.%d.url": len(o.modbus), "mqtt.%d.url": len(o.mqtt), "tank.%d.id": len(o.tanks)} {
		if n > 0 || len(o.modbus)+len(o.mqtt) > 0 && !strings.HasPrefix(kind, "tank") {
			all[fmt.Sprintf(kind, n+1)] = ""
		}
	}
	return all, nil
}

// splitSpec reads VALUE,key=value,...; the value is under "".
func splitSpec(flag, text string, known ...string) (map[string]string, error) {
	parts := strings.Split(text, ",")
	pairs := map[string]string{"": parts[0]}
	for _, part := range parts[1:] {
		key, value, ok := strings.Cut(part, "=")
		key, err := oneOf(strings.TrimSpace(key), known...)
		if !ok || err != nil {
			return nil, usageError{fmt.Sprintf("%s %s: %q: want key=value, the key one of %s", flag, text, part, strings.Join(known, ", "))}
		}
		pairs[key] = strings.TrimSpace(value)
	}
	return pairs, nil
}

// readBeside reads a file that a person names: from where that is, or from the configuration's folder.
func readBeside(configFile, name string) ([]byte, error) {
	const most = 4 << 20
	text, err := collectors.ReadFile(name, most)
	if errors.Is(err, fs.ErrNotExist) && !filepath.IsAbs(name) {
		return collectors.ReadFile(filepath.Join(filepath.Dir(configFile), name), most)
	}
	return text, err
}

// readTable reads a strapping table from where the configuration will: its own folder, unless the whole path is given.
func readTable(configFile, name string) ([]byte, error) {
	folder := filepath.Dir(configFile)
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(folder, name)
	}
	text, err := collectors.ReadFile(path, config.MostStrapping)
	if errors.Is(err, fs.ErrNotExist) {
		if _, here := os.Stat(name); here == nil {
			return nil, fmt.Errorf("it is read from the configuration's folder, and there is none: `cp %s %s`, or give another file", name, filepath.Join(folder, filepath.Base(name)))
		}
	}
	return text, err
}

func keepAnswers(file string, all map[string]string) error {
	text, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = replaceFile(file, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the answers so far: %w; use sudo, or another -c", err)
	}
	return nil
}

// readAnswers are those of a run that was not finished.
func readAnswers(file string, fresh bool) (all map[string]string, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || fresh && err == nil {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the answers of before: %w; --fresh begins anew", err)
	}
	return all, nil
}

// showMaps prints the points that a device would have by files.
func showMaps(c *call, files []string, base maps.Counting) error {
	out := verbatim(c.out)
	for _, name := range files {
		text, err := collectors.ReadFile(name, 4<<20)
		if err != nil {
			return err
		}
		m, err := maps.Read(text, base)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if m.Order != "" {
			fmt.Fprintf(out, "order: %s\n", m.Order)
		}
		fmt.Fprintln(out, "points:")
		for _, p := range m.Points {
			text, err := config.Line(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "  - %s\n", text)
		}
		for _, a := range m.Assumed {
			fmt.Fprintln(c.err, "assumed: "+a)
		}
		for _, l := range m.Left {
			fmt.Fprintln(c.err, "not taken over: "+l)
		}
		fmt.Fprintf(c.err, "%s: %s of %s, %d left out or changed\n", name, countText(len(m.Points), "point"), m.Kind, len(m.Left))
	}
	return nil
}
