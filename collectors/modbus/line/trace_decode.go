package line

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// decodedFrame is a frame taken apart, for a person who looks at a line.
type decodedFrame struct {
	id   uint16 // transaction id; 0 on a serial line
	unit byte
	pdu  []byte // function and what follows it
}

// decodeFrame takes a whole frame apart.
func decodeFrame(at Endpoint, frame []byte) decodedFrame {
	if at.IsSerial() {
		unit, pdu := at.codec().unpack(frame)
		return decodedFrame{unit: unit, pdu: pdu}
	}
	return decodedFrame{id: binary.BigEndian.Uint16(frame), unit: frame[6], pdu: frame[MBAPHeaderSize:]}
}

// findFrame finds the first whole frame in what was heard; end is 0 when there is none yet.
func findFrame(at Endpoint, b []byte) (start, end int) {
	if !at.IsSerial() {
		if len(b) < MBAPHeaderSize || !ValidMBAP(b) {
			return 0, 0
		}
		if n := 6 + int(binary.BigEndian.Uint16(b[4:])); len(b) >= n {
			return 0, n
		}
		return 0, 0
	}
	for i := range b {
		if n := at.codec().answerLength(b[i:]); n > 0 {
			return i, i + n
		}
	}
	return 0, 0
}

// requestOfOtherMaster says whether bytes are a read that somebody else asks for on a serial line.
func requestOfOtherMaster(at Endpoint, b []byte) (e decodedFrame, asks bool) {
	switch {
	case !at.IsSerial():
		return e, false
	case at.isASCII():
		if len(b) != 17 || b[0] != ':' {
			return e, false
		}
		plain, err := hex.DecodeString(string(b[1:15]))
		if err != nil || lrc(plain) != 0 {
			return e, false
		}
		e = decodedFrame{unit: plain[0], pdu: plain[1:6]}
	default:
		if len(b) != 8 || crc16(b) != 0 {
			return e, false
		}
		e = decodedFrame{unit: b[0], pdu: b[1:6]}
	}
	_, asks = e.readRequest()
	return e, asks
}

// explainDamage says why bytes are no frame.
func explainDamage(at Endpoint, b []byte) string {
	switch {
	case !at.IsSerial() && len(b) >= MBAPHeaderSize && !ValidMBAP(b):
		return fmt.Sprintf("no header of Modbus TCP (protocol id %d, length %d); rtu+tcp, perhaps", binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint16(b[4:]))
	case !at.IsSerial():
		return fmt.Sprintf("it ended after %d bytes", len(b))
	case at.isASCII():
		return explainASCIIDamage(b)
	}
	return explainRTUDamage(b)
}

func explainRTUDamage(b []byte) string {
	if len(b) < 5 {
		return fmt.Sprintf("%d bytes, too few for a frame; noise, perhaps", len(b))
	}
	n := 5
	if b[1] < 0x80 {
		n += int(b[2])
	}
	if function := b[1] &^ 0x80; function < 1 || function > 4 {
		return "no frame; another baud rate or parity, or two units at once"
	}
	if len(b) < n {
		return fmt.Sprintf("it ended after %d of %d bytes", len(b), n)
	}
	sum := crc16(b[:n-2])
	return fmt.Sprintf("the checksum is % 02X, it should be %02X %02X", b[n-2:n], byte(sum), byte(sum>>8))
}

func explainASCIIDamage(b []byte) string {
	text := strings.TrimSpace(string(b))
	body, err := hex.DecodeString(strings.TrimPrefix(text, ":"))
	switch {
	case !strings.HasPrefix(text, ":") || err != nil:
		return "no frame of hexadecimal digits after a colon; another baud rate or parity, or RTU"
	case len(body) < 4 || !strings.HasSuffix(string(b), "\r\n"):
		return fmt.Sprintf("it ended after %d characters", len(b))
	}
	last := len(body) - 1
	return fmt.Sprintf("the checksum is %02X, it should be %02X", body[last], lrc(body[:last]))
}

// readRequest is the read that a frame asks for; ok is false when it is no read.
func (e decodedFrame) readRequest() (r Request, ok bool) { return ParseRequest(e.unit, e.pdu) }

// describeRequest says what is asked for.
func (e decodedFrame) describeRequest() string {
	r, ok := e.readRequest()
	if !ok {
		return fmt.Sprintf("unit %d: function %d", e.unit, e.pdu[0])
	}
	where := fmt.Sprint(r.Address)
	if r.Quantity != 1 {
		where = fmt.Sprintf("%d-%d", r.Address, int(r.Address)+int(r.Quantity)-1)
	}
	return fmt.Sprintf("unit %d: read %s %s (function %d)", e.unit, r.Table, where, e.pdu[0])
}

// answers says whether the frame answers the request.
func (e decodedFrame) answers(asked decodedFrame) bool {
	r, ok := asked.readRequest()
	if !ok {
		return e.pdu[0]&^0x80 == asked.pdu[0]
	}
	values := r
	values.Table = r.Table.Enron()
	return r.isRefusal(e.pdu) || r.isData(e.pdu) || values.isData(e.pdu)
}

// describeAnswer says what a frame from a unit holds.
func (e decodedFrame) describeAnswer() string {
	function := e.pdu[0]
	table, known := TableOfFunction[function]
	switch {
	case function >= 0x80 && len(e.pdu) == 2:
		return fmt.Sprintf("unit %d refuses: %s", e.unit, (&Exception{e.pdu[1]}).Error())
	case !known || len(e.pdu) < 2 || len(e.pdu) != 2+int(e.pdu[1]):
		return fmt.Sprintf("unit %d: function %d with %d bytes", e.unit, function, len(e.pdu)-1)
	case table.IsBits():
		return fmt.Sprintf("unit %d: bits, the first one last in each group: %s", e.unit, strings.Trim(fmt.Sprintf("%08b", e.pdu[2:]), "[]"))
	}
	words := make([]string, 0, len(e.pdu)/2)
	for i := 2; i+1 < len(e.pdu); i += 2 {
		words = append(words, fmt.Sprintf("%02X%02X", e.pdu[i], e.pdu[i+1]))
	}
	noun := "registers"
	if len(words) == 1 {
		noun = "register"
	}
	return fmt.Sprintf("unit %d: %d %s: %s", e.unit, len(words), noun, strings.Join(words, " "))
}
