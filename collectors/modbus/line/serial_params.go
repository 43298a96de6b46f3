package line

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serialParams are the settings of a serial port. For a serial line behind a socket they are the serial server's,
// and serve to compute how long frames and silences are.
type serialParams struct {
	baud   int
	data   int
	parity byte // N, E or O
	stop   int
	rs485  rs485Direction
}

// The Modbus serial line specification asks for 19200 baud and even parity unless something else is agreed.
var standardSerialParams = serialParams{baud: 19200, data: 8, parity: 'E', stop: 1}

// defaultSerialParams hold for a URL that says nothing else: ASCII characters have seven bits.
func defaultSerialParams(text bool) serialParams {
	o := standardSerialParams
	if text {
		o.data = 7
	}
	return o
}

// charTime is the time of one character on the wire.
func (o serialParams) charTime() time.Duration {
	bits := 1 + o.data + o.stop
	if o.parity != 'N' {
		bits++
	}
	return time.Duration(bits) * time.Second / time.Duration(o.baud)
}

// frameGap is the silence between two frames: 3.5 characters, and a fixed 1.75 ms above 19200 baud (Modbus over
// Serial Line V1.02, 2.5.1.1). ASCII frames do not need it; it is kept there too, to hear what follows an answer.
func (o serialParams) frameGap() time.Duration {
	if o.baud > 19200 {
		return 1750 * time.Microsecond
	}
	return o.charTime() * 7 / 2
}

// usualBauds are the rates that devices have.
var usualBauds = []int{300, 600, 1200, 2400, 4800, 9600, 14400, 19200, 28800, 38400, 56000, 57600, 76800, 115200, 128000, 187500, 230400, 250000, 256000, 460800, 500000, 921600, 1000000, 1500000, 2000000, 3000000, 4000000}

// OddBaud says of a serial line whether hardly any device has its rate, and which rate is next to it.
func (e Endpoint) OddBaud() (usual int, odd bool) {
	if !e.IsSerial() || slices.Contains(usualBauds, e.serial.baud) {
		return 0, false
	}
	far := func(b int) int { return max(b-e.serial.baud, e.serial.baud-b) }
	return slices.MinFunc(usualBauds, func(a, b int) int { return far(a) - far(b) }), true
}

var serialKeys = []string{"baud", "data", "parity", "stop"}

func (o *serialParams) set(key, value string) error {
	n, err := strconv.Atoi(value)
	switch key {
	case "baud":
		if err != nil || n < 300 || n > 4_000_000 {
			return fmt.Errorf("baud=%s: a number from 300 to 4000000", value)
		}
		o.baud = n
	case "data":
		if value != "7" && value != "8" {
			return fmt.Errorf("data=%s: 7 or 8", value)
		}
		o.data = n
	case "stop":
		if value != "1" && value != "2" {
			return fmt.Errorf("stop=%s: 1 or 2", value)
		}
		o.stop = n
	case "parity":
		return o.setParity(value)
	}
	return nil
}

func (o *serialParams) setParity(value string) error {
	known := []string{"n", "none", "e", "even", "o", "odd"}
	i := slices.Index(known, strings.ToLower(value))
	if i < 0 {
		return fmt.Errorf("parity=%s: N, E or O", value)
	}
	o.parity = "NEO"[i/2]
	return nil
}

// validate says what contradicts itself or the way in which frames are written.
func (o serialParams) validate(text bool) error {
	if o.data == 7 && !text {
		return errors.New("data=7: RTU frames need 8 data bits; ascii:// has 7")
	}
	return o.rs485.validate()
}

func (o serialParams) listOptions(listOptions func(key string, value any), text bool) {
	listOptions("baud", o.baud)
	if text {
		listOptions("data", o.data)
	}
	listOptions("parity", string(o.parity))
	listOptions("stop", o.stop)
	o.rs485.listOptions(listOptions)
}

// rs485Direction has the kernel turn an RS-485 line between sending and listening by the port's RTS wire.
type rs485Direction struct {
	rtsWhileSending string // high or low: RTS while sending; empty: the adapter turns itself
	before, after   int    // ms that RTS holds before the first and after the last character
}

var rs485Keys = []string{"rs485", "rts_before", "rts_after"}

func (d *rs485Direction) set(key, value string) error {
	if key == "rs485" {
		if value != "high" && value != "low" {
			return fmt.Errorf("rs485=%s: high or low, the level of RTS while sending", value)
		}
		d.rtsWhileSending = value
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 || n > 100 {
		return fmt.Errorf("%s=%s: whole milliseconds from 0 to 100", key, value)
	}
	if key == "rts_before" {
		d.before = n
	} else {
		d.after = n
	}
	return nil
}

func (d rs485Direction) validate() error {
	if d.rtsWhileSending == "" && d != (rs485Direction{}) {
		return errors.New("rts_before and rts_after need rs485=high or rs485=low")
	}
	return nil
}

func (d rs485Direction) listOptions(listOptions func(key string, value any)) {
	if d.rtsWhileSending == "" {
		return
	}
	listOptions("rs485", d.rtsWhileSending)
	if d.before != 0 {
		listOptions("rts_before", d.before)
	}
	if d.after != 0 {
		listOptions("rts_after", d.after)
	}
}
