package receipts

import (
	"encoding/binary"
	"hash/crc32"
	"time"
	"unicode/utf8"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A slot of the receipts file is one receipt in 256 bytes. It never crosses a disk sector, so a torn write spoils at most
// the slots being written, and their checksums tell.
//
//	0  CRC-32C over the rest        32 enqueue time
//	4  what became of it            40 the record's own CRC-32C
//	5  sends without clear answer   44 lengths of stream, correlation id, label
//	6  HTTP status                  47 1: a person's words in the correlation id's place
//	8  number in the stream, from 1 48 those three
//	16 sequence number
//	24 time of delivery
const (
	slotSize = 256
	slotHead = 48

	MaxStream      = 32 // bytes of a stream's name
	MaxCorrelation = 64 // bytes that are kept of a correlation id
	maxLabel       = slotSize - slotHead - MaxStream - MaxCorrelation
)

// Receipt of one record that was delivered or dropped.
type Receipt struct {
	Outcome     Outcome
	Status      int       // HTTP; 0: none
	Number      uint64    // among the stream's receipts, from 1; File.Add counts
	Seq         uint64    // the record's
	At          time.Time // of the delivery
	Enqueued    time.Time
	RecordSum   uint32 // CRC-32C of the record
	Unclear     int    // sends before that had no clear answer, 255 at most
	Confirmed   string // the words of a person who says that the service has it; "": the service said so
	Stream      string // File.Add sets it
	Correlation string // of the answer
	Label       string // a few words of whoever made the record
}

// append writes the receipt behind buf.
func (r Receipt) append(buf []byte) []byte {
	r.Correlation, r.Label = Shorten(r.Correlation, MaxCorrelation), Shorten(r.Label, maxLabel)
	if r.Confirmed != "" {
		r.Correlation = Shorten(r.Confirmed, slotSize-slotHead-len(r.Stream)-len(r.Label))
	}
	buf = append(buf, make([]byte, slotSize)...)
	v := buf[len(buf)-slotSize:]
	v[4], v[5] = byte(r.Outcome), byte(min(r.Unclear, 255))
	if r.Confirmed != "" {
		v[47] = 1
	}
	binary.LittleEndian.PutUint16(v[6:], uint16(r.Status))
	binary.LittleEndian.PutUint64(v[8:], r.Number)
	binary.LittleEndian.PutUint64(v[16:], r.Seq)
	binary.LittleEndian.PutUint64(v[24:], uint64(r.At.UnixNano()))
	binary.LittleEndian.PutUint64(v[32:], uint64(r.Enqueued.UnixNano()))
	binary.LittleEndian.PutUint32(v[40:], r.RecordSum)
	v[44], v[45], v[46] = byte(len(r.Stream)), byte(len(r.Correlation)), byte(len(r.Label))
	n := copy(v[slotHead:], r.Stream)
	n += copy(v[slotHead+n:], r.Correlation)
	copy(v[slotHead+n:], r.Label)
	binary.LittleEndian.PutUint32(v, crc32.Checksum(v[4:], castagnoli))
	return buf
}

func decode(v []byte) (Receipt, bool) {
	if len(v) != slotSize || binary.LittleEndian.Uint32(v) != crc32.Checksum(v[4:], castagnoli) {
		return Receipt{}, false
	}
	stream, corr, label := int(v[44]), int(v[45]), int(v[46])
	if slotHead+stream+corr+label > slotSize {
		return Receipt{}, false
	}
	text := string(v[slotHead : slotHead+stream+corr+label])
	r := Receipt{
		Outcome:     Outcome(v[4]),
		Unclear:     int(v[5]),
		Status:      int(binary.LittleEndian.Uint16(v[6:])),
		Number:      binary.LittleEndian.Uint64(v[8:]),
		Seq:         binary.LittleEndian.Uint64(v[16:]),
		At:          time.Unix(0, int64(binary.LittleEndian.Uint64(v[24:]))),
		Enqueued:    time.Unix(0, int64(binary.LittleEndian.Uint64(v[32:]))),
		RecordSum:   binary.LittleEndian.Uint32(v[40:]),
		Stream:      text[:stream],
		Correlation: text[stream : stream+corr],
		Label:       text[stream+corr:],
	}
	if v[47] == 1 {
		r.Confirmed, r.Correlation = r.Correlation, ""
	}
	return r, true
}

// Shorten shortens to at most n bytes without splitting a character.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Outcome of a record. The values are the file's.
type Outcome uint8

// The outcomes that have receipts.
const (
	Delivered Outcome = 3 // the service has it
	Dropped   Outcome = 4 // a person gave it up
)
