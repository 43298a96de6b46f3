package line

import "encoding/binary"

// rtu frames with the unit id in front and a CRC-16 behind (Modbus over Serial Line V1.02, 2.5.1).
type rtu struct{}

func (rtu) appendRequest(dst []byte, unit byte, pdu []byte) []byte {
	start := len(dst)
	dst = append(append(dst, unit), pdu...)
	return binary.LittleEndian.AppendUint16(dst, crc16(dst[start:]))
}

// answerSize: unit, function, count, data and the checksum's two.
func (rtu) answerSize(data int) int { return 5 + data }

func (c rtu) answerLength(b []byte) int {
	if len(b) < shortestAnswer(c) {
		return 0
	}
	n := shortestAnswer(c)
	switch f := b[1]; {
	case f >= 1 && f <= 4:
		n += int(b[2])
	case f < 0x80:
		return 0
	}
	if len(b) < n || crc16(b[:n]) != 0 {
		return 0
	}
	return n
}

func (rtu) unpack(frame []byte) (unit byte, pdu []byte) { return frame[0], frame[1 : len(frame)-2] }

func (rtu) mayBegin(b []byte, r Request) bool {
	return b[0] == r.Unit && b[1] == r.Table.function() && int(b[2]) == r.dataLength()
}

// crc16 is the checksum of RTU frames: polynomial 0xA001, start 0xFFFF, sent low byte first.
func crc16(b []byte) uint16 {
	crc := uint16(0xFFFF)
	for _, c := range b {
		crc = crc>>8 ^ crcTable[byte(crc)^c]
	}
	return crc
}

var crcTable = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i)
		for range 8 {
			if crc&1 == 1 {
				crc = crc>>1 ^ 0xA001
			} else {
				crc >>= 1
			}
		}
		table[i] = crc
	}
	return table
}()
