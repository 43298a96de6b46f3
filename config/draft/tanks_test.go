package draft

import (
	"fmt"
	"strings"
	"testing"

	"gauger/agent/dialogue"
)

// A strapping table and a constant that check would refuse are refused as soon as they are typed.
func TestATableAndAConstantAreTriedAtOnce(t *testing.T) {
	out := new(strings.Builder)
	files := map[string]string{"rows.csv": "0,0\n10,168\n20,336\n", "feet.csv": "feet,bbl\n0,0\n10,168\n20,336\n"}
	v := &Interview{Dialogue: &dialogue.Dialogue{In: strings.NewReader("TK-1\n\n20ft\nrows.csv\nfeet.csv\n\noli\noil\nAcme\n700\n70\n38\n0.83\n200\n0.2\n\n"), Out: out, Echo: true},
		ReadTable: func(name string) ([]byte, error) { return []byte(files[name]), nil }}
	v.site.Devices = []*Device{{Name: "plc", Points: []*Point{rawPoint("{name: level, holding: 1, unit: in}")}}}
	v.site.Devices[0].Points[0].Unit = "in"
	if err := v.askTanks(t.Context()); err != nil {
		t.Fatalf("%v after\n%s", err, out)
	}
	if tk := v.site.Tanks[0]; tk.Strapping != "feet.csv" || tk.Gravity != "0.83" || tk.BSW != "0.2" || tk.Top != "70" {
		t.Errorf("%+v", tk)
	}
	for _, want := range []string{"its rows are in ft", "38 is no specific gravity of oil", "200 is no percentage", "700 is no temperature", "oil or water"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not said:\n%s", want, out)
		}
	}
}

// A tank of water is asked for no buyer, and its file says what is in it; so does that of a tank beside others.
func TestATankOfWaterIsWrittenAsOne(t *testing.T) {
	out := new(strings.Builder)
	v := &Interview{Dialogue: &dialogue.Dialogue{In: strings.NewReader("W-5\n\n20ft\n\n12ft\n\nwater\n\n"), Out: out, Given: map[string]string{"tank.1.group": "west", "tank.1.interface": "plc/l2"}}}
	v.site.Devices = []*Device{{Name: "plc", Points: []*Point{rawPoint("{name: level, holding: 1, unit: in}")}}}
	v.site.Devices[0].Points[0].Unit = "in"
	if err := v.askTanks(t.Context()); err != nil {
		t.Fatalf("%v after\n%s", err, out)
	}
	var text strings.Builder
	v.site.Tanks[0].write(func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) })
	for _, want := range []string{"    product: water ", "    group: west\n", "    interface: plc/l2\n"} {
		if !strings.Contains(text.String(), want) || strings.Contains(text.String(), "purchaser") {
			t.Errorf("%q is not in\n%s", want, &text)
		}
	}
}
