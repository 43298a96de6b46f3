package outbox

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// A slot of the receipts file is one receipt in 256 bytes. It never crosses a disk sector, so a torn write spoils at most
// the slots being written, and their checksums tell.
//
//	0  CRC-32C over the rest        32 enqueue time
//	4  what became of it            40 the record's own CRC-32C
//	6  HTTP status                  44 lengths of stream, correlation id, label
//	8  number in the stream, from 1 48 those three
//	16 sequence number
//	24 time of delivery
const (
	slotSize = 256
	slotHead = 48

	maxStreamName = 32
	maxLabel      = slotSize - slotHead - maxStreamName - maxCorrelation
)

// receipt is one receipt.
type receipt struct {
	state       State // Delivered or Dropped
	status      int
	number      uint64
	seq         uint64
	at          time.Time
	since       time.Time
	recordSum   uint32
	stream      string
	correlation string
	label       string
}

// append writes the receipt behind buf.
func (r receipt) append(buf []byte) []byte {
	r.correlation, r.label = cut(r.correlation, maxCorrelation), cut(r.label, maxLabel)
	buf = append(buf, make([]byte, slotSize)...)
	v := buf[len(buf)-slotSize:]
	v[4] = byte(r.state)
	binary.LittleEndian.PutUint16(v[6:], uint16(r.status))
	binary.LittleEndian.PutUint64(v[8:], r.number)
	binary.LittleEndian.PutUint64(v[16:], r.seq)
	binary.LittleEndian.PutUint64(v[24:], uint64(r.at.UnixNano()))
	binary.LittleEndian.PutUint64(v[32:], uint64(r.since.UnixNano()))
	binary.LittleEndian.PutUint32(v[40:], r.recordSum)
	v[44], v[45], v[46] = byte(len(r.stream)), byte(len(r.correlation)), byte(len(r.label))
	n := copy(v[slotHead:], r.stream)
	n += copy(v[slotHead+n:], r.correlation)
	copy(v[slotHead+n:], r.label)
	binary.LittleEndian.PutUint32(v, crc32.Checksum(v[4:], castagnoli))
	return buf
}

func decodeReceipt(v []byte) (receipt, bool) {
	if len(v) != slotSize || binary.LittleEndian.Uint32(v) != crc32.Checksum(v[4:], castagnoli) {
		return receipt{}, false
	}
	stream, corr, label := int(v[44]), int(v[45]), int(v[46])
	if slotHead+stream+corr+label > slotSize {
		return receipt{}, false
	}
	text := string(v[slotHead : slotHead+stream+corr+label])
	return receipt{
		state:       State(v[4]),
		status:      int(binary.LittleEndian.Uint16(v[6:])),
		number:      binary.LittleEndian.Uint64(v[8:]),
		seq:         binary.LittleEndian.Uint64(v[16:]),
		at:          time.Unix(0, int64(binary.LittleEndian.Uint64(v[24:]))),
		since:       time.Unix(0, int64(binary.LittleEndian.Uint64(v[32:]))),
		recordSum:   binary.LittleEndian.Uint32(v[40:]),
		stream:      text[:stream],
		correlation: text[stream : stream+corr],
		label:       text[stream+corr:],
	}, true
}
