package maps

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gauger/collectors/modbus"
)

const kepware = `Tag Name,Address,Data Type,Respect Data Type,Client Access,Scan Rate,Scaling,Raw Low,Raw High,Scaled Low,Scaled High,Scaled Data Type,Clamp Low,Clamp High,Eng Units,Description,Negate Value
"Tank1.Level","400101",Float,1,R/O,1000,,,,,,,,,"inches","Tank 1  oil level",
"Tank1.Temp","40103",Short,1,RO,1000,Linear,0,1000,0,100,Float,1,0,"F","",
"Tank1.Valve","100013",Boolean,1,RO,1000,,,,,,,,,"","",
"Tank1.Alarm","400110.3",Boolean,1,RO,1000,,,,,,,,,"","",
"Site","400120.10H",String,1,RO,1000,,,,,,,,,"","",
"Tank1.Level","300005",Word,1,RO,1000,,,,,,,,,"","the same name again",
"Setpoint","400130",Word,1,WO,1000,,,,,,,,,"","",
"Roots","400131",Word,1,RO,1000,Square Root,0,100,0,10,Float,0,0,"","",
"Array","400140 [4]",Word,1,RO,1000,,,,,,,,,"","",
"S7","DB1.DBW4",Word,1,RO,1000,,,,,,,,,"","",
"Bare","400150",Boolean,1,RO,1000,,,,,,,,,"","",
"Up","400151",Short,1,RO,1000,,,,,,,,,"ft","",1
`

const ignition = `Path,Name,Owner,TagType,DataType,Value,Enabled,AccessRights,OPCServer,OPCItemPath,ScanClass,DriverName,ScaleMode,RawLow,RawHigh,ScaledLow,ScaledHigh,EngUnit,Documentation
# version=1
,Battery,,6,,,TRUE,Read_Write
Battery/,TK1 Level,,0,4,,TRUE,Read_Write,Ignition OPC-UA Server,ns=1;s=[PLC]3.HRF101,Default,,,,,,,in,Tank 1
Battery/,TK1 Temp,,0,2,,TRUE,Read_Write,Ignition OPC-UA Server,[PLC]3.HR103,Default,,1,0,1000,0,100,degF,
Battery/,Valve,,0,6,,TRUE,Read_Write,Ignition OPC-UA Server,[PLC]3.DI13,Default,,,,,,,,
Battery/,Bit,,0,6,,TRUE,Read_Write,Ignition OPC-UA Server,[PLC]3.HR110.3,Default,,,,,,,,
Battery/,Total,,0,6,,TRUE,Read_Write,Ignition OPC-UA Server,[PLC]3.IRUI201,Default,,,,,,,bbl,
Battery/,Name,,0,6,,TRUE,Read_Write,Ignition OPC-UA Server,[PLC]3.HRS120:10,Default,,,,,,,,
Battery/,Sim,,0,6,,TRUE,Read_Write,Ignition OPC-UA Server,[Sim]_Meta:Float1,Default,,,,,,,,
`

const mbmap = `{"mbmap": 2, "device": {"vendor": "V", "model": "M", "unit_id": 5}, "addressing": "zero-based", "byteOrder": "big", "wordOrder": "little",
 "registers": [
  {"name": "Level", "table": "holding", "address": 100, "type": "float32", "unit": "in", "description": "oil", "access": "r", "sentinels": [{"value": 9999, "meaning": "no echo"}, -999]},
  {"name": "Temp", "function": 4, "address": 7, "type": "int16", "scale": 0.1, "unit": "°F"},
  {"name": "Total", "table": "holding", "address": 110, "type": "uint32", "wordOrder": "big", "enum": {"1": "x"}},
  {"name": "Run", "table": "discrete", "address": 3, "type": "bool"},
  {"name": "Power", "table": "holding", "address": 20, "type": "int16", "scaleFactor": "power_sf"},
  {"name": "Set", "table": "holding", "address": 21, "access": "write-only"},
  {"name": "Odd", "table": "holding", "address": 22, "type": "packed"}]}`

// line is a point as a person would write it.
func line(p modbus.Point) string {
	var b strings.Builder
	b.WriteString(p.Name)
	for _, at := range []struct {
		key string
		at  *int
	}{{"holding", p.Holding}, {"input", p.Input}, {"coil", p.Coil}, {"discrete", p.Discrete}, {"bit", p.Bit}} {
		if at.at != nil {
			fmt.Fprintf(&b, " %s %d", at.key, *at.at)
		}
	}
	if p.Scale != nil {
		fmt.Fprintf(&b, " x %g + %g", *p.Scale, p.Offset)
	}
	for _, word := range []string{p.Type, p.Order, p.Unit} {
		if word != "" {
			b.WriteString(" " + word)
		}
	}
	if p.Length > 0 {
		fmt.Fprintf(&b, " %d", p.Length)
	}
	if p.Bad != nil {
		fmt.Fprint(&b, " bad ", p.Bad)
	}
	return b.String()
}

func TestListsOfTagsBecomePoints(t *testing.T) {
	for _, tt := range []struct {
		text        string
		from        Counting
		kind, order string
		unit        int
		points      []string
		left        []string // what is named among what was left, in this order
		assumed     []string
	}{
		{kepware, Unsaid, "Kepware", "CDAB", 0, []string{
			"tank1-level holding 100 float32 in", "tank1-temp holding 102 x 0.1 + 0 int16 degF", "tank1-valve discrete 12", "tank1-alarm holding 109 bit 3",
			"site holding 119 string 5", "tank1-level-2 input 4 uint16", "up holding 150 x -1 + 0 int16 ft",
		}, []string{"Tank1.Temp: its clamp", "Setpoint: line 8: can only be written", "Roots: line 9: its scaling is square root", "Array: line 10: an array", `S7: line 11: "DB1" is no Modbus address`, "Bare: line 12: a register as a boolean without its bit"},
			[]string{"word order CDAB", "addresses count from 1"}},
		{ignition, FromZero, "Ignition", "CDAB", 3, []string{
			"battery-tk1-level holding 101 float32 in", "battery-tk1-temp holding 103 x 0.1 + 0 int16 degF", "battery-valve discrete 13", "battery-bit holding 110 bit 3",
			"battery-total input 201 uint32 bbl", "battery-name holding 120 string 10",
		}, []string{"Battery: line 3: it reads nothing itself", `Battery/Sim: line 10: "_Meta:Float1" is no address`}, []string{"word order CDAB"}},
		{mbmap, Unsaid, "MBMap", "", 5, []string{
			"level holding 100 float32 CDAB in bad [9999 -999]", "temp input 7 x 0.1 + 0 int16 degF", "total holding 110 uint32", "run discrete 3",
		}, []string{"Total: its enum, which has no counterpart", "Power: its scale stands in another register", "Set: can only be written", `Odd: type "packed" has no counterpart`}, nil},
	} {
		m, err := Read([]byte("\ufeff"+tt.text), tt.from)
		if err != nil {
			t.Fatalf("%s: %v", tt.kind, err)
		}
		if m.Kind != tt.kind || m.Order != tt.order || m.Unit != tt.unit {
			t.Errorf("%s: read as %s, order %q, unit %d", tt.kind, m.Kind, m.Order, m.Unit)
		}
		var got []string
		for _, p := range m.Points {
			got = append(got, line(p))
		}
		if !slices.Equal(got, tt.points) {
			t.Errorf("%s: points\n%s", tt.kind, strings.Join(got, "\n"))
		}
		begins(t, tt.kind+": left", m.Left, tt.left)
		begins(t, tt.kind+": assumed", m.Assumed, tt.assumed)
		if problems := (modbus.Device{Name: "d", URL: "tcp://h", Unit: new(1), Order: m.Order, Every: 1e10, Timeout: 1e9, Points: m.Points}).Check(); len(problems) > 0 {
			t.Errorf("%s: gauger does not take them: %v", tt.kind, problems)
		}
	}
}

func begins(t *testing.T, what string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d, want %d:\n%s", what, len(got), len(want), strings.Join(got, "\n"))
		return
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%s: %q, want %q", what, got[i], want[i])
		}
	}
}

func TestWhatIsNoMapIsRefusedWithAReason(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "the file is empty",
		"a,b\n1,2\n":        "neither a tag list of Kepware",
		`{"a": 1}`:          "JSON without a list of registers",
		`{"registers": [`:   "no JSON",
		`{"registers": []}`: "count from 0 or from 1",
		"Tag Name,Address,Data Type\nx,DB1,Word\n":                          "nothing can be read over Modbus: x: line 2",
		`{"addressing": "1-based", "registers": [{"name": "x"}]}`:           "x: no address",
		`{"addressing": 0, "registers": [{"address": 1, "table": "file"}]}`: "register-1: its table is none of",
	} {
		if _, err := Read([]byte(text), Unsaid); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(kepware)
	f.Add(ignition)
	f.Add(mbmap)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Read([]byte(text), FromOne)
		if err != nil {
			return
		}
		names := map[string]bool{}
		for _, p := range m.Points {
			if names[p.Name] {
				t.Fatalf("two points have the name %q", p.Name)
			}
			names[p.Name] = true
		}
	})
}
