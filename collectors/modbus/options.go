package modbus

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"gauger/collectors/modbus/line"
	"gauger/collectors/registers"
)

// Device is one Modbus device of the configuration: what to read from one unit id behind one endpoint.
// Devices that name the same URL share its line or socket.
type Device struct {
	Name              string        `yaml:"name" doc:"name of the device; points are named NAME/POINT"`
	URL               string        `yaml:"modbus" doc:"tcp://host:502, tls://host:802?ca_file=F&cert_file=F&key_file=F&server_name=N, rtu:///dev/serial/by-id/X?baud=19200&data=8&parity=E&stop=1 (these are the defaults), rtu+tcp://host:4001, ascii:///dev/serial/by-id/X (7 data bits), or ascii+tcp://host:4001. For serial ports also rs485=high or low (RTS while sending) with rts_before and rts_after in ms; for all pause=20ms before each request and connect_pause=500ms"`
	Unit              *int          `yaml:"unit" doc:"unit id (slave address), 1 to 247; on TCP also 0 and 255. Default 1"`
	Every             time.Duration `yaml:"every" doc:"poll interval. Default 10s"`
	Timeout           time.Duration `yaml:"timeout" doc:"longest wait for one answer. Default 1s"`
	Retries           *int          `yaml:"retries" doc:"how often a request whose answer came damaged is repeated at once, 0 to 5; silence and refusals are not. Default 1"`
	Enron             bool          `yaml:"enron" doc:"the device numbers 32-bit values as Enron (Daniel) does: int32, uint32 and float32 points take one address, not two. Default false"`
	EveryWhileLoading time.Duration `yaml:"every_while_loading" doc:"poll interval while a tank whose level is a point of this device is being hauled; shorter than every"`
	Turnaround        time.Duration `yaml:"turnaround" doc:"how long the unit thinks before it answers: for the plan and the bus time that check computes. Default 5ms on a serial line, 1ms on a socket"`
	MaxRegisters      int           `yaml:"max_registers" doc:"most registers that the unit takes in one request, 1 to 125. Default 125"`
	MaxBits           int           `yaml:"max_bits" doc:"most coils or discrete inputs that the unit takes in one request, 1 to 2000. Default 2000"`
	Forbidden         []Forbidden   `yaml:"forbidden" doc:"addresses that no request may touch, not even to read across them"`
	Share             string        `yaml:"share" doc:"address of this box, such as 127.0.0.1:1502, where other masters may read this device over Modbus TCP at its own unit id: from what gauger read last, nothing older than two rounds, and nothing can be written. Default: not shared"`
	Order             string        `yaml:"order" doc:"word and byte order of points that do not name their own. Default ABCD"`
	Points            []Point       `yaml:"points" doc:"what to read"`
}

// Point is one value in a device's registers. Exactly one of Holding, Input, Coil, Discrete and Modicon says where.
type Point struct {
	Name     string    `yaml:"name" doc:"name of the point within its device"`
	Holding  *int      `yaml:"holding" doc:"holding register, zero-based as on the wire (function 3)"`
	Input    *int      `yaml:"input" doc:"input register, zero-based as on the wire (function 4)"`
	Coil     *int      `yaml:"coil" doc:"coil, zero-based (function 1)"`
	Discrete *int      `yaml:"discrete" doc:"discrete input, zero-based (function 2)"`
	Modicon  *int      `yaml:"modicon" doc:"one-based number with its kind in front: 40001 or 400001 holding, 30001 input, 10001 discrete, 1 coil"`
	Type     string    `yaml:"type" doc:"bool int16 uint16 int32 uint32 int64 uint64 float32 float64 bcd16 bcd32 string. Default uint16; bool for coil, discrete and bit"`
	Order    string    `yaml:"order" doc:"ABCD CDAB BADC DCBA; for 64 bits the same letters by rule, or eight letters: ABCDEFGH GHEFCDAB BADCFEHG HGFEDCBA"`
	Enron    *bool     `yaml:"enron" doc:"this point is one address of 32 bits (int32, uint32, float32), or two ordinary ones. Default: the device's"`
	Bit      *int      `yaml:"bit" doc:"one bit of a register, 0 (least) to 15: the value is 0 or 1"`
	Length   int       `yaml:"length" doc:"registers of a string (two characters each)"`
	Scale    *float64  `yaml:"scale" doc:"the raw number times this. Default 1"`
	Offset   float64   `yaml:"offset" doc:"added after the scale, in unit"`
	Unit     string    `yaml:"unit" doc:"engineering unit of the result: in ft m cm mm percent degF degC bbl psi min ..."`
	Range    []float64 `yaml:"range" doc:"[low, high] in unit: a value outside is Bad"`
	Bad      []float64 `yaml:"bad" doc:"raw numbers that mean no value (sentinels such as 32767, 65535, -9999): Bad"`
	Verify   string    `yaml:"verify" doc:"twice: two requests that must agree; once: one. Default: twice for a tank's level or a well's value on a serial line, else once"`
	Age      *Age      `yaml:"age" doc:"a point that says how old the value is, where the device hands out what it once heard"`
	GoodWhen *GoodWhen `yaml:"good_when" doc:"a point that says whether the value is any good: otherwise Bad"`
	// Agree is the most that the two readings of verify: twice may differ by, in Unit: the plausible rate times the time
	// between them plus the noise. It follows from the tank, so whoever joins tanks and devices sets it.
	// Zero: both must be the same.
	Agree float64 `yaml:"-"`
}

// Forbidden is a run of addresses that no request may touch. Exactly one of Holding, Input, Coil and Discrete says
// where it begins.
type Forbidden struct {
	Holding  *int `yaml:"holding" doc:"first holding register, zero-based"`
	Input    *int `yaml:"input" doc:"first input register, zero-based"`
	Coil     *int `yaml:"coil" doc:"first coil, zero-based"`
	Discrete *int `yaml:"discrete" doc:"first discrete input, zero-based"`
	Count    int  `yaml:"count" doc:"how many addresses. Default 1"`
}

// MapFiles gives each file that the URL names to f and puts what f returns in its place. A URL that cannot be read
// stays as it is; Check tells of it.
func (d *Device) MapFiles(f func(file string) string) { d.URL = line.MapFiles(d.URL, f) }

// Bits says in which registers a point's number stands, and what makes a number of them.
type Bits struct {
	Table         line.Table // Holding or Input
	From, Count   int
	Kind          registers.Kind
	Order         string
	Scale, Offset float64
}

// Bits of a point of one number in ordinary registers; false: it is a bit, a text or one of Enron's.
func (d Device) Bits(p Point) (Bits, bool) {
	made, m, err := compileOne(d, p)
	if err != nil || made.table.IsBits() || m.bit >= 0 || m.kind == registers.String || made.table != line.Holding && made.table != line.Input {
		return Bits{}, false
	}
	return Bits{made.table, int(made.from), int(made.count), m.kind, m.order.Of(int(made.count)), m.scale, m.offset}, true
}

// Place is the host and port, or the serial port, behind which the device is. Empty where its URL cannot be read.
func (d Device) Place() string {
	at, err := line.ParseEndpoint(d.URL)
	if err != nil {
		return ""
	}
	return at.Place
}

// Source says where the number of a point is read, at which address or port (place) and there, and how its bits become one,
// before scale, offset and unit: what two configurations say alike is the same number. It is stored: another wording would
// look like another gauge. Empty for a point that cannot be read.
func (d Device) Source(p Point) (place, source string) {
	at, err := line.ParseEndpoint(d.URL)
	made, m, wrong := compileOne(d, p)
	if err != nil || wrong != nil {
		return "", ""
	}
	source = fmt.Sprintf("unit %d, %s %d", d.unitID(), made.table, made.from)
	if m.bit >= 0 {
		return at.Place, fmt.Sprintf("%s, bit %d", source, m.bit)
	}
	return at.Place, fmt.Sprintf("%s, %s %s", source, m.kind, m.order.Of(p.registers(m.kind)))
}

//go:embed templates/*.yaml
var templates embed.FS

// Templates are the names of the register maps that gauger brings along, in alphabetical order.
func Templates() []string {
	files, err := templates.ReadDir("templates")
	if err != nil {
		panic("modbus: templates: " + err.Error()) // they are part of the program
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// Template is the text of a register map: keys of a device in YAML. Its first line says in a comment what it is for,
// the lines below what it rests on and what is to be checked on site. False: there is none of that name.
func Template(name string) ([]byte, bool) {
	text, err := templates.ReadFile(path.Join("templates", name+".yaml"))
	return text, err == nil
}
