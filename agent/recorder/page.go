package recorder

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
)

// A block is one page of the file, so that a write that was torn, or a bit that flipped, costs this block alone and the
// next one is found without a search. It stands for itself: names, times and values begin anew in each.
//
//	0  magic   4 bytes, with the format's version
//	4  CRC-32C of what follows, up to its used end
//	8  used    bytes of the page that are used, header included
//	10 rows
//	12 zero
//	16 least wall time of its rows, microseconds since 1970
//	24 greatest
//	32 rows
const (
	pageSize   = 4096
	headerSize = 32
	pageMagic  = 0x31527247 // "GrR1"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errTorn    = errors.New("torn or never finished")
	errDamaged = errors.New("damaged: its checksum is wrong")
	errFormat  = errors.New("damaged: a row makes no sense")
)

// header of a page.
type header struct {
	used, rows  int
	least, most int64 // microseconds since 1970
}

// seal makes a page of a block: page is pageSize bytes, its rows up to used in place.
func seal(page []byte, h header) {
	le := binary.LittleEndian
	clear(page[h.used:])
	le.PutUint32(page[0:], pageMagic)
	le.PutUint16(page[8:], uint16(h.used))
	le.PutUint16(page[10:], uint16(h.rows))
	le.PutUint32(page[12:], 0)
	le.PutUint64(page[16:], uint64(h.least))
	le.PutUint64(page[24:], uint64(h.most))
	le.PutUint32(page[4:], crc32.Checksum(page[8:h.used], castagnoli))
}

// unseal checks a page and reads its header.
func unseal(page []byte) (header, error) {
	le := binary.LittleEndian
	if len(page) < pageSize || le.Uint32(page) != pageMagic {
		return header{}, errTorn
	}
	h := header{
		used: int(le.Uint16(page[8:])), rows: int(le.Uint16(page[10:])),
		least: int64(le.Uint64(page[16:])), most: int64(le.Uint64(page[24:])),
	}
	if h.used < headerSize || h.used > pageSize || crc32.Checksum(page[8:h.used], castagnoli) != le.Uint32(page[4:]) {
		return header{}, errDamaged
	}
	return h, nil
}
