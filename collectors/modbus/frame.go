package modbus

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

// wholeFrame is the length of the RTU answer frame that b begins with, of whatever unit: a read's data, or an
// exception. 0: there is none, or it is not complete, or its checksum is wrong.
func wholeFrame(b []byte) int {
	if len(b) < fewBytes {
		return 0
	}
	n := fewBytes
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

// isAnswer says whether one whole RTU frame answers the request: its unit, its function or that function's
// exception, and exactly as much data as was asked for.
func isAnswer(frame []byte, r Request) bool {
	if frame[0] != r.Unit {
		return false
	}
	if frame[1] == r.Table.function()|0x80 {
		return len(frame) == fewBytes
	}
	return frame[1] == r.Table.function() && int(frame[2]) == r.bytes()
}

// findAnswer looks for the answer in b, since noise and other units' frames may stand before it. end is 0 when
// there is none, or not yet.
func findAnswer(b []byte, r Request) (start, end int) {
	for i := 0; i+fewBytes <= len(b); {
		n := wholeFrame(b[i:])
		switch {
		case n > 0 && isAnswer(b[i:i+n], r):
			return i, i + n
		case n > 0:
			i += n
		case begins(b[i:], r) && len(b)-i < fewBytes+r.bytes():
			return 0, 0
		default:
			i++
		}
	}
	return 0, 0
}

// begins says whether b may be the beginning of the data that was asked for.
func begins(b []byte, r Request) bool {
	return b[0] == r.Unit && b[1] == r.Table.function() && int(b[2]) == r.bytes()
}
