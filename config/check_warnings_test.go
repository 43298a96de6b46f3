package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file with a mistake has its doubtful things told beside it, so that a person goes through it once; a key's file that is
// not there is one of them, and so is a five-digit number where an address on the wire belongs.
func TestDoubtsAreToldBesideMistakes(t *testing.T) {
	text := strings.NewReplacer("primary_key: {credential: primary-key}", "primary_key: {file: no-such-key}", "credential: mqtt-password", "file: no-such-password").Replace(string(Example))
	const sound = "modbus: tcp://10.0.0.2\n"
	for name, mistake := range map[string]string{"sound": "", "with a mistake": "nonsense: 1\n"} {
		path := filepath.Join(t.TempDir(), "gauger.yaml")
		device := "  - name: strays\n    " + sound + "    every: 10s\n    points:\n" +
			"      - {name: a, holding: 40101, type: uint16}\n      - {name: b, input: 30007, type: uint16}\n      - {name: c, holding: 101, type: uint16}\n      - {name: d, holding: 30007, type: uint16}\n"
		whole := strings.Replace(text, "\ndevices:\n", "\ndevices:\n"+device, 1) + mistake
		if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, doubts, err := Look{}.Examine(path)
		if (err == nil) != (mistake == "") || (cfg == nil) != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
		said := ""
		for _, w := range doubts {
			said += w.String() + "\n"
		}
		for _, want := range []string{`service.primary_key: no file "no-such-key"`, `password: no file "no-such-password"`,
			"points[0].holding: 40101 is the address", "did you mean modicon: 40101?", "points[1].input: 30007 is", "did you mean modicon: 30007?", "points[3].holding: 30007 is"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: not told: %q in\n%s", name, want, said)
			}
		}
		if strings.Contains(said, "points[2]") {
			t.Errorf("%s: a sound address is doubted:\n%s", name, said)
		}
	}
}

// besideTheKey are the warnings but for the one that the good file's second key is not on this box.
func besideTheKey(ws []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(ws), func(w Problem) bool {
		return strings.HasSuffix(w.String(), `secondary_key: no file "/etc/gauger/secondary-key" here; put it there before gauger starts`)
	})
}

// A decimal comma is told as one, in a block and within braces, where it ends the value before it.
func TestADecimalCommaIsToldAsOne(t *testing.T) {
	for wrong, want := range map[string]string{"specific_gravity: 0,83": `"0,83" has a comma; write 0.83`, "bsw: 0,2": `"0,2" has a comma; write 0.2`, "loads: {noise: 0.5, min_load: 25,5}": "decimals come after a point, as in 0.5", "height: 20,5ft": "write 20.5"} {
		text := strings.Replace(good(t), "    level: battery-plc/tk1-level\n", "    level: battery-plc/tk1-level\n    "+wrong+"\n", 1)
		for _, own := range []string{"height: 20ft", "bsw: 0.2", "specific_gravity: 0.83", "loads: {truck_max: 200}"} {
			if strings.HasPrefix(wrong, own[:5]) {
				text = strings.Replace(good(t), own, wrong, 1)
			}
		}
		if said := problemsOf(t, text).Error(); !strings.Contains(said, want) {
			t.Errorf("%s: %s", wrong, said)
		}
	}
}

// Nobody is to be put into the group root: who writes it means root alone.
func TestTheGroupRootIsNoRole(t *testing.T) {
	cfg := edited(t, plainLog, "control: {keys: [root]}\n"+plainLog)
	if said := told(cfg.Warnings, "control.keys[0]"); !strings.Contains(said, "write [] for root alone") {
		t.Errorf("%q of %v", said, cfg.Warnings)
	}
}

// An offset without a unit works as it always did, in inches, and that is said.
func TestAnOffsetWithoutAUnitIsSaidToBeInches(t *testing.T) {
	for offset, want := range map[string]string{"0.5in": "", "0": "", "-0-00-2": "", "0.5": "0.5 without a unit is inches; write 0.5in", "-1.25": "write -1.25in"} {
		cfg := edited(t, "    sensor: radar\n", "    sensor: radar\n    offset: "+offset+"\n")
		if said := told(cfg.Warnings, "tanks[0].offset"); (said != "") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q", offset, said)
		}
	}
}

// A constant of sediment and water that no buyer takes is most probably a slip of the point.
func TestAConstantOfMuchWaterIsDoubted(t *testing.T) {
	for bsw, want := range map[string]string{"0.4": "", "10": "", "40": "look whether it is not 0.4"} {
		cfg := edited(t, "    bsw: 0.2\n", "    bsw: "+bsw+"\n")
		if said := told(cfg.Warnings, "tanks[0].bsw"); (said != "") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q", bsw, said)
		}
	}
}

// A range that reaches far beyond the tank was most probably written in another unit.
func TestARangeFarBeyondTheTankIsTold(t *testing.T) {
	for unit, want := range map[string]string{"in": "", "ft": "240 ft is 12 times the height of "} {
		path := filepath.Join(t.TempDir(), "gauger.yaml")
		text := strings.Replace(good(t), "unit: in, range: [0, 240]", "unit: "+unit+", range: [0, 240]", 1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, doubts, err := Look{}.Examine(path)
		if said := told(doubts, "devices[0].points[0].range"); (said != "") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, %v", unit, said, err)
		}
	}
}

// A height without a unit is told as that, once, and not as a range that is too wide for it.
func TestAHeightWithoutAUnitAccusesNoRange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gauger.yaml")
	text := strings.Replace(good(t), "    height: 20ft\n    strapping: tk-1001.csv\n", "    height: 20\n    diameter: 12ft\n", 1)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, doubts, err := Look{}.Examine(path)
	if err != nil || !strings.Contains(told(cfg.Strict, "tanks[0].height"), "20 without a unit is inches; write 20ft, or 20in if it is") {
		t.Errorf("the height: %v", err)
	}
	for _, at := range []string{"devices[0].points[0].range", "tanks[0].height"} {
		if said := told(doubts, at); said != "" {
			t.Errorf("%s: %q", at, said)
		}
	}
}

// Who checks a file is told of a level that would stay good for ever when its device falls silent; who runs is not.
func TestALevelThatNobodyWatchesIsTold(t *testing.T) {
	const every, event = ", expect_every: 10m", "  - {rule: Radio silent, point: radio/tk2-level, stale: 30m}\n"
	for name, x := range map[string]struct {
		without []string
		told    bool
	}{
		"both":         {nil, false},
		"only every":   {[]string{event}, false},
		"only stale":   {[]string{every}, false},
		"none of both": {[]string{every, event}, true},
	} {
		text := string(Example)
		for _, part := range x.without {
			text = strings.Replace(text, part, "", 1)
		}
		path := filepath.Join(t.TempDir(), "gauger.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, doubts, err := Look{}.Examine(path)
		told := slices.ContainsFunc(doubts, func(p Problem) bool {
			return strings.HasSuffix(p.Path, ".expect_every") && strings.Contains(p.Message, "stays that of ")
		})
		if err != nil || told != x.told {
			t.Errorf("%s: told %v, want %v; %v, %v", name, told, x.told, doubts, err)
		}
		cfg, err := Parse("gauger.yaml", []byte(text), "testdata")
		if err != nil || slices.ContainsFunc(cfg.Warnings, func(p Problem) bool { return strings.HasSuffix(p.Path, ".expect_every") }) {
			t.Errorf("%s: running tells it too: %v", name, err)
		}
	}
}

// Each message of a broker that is posted is written to the card by itself, and check says what that costs.
func TestEveryMessageThatIsPostedIsDoubted(t *testing.T) {
	const polled, slow = "point: battery-plc/oil-target, every: 24h", "point: radio/tk2-level, every: 24h"
	for line, want := range map[string]bool{slow: false, strings.Replace(slow, "24h", "0s", 1): true, strings.Replace(polled, "24h", "0s", 1): false} {
		said := told(edited(t, polled, line).Warnings, "wells[0].targets[0].every")
		if (said != "") != want || want && !strings.Contains(said, "1.3 GB a day") {
			t.Errorf("%s: %q", line, said)
		}
	}
}

// One truck's load from joined tanks is a ticket of each: where they name two purchasers, check says whose tickets are wrong, and refuses nothing.
func TestAGroupOfTwoPurchasersIsTold(t *testing.T) {
	const group, buyer = "    group: west\n", "    purchaser: Acme Crude Gathering\n"
	joined := strings.ReplaceAll(string(Example), buyer, group+buyer)
	for text, want := range map[string]bool{
		joined: false,
		strings.Replace(joined, buyer, strings.Replace(buyer, "Acme Crude Gathering", "Bravo Oil", 1), 1):                     true,
		strings.Replace(joined, buyer, "    sales: lact\n"+strings.Replace(buyer, "Acme Crude Gathering", "Bravo Oil", 1), 1): false,
		strings.Replace(string(Example), buyer, strings.Replace(buyer, "Acme Crude Gathering", "Bravo Oil", 1), 1):            false,
	} {
		text = strings.Replace(text, "    sales: truck ", "    #sales: ", 1)
		cfg, err := Parse("gauger.yaml", []byte(text), "testdata")
		if err != nil {
			t.Fatal(err)
		}
		if said := told(cfg.Warnings, "tanks[1].purchaser"); (said != "") != want || want && !strings.Contains(said, `"Bravo Oil" and "Acme Crude Gathering"`) {
			t.Errorf("told %q, want %v", said, want)
		}
	}
}

// A tank of water makes no ticket: nobody buys it, and in a group it names no other purchaser.
func TestATankOfWaterNeedsNoPurchaser(t *testing.T) {
	const buyer = "    purchaser: Acme Crude Gathering\n"
	text := strings.Replace(string(Example), "product: oil ", "product: water ", 1)
	cfg, err := Parse("gauger.yaml", []byte(strings.Replace(text, buyer, "", 1)), "testdata")
	if err != nil || !cfg.Tanks[0].Water() || cfg.Tanks[1].Water() {
		t.Errorf("%v", err)
	}
}

// What a person writes who does not know the buyer, or of a tank of water, stands on no ticket unseen.
func TestAPurchaserWhoIsNobodyIsDoubted(t *testing.T) {
	for name, want := range map[string]bool{"none": true, "n/a": true, "TBD": true, "None Oil": false, "Nora": false} {
		cfg := edited(t, "purchaser: Acme Crude Gathering", "purchaser: "+name)
		if got := slices.ContainsFunc(cfg.Warnings, func(p Problem) bool { return strings.Contains(p.String(), "product: water") }); got != want {
			t.Errorf("%s: %v", name, cfg.Warnings)
		}
	}
}

// A point's line that was copied and given another name is the same signal: of two tanks it makes two tickets of one truck, which check tells, and a site runs on.
func TestTwoTanksOnOneSignalAreTold(t *testing.T) {
	const level, radio = "{name: tk1-level, holding: 100, type: float32, order: CDAB, unit: in, range: [0, 240]}", "{name: tk2-level, topic: field/tk2, value: level.in, time: ts, unit: in}"
	const third = "level: serial-plc/tk3-level"
	for name, x := range map[string]struct{ line, copied, level, say string }{
		"the same registers":        {level, strings.Replace(level, "tk1-", "copy-", 1), "level: battery-plc/copy-level", "each load would make two tickets"},
		"the same in Modicon's way": {level, "{name: copy-level, modicon: 40101, type: float32, order: CDAB, unit: in}", "level: battery-plc/copy-level", `"battery-plc/tk1-level" of tanks[0] (TK-1001)`},
		"the same in feet":          {level, "{name: copy-level, holding: 100, type: float32, order: CDAB, unit: ft}", "level: battery-plc/copy-level", "Look which"},
		"the same topic":            {radio, strings.Replace(radio, "tk2-level", "copy", 1), "level: radio/copy", "field/tk2"},
		"the next registers":        {level, "{name: copy-level, holding: 102, type: float32, order: CDAB, unit: in}", "level: battery-plc/copy-level", ""},
		"another field of it":       {radio, strings.Replace(radio, "tk2-level, topic: field/tk2, value: level", "copy, topic: field/tk2, value: tk3", 1), "level: radio/copy", ""},
	} {
		text := strings.Replace(strings.Replace(good(t), x.line, x.line+"\n      - "+x.copied, 1), third, x.level, 1)
		cfg, err := Parse("gauger.yaml", []byte(text), "testdata")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if said := told(cfg.Warnings, "tanks[2].level"); (said != "") != (x.say != "") || !strings.Contains(said, x.say) {
			t.Errorf("%s: %q, want %q", name, said, x.say)
		}
	}
}

// A list of warnings that was cut says so: tanks that are not in it are not well.
func TestWarningsThatAreCutOffSaySo(t *testing.T) {
	for n, cut := range map[int]bool{maxProblems - 10: false, 2 * maxProblems: true} {
		text, points, tanks := good(t), "", ""
		for i := range n {
			points += fmt.Sprintf("\n      - {name: more%d, topic: more/%d, unit: in}", i, i)
			tanks += fmt.Sprintf("  - {id: MORE%d, level: radio/more%d, height: 20ft, diameter: 12ft, purchaser: Acme}\n", i, i)
		}
		text = strings.Replace(text, "time: ts, unit: in}", "time: ts, unit: in}"+points, 1)
		cfg, err := Parse("gauger.yaml", []byte(strings.Replace(text, "events:\n", tanks+"events:\n", 1)), "testdata")
		if err != nil {
			t.Fatal(err)
		}
		if last := cfg.Warnings[len(cfg.Warnings)-1].Message; strings.Contains(last, "more of these follow") != cut {
			t.Errorf("%d tanks, %d warnings, the last: %s", n, len(cfg.Warnings), last)
		}
	}
}
