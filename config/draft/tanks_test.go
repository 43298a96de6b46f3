package draft

import (
	"strings"
	"testing"

	"gauger/agent/dialogue"
)

// A strapping table and a constant that check would refuse are refused as soon as they are typed.
func TestATableAndAConstantAreTriedAtOnce(t *testing.T) {
	out := new(strings.Builder)
	files := map[string]string{"rows.csv": "0,0\n10,168\n20,336\n", "feet.csv": "feet,bbl\n0,0\n10,168\n20,336\n"}
	v := &Interview{Dialogue: &dialogue.Dialogue{In: strings.NewReader("TK-1\n\n20ft\nrows.csv\nfeet.csv\n\nAcme\n700\n70\n38\n0.83\n200\n0.2\n\n"), Out: out, Echo: true},
		ReadTable: func(name string) ([]byte, error) { return []byte(files[name]), nil }}
	v.site.Devices = []*Device{{Name: "plc", Points: []*Point{rawPoint("{name: level, holding: 1, unit: in}")}}}
	v.site.Devices[0].Points[0].Unit = "in"
	if err := v.askTanks(t.Context()); err != nil {
		t.Fatalf("%v after\n%s", err, out)
	}
	if tk := v.site.Tanks[0]; tk.Strapping != "feet.csv" || tk.Gravity != "0.83" || tk.BSW != "0.2" || tk.Top != "70" {
		t.Errorf("%+v", tk)
	}
	for _, want := range []string{"its rows are in ft", "38 is no specific gravity of oil", "200 is no percentage", "700 is no temperature"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q was not said:\n%s", want, out)
		}
	}
}
