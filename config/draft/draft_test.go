package draft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/dialogue"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
	"gauger/config"
)

// field is a site with two units on a line, of which one has a level in feet, and a broker.
var field = Field{
	Scan: func(_ context.Context, url, units string) ([]Unit, error) {
		return []Unit{{1, "holding 0 is 0"}, {7, "exception 2"}}, nil
	},
	Probe: func(_ context.Context, _ string, unit, register int, input bool, gauge, _ string) ([]Guess, error) {
		if register == 999 {
			return nil, errors.New("exception 2 (illegal data address)")
		}
		half := Guess{Point: modbus.Point{Holding: &register, Type: "uint16"}, Reads: "17172", HalfOf: "float32 CDAB at holding 99"}
		return []Guess{half, {Point: modbus.Point{Holding: &register, Type: "int16", Unit: "ft"}, Reads: fmt.Sprint(unit, input, gauge), Fits: true, Doubt: "it may be"}}, nil
	},
	Listen: func(context.Context, Broker) ([]mqtt.Suggestion, error) {
		return []mqtt.Suggestion{{Point: mqtt.Point{Name: "batt", Topic: "t", Value: "batt"}, Sample: "3.6"}, {Point: mqtt.Point{Name: "lev: el", Topic: "t/odd", Value: "level"}, Sample: "101.5"}}, nil
	},
	Devices: func(context.Context, *Site) ([]cloud.Device, error) {
		return []cloud.Device{{ID: "7c9e6679-7425-40de-944b-e07fc1f90ae7", Name: "Cooper", ExternalID: "TK-1"}}, nil
	},
}

// talk is what a person types, line by line.
const talk = `Cooper: #12 "west"

America/Denver
https://api.example.com/
env:PRIMARY
none
1
tcp://10.20.0.5:502
1,7
1,7
plc

999

100
15-04-1
1
tk1: level
tk1-level

radar
rosemount-5300


mqtt://10.20.0.9
radio
ann
file:/secret
2
lev: el
level
in

TK-1
plc/tk1-level
20ft

12ft


Acme: Crude & Sons #2
70

0.2
TK-2
radar/level
ft
16ft
tk.csv
float


plc/tk1-level




`

func interview(in string, kept map[string]string) (*Interview, *bytes.Buffer) {
	out := new(bytes.Buffer)
	v := &Interview{Dialogue: &dialogue.Dialogue{In: strings.NewReader(in), Out: out, Echo: true, Kept: maps.Clone(kept)}, Field: field,
		ReadFile: func(name string) ([]byte, error) {
			if name == "tk.csv" {
				return []byte("0,0\n240,480\n"), nil
			}
			return nil, os.ErrNotExist
		}}
	v.ReadTable = v.ReadFile
	return v, out
}

// loads checks that what was answered becomes a file that gauger takes, whatever a person has typed.
func loads(t *testing.T, s *Site) (*config.Config, string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(folder+"/tk.csv", []byte("0,0\n240,480\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := s.YAML(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse("draft", text, folder)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return cfg, string(text)
}

func TestAnswersBecomeAConfiguration(t *testing.T) {
	v, out := interview(talk, nil)
	kept := map[string]string{}
	v.Keep = func(all map[string]string) error { kept = maps.Clone(all); return nil }
	s, err := v.Run(t.Context())
	if err != nil {
		t.Fatalf("%v after\n%s", err, out)
	}
	cfg, text := loads(t, s)
	if cfg.Site != `Cooper: #12 "west"` || cfg.ID != "COOPER-12-WE" || cfg.Tanks[0].Purchaser != "Acme: Crude & Sons #2" || cfg.Tanks[1].Purchaser != cfg.Tanks[0].Purchaser {
		t.Errorf("names: %q %q %q", cfg.Site, cfg.ID, cfg.Tanks[0].Purchaser)
	}
	for _, want := range []string{
		"{name: tk1-level, holding: 100, type: int16, unit: ft, range: [-0.08, 20.5]}", "template: rosemount-5300", "      - {name: level, unit: ft, range: [-0.08, 16.5]}",
		"above: 19, clear: 18.5, urgent", "username: ann", "password: {file: /secret}", "{name: level, topic: t/odd, value: level, unit: in, expect_every: 1h}",
	} {
		if !strings.Contains(strings.ReplaceAll(text, "'", ""), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, want := range []string{"exception 2 (illegal data address)", "! Number 1 may be half of another value: it may be.", "Left out is what takes a half of float32 CDAB at holding 99 for a whole", "The service knows the external ids TK-1.", "The service knows no device with the external id TK-2. Its tickets", "plc/tk1-level is in \"ft\", which is no temperature"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not said", want)
		}
	}
	for line := range strings.Lines(out.String()) {
		prompt, _, asked := strings.Cut(line, ": ")
		if len([]rune(line)) > dialogue.Width+1 && !(asked && len(prompt) <= dialogue.Width) { // what a person types may be long
			t.Errorf("%d columns: %s", len(line), line)
		}
	}

	// The same answers again, from before: nothing is asked, and the file is the same.
	v, out = interview("", kept)
	again, err := v.Run(t.Context())
	if err != nil {
		t.Fatalf("%v after\n%s", err, out)
	}
	if _, other := loads(t, again); other != text {
		t.Errorf("from the answers of before:\n%s\nwant\n%s", other, text)
	}
}

// The address of a service that did not answer is asked for again, with what was answered before.
func TestAnAddressThatDidNotAnswerIsAskedForAgain(t *testing.T) {
	kept := map[string]string{}
	run := func(in string) (*Interview, string) {
		v, out := interview(in, kept)
		v.Keep = func(all map[string]string) error { kept = maps.Clone(all); return nil }
		v.Devices = func(_ context.Context, s *Site) ([]cloud.Device, error) {
			if s.URL == "https://wrong" {
				return nil, errors.New("connection refused")
			}
			return field.Devices(t.Context(), s)
		}
		_, _ = v.Run(t.Context()) // nobody answers the last question
		return v, out.String()
	}
	if _, said := run("Cooper\n\nAmerica/Chicago\nhttps://wrong\n\n\n"); !strings.Contains(said, "Is https://wrong wrong? Ctrl-C") {
		t.Errorf("%s", said)
	}
	v, said := run("https://right\n")
	if v.site.URL != "https://right" || !strings.Contains(said, "https://api.example.com [https://wrong]: ") || !strings.Contains(said, "a flag (--service URL)") || kept["service"] != "https://right" {
		t.Errorf("%q, kept %q\n%s", v.site.URL, kept, said)
	}
	if _, said = run(""); strings.Contains(said, "[https://") || !strings.Contains(said, "api.example.com: https://right (as") {
		t.Errorf("%s", said)
	}
}

// Who has given no device is asked once more, and not thrown out at the first tank.
func TestWithoutADeviceTheDevicesAreAskedForAgain(t *testing.T) {
	v, out := interview("Cooper\n\nAmerica/Chicago\nhttps://api.example.com\n\n\n1\n\n\ntcp://10.20.0.5\n\n", nil)
	_, err := v.Run(t.Context())
	if err == nil || !strings.Contains(out.String(), "Nothing is read by this") || !strings.Contains(out.String(), "unit 7 answers") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Every point of a broker is watched for silence: as it was heard, as the person says, or by a guess that says so. A Sparkplug node
// tells its own death.
func TestPointsOfABrokerAreWatchedForSilence(t *testing.T) {
	d := &Device{Name: "radio", Keys: []string{"mqtt: mqtt://10.20.0.9"}, Points: []*Point{
		rawPoint("{name: a, topic: a}"), rawPoint("{name: b, topic: b, expect_every: 30s}"), rawPoint("{name: c, sparkplug: g/n, metric: c}"),
	}}
	plc := &Device{Name: "plc", Keys: []string{"modbus: tcp://10.20.0.5"}, Points: []*Point{rawPoint("{name: a, holding: 1}")}}
	var got strings.Builder
	for _, d := range []*Device{d, plc} {
		if err := d.write(func(format string, args ...any) { fmt.Fprintf(&got, format+"\n", args...) }); err != nil {
			t.Fatal(err)
		}
	}
	const want = `  - name: radio
    mqtt: mqtt://10.20.0.9
    points:
      - {name: a, topic: a, expect_every: 1h}   # expect_every is a guess: write how often it speaks; silent for half as long again, it is Bad
      - {name: b, topic: b, expect_every: 30s}
      - {name: c, sparkplug: g/n, metric: c}
  - name: plc
    modbus: tcp://10.20.0.5
    points:
      - {name: a, holding: 1}
`
	if got.String() != want {
		t.Errorf("%s\nwant\n%s", got.String(), want)
	}
}

// A unit that has not answered, and a gauge in the place of a name, are asked about.
func TestWhatLooksMisplacedIsAskedAbout(t *testing.T) {
	v, out := interview("1-3\n100\n1,100\n1,100\n15-04-1\nnorth\n", nil)
	v.Scan = func(context.Context, string, string) ([]Unit, error) { return []Unit{{1, ""}, {3, ""}}, nil }
	ids, err := v.askUnits(t.Context(), "modbus.1.", "tcp://10.20.0.5:502")
	if err != nil || !slices.Equal(ids, []int{1, 100}) {
		t.Errorf("%v, %v", ids, err)
	}
	name, err := v.askName(t.Context(), "modbus.1.1.name", "Name of unit 1", "plc", "--modbus")
	said := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"unit 100 has not answered here; if it is off now, write 100 once more", "write 1,100 once more", "15-04-1 is a gauge; the device wants a name, such as plc"} {
		if err != nil || name != "north" || strings.Count(said, want) != 1 {
			t.Errorf("%q, %v; not once %q in %s", name, err, want, said)
		}
	}
}

// Where no reading fits the hand gauge, none is taken unless somebody says so.
func TestWhereNothingFitsNoneIsUsual(t *testing.T) {
	for gauge, want := range map[string]string{"15-04-1": "[0]", "": "[1]"} {
		asked := ""
		v, out := interview("100\n"+gauge+"\n\n\n", nil)
		if gauge != "" {
			v, out = interview("100\n"+gauge+"\n20ft\n\n\n", nil)
		}
		v.Probe = func(_ context.Context, _ string, _, _ int, _ bool, _, height string) ([]Guess, error) {
			asked = height
			return []Guess{{Point: modbus.Point{Holding: new(100), Type: "uint16"}, Reads: "4790 mm"}}, nil
		}
		if err := v.askRegisters(t.Context(), "modbus.1.1.", "tcp://h", 1, &Device{}); err != nil && gauge != "" || (asked == "20ft") != (gauge != "") || !strings.Contains(out.String(), "(0: none) "+want) {
			t.Errorf("%q: %v, %s", gauge, err, out)
		}
	}
}

// A unit of which nothing is read is left out at once, and the levels of two units have two names.
func TestUnitsWithoutPointsAreLeftOut(t *testing.T) {
	v, out := interview("a\n\n100\n15-04-1\n1\n\n\nb\n\n\nc\n\n100\n15-04-1\n1\n\n\n", nil)
	for unit := range 3 {
		if err := v.askDevice(t.Context(), fmt.Sprintf("modbus.1.%d.", unit), "tcp://h", unit); err != nil {
			t.Fatal(err, out)
		}
	}
	if d := v.site.Devices; len(d) != 2 || d[0].Points[0].Name != "tk1-level" || d[1].Points[0].Name != "tk2-level" || !strings.Contains(out.String(), "Unit 1 has no point and is left out") {
		t.Errorf("%d devices\n%s", len(d), out)
	}
}

// One Enter too many where a register is asked for loses no unit: the same address, and the run that goes on, ask for it again.
func TestASkippedRegisterIsAskedAgain(t *testing.T) {
	kept := map[string]string{}
	run := func(in string) (*Interview, string) {
		v, out := interview(in, kept)
		v.Keep = func(all map[string]string) error { kept = maps.Clone(all); return nil }
		_, _ = v.Run(t.Context()) // nobody answers the last question
		return v, strings.Join(strings.Fields(out.String()), " ")
	}
	const register = "A register with a level, as on the wire: 100, or input 100"
	_, said := run("Cooper\n\n\nAmerica/Chicago\nhttps://api.example.com\n\n\n1\ntcp://10.20.0.5\n\n7\nplc\n\n\n\n\ntcp://10.20.0.5\n")
	if strings.Count(said, register+" (Enter: none)") != 2 || !strings.Contains(said, "--fresh then asks all again") || !strings.Contains(said, "left out; back, or the next") || strings.Count(said, "an answer is needed") != 1 {
		t.Error(said)
	}
	v, said := run("100\n15-04-1\n1\n\n")
	if len(v.site.Devices) != 1 || len(v.site.Devices[0].Points) != 1 {
		t.Errorf("%q\n%s", kept, said)
	}
}

// Units are looked for where the kind of line has them, and a silent line is explained as what it is.
func TestASilentLineIsExplainedAsWhatItIs(t *testing.T) {
	every := []Unit{{1, ""}, {2, ""}, {3, ""}, {4, ""}, {5, ""}, {6, ""}, {7, ""}, {8, ""}, {9, ""}, {10, ""}, {255, ""}}
	for name, x := range map[string]struct {
		url, look string
		found     []Unit
		says, not string
		want      string
	}{
		"a gateway":        {"tcp://10.20.0.5:502", "1-10,255", every[2:4], "unit 3 answers", "takes the connection", "[3 4]"},
		"without units":    {"tcp://10.20.0.5:502", "1-10,255", every, "no units behind it", "takes the connection", "[1]"},
		"a silent gateway": {"tcp://10.20.0.5:502", "1-10,255", nil, "port (502 is usual)", "baud", "[1]"},
		"a serial server":  {"rtu+tcp://10.20.0.7:4001", "1-20", nil, "baud rate and parity", "502", "[1]"},
		"a serial port":    {"rtu:///dev/ttyUSB0?baud=9600", "1-20", nil, "wires, baud", "502", "[1]"},
	} {
		v, out := interview("\n\n", nil)
		looked := ""
		v.Scan = func(_ context.Context, _, units string) ([]Unit, error) { looked = units; return x.found, nil }
		ids, err := v.askUnits(t.Context(), "modbus.1.", x.url)
		said := strings.Join(strings.Fields(out.String()), " ")
		if err != nil || fmt.Sprint(ids) != x.want || looked != x.look || !strings.Contains(said, x.says) || strings.Contains(said, x.not) {
			t.Errorf("%s: %v, %v, looked for %s, said %s", name, ids, err, looked, said)
		}
	}
}

// What was typed wrong is taken back by a word, one answer after the other and in a run that goes on too; an Enter too much ends no list for good.
// Nothing that was answered is asked again after an interrupt, nor which unit ids are looked for.
func TestAnAnswerIsTakenBack(t *testing.T) {
	kept := map[string]string{}
	run := func(in string) (*Interview, string) {
		v, out := interview(in, kept)
		v.Keep = func(all map[string]string) error { kept = maps.Clone(all); return nil }
		_, _ = v.Run(t.Context()) // nobody answers the last question
		return v, out.String()
	}
	const begin = "Coper\nback\nCooper\n\nAmerica/Chicago\nhttps://api.example.com\n\n\n1\ntcp://10.20.0.5\n1-3\n"
	_, said := run(begin)
	if kept["site"] != "Cooper" || kept["modbus.1.look"] != "1-3" {
		t.Fatalf("%q\n%s", kept, said)
	}
	_, said = run("1\nplc\n\n100\n15-04-1\n1\nlevl\n\n") // and Enter: no more registers
	if strings.Contains(said, "look for [") || kept["modbus.1.1.register.2"] != "" || kept["modbus.1.1.register.1.name"] != "levl" {
		t.Fatalf("%q\n%s", kept, said)
	}
	v, said := run("back\nback\nback\nlevel\n101\n15-04-1\n1\nother\n\n")
	if len(v.site.Devices) != 1 || len(v.site.Devices[0].Points) != 2 || v.site.Devices[0].Points[0].Name != "level" || v.site.Devices[0].Points[1].Name != "other" || strings.Count(said, "Name of the site") != 1 {
		t.Errorf("%q\n%s", kept, said)
	}
}
