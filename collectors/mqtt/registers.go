package mqtt

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"gauger/collectors/registers"
)

// encodings are the ways in which a gateway hands registers on.
var encodings = []string{"hex", "base64", "binary"}

// registerValue is a value in the registers of a device that a gateway hands on as they are.
type registerValue struct {
	encoding string
	from     int // bytes before the value
	kind     registers.Kind
	order    registers.Order
	bit      int // -1: none
}

// parseRegisterOptions reads the options of a point that is registers; nil when it is none.
func (p Point) parseRegisterOptions() (*registerValue, error) {
	if p.Encoding == "" {
		return nil, nil
	}
	w := &registerValue{encoding: p.Encoding, from: 2 * p.Word, kind: registers.Uint16, bit: -1}
	if !slices.Contains(encodings, p.Encoding) {
		return nil, fmt.Errorf("unknown encoding %q; %s", p.Encoding, strings.Join(encodings, ", "))
	}
	if p.Bit != nil {
		w.kind, w.bit = registers.Bool, *p.Bit
	}
	var err error
	if p.Type != "" {
		if w.kind, err = registers.ParseKind(p.Type); err != nil {
			return nil, err
		}
	}
	w.order, err = registers.ParseOrder(p.Order, w.kind.Registers())
	return w, err
}

// appendBytes undoes the encoding. Blanks, colons and a leading 0x do not matter in hex, nor does padding in base64.
func (w *registerValue) appendBytes(to []byte, text string) ([]byte, error) {
	switch w.encoding {
	case "binary":
		return append(to, text...), nil
	case "hex":
		to = appendHexDigits(to, text)
		n, err := hex.Decode(to, to)
		if err != nil {
			return nil, fmt.Errorf("is %s, not hex: two digits for each byte are wanted", excerpt(text))
		}
		return to[:n], nil
	}
	to = append(to, strings.TrimRight(strings.TrimSpace(text), "=")...)
	n, err := base64.RawStdEncoding.Decode(to, to)
	if err != nil {
		to = append(to[:0], strings.TrimRight(strings.TrimSpace(text), "=")...)
		n, err = base64.RawURLEncoding.Decode(to, to)
	}
	if err != nil {
		return nil, fmt.Errorf("is %s, not base64", excerpt(text))
	}
	return to[:n], nil
}

// appendHexDigits is a text without what may stand before and between the digits.
func appendHexDigits(to []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', ':', '-', ',', '\r', '\n':
		case '0':
			if i+1 < len(text) && (text[i+1] == 'x' || text[i+1] == 'X') {
				i++
				continue
			}
			fallthrough
		default:
			to = append(to, c)
		}
	}
	return to
}

// decodeRegisters reads the value, with all its digits where a float64 cannot hold them.
func (w *registerValue) decodeRegisters(text string) (v float64, digits string, err error) {
	var room [64]byte
	data, err := w.appendBytes(room[:0], text)
	if err != nil {
		return 0, "", err
	}
	size := 2 * w.kind.Registers()
	if len(data)%2 != 0 {
		return 0, "", fmt.Errorf("has %d bytes, and registers have two each", len(data))
	}
	if len(data) < w.from+size {
		return 0, "", fmt.Errorf("has %d registers, too few for a %s at word %d", len(data)/2, w.kind, w.from/2)
	}
	bits := w.order.Number(data[w.from : w.from+size])
	if w.bit >= 0 {
		bits = bits >> w.bit & 1
	}
	v, err = w.kind.Number(bits)
	return v, w.kind.Digits(bits), err
}

// isFloat32 says that a number has the precision of four bytes, so that a sentinel does too.
func (w *registerValue) isFloat32() bool { return w != nil && w.kind == registers.Float32 }

// checkRegisters looks at the options of registers.
func (p Point) checkRegisters(add func(field, message string)) {
	if p.Encoding == "" {
		field := ""
		switch {
		case p.Type != "":
			field = "type"
		case p.Order != "":
			field = "order"
		case p.Bit != nil:
			field = "bit"
		case p.Word != 0:
			field = "word"
		default:
			return
		}
		add(field, "is about registers; write encoding: hex, base64 or binary as well, or leave it out")
		return
	}
	_, err := p.parseRegisterOptions()
	_, kindErr := registers.ParseKind(p.Type)
	switch {
	case !slices.Contains(encodings, p.Encoding):
		add("encoding", fmt.Sprintf("unknown %q; %s", p.Encoding, strings.Join(encodings, ", ")))
	case p.Type != "" && kindErr != nil:
		add("type", kindErr.Error())
	case err != nil:
		add("order", err.Error())
	case p.Type == registers.String.String():
		add("type", "text cannot be read from registers here; name a number's type")
	case p.Type == registers.Bool.String() && p.Bit == nil:
		add("bit", "missing; say which bit of the register it is, 0 to 15")
	case p.Bit != nil && (*p.Bit < 0 || *p.Bit > 15 || p.Type != "" && p.Type != registers.Bool.String()):
		add("bit", "one bit of one register, 0 (least) to 15, has the type bool or none")
	case p.Word < 0 || p.Word > maxPacket/2:
		add("word", fmt.Sprintf("%d is no register; the first is 0", p.Word))
	}
	if p.Encoding == "binary" && p.Value != "" {
		add("value", "has no place beside encoding: binary, where the whole payload is registers; leave it out")
	}
	if p.Unit == textUnit {
		add("unit", "text cannot be read from registers; give the unit of a number")
	}
}
