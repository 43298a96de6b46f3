package line

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// ascii frames as text: a colon, each byte as two hexadecimal digits, the checksum LRC, carriage return and line
// feed (Modbus over Serial Line V1.02, 2.5.2). A second may pass between two characters, so that silence says
// nothing of where a frame ends; the line feed does.
type ascii struct{}

func (ascii) appendRequest(dst []byte, unit byte, pdu []byte) []byte {
	plain := append([]byte{unit}, pdu...)
	return fmt.Appendf(dst, ":%X%02X\r\n", plain, lrc(plain))
}

// answerSize: the colon, two characters each for unit, function, count, data and checksum, and the end.
func (ascii) answerSize(data int) int { return 1 + 2*(4+data) + 2 }

func (ascii) answerLength(b []byte) int {
	end := bytes.Index(b, []byte("\r\n"))
	if end < 0 || b[0] != ':' {
		return 0
	}
	plain, err := hex.AppendDecode(nil, b[1:end])
	if err != nil || len(plain) < 4 || lrc(plain) != 0 {
		return 0
	}
	switch f := plain[1]; {
	case f >= 1 && f <= 4 && len(plain) == 4+int(plain[2]):
	case f >= 0x80 && len(plain) == 4:
	default:
		return 0
	}
	return end + 2
}

func (ascii) unpack(frame []byte) (unit byte, pdu []byte) {
	plain, err := hex.AppendDecode(nil, frame[1:len(frame)-2])
	if err != nil || len(plain) < 4 {
		return 0, nil // answerLength does not let it come to that
	}
	return plain[0], plain[1 : len(plain)-1]
}

func (ascii) mayBegin(b []byte, r Request) bool {
	var head [3]byte
	_, err := hex.Decode(head[:], b[1:7])
	return err == nil && b[0] == ':' && head == [3]byte{r.Unit, r.Table.function(), byte(r.dataLength())}
}

// lrc is the checksum of ASCII frames, what is missing from the sum of the bytes to a multiple of 256; over bytes
// with their own checksum it is 0.
func lrc(b []byte) (sum byte) {
	for _, c := range b {
		sum -= c
	}
	return sum
}
